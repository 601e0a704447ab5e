// Package cleanup deletes expired rows on PostgreSQL. CockroachDB does the same by row-level TTL, which the
// migrations set up for the same tables. The package that owns a table declares its [Job].
package cleanup

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tradegrid/tradegrid/pkg/kit/telemetry"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// batch is the maximum number of rows that a statement of a job deletes.
const batch = 1000

// Job deletes the expired rows of one table.
type Job struct {
	Delete db.Write      // up to 1000 rows that expired before $1
	Keep   time.Duration // how long rows are kept after they expire
	Every  time.Duration // minimum interval between runs; 0 = every pass
}

// Table is the name of the table.
func (j Job) Table() string { return string(j.Delete.Changes()[0]) }

// TxMarkers deletes expired markers, by which [db.RunTx] finds out whether a transaction was committed.
var TxMarkers = Job{Delete: db.TxMarkers.Delete(`WHERE id IN (SELECT id FROM tx_markers WHERE expires_at < $1 LIMIT 1000)`)}

// Runner runs jobs one after the other, periodically.
type Runner struct {
	DB    *db.DB
	Jobs  []Job
	Every time.Duration // interval between passes
	Owner func() bool   // reports whether this process should clean up; called before each batch
	Log   *slog.Logger
}

// Run cleans up until ctx is done. On CockroachDB it returns immediately.
func (r Runner) Run(ctx context.Context) {
	if r.DB.Dialect() != db.PostgreSQL {
		return
	}
	last := make(map[string]time.Time)
	t := time.NewTicker(r.Every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		for _, j := range r.Jobs {
			if !r.Owner() || ctx.Err() != nil {
				break
			}
			if time.Since(last[j.Table()]) < j.Every {
				continue
			}
			last[j.Table()] = time.Now()
			if err := r.clean(ctx, j); err != nil && ctx.Err() == nil {
				r.Log.WarnContext(ctx, "cleanup failed", "table", j.Table(), "error", err)
			}
		}
	}
}

// clean runs one job in short transactions until no expired rows are left.
func (r Runner) clean(ctx context.Context, j Job) error {
	ctx = telemetry.Untraced(ctx)
	before := time.Now().UTC().Add(-j.Keep)
	for r.Owner() && ctx.Err() == nil {
		var n int64
		err := r.DB.RunTx(ctx, "cleanup."+j.Table(), func(ctx context.Context, tx *db.Tx) error {
			tag, err := tx.Write(ctx, j.Delete, before)
			n = tag.RowsAffected()
			return err
		}, db.ReadCommitted(), db.Repeatable())
		if err != nil {
			return fmt.Errorf("delete expired rows of %s: %w", j.Table(), err)
		}
		deleted.WithLabelValues(j.Table()).Add(float64(n))
		if n < batch {
			return nil
		}
	}
	return nil
}

var deleted = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "tradegrid_housekeeping_deleted_total", Help: "Expired rows deleted by cleanup, by table.",
}, []string{"table"})

// Metrics returns the collectors of this package, to be registered once per process. The counters of all jobs start at 0,
// because rate() misses the first increment of a series that did not exist before.
func Metrics(jobs []Job) []prometheus.Collector {
	for _, j := range jobs {
		deleted.WithLabelValues(j.Table())
	}
	return []prometheus.Collector{deleted}
}
