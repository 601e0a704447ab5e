package db

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
)

// Point is a place in a transaction where tests can inject an error.
type Point int

// The points, in the order in which a transaction passes them.
const (
	AtBegin Point = iota
	AtStatement
	BeforeCommit
	AfterCommit // after the commit; an error here means that its answer was lost
)

// Injector injects errors into transactions, for tests. A nil error lets the transaction go on. The first try is 1.
type Injector interface {
	Fault(ctx context.Context, p Point, try int) error
}

// Chaos injects an error at each point with a probability: a serialization failure before the commit,
// a lost connection after it.
type Chaos struct {
	Probability float64
	Tries       int // number of tries of a transaction that may fail; 0 = all
}

// Fault implements [Injector].
func (c Chaos) Fault(_ context.Context, p Point, try int) error {
	if (c.Tries > 0 && try > c.Tries) || rand.Float64() >= c.Probability {
		return nil
	}
	if p == AfterCommit {
		return io.ErrUnexpectedEOF
	}
	return &pgconn.PgError{Severity: "ERROR", Code: "40001", Message: "injected serialization failure"}
}

// isConnLost reports whether err means that the connection broke.
func isConnLost(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNREFUSED)
}
