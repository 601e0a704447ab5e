package db

import (
	"errors"
	"net"

	"github.com/jackc/pgx/v5/pgconn"
)

// Unavailable reports whether err says that the database cannot be reached or has no room, so that the same request
// may succeed later: a connection that was refused or lost, a server that starts or stops, no connection or disk left,
// a read that CockroachDB could not repeat itself because part of its answer was sent already.
func Unavailable(err error) bool {
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) {
		return true
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		switch class(pg) {
		case "08", "40", "53", "57", "58": // connection, rollback, resources, intervention of an operator, system
			return pg.Code != "57014" // a statement that was cancelled, for its time
		}
		return false
	}
	var network *net.OpError
	return errors.As(err, &network) || errors.Is(err, net.ErrClosed) || isConnLost(err)
}
