package db

import (
	"context"
	"errors"
	"net"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

// SQLSTATEs that decide about retries. Both databases share them; CockroachDB adds a few.
const (
	codeSerialization = "40001" // also all retry errors of CockroachDB: RETRY_WRITE_TOO_OLD, RETRY_SERIALIZABLE, ABORT_REASON_…
	codeUnknownResult = "40003" // CockroachDB: "result is ambiguous"
	codeDeadlock      = "40P01"
	codeRetryOld      = "CR000" // the retry error of old CockroachDB releases
	codeLockTimeout   = "55P03"
	codeDiskFull      = "53100"
	codeTooManyConns  = "53300"
	codeCancelled     = "57014"
	codeAdminShutdown = "57P01" // also a draining CockroachDB node: "server is not accepting clients, try another node"
	codeCrashShutdown = "57P02"
	codeCannotConnect = "57P03"
	codeRangeLost     = "58C00" // CockroachDB: a range has no quorum
	codeInternalConn  = "58C01" // CockroachDB: a connection between nodes broke
)

// outcomeUnknown reports whether a failed commit may have taken effect: the response was lost, or the server itself does
// not know. Only errors that rule it out count as a failed commit; the commit check decides the rest.
func outcomeUnknown(err error) bool {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return !errors.Is(err, pgx.ErrTxCommitRollback)
	}
	switch pg.Code {
	case codeUnknownResult:
		return true
	case codeRetryOld:
		return false
	}
	switch class(pg) {
	case "0A", "21", "22", "23", "25", "27", "28", "40", "42", "44", "54", "55": // errors of the statement, its data or its state
		return false
	}
	return true // connection, resources, shutdown, cancelled during the commit, system, internal
}

// retryable reports whether a new transaction may succeed after one that failed with err before its commit.
func retryable(err error) bool {
	if errors.Is(err, ErrStale) {
		return true
	}
	if _, ok := apierr.As(err); ok {
		return false
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		switch pg.Code {
		case codeSerialization, codeUnknownResult, codeDeadlock, codeRetryOld, codeLockTimeout, codeTooManyConns,
			codeAdminShutdown, codeCrashShutdown, codeCannotConnect, codeRangeLost, codeInternalConn:
			return true
		}
		return class(pg) == "08"
	}
	var netErr net.Error
	return pgconn.SafeToRetry(err) || (errors.As(err, &netErr) && !errors.Is(err, context.DeadlineExceeded)) ||
		errors.Is(err, net.ErrClosed) || isConnLost(err)
}

// contended reports whether err is due to concurrent changes of the same rows.
func contended(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code == codeSerialization || pg.Code == codeDeadlock || pg.Code == codeRetryOld
	}
	return errors.Is(err, ErrStale)
}

// connectionSpent reports whether the next try needs a new connection, which a load balancer may route to another node:
// a draining node returns this error for every statement until it closes its connections.
func connectionSpent(err error) bool {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return false // a broken connection is known as such
	}
	switch pg.Code {
	case codeUnknownResult, codeAdminShutdown, codeCrashShutdown, codeCannotConnect, codeInternalConn:
		return true
	}
	return class(pg) == "08"
}

// class is the first two characters of a SQLSTATE.
func class(pg *pgconn.PgError) string {
	if len(pg.Code) < 2 {
		return ""
	}
	return pg.Code[:2]
}

// IsUndefinedTable reports whether a statement failed because its table does not exist: the process runs on a schema that was not
// migrated to its release yet.
func IsUndefinedTable(err error) bool {
	pg := (*pgconn.PgError)(nil)
	return errors.As(err, &pg) && pg.Code == "42P01"
}
