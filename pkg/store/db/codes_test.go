package db

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/cockroachdb/cockroach-go/v2/crdb"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

func coded(code, message string) error {
	return fmt.Errorf("run queued write: %w", &pgconn.PgError{Severity: "ERROR", Code: code, Message: message})
}

// What CockroachDB says, in its words, and what follows from it at each place of a transaction.
func TestErrorsOfCockroachDB(t *testing.T) {
	t.Parallel()
	const restart = "restart transaction: TransactionRetryWithProtoRefreshError: "
	for name, tc := range map[string]struct {
		err       error
		retryable bool // before the commit
		unknown   bool // as the answer to the commit
		spent     bool // the connection with it
	}{
		"write too old":        {coded("40001", restart+"WriteTooOldError: write for key /Table/106 at timestamp 1 too old"), true, false, false},
		"serializable":         {coded("40001", restart+"TransactionRetryError: retry txn (RETRY_SERIALIZABLE - failed preemptive refresh)"), true, false, false},
		"commit deadline":      {coded("40001", restart+"TransactionRetryError: retry txn (RETRY_COMMIT_DEADLINE_EXCEEDED)"), true, false, false},
		"aborted":              {coded("40001", restart+"TransactionAbortedError(ABORT_REASON_PUSHER_ABORTED)"), true, false, false},
		"uncertainty":          {coded("40001", restart+"ReadWithinUncertaintyIntervalError: read at time 1 encountered previous write"), true, false, false},
		"injected":             {coded("40001", restart+"injected by `inject_retry_errors_enabled` session variable"), true, false, false},
		"retry error of old":   {coded("CR000", "restart transaction"), true, false, false},
		"ambiguous":            {coded("40003", "result is ambiguous: error=rpc error: code = Unavailable"), true, true, true},
		"draining, new":        {coded("57P01", "server is not accepting clients, try another node"), true, true, true},
		"draining, existing":   {coded("57P01", "server is shutting down"), true, true, true},
		"range unavailable":    {coded("58C00", "replica unavailable: (n1,s1):1 unable to serve request"), true, true, false},
		"between nodes":        {coded("58C01", "inbox communication error: rpc error"), true, true, true},
		"connection":           {coded("08006", "connection failure"), true, true, true},
		"too many connections": {coded("53300", "sorry, too many clients already"), true, true, false},
		"memory":               {coded("53200", "root: memory budget exceeded"), false, true, false},
		"disk full":            {coded("53100", "store is full"), false, true, false},
		"statement timeout":    {coded("57014", "query execution canceled due to statement timeout"), false, true, false},
		"schema change failed": {coded("XXA00", "transaction committed but schema change aborted with error: (23505)"), false, true, false},
		"internal":             {coded("XX000", "internal error"), false, true, false},
		"not categorised":      {coded("XXUUU", "liveness record not found"), false, true, false},
		"constraint":           {coded("23505", "duplicate key value"), false, false, false},
		"too much at once":     {coded("54000", "command is too large"), false, false, false},
		"in a failed one":      {coded("25P02", "current transaction is aborted"), false, false, false},
		"lost":                 {fmt.Errorf("commit: %w", io.ErrUnexpectedEOF), true, true, false},
		"rolled back":          {pgx.ErrTxCommitRollback, false, false, false},
		"the caller's fault":   {apierr.NotFound("ORDER", "1"), false, true, false},
		"no code":              {coded("", "?"), false, true, false},
	} {
		require.Equal(t, tc.retryable, retryable(tc.err), "retryable: %s", name)
		require.Equal(t, tc.unknown, outcomeUnknown(tc.err), "unknown: %s", name)
		require.Equal(t, tc.spent, connectionSpent(tc.err), "spent: %s", name)
	}
}

// releaseFails is a transaction whose RELEASE, which is the commit of the savepoint protocol, answers with an error.
type releaseFails struct{ err error }

func (r releaseFails) Exec(_ context.Context, sql string, _ ...any) error {
	if strings.HasPrefix(sql, "RELEASE") {
		return r.err
	}
	return nil
}
func (releaseFails) Commit(context.Context) error   { return nil }
func (releaseFails) Rollback(context.Context) error { return nil }

// A lost answer of the savepoint protocol is looked up like any other, a refusal is not.
func TestSavepointProtocolTellsItsUnknownOutcomes(t *testing.T) {
	t.Parallel()
	release := func(err error) error {
		return afterSavepoint(crdb.ExecuteInTx(t.Context(), releaseFails{err}, func() error { return nil }))
	}
	unknown := new(unknownOutcome)
	require.ErrorAs(t, release(coded("40003", "result is ambiguous")), &unknown)
	require.ErrorAs(t, release(io.ErrUnexpectedEOF), &unknown)
	refused := release(coded("23505", "duplicate key value"))
	require.False(t, errors.As(refused, &unknown))
	require.ErrorContains(t, refused, "23505")
	require.NoError(t, release(nil))
	tired := afterSavepoint(crdb.ExecuteInTx(crdb.WithMaxRetries(t.Context(), 2), releaseFails{coded("40001", "restart")}, func() error { return nil }))
	require.False(t, errors.As(tired, &unknown))
	require.True(t, retryable(tired), "the budget of tries goes on with new transactions")
}
