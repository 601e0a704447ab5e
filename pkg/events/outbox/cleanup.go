package outbox

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/store/cleanup"
)

// CleanupJobs returns the jobs that delete expired events of the event log and expired relay registrations.
func CleanupJobs() []cleanup.Job {
	return []cleanup.Job{
		{Delete: events.Delete(`WHERE (company_id, seq) IN (SELECT company_id, seq FROM events WHERE expires_at < $1 LIMIT 1000)`)},
		{Delete: relayMembers.Delete(`WHERE node IN (SELECT node FROM relay_members WHERE expires_at < $1 LIMIT 1000)`), Keep: time.Hour},
	}
}

// cleanUp deletes expired rows while this relay owns bucket 0, so that only one relay does it.
func (r *Relay) cleanUp(ctx context.Context) {
	cleanup.Runner{
		DB: r.db, Jobs: r.cfg.CleanupJobs, Every: r.cfg.cleanup, Owner: r.ownsFirst, Log: r.log,
	}.Run(ctx)
}

func (r *Relay) ownsFirst() bool { return r.stillOwned(r.parts[0]) }

const sqlMeasure = `SELECT bucket, count(*), min(created_at) FROM outbox WHERE bucket = ANY($1::INT4[]) GROUP BY bucket`

// keepStats measures the outbox periodically. The interval grows with the duration of the count, which limits the load when the outbox is large.
func (r *Relay) keepStats(ctx context.Context) {
	t := time.NewTimer(r.cfg.stats)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		start := time.Now()
		if err := r.measure(ctx); err != nil && ctx.Err() == nil {
			r.log.WarnContext(ctx, "measuring the outbox failed", "error", err)
		}
		t.Reset(max(r.cfg.stats, 20*time.Since(start)))
	}
}

const bucketGroup = 32 // buckets per label value

func (r *Relay) measure(ctx context.Context) error {
	type count struct {
		Bucket int32
		Rows   int64
		Oldest time.Time
	}
	mine := r.held()
	counts, err := read(ctx, r.db, pgx.RowToStructByPos[count], sqlMeasure, mine)
	if err != nil {
		return fmt.Errorf("count outbox rows: %w", err)
	}
	var groups [Buckets / bucketGroup]int64
	var age time.Duration
	for _, c := range counts {
		groups[c.Bucket/bucketGroup] += c.Rows
		age = max(age, time.Since(c.Oldest))
	}
	for g, n := range groups {
		outboxRows.WithLabelValues(strconv.Itoa(g)).Set(float64(n))
	}
	outboxOldest.Set(age.Seconds())
	return nil
}
