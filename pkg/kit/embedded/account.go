//go:build unix

package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// account is the operating system user that the server runs as.
type account struct {
	name     string
	uid, gid int
	switched bool // differs from the user of this process
}

// serverAccount returns the user of this process, or an unprivileged one if this process runs as root.
func serverAccount() (*account, error) {
	if os.Geteuid() != 0 {
		return &account{name: "the current user", uid: os.Geteuid(), gid: os.Getegid()}, nil
	}
	for _, name := range []string{"postgres", "_postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.Atoi(u.Uid)
		gid, gidErr := strconv.Atoi(u.Gid)
		if errors.Join(uidErr, gidErr) != nil || uid <= 0 {
			continue
		}
		return &account{name: name, uid: uid, gid: gid, switched: true}, nil
	}
	return nil, errors.New("PostgreSQL refuses to run as root and there is no user postgres or nobody to run it as: " +
		"run as an ordinary user, or add a user postgres")
}

// command prepares a program to run as the account, without the environment variables that libpq or PostgreSQL
// would read.
func (a *account) command(ctx context.Context, path string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, args...) //nolint:gosec // a program found by findPrograms
	cmd.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return strings.HasPrefix(name, "PG") || strings.HasPrefix(name, "LC_") || name == "LANG" || name == "LANGUAGE"
	})
	cmd.Env = append(cmd.Env, "LC_MESSAGES=C")
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	if a.switched {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
	}
	return cmd
}

// canEnter reports whether the account can access a folder. It starts a program there, so that the kernel
// takes modes, groups, access lists and mounts into account.
func (a *account) canEnter(ctx context.Context, dir string) bool {
	if !a.switched {
		return true
	}
	cmd := a.command(ctx, "/bin/sh", "-c", ":")
	cmd.Dir = dir
	return cmd.Run() == nil
}

// useDataOwner switches the account to the owner of existing data. PostgreSQL runs only as the owner of its data, which
// may have been created by an ordinary user before root started this process.
func (a *account) useDataOwner(data string) {
	if !a.switched {
		return
	}
	if info, err := os.Stat(data); err == nil {
		if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid != 0 {
			a.name, a.uid, a.gid = "the owner of the data", int(st.Uid), int(st.Gid)
		}
	}
}

// chown makes the account the owner of a path.
func (a *account) chown(path string) error {
	if !a.switched {
		return nil
	}
	if err := os.Lchown(path, a.uid, a.gid); err != nil {
		return fmt.Errorf("change the owner of %s to %s: %w", path, a.name, err)
	}
	return nil
}
