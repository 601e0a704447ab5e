package db

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// MaxClockOffset is how far the clock of a process may be from the database's. Positions of events follow the clocks
// of the processes: the relay looks for them within bounds that a wrong clock would break.
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

// reading is one comparison: the offset is right to within the doubt.
type reading struct {
	at            time.Time // zero = never
	offset, doubt time.Duration
}

// NewClock compares now, which is time.Now outside tests, with the clock of the database behind q.
func NewClock(q Querier, now func() time.Time) *Clock { return &Clock{q: q, now: now} }

// Run compares every 10 s until ctx ends. While the database does not answer, the last comparison stays.
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

// Check tells when the clock of this process is surely too far from the database's. It is a condition for readiness.
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
		return fmt.Errorf("the clock of this machine is %s %s the database's, more than %s: look after its time synchronisation",
			r.offset.Abs().Round(time.Millisecond), side, MaxClockOffset)
	}
	return nil
}

func (c *Clock) last() reading {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen
}

// measure asks a few times and believes the quickest answer.
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

// ask takes the middle between question and answer for the moment of the database's reading.
func (c *Clock) ask(ctx context.Context) (reading, error) {
	var theirs time.Time
	before := c.now()
	if err := c.q.QueryRow(ctx, sqlClock).Scan(&theirs); err != nil {
		return reading{}, fmt.Errorf("ask the database for its time: %w", err)
	}
	half := c.now().Sub(before) / 2
	return reading{at: before, offset: before.Add(half).Sub(theirs), doubt: half}, nil
}
