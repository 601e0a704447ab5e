package db

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// MaxClockOffset is the largest allowed difference between the clock of a process and that of the database. Event
// positions are made from the clocks of the processes, and the relay scans for them within bounds that a wrong clock
// would break.
const MaxClockOffset = 500 * time.Millisecond

const (
	clockEvery   = 10 * time.Second
	clockSamples = 3
)

const sqlClock = `SELECT clock_timestamp()`

// Clock compares the clock of this process with the database's.
type Clock struct {
	q   Querier
	now func() time.Time

	mu   sync.Mutex
	seen reading
}

// reading is one comparison; doubt is the error bound of offset.
type reading struct {
	at            time.Time // zero = never
	offset, doubt time.Duration
}

// NewClock compares now, which is time.Now except in tests, with the clock of the database.
func NewClock(q Querier, now func() time.Time) *Clock { return &Clock{q: q, now: now} }

// Run compares the clocks every 10 s until ctx ends. While the database does not respond, the last result stays.
func (c *Clock) Run(ctx context.Context) error {
	tick := time.NewTicker(clockEvery)
	defer tick.Stop()
	for {
		if err := c.measure(ctx); err != nil && ctx.Err() == nil {
			clockFailures.Inc()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Check is a readiness check: an error means that the offset exceeds [MaxClockOffset] even allowing for the error bound.
func (c *Clock) Check(ctx context.Context) error {
	r := c.last()
	if r.at.IsZero() {
		if err := c.measure(ctx); err != nil {
			return err
		}
		r = c.last()
	}
	if off := r.offset.Abs() - r.doubt; off > MaxClockOffset {
		side := "ahead of"
		if r.offset < 0 {
			side = "behind"
		}
		return fmt.Errorf("the clock of this machine is %s %s the database's, more than %s: check its time synchronisation",
			r.offset.Abs().Round(time.Millisecond), side, MaxClockOffset)
	}
	return nil
}

func (c *Clock) last() reading {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen
}

// measure takes a few samples and keeps the one with the smallest error bound.
func (c *Clock) measure(ctx context.Context) error {
	var best reading
	for range clockSamples {
		r, err := c.ask(ctx)
		if err != nil {
			return err
		}
		if best.at.IsZero() || r.doubt < best.doubt {
			best = r
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = best
	clockOffset.Set(best.offset.Seconds())
	return nil
}

// ask assumes that the database read its clock halfway between request and response.
func (c *Clock) ask(ctx context.Context) (reading, error) {
	var theirs time.Time
	before := c.now()
	if err := c.q.QueryRow(ctx, sqlClock).Scan(&theirs); err != nil {
		return reading{}, fmt.Errorf("read the database clock: %w", err)
	}
	half := c.now().Sub(before) / 2
	return reading{at: before, offset: before.Add(half).Sub(theirs), doubt: half}, nil
}
