package db

import (
	"context"
	"errors"
	"net"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/puddle/v2"

	"github.com/tradegrid/tradegrid/pkg/fault"
)

// Unavailable returns the reason if err means that the database cannot serve requests at the moment, so that the same
// request may succeed later. ok is false for every other error.
func Unavailable(err error) (reason fault.Reason, ok bool) {
	switch {
	case errors.Is(err, puddle.ErrClosedPool):
		return fault.ShuttingDown, true
	case errors.As(err, new(*pgconn.ConnectError)):
		return fault.DatabaseUnavailable, true
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		reason = serverReason(pg)
		return reason, reason != ""
	}
	if errors.As(err, new(*net.OpError)) || errors.Is(err, net.ErrClosed) || isConnLost(err) {
		return fault.DatabaseUnavailable, true
	}
	return "", false
}

// UnavailableOr is [Unavailable] for callers that answer every database error with a 503.
func UnavailableOr(err error, other fault.Reason) fault.Reason {
	if reason, ok := Unavailable(err); ok {
		return reason
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fault.DatabaseTimeout
	}
	return other
}

// serverReason maps an error of the server to a reason; "" if the request itself is at fault.
func serverReason(pg *pgconn.PgError) fault.Reason {
	switch {
	case pg.Code == codeDiskFull:
		return fault.DatabaseFull
	case pg.Code == codeCancelled: // statement timeout
		return ""
	case class(pg) == "40": // a read that CockroachDB could not retry itself because part of the result was already sent
		return fault.Serialization
	}
	switch class(pg) {
	case "08", "53", "57", "58": // connection, resources, operator intervention, system
		return fault.DatabaseUnavailable
	}
	return ""
}
