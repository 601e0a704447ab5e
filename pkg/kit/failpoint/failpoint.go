// Package failpoint names the points of the program at which tests make it fail, wait or die. A test hands an [Injector] to
// the instance that it wants to disturb, a database pool or a relay, and disturbs no other. A binary for Linux that is linked
// with -ldflags "-X github.com/tradegrid/tradegrid/pkg/kit/failpoint.obeysEnvironment=yes" also obeys the environment, for the
// whole process:
//
//	TRADEGRID_FAILPOINT=relay.after_ack                       kills the process at the first hit of the point
//	TRADEGRID_FAILPOINT=relay.after_ack:stop                  freezes it
//	TRADEGRID_FAILPOINT=relay.after_ack@3                     waits for the third hit
//	TRADEGRID_FAILPOINT=tx.before_commit.numbering.order      a point and what passes it, joined by a dot
//
// Without an injector, a point of an ordinary build is a comparison with nil.
package failpoint

import "context"

// Point names a place in the program, such as "relay.after_ack".
type Point string

// Hit is one arrival at a point.
type Hit struct {
	Point Point
	Of    string // what passes the point, where that matters: the name of the transaction
	Try   int    // the try of a transaction, from 1; otherwise 0
}

// Injector makes one instance fail at its points, by an error that it takes for its own, or blocks it there. It is called
// concurrently. A nil Injector does nothing.
type Injector func(ctx context.Context, h Hit) error

// On makes an injector from functions by point. At other points it does nothing.
func On(at map[Point]func(ctx context.Context) error) Injector {
	return func(ctx context.Context, h Hit) error {
		if fn := at[h.Point]; fn != nil {
			return fn(ctx)
		}
		return nil
	}
}

// At passes a point of the instance that has the injector. The caller fails with the error.
func (i Injector) At(ctx context.Context, p Point) error { return i.AtTry(ctx, p, "", 0) }

// AtTry passes a point with what passes it and the number of its try.
func (i Injector) AtTry(ctx context.Context, p Point, of string, try int) error {
	strike(p, of)
	if i == nil {
		return nil
	}
	return i(ctx, Hit{p, of, try})
}

// Pass passes a point where only the whole process can be disturbed.
func Pass(p Point) { strike(p, "") }
