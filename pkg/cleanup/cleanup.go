// Package cleanup deletes rows that have expired, on PostgreSQL. CockroachDB does the same by row-level TTL, which the
// migrations set for the same tables. Who owns a table declares its [Job].
package cleanup

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/telemetry"
)

// batch is how many rows a statement of a job deletes at most.
const batch = 1000

// Job deletes the expired rows of one table.
type Job struct {
	Table string
	SQL   string        // deletes up to 1000 rows that expired before $1
	Keep  time.Duration // how long a row stays after its time
	Every time.Duration // at the most; 0 = each pass
}

// TxMarkers expires the markers by which [db.RunTx] finds out whether a commit happened.
var TxMarkers = Job{Table: "tx_markers", SQL: `DELETE FROM tx_markers WHERE id IN (SELECT id FROM tx_markers WHERE expires_at < $1 LIMIT 1000)`}

// Runner runs jobs in turn, from time to time.
type Runner struct {
	DB    *db.DB
	Jobs  []Job
	Every time.Duration // between passes
	Owner func() bool   // whether this process is the one that cleans up; asked before each batch
	Log   *slog.Logger
}

// Run cleans up until ctx ends. On CockroachDB it returns at once.
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
			if time.Since(last[j.Table]) < j.Every {
				continue
			}
			last[j.Table] = time.Now()
			if err := r.clean(ctx, j); err != nil && ctx.Err() == nil {
				r.Log.WarnContext(ctx, "cleanup failed", "table", j.Table, "error", err)
			}
		}
	}
}

// clean runs one job in short transactions until nothing is left of it.
func (r Runner) clean(ctx context.Context, j Job) error {
	ctx = telemetry.Untraced(ctx)
	before := time.Now().UTC().Add(-j.Keep)
	for r.Owner() && ctx.Err() == nil {
		var n int64
		err := r.DB.RunTx(ctx, "cleanup."+j.Table, func(ctx context.Context, tx *db.Tx) error {
			tag, err := tx.Exec(ctx, j.SQL, before)
			n = tag.RowsAffected()
			return err
		}, db.ReadCommitted(), db.Repeatable())
		if err != nil {
			return fmt.Errorf("delete expired rows of %s: %w", j.Table, err)
		}
		deleted.WithLabelValues(j.Table).Add(float64(n))
		if n < batch {
			return nil
		}
	}
	return nil
}

var deleted = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "tradegrid_housekeeping_deleted_total", Help: "Expired rows that cleanup deleted, by table.",
}, []string{"table"})

// Metrics are the collectors of this package, to be registered once per process. The counters of the jobs are shown from
// the start: a rate does not see the first increment of a counter that was not there before.
func Metrics(jobs []Job) []prometheus.Collector {
	for _, j := range jobs {
		deleted.WithLabelValues(j.Table)
	}
	return []prometheus.Collector{deleted}
}
