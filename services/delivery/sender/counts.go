package sender

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/telemetry"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/delivery/store"
)

const (
	countsWithin = 5 * time.Second
	// maxUnstored is how many minutes are kept while the database does not take them.
	maxUnstored = 60
)

// counts are the attempts of this process by minute, which it stores once a minute for the chart of operators. A process that is killed
// loses those of its last minute.
type counts struct {
	db                         *db.DB
	sender                     uuid.UUID
	log                        *slog.Logger
	delivered, retried, failed atomic.Int64
	unstored                   []store.AttemptCount // minutes that are over
}

func newCounts(d *db.DB, log *slog.Logger) *counts {
	return &counts{db: d, sender: uuid.New(), log: log}
}

// add counts an attempt.
func (c *counts) add(o outcome) {
	switch o {
	case success:
		c.delivered.Add(1)
	case deadLetter:
		c.failed.Add(1)
	case retry, postpone, holdInDatabase, holdLast:
		c.retried.Add(1)
	}
}

// run stores what was counted, each minute and at the end.
func (c *counts) run(ctx context.Context) {
	ctx = telemetry.Untraced(ctx)
	var last time.Time
	for {
		end := minuteAfter(time.Now(), last)
		t := time.NewTimer(time.Until(end))
		select {
		case <-ctx.Done():
			t.Stop()
			c.store(context.WithoutCancel(ctx), end)
			return
		case <-t.C:
		}
		c.store(ctx, end)
		last = end
	}
}

// minuteAfter is the end of the minute of a time. None comes twice, also if the clock is set back.
func minuteAfter(now, last time.Time) time.Time {
	end := now.UTC().Truncate(time.Minute).Add(time.Minute)
	if !end.After(last) {
		return last.Add(time.Minute)
	}
	return end
}

// store stores what was counted until the end of a minute, and what could not be stored before.
func (c *counts) store(ctx context.Context, end time.Time) {
	c.unstored = append(c.unstored, store.AttemptCount{At: end, Delivered: c.delivered.Swap(0), Retried: c.retried.Swap(0), Failed: c.failed.Swap(0)})
	c.unstored = c.unstored[max(len(c.unstored)-maxUnstored, 0):]
	ctx, cancel := context.WithTimeout(ctx, countsWithin)
	defer cancel()
	err := store.UpsertAttemptCounts(ctx, c.db, c.sender, c.unstored)
	switch {
	case err == nil:
		c.unstored = nil
	case !db.IsUndefinedTable(err): // before `tradegrid migrate` there is none
		c.log.WarnContext(ctx, "counts of attempts not stored", "minutes", len(c.unstored), "error", err)
	}
}
