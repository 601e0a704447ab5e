package db

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Timeout of one attempt to connect, and the pause before the next.
const (
	connectTimeout = 10 * time.Second
	connectPause   = time.Second
)

// notConnected is the error of [Open] if the settings are valid but the connection failed.
type notConnected struct{ err error }

func (e *notConnected) Error() string { return e.err.Error() }
func (e *notConnected) Unwrap() error { return e.err }

// OpenWhenUp is [Open] for a process that may start before the server is up or before its user and database are created.
// It retries every second until ctx ends, and calls waiting with the error of each failed attempt.
// Invalid settings are returned as an error.
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

// Misconfigured returns what an operator has to correct before this process can connect; "" if the server is
// unreachable, which may resolve by itself.
func Misconfigured(err error) string {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return ""
	}
	switch {
	case pg.Code == "3D000":
		return "the database does not exist: create it, or correct its name in the URL"
	case class(pg) == "28":
		return "the server rejected the user or its credentials: correct them in the URL or the password file, or allow the user on the server"
	case class(pg) == "42":
		return "the user lacks privileges on the database: grant them"
	}
	return ""
}
