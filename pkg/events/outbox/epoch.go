package outbox

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tradegrid/tradegrid/pkg/kit/telemetry"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

const (
	sqlSelectLogState = `SELECT h.n, e.epoch, COALESCE(f.seq, 0), f.occurred_at FROM event_log_heads AS h
CROSS JOIN event_log_epoch AS e LEFT JOIN event_log_floors AS f ON f.company_id = $1
WHERE h.bucket = $2 AND e.id = 1`
	sqlSelectEpoch = `SELECT epoch, began_at, cause FROM event_log_epoch WHERE id = 1`
	sqlSelectHeads = `SELECT h.bucket, h.n, e.epoch, e.began_at, e.cause FROM event_log_heads AS h CROSS JOIN event_log_epoch AS e WHERE e.id = 1`
)

// Processes that find the same restore begin one epoch: only the first finds the epoch that all of them saw.
var sqlBeginEpoch = eventLogEpoch.Update(`SET epoch = $1, began_at = $2, cause = $3 WHERE id = 1 AND epoch = $4`)

// Epoch is a history of the event log. A restore of the database from a backup begins a new one: positions that were
// assigned after the backup are assigned again, to other events. The number of an epoch is random, because a counter would
// be restored, too; 0 is the first epoch.
type Epoch struct {
	Number  int64
	BeganAt time.Time
	Cause   string // what began it, for people; empty for the first
}

// BeginEpoch begins a new epoch of the event log, because the database was restored. It changes nothing if another epoch
// than before is current, and returns the epoch that is current afterwards.
func BeginEpoch(ctx context.Context, tx *db.Tx, before Epoch, cause string) (now Epoch, err error) {
	now = Epoch{Number: 1 + rand.Int64N(math.MaxInt64), BeganAt: tx.Now(), Cause: cause}
	tag, err := tx.Write(ctx, sqlBeginEpoch, now.Number, now.BeganAt, now.Cause, before.Number)
	if err != nil {
		return Epoch{}, fmt.Errorf("begin epoch of the event log: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return CurrentEpoch(ctx, tx)
	}
	return now, nil
}

// CurrentEpoch reads the epoch of the event log.
func CurrentEpoch(ctx context.Context, q db.Querier) (e Epoch, err error) {
	if err := q.QueryRow(ctx, sqlSelectEpoch).Scan(&e.Number, &e.BeganAt, &e.Cause); err != nil {
		return Epoch{}, fmt.Errorf("read epoch of the event log: %w", err)
	}
	return e, nil
}

// LogState is what decides whether a reader may go on from a cursor.
type LogState struct {
	Epoch int64
	Head  int64 // the last position assigned in the bucket of the company
	Floor Floor
}

// ReadLogState returns the state of a company's log. Read it after the events: what was removed in between is missing there.
func ReadLogState(ctx context.Context, q db.Querier, company tenant.ID) (s LogState, err error) {
	var at *time.Time
	err = q.QueryRow(ctx, sqlSelectLogState, company, Bucket(company)).Scan(&s.Head, &s.Epoch, &s.Floor.Seq, &at)
	if err != nil {
		return LogState{}, fmt.Errorf("read state of the event log: %w", err)
	}
	if at != nil {
		s.Floor.At = *at
	}
	return s, nil
}

// Restored reports whether the cursor was issued before the database was restored from a backup: it is of another epoch, or
// ahead of the log.
func (s LogState) Restored(c Cursor) bool { return c.Epoch != s.Epoch || c.After > s.Head }

// Now is the cursor of a reader that wants what follows.
func (s LogState) Now(now time.Time) Cursor { return Cursor{After: s.Head, Seen: now, Epoch: s.Epoch} }

// epochCheck is the interval at which a process looks whether the log was set back.
const epochCheck = 20 * time.Second

// shownFor is how long /readyz tells of a new epoch.
const shownFor = 7 * day

// EpochWatch finds out, while a process runs, that the database was restored under it: positions of the event log are lower
// than they were, or an epoch that had ended is current again. It begins a new epoch then.
type EpochWatch struct {
	db  *db.DB
	log *slog.Logger

	mu    sync.Mutex
	known bool
	epoch Epoch
	heads map[int32]int64
}

// NewEpochWatch makes a watch that has seen nothing yet.
func NewEpochWatch(d *db.DB, log *slog.Logger) *EpochWatch { return &EpochWatch{db: d, log: log} }

// Run looks at the log until ctx is done.
func (w *EpochWatch) Run(ctx context.Context) error {
	ctx = telemetry.Untraced(ctx)
	t := time.NewTicker(epochCheck)
	defer t.Stop()
	for {
		if err := w.look(ctx); err != nil && ctx.Err() == nil && !db.IsUndefinedTable(err) {
			w.log.WarnContext(ctx, "epoch of the event log not read", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
	}
}

// Notes tell in /readyz of an epoch that began not long ago.
func (w *EpochWatch) Notes() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.epoch.Number == 0 || time.Since(w.epoch.BeganAt) > shownFor {
		return nil
	}
	return []string{fmt.Sprintf("at %s a new epoch of the event log began (%s): cursors issued before are answered 410, numbers of documents made after the backup are given out again",
		w.epoch.BeganAt.UTC().Format(time.RFC3339), w.epoch.Cause)}
}

// look reads epoch and positions, compares them with those seen before, and remembers them.
func (w *EpochWatch) look(ctx context.Context) error {
	epoch, heads, err := w.read(ctx)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if why := w.setBack(epoch, heads); why != "" {
		epoch, err = begin(ctx, w.db, epoch, "found by a running process: "+why)
		if err != nil {
			return err
		}
		w.log.ErrorContext(ctx, "database was restored: new epoch of the event log", "found", why, "epoch", epoch.Number, "see", "docs/restore.md")
	} else if w.known && epoch.Number != w.epoch.Number {
		w.log.WarnContext(ctx, "new epoch of the event log", "cause", epoch.Cause, "began_at", epoch.BeganAt, "epoch", epoch.Number)
	}
	w.known, w.epoch, w.heads = true, epoch, heads
	showEpoch(epoch)
	return nil
}

// setBack says what shows that the log was set back since the last look; "" = nothing.
func (w *EpochWatch) setBack(epoch Epoch, heads map[int32]int64) string {
	switch {
	case !w.known:
		return ""
	case epoch.Number != w.epoch.Number:
		if epoch.BeganAt.Before(w.epoch.BeganAt) {
			return "the epoch of " + w.epoch.BeganAt.UTC().Format(time.RFC3339) + " is gone"
		}
		return ""
	}
	for bucket, n := range heads {
		if before := w.heads[bucket]; n < before {
			return fmt.Sprintf("position %d of bucket %d became %d", before, bucket, n)
		}
	}
	return ""
}

func (w *EpochWatch) read(ctx context.Context) (epoch Epoch, heads map[int32]int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, maxPassTime)
	defer cancel()
	rows, err := w.db.Query(ctx, sqlSelectHeads)
	if err != nil {
		return Epoch{}, nil, fmt.Errorf("read ends of the event log: %w", err)
	}
	heads = make(map[int32]int64, Buckets)
	var bucket int32
	var n int64
	_, err = pgx.ForEachRow(rows, []any{&bucket, &n, &epoch.Number, &epoch.BeganAt, &epoch.Cause}, func() error {
		heads[bucket] = n
		return nil
	})
	if err != nil {
		return Epoch{}, nil, fmt.Errorf("read ends of the event log: %w", err)
	}
	return epoch, heads, nil
}

// begin is [BeginEpoch] in a transaction of its own.
func begin(ctx context.Context, d *db.DB, before Epoch, cause string) (now Epoch, err error) {
	err = d.RunTx(ctx, "outbox.epoch", func(ctx context.Context, tx *db.Tx) (err error) {
		now, err = BeginEpoch(ctx, tx, before, cause)
		return err
	})
	return now, err
}

var epochBegan = prometheus.NewGauge(prometheus.GaugeOpts{
	Name: "tradegrid_event_log_epoch_began_seconds", Help: "Unix time at which the current epoch of the event log began, which a restore of the database does; 0 = the first epoch.",
})

func showEpoch(e Epoch) {
	if e.Number == 0 {
		epochBegan.Set(0)
		return
	}
	epochBegan.Set(float64(e.BeganAt.Unix()))
}

// EpochMetrics are the collectors of [EpochWatch].
func EpochMetrics() []prometheus.Collector { return []prometheus.Collector{epochBegan} }
