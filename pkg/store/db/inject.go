package db

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tradegrid/tradegrid/pkg/kit/failpoint"
)

// The points of a transaction, in the order in which it passes them. What passes them is the transaction's name.
const (
	AtBegin      failpoint.Point = "tx.begin"
	AtStatement  failpoint.Point = "tx.statement"
	BeforeCommit failpoint.Point = "tx.before_commit"
	AfterCommit  failpoint.Point = "tx.after_commit" // an error here simulates a lost response
)

// Chaos makes transactions fail with a probability at each point: by a serialization failure before the commit, by a lost
// connection after it. Only the given number of tries may fail; 0 = all.
func Chaos(probability float64, tries int) failpoint.Injector {
	return func(_ context.Context, h failpoint.Hit) error {
		if (tries > 0 && h.Try > tries) || rand.Float64() >= probability {
			return nil
		}
		if h.Point == AfterCommit {
			return io.ErrUnexpectedEOF
		}
		return &pgconn.PgError{Severity: "ERROR", Code: "40001", Message: "injected serialization failure"}
	}
}

// isConnLost reports whether err means that the connection broke.
func isConnLost(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNREFUSED)
}
