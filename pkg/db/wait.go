package db

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// How long one attempt to connect at the start may take, and the pause before the next.
const (
	connectTimeout = 10 * time.Second
	connectPause   = time.Second
)

// notConnected is the error of [Open] when the settings are well-formed and the database was not reached with them.
type notConnected struct{ err error }

func (e *notConnected) Error() string { return e.err.Error() }
func (e *notConnected) Unwrap() error { return e.err }

// OpenWhenUp is [Open] for a process that may start before its database, or before its user and its database have been
// made: it tries every second until ctx ends, and calls waiting with the reason after each attempt that failed.
// Settings that can never work are still an error.
func OpenWhenUp(ctx context.Context, cfg Config, waiting func(error)) (*DB, error) {
	t := time.NewTimer(0)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for the database: %w", ctx.Err())
		case <-t.C:
		}
		d, err := Open(ctx, cfg)
		if !errors.As(err, new(*notConnected)) || ctx.Err() != nil {
			return d, err
		}
		waiting(err)
		t.Reset(connectPause)
	}
}

// Misconfigured tells what an operator has to mend before the database lets this process in; "" for a database that
// cannot be reached, which may come up by itself.
func Misconfigured(err error) string {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return ""
	}
	switch {
	case pg.Code == "3D000":
		return "the server has no such database: create it, or correct its name in the address"
	case class(pg) == "28":
		return "the server refuses the user or its credentials: correct them in the address or the password file, or allow the user on the server"
	case class(pg) == "42":
		return "the user lacks rights on the database: grant them"
	}
	return ""
}
