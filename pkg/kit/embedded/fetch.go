//go:build unix

package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"

	embeddedpostgres "github.com/fergusstrange/embedded-postgres"
)

// fetchedVersion is the version to download if no PostgreSQL is installed.
const fetchedVersion = embeddedpostgres.V17

// fetchPrograms downloads PostgreSQL into a cache folder, once for all servers of the user.
func fetchPrograms(ctx context.Context, place string, acct *account) (programs, error) {
	root, err := fetchRoot(place, acct)
	if err != nil {
		return programs{}, err
	}
	binaries := filepath.Join(root, string(fetchedVersion))
	if p, ok := programsIn(ctx, filepath.Join(binaries, "bin"), acct); ok {
		return p, nil
	}
	downloadErr := download(root, binaries)
	if p, ok := programsIn(ctx, filepath.Join(binaries, "bin"), acct); ok {
		return p, nil
	}
	return programs{}, fmt.Errorf("PostgreSQL %s into %s: %w", fetchedVersion, root,
		errors.Join(downloadErr, errors.New("the downloaded programs cannot be run")))
}

// fetchRoot returns the user's cache folder, or a folder beside the data if the server's user cannot access that.
func fetchRoot(place string, acct *account) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil || acct.switched {
		cache = place
	}
	root := filepath.Join(cache, "tradegrid", "postgres")
	if err := os.MkdirAll(root, 0o755); err != nil { //nolint:gosec // the server's user reads the programs
		return "", fmt.Errorf("create cache folder: %w", err)
	}
	return root, nil
}

// download downloads and unpacks the programs. The library has no call for that alone, so it is asked to start a
// server on a folder that only looks like data: it downloads, unpacks and then fails to start.
// The caller checks what was unpacked, not the error.
func download(root, binaries string) error {
	scratch, err := os.MkdirTemp(root, "scratch-")
	if err != nil {
		return fmt.Errorf("make scratch folder: %w", err)
	}
	defer os.RemoveAll(scratch)
	data := filepath.Join(scratch, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		return fmt.Errorf("make scratch folder: %w", err)
	}
	major := string(fetchedVersion)[:2]
	if err := os.WriteFile(filepath.Join(data, "PG_VERSION"), []byte(major), 0o600); err != nil {
		return fmt.Errorf("make scratch folder: %w", err)
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	server := embeddedpostgres.NewDatabase(embeddedpostgres.DefaultConfig().
		Version(fetchedVersion).
		CachePath(root).
		BinariesPath(binaries).
		RuntimePath(filepath.Join(scratch, "runtime")).
		DataPath(data).
		Port(uint32(port)).
		Logger(io.Discard))
	if err := server.Start(); err != nil {
		return err
	}
	return server.Stop()
}

// freePort finds an unused TCP port of the loopback address.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // no name is looked up
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil //nolint:errcheck // a TCP listener has no other
}
