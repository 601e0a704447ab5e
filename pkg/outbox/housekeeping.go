package outbox

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/db"
)

// chore deletes up to 1000 rows that are older than its argument.
type chore struct {
	table string
	sql   string
	keep  time.Duration // how long after its time a row stays
	every time.Duration // 0 = each turn
}

// chores are needed on PostgreSQL only: CockroachDB deletes by row-level TTL. The rows of deliveries have no time
// to live of their own; an index on their age would cost more at each delivery than this scan once an hour.
var chores = []chore{
	{table: "idempotency_keys", sql: `DELETE FROM idempotency_keys WHERE (company_id, key) IN (SELECT company_id, key FROM idempotency_keys WHERE expires_at < $1 LIMIT 1000)`},
	{table: "tx_markers", sql: `DELETE FROM tx_markers WHERE id IN (SELECT id FROM tx_markers WHERE expires_at < $1 LIMIT 1000)`},
	{table: "events", sql: `DELETE FROM events WHERE (company_id, seq) IN (SELECT company_id, seq FROM events WHERE expires_at < $1 LIMIT 1000)`},
	{table: "rate_leases", sql: `DELETE FROM rate_leases WHERE (company_id, token_id, node) IN (SELECT company_id, token_id, node FROM rate_leases WHERE expires_at < $1 LIMIT 1000)`, keep: time.Hour},
	{table: "relay_members", sql: `DELETE FROM relay_members WHERE node IN (SELECT node FROM relay_members WHERE expires_at < $1 LIMIT 1000)`, keep: time.Hour},
	{table: "deliveries", sql: `DELETE FROM deliveries WHERE (company_id, subscription_id, id) IN (SELECT company_id, subscription_id, id FROM deliveries WHERE created_at < $1 AND state >= 2 LIMIT 1000)`, keep: 30 * day, every: time.Hour},
}

const sqlMeasure = `SELECT bucket, count(*), min(created_at) FROM outbox WHERE bucket = ANY($1::INT4[]) GROUP BY bucket`

// keepHouse deletes what is over, from time to time, while this relay owns bucket 0: so one relay does it.
func (r *Relay) keepHouse(ctx context.Context) {
	if r.db.Dialect() != db.PostgreSQL {
		return
	}
	last := make(map[string]time.Time)
	t := time.NewTicker(r.cfg.Housekeeping)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		for _, c := range chores {
			if !r.stillOwned(r.parts[0]) || ctx.Err() != nil {
				break
			}
			if time.Since(last[c.table]) < c.every {
				continue
			}
			last[c.table] = time.Now()
			if err := r.clean(untraced(ctx), c); err != nil && ctx.Err() == nil {
				r.log.WarnContext(ctx, "housekeeping failed", "table", c.table, "error", err)
			}
		}
	}
}

// clean runs one chore in short transactions until nothing is left of it.
func (r *Relay) clean(ctx context.Context, c chore) error {
	before := time.Now().UTC().Add(-c.keep)
	for r.stillOwned(r.parts[0]) && ctx.Err() == nil {
		var n int64
		err := r.db.RunTx(ctx, "housekeeping."+c.table, func(ctx context.Context, tx *db.Tx) error {
			tag, err := tx.Exec(ctx, c.sql, before)
			n = tag.RowsAffected()
			return err
		}, db.ReadCommitted(), db.Repeatable())
		if err != nil {
			return fmt.Errorf("delete expired rows of %s: %w", c.table, err)
		}
		housekeepingRows.WithLabelValues(c.table).Add(float64(n))
		if n < 1000 {
			return nil
		}
	}
	return nil
}

// keepStats measures the outbox; when it is so full that counting takes long, it counts seldom.
func (r *Relay) keepStats(ctx context.Context) {
	t := time.NewTimer(r.cfg.Stats)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		start := time.Now()
		if err := r.measure(ctx); err != nil && ctx.Err() == nil {
			r.log.WarnContext(ctx, "outbox not measured", "error", err)
		}
		t.Reset(max(r.cfg.Stats, 20*time.Since(start)))
	}
}

const bucketGroup = 32 // buckets that share a label

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
