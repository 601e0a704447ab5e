package db

import (
	"context"
	"errors"
	"net"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/puddle/v2"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

// Unavailable returns the reason if err means that the database cannot serve requests at the moment, so that the same
// request may succeed later. ok is false for every other error.
func Unavailable(err error) (reason apierr.Reason, ok bool) {
	switch {
	case errors.Is(err, puddle.ErrClosedPool):
		return apierr.ShuttingDown, true
	case errors.As(err, new(*pgconn.ConnectError)):
		return apierr.DatabaseUnavailable, true
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		reason = serverReason(pg)
		return reason, reason != ""
	}
	if errors.As(err, new(*net.OpError)) || errors.Is(err, net.ErrClosed) || isConnLost(err) || unsent(err) {
		return apierr.DatabaseUnavailable, true
	}
	return "", false
}

// unsent reports whether the driver could not send the statement, for example because the connection broke before and is
// only now seen to be closed. A context that has ended is no fault of the database.
func unsent(err error) bool {
	return pgconn.SafeToRetry(err) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}

// UnavailableOr is [Unavailable] for callers that return a 503 for every database error.
func UnavailableOr(err error, other apierr.Reason) apierr.Reason {
	if reason, ok := Unavailable(err); ok {
		return reason
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return apierr.DatabaseTimeout
	}
	return other
}

// serverReason maps an error of the server to a reason; "" if the request itself is at fault.
func serverReason(pg *pgconn.PgError) apierr.Reason {
	switch {
	case pg.Code == codeDiskFull:
		return apierr.DatabaseFull
	case pg.Code == codeCancelled: // statement timeout
		return ""
	case pg.Code == codeLockTimeout: // such as a read of a table whose schema is being changed
		return apierr.DatabaseTimeout
	case class(pg) == "40": // a read that CockroachDB could not retry itself because part of the result was already sent
		return apierr.Serialization
	}
	switch class(pg) {
	case "08", "53", "57", "58": // connection, resources, operator intervention, system
		return apierr.DatabaseUnavailable
	}
	return ""
}
