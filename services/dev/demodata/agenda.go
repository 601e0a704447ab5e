package demodata

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/tradegrid/tradegrid/pkg/store/db"
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

// tx runs fn in a transaction. Nobody but the lanes changes the company now, and what they change together is behind locks, so
// it needs no common snapshot. It does not wait for the disk: after a crash the company is made anew.
func (l *lane) tx(ctx context.Context, what string, fn func(ctx context.Context, tx *db.Tx) error) error {
	if err := l.DB.RunTx(ctx, "demo", fn, db.ReadCommitted(), db.AsyncCommit()); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// Lanes of the history. Those of a phase run side by side, one phase of a day after the other: what is created gets its
// numbers in the order of time, and what happens to it later has several lanes.
const (
	laneOrders = iota
	laneSales
	laneBookings
	lanePipeline
	laneLater // the first of those of the second phase
	lanes     = laneLater + 3
)

// step is one thing that happened.
type step struct {
	at   time.Time
	lane int
	run  func(ctx context.Context, l *lane) error

	// Instead of run, for what may share a transaction with other records.
	record any
	change change
}

// change is what happened to a record.
type change func(ctx context.Context, l *lane, tx *db.Tx) error

func (s step) phase() int {
	if s.lane >= laneLater {
		return 1
	}
	return 0
}

// agenda is what happened in the history.
type agenda struct{ steps []step }

// add notes a step.
func (a *agenda) add(at time.Time, lane int, run func(ctx context.Context, l *lane) error) {
	a.steps = append(a.steps, step{at: at, lane: lane, run: run})
}

// later notes what happens to a record on the day of its creation or after it. key chooses the lane: records that are
// changed together have the same.
func (a *agenda) later(at time.Time, key uuid.UUID, record any, do change) {
	a.steps = append(a.steps, step{at: at, lane: laneOf(key), record: record, change: do})
}

// laneOf is the lane of the second phase for a key.
func laneOf(key uuid.UUID) int { return laneLater + int(key[len(key)-1])%(lanes-laneLater) }

// play runs the steps up to the end of the history. Those of one lane run in the order of time. The lanes of a
// phase run side by side, and wait for each other at its end, so that records of different kinds are in order, too.
func (a *agenda) play(ctx context.Context, cfg Config) error {
	steps := slices.DeleteFunc(a.steps, func(s step) bool { return s.at.After(cfg.Now) })
	slices.SortStableFunc(steps, func(x, y step) int {
		return cmp.Or(cmp.Compare(x.day(), y.day()), cmp.Compare(x.phase(), y.phase()), cmp.Compare(x.lane, y.lane), x.at.Compare(y.at))
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
		for len(day) > 0 {
			part := untilChange(day, func(s step) int64 { return int64(s.phase()) })
			day = day[len(part):]
			if err := playPhase(ctx, all[:], part); err != nil {
				return err
			}
		}
	}
	return nil
}

// playPhase runs steps of one phase.
func playPhase(ctx context.Context, all []*lane, steps []step) error {
	g, ctx := errgroup.WithContext(ctx)
	for len(steps) > 0 {
		part := untilChange(steps, func(s step) int64 { return int64(s.lane) })
		steps = steps[len(part):]
		g.Go(func() error { return all[part[0].lane].run(ctx, part) })
	}
	return g.Wait()
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

// Changes within some time share a transaction, up to a number, and with it the time of the last one.
const (
	mostChanges = 10
	changesIn   = 2 * time.Hour
)

// run runs steps one after the other.
func (l *lane) run(ctx context.Context, steps []step) error {
	for len(steps) > 0 {
		some := steps[:together(steps)]
		steps = steps[len(some):]
		last := some[len(some)-1]
		l.set(last.at)
		if err := l.runTogether(ctx, some); err != nil {
			return fmt.Errorf("at %s: %w", last.at.Format(time.RFC3339), err)
		}
	}
	return nil
}

// together is how many of the first steps can share a transaction: changes of different records.
func together(steps []step) int {
	records := map[any]bool{}
	for n, s := range steps {
		if n > 0 && (s.change == nil || n == mostChanges || records[s.record] || s.at.Sub(steps[0].at) > changesIn) {
			return n
		}
		if s.change == nil {
			return 1
		}
		records[s.record] = true
	}
	return len(steps)
}

func (l *lane) runTogether(ctx context.Context, steps []step) error {
	if steps[0].change == nil {
		return steps[0].run(ctx, l)
	}
	return l.tx(ctx, "later", func(ctx context.Context, tx *db.Tx) error {
		for _, s := range steps {
			if err := s.change(ctx, l, tx); err != nil {
				return err
			}
		}
		return nil
	})
}

// begin is the morning of the first day of the history.
func begin(size scale, now time.Time) time.Time {
	y, m, d := now.In(zone()).AddDate(0, 0, -size.days).Date()
	return time.Date(y, m, d, 7, 0, 0, 0, zone())
}

func zone() *time.Location {
	z, err := time.LoadLocation(TimeZone)
	if err != nil {
		panic(err) // the zones are part of the binary
	}
	return z
}

// dayBefore is when the shop prepares its opening.
func (s *shop) dayBefore() time.Time { return s.start.AddDate(0, 0, -1) }

// openDays lists the days of the history on which the shop is open, all but Sundays, and today.
func (s *shop) openDays() []time.Time {
	var days []time.Time
	for i := range s.scale.days + 1 {
		day := s.day(i)
		if day.Weekday() != time.Sunday || i == s.scale.days {
			days = append(days, day)
		}
	}
	return days
}

// day is midnight of the i-th day of the history.
func (s *shop) day(i int) time.Time {
	y, m, d := s.start.AddDate(0, 0, i).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, s.start.Location())
}

// between is a moment of a day; from and to are hours.
func (s *shop) between(day time.Time, from, to int) time.Time {
	minutes := from*60 + s.rng.IntN((to-from)*60)
	return time.Date(day.Year(), day.Month(), day.Day(), 0, minutes, s.rng.IntN(60), 0, day.Location())
}

// whenOpen is t, or if the shop is closed then, a moment of the morning on which it opens again.
func (s *shop) whenOpen(t time.Time) time.Time {
	local := t.In(s.start.Location())
	if h := local.Hour(); h >= 19 {
		local = s.between(local.AddDate(0, 0, 1), 8, 11)
	} else if h < 8 {
		local = s.between(local, 8, 11)
	}
	if local.Weekday() == time.Sunday {
		local = s.between(local.AddDate(0, 0, 1), 8, 11)
	}
	return local
}
