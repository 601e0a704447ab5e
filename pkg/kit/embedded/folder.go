//go:build unix

package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// maxLog is the size in bytes above which the log is rotated at the next start.
const maxLog = 10 << 20

// folderLock ensures that only one server, of this or another process, uses a folder.
type folderLock struct{ f *os.File }

// lockFolder locks the lock file of dir. The kernel releases the lock when the process ends for any reason.
func lockFolder(dir string) (*folderLock, error) {
	path := filepath.Join(dir, "lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock file: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer f.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		owner, _ := os.ReadFile(path)
		return nil, fmt.Errorf("%w: %s is used by process %s; stop that process or choose another folder",
			ErrInUse, dir, strings.TrimSpace(string(owner)))
	}
	if err := errors.Join(f.Truncate(0), writeAt0(f, strconv.Itoa(os.Getpid())+"\n")); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	return &folderLock{f: f}, nil
}

func writeAt0(f *os.File, s string) error {
	_, err := f.WriteAt([]byte(s), 0)
	return err
}

func (l *folderLock) release() {
	if l != nil && l.f != nil {
		// Closing the file does not unlock it while a child process that is being started has inherited it.
		_ = syscall.Flock(int(l.f.Fd()), syscall.LOCK_UN)
		_ = l.f.Close()
		l.f = nil
	}
}

// makeOwnFolder creates dir, which the server's user must be able to traverse.
func makeOwnFolder(dir string, acct *account) error {
	mode := os.FileMode(0o700)
	if acct.switched {
		mode = 0o711
	}
	if err := os.MkdirAll(dir, mode); err != nil {
		return fmt.Errorf("create database folder: %w", err)
	}
	return nil
}

// placeFile is the file in Dir with the path of the data, if the data cannot be in Dir itself.
func placeFile(dir string) string { return filepath.Join(dir, "location") }

// placeData returns the parent of the data folder. It is cfg.Dir, unless the server runs as another user who cannot
// access it (for example below root's home). Then it is a new folder elsewhere, whose path is stored in Dir. The path
// is random and the folder is created by this process, so that no other user can have prepared it.
func placeData(ctx context.Context, cfg PostgresConfig, acct *account) (string, error) {
	if kept, err := os.ReadFile(placeFile(cfg.Dir)); err == nil {
		place := strings.TrimSpace(string(kept))
		if _, err := os.Stat(place); err != nil {
			return "", fmt.Errorf("the data folder %s, named in %s, is missing: %w; start fresh", place, placeFile(cfg.Dir), err)
		}
		return place, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read the location of the data: %w", err)
	}
	if acct.canEnter(ctx, cfg.Dir) {
		return cfg.Dir, nil
	}
	roots := []string{"/var/lib", os.TempDir()}
	if cfg.relocateRoot != "" {
		roots = []string{cfg.relocateRoot}
	}
	for _, root := range roots {
		place, err := os.MkdirTemp(root, "tradegrid-postgres-")
		if err != nil {
			continue
		}
		if err := os.Chmod(place, 0o711); err != nil || !acct.canEnter(ctx, place) { //nolint:gosec // the server's user must be able to traverse it
			_ = os.Remove(place)
			continue
		}
		if err := os.WriteFile(placeFile(cfg.Dir), []byte(place+"\n"), 0o600); err != nil {
			return "", fmt.Errorf("write the location of the data: %w", err)
		}
		cfg.Log.WarnContext(ctx, "the server's user cannot access the database folder, storing the data elsewhere",
			"folder", cfg.Dir, "user", acct.name, "data", place)
		return place, nil
	}
	return "", fmt.Errorf("user %s, which runs the server, cannot access %s: choose a folder that every user can traverse", acct.name, cfg.Dir)
}

// removeData deletes data and password, wherever the data is.
func removeData(dir string) error {
	place := dir
	if kept, err := os.ReadFile(placeFile(dir)); err == nil {
		place = strings.TrimSpace(string(kept))
	}
	for _, path := range []string{filepath.Join(place, "data"), filepath.Join(place, "data.new"), passwordFile(dir)} {
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("remove earlier data: %w", err)
		}
	}
	if place == dir {
		return nil
	}
	if err := errors.Join(os.Remove(place), os.Remove(placeFile(dir))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove earlier data: %w", err)
	}
	return nil
}

// Remove deletes the folder of a stopped server with its data, wherever the data is.
// If the folder is in use, the error wraps [ErrInUse].
func Remove(dir string) error {
	lock, err := lockFolder(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer lock.release()
	return errors.Join(removeData(dir), os.RemoveAll(dir))
}

// makeSocketFolder creates a private folder with a short path, because the path of a socket is limited to about 100
// bytes. It deletes the folder of an earlier server that was killed.
func makeSocketFolder(ctx context.Context, dir, place string, acct *account) (string, error) {
	note := filepath.Join(dir, "sockets")
	if old, err := os.ReadFile(note); err == nil {
		if path := strings.TrimSpace(string(old)); strings.HasPrefix(filepath.Base(path), socketPrefix) {
			_ = os.RemoveAll(path) // it may be deleted already
		}
	}
	root := os.TempDir()
	if !acct.canEnter(ctx, root) {
		root = place
	}
	path, err := os.MkdirTemp(root, socketPrefix)
	if err != nil {
		return "", fmt.Errorf("create socket folder: %w", err)
	}
	if err := acct.chown(path); err != nil {
		return "", err
	}
	if err := os.WriteFile(note, []byte(path+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("write socket folder: %w", err)
	}
	return path, nil
}

const socketPrefix = "tradegrid-pg-"

func openLog(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, fmt.Errorf("rotate the log: %w", err)
		}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	return f, nil
}

// logSince returns what the server has logged since offset, at most the last 2 000 bytes.
func logSince(path string, offset int64) string {
	b, err := os.ReadFile(path)
	if err != nil || int64(len(b)) < offset {
		return "empty (see " + path + ")"
	}
	b = b[offset:]
	return strings.TrimSpace(string(b[max(0, len(b)-2000):]))
}

func portTaken(log string) bool { return strings.Contains(log, "could not create any TCP/IP sockets") }
