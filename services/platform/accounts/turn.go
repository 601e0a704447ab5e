package accounts

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/ratelimit"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

const (
	// maxAttempts is how many attempts a process makes at a time, of which each has at most one connection to the database.
	maxAttempts = 4
	// maxWaiting is how many wait for their turn: of strangers, and of those who have signed in before.
	maxWaiting = 128
	// maxOfAddress is how many of one address are made or wait.
	maxOfAddress = 32
	longestTurn  = 5 * time.Second

	// RetryBusy is when to try again after [ErrBusy].
	RetryBusy = 2 * time.Second
)

// newTurns leaves three quarters of the connections to pages.
func newTurns(d *db.DB) *ratelimit.FairQueue {
	running := maxAttempts
	if d != nil { // as in the description of the API
		running = max(1, min(running, int(d.Pool().Config().MaxConns)/4))
	}
	return ratelimit.NewFairQueue(ratelimit.FairLimits{Running: running, Waiting: maxWaiting, PerKey: maxOfAddress, Longest: longestTurn})
}

// turn waits for the turn of an attempt, which ends with leave. Attempts of one address hold up each other, and those of a browser that
// has signed in before come first: so neither a flood from one address nor one from ever new ones keeps people out who have been
// here. [ErrBusy] means that too many wait.
func (s *Service) turn(ctx context.Context, v Visit, known device) (leave func(), err error) {
	if known.ID != uuid.Nil && s.limits.check(s.cfg.DB.Now(), byDevice.of(known.ID.String())) == nil {
		return enter(ctx, s.turns, "device "+known.ID.String(), true)
	}
	return enter(ctx, s.turns, networkOf(v.Address), false)
}

// begin waits for the turn of an attempt that counts for the address alone, and takes it. Who has no attempts left need not wait.
func (s *Service) begin(ctx context.Context, v Visit) (leave func(), err error) {
	limit := ofAddress(v.Address)
	if err := s.limits.check(s.cfg.DB.Now(), limit); err != nil {
		return nil, err
	}
	if leave, err = s.turn(ctx, v, s.openDevice(v.Device)); err != nil {
		return nil, err
	}
	if err := s.take(ctx, limit); err != nil {
		leave()
		return nil, err
	}
	return leave, nil
}

// turnOf is turn for a person who is known by a session or a link, and not only by a browser.
func (s *Service) turnOf(ctx context.Context, who string) (leave func(), err error) {
	return enter(ctx, s.turns, "person "+who, true)
}

func enter(ctx context.Context, q *ratelimit.FairQueue, key string, first bool) (leave func(), err error) {
	leave, err = q.Enter(ctx, key, first)
	if errors.Is(err, ratelimit.ErrQueueFull) {
		err = ErrBusy
	}
	return leave, err
}
