package demodata

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tradegrid/tradegrid/pkg/db"
)

// lane creates records one after the other, with a clock of its own.
type lane struct {
	Services
	micros *atomic.Int64
}

func newLane(cfg Config) *lane {
	l := &lane{micros: new(atomic.Int64)}
	l.Services = cfg.Services(func() time.Time { return time.UnixMicro(l.micros.Load()) })
	return l
}

func (l *lane) set(t time.Time) { l.micros.Store(t.UnixMicro()) }

// tick moves the clock a little, so that records that are made in one go can be sorted by time.
func (l *lane) tick() { l.micros.Add(17_000_000) }

// tx runs fn in a transaction.
func (l *lane) tx(ctx context.Context, what string, fn func(ctx context.Context, tx *db.Tx) error) error {
	if err := l.DB.RunTx(ctx, "demo", fn); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// Lanes of the history.
const (
	laneOrders = iota
	laneSales
	laneBookings
	lanePipeline
	lanes
)

// step is one thing that happened.
type step struct {
	at   time.Time
	lane int
	run  func(ctx context.Context, l *lane) error
}

// agenda is what happened in the history.
type agenda struct{ steps []step }

// add notes a step.
func (a *agenda) add(at time.Time, lane int, run func(ctx context.Context, l *lane) error) {
	a.steps = append(a.steps, step{at, lane, run})
}

// play runs the steps up to the end of the history. Those of one lane run in the order of time. The lanes run side by side,
// and wait for each other at the end of each day, so that records of different kinds are in order, too.
func (a *agenda) play(ctx context.Context, cfg Config) error {
	steps := slices.DeleteFunc(a.steps, func(s step) bool { return s.at.After(cfg.Now) })
	slices.SortStableFunc(steps, func(x, y step) int {
		return cmp.Or(cmp.Compare(x.day(), y.day()), cmp.Compare(x.lane, y.lane), x.at.Compare(y.at))
	})
	var all [lanes]*lane
	for i := range all {
		all[i] = newLane(cfg)
	}
	for len(steps) > 0 {
		day := untilChange(steps, step.day)
		steps = steps[len(day):]
		if day[0].at.Weekday() == time.Monday {
			cfg.Progress("demo data: orders, sales and bookings of the week of %s", day[0].at.Format(time.DateOnly))
		}
		g, ctx := errgroup.WithContext(ctx)
		for len(day) > 0 {
			part := untilChange(day, func(s step) int64 { return int64(s.lane) })
			day = day[len(part):]
			g.Go(func() error { return all[part[0].lane].run(ctx, part) })
		}
		if err := g.Wait(); err != nil {
			return err
		}
	}
	return nil
}

// day numbers the days.
func (s step) day() int64 { return s.at.Unix() / int64(24*time.Hour/time.Second) }

// untilChange returns the first steps that have a value in common.
func untilChange(steps []step, value func(step) int64) []step {
	n := 1
	for n < len(steps) && value(steps[n]) == value(steps[0]) {
		n++
	}
	return steps[:n]
}

// run runs steps one after the other.
func (l *lane) run(ctx context.Context, steps []step) error {
	for _, s := range steps {
		l.set(s.at)
		if err := s.run(ctx, l); err != nil {
			return fmt.Errorf("at %s: %w", s.at.Format(time.RFC3339), err)
		}
	}
	return nil
}
