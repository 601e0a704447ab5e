//go:build !unix

package embedded

import (
	"context"
	"errors"
)

// errNotHere says what to do on a system where this package can neither lock folders nor end its servers with its own process.
var errNotHere = errors.New("databases and brokers are embedded on Linux and macOS only: on Windows, run this command in WSL")

// Postgres is never made on this system.
type Postgres struct{ server }

// StartPostgres fails on this system.
func StartPostgres(context.Context, PostgresConfig) (*Postgres, error) { return nil, errNotHere }

// Cockroach is never made on this system.
type Cockroach struct{ server }

// StartCockroach fails on this system.
func StartCockroach(context.Context, CockroachConfig) (*Cockroach, error) { return nil, errNotHere }

// FindCockroach finds none on this system.
func FindCockroach() (path string, ok bool) { return "", false }

// Remove has nothing to delete on this system.
func Remove(string) error { return nil }

// server has the methods that both would have.
type server struct{}

// Done is never closed.
func (server) Done() <-chan struct{} { return nil }

// Stop does nothing.
func (server) Stop(context.Context) error { return nil }

// URL is empty.
func (*Cockroach) URL() string { return "" }

// LogFile is empty.
func (*Cockroach) LogFile() string { return "" }

// URL is empty.
func (*Postgres) URL(string) string { return "" }

type folderLock struct{}

func lockFolder(string) (*folderLock, error) { return nil, errNotHere }

func (*folderLock) release() {}
