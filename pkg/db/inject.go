package db

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
)

// Point is a place of a transaction where a test can make it fail.
type Point int

// The places, in the order in which a transaction passes them.
const (
	AtBegin Point = iota
	AtStatement
	BeforeCommit
	AfterCommit // the commit has happened; an error here means that its answer was lost
)

// Injector makes transactions fail, for tests. A nil error lets the transaction go on. The first try is 1.
type Injector interface {
	Fault(ctx context.Context, p Point, try int) error
}

// Chaos fails each point with a probability: a serialization failure before the commit,
// a lost connection after it.
type Chaos struct {
	Probability float64
	Tries       int // how many tries of one transaction may fail; 0 = all of them
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

// isConnLost reports whether the connection broke before the commit was sent, so that nothing was stored.
func isConnLost(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNREFUSED)
}
