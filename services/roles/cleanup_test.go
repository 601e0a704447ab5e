package roles

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/cleanup"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

func TestCleanupDeletesOnlyWhatHasExpired(t *testing.T) {
	t.Parallel()
	dbtest.Only(t, db.PostgreSQL, "CockroachDB deletes by row-level TTL, which package migrate's overlays set up")
	d := dbtest.OpenNew(t)
	c := tenant.NewID()
	exec := func(sql string, args ...any) {
		_, err := d.Exec(t.Context(), sql, args...)
		require.NoError(t, err)
	}
	for i, expires := range []time.Time{time.Now().Add(-40 * 24 * time.Hour), time.Now().Add(24 * time.Hour)} {
		exec(`INSERT INTO tx_markers (id, expires_at) VALUES ($1, $2)`, uuid.New(), expires)
		exec(`INSERT INTO idempotency_keys (company_id, key, fingerprint, state, lease_id, lease_until, expires_at) VALUES ($1, $2, '', 1, $2, $3, $3)`, c, uuid.New(), expires)
		exec(`INSERT INTO events (company_id, seq, id, event, agg_type, agg_id, agg_version, body, occurred_at, expires_at) VALUES ($1, $2, $3, 'x', 'x', $3, 1, '', $4, $4)`, c, i+1, uuid.New(), expires)
		exec(`INSERT INTO rate_leases (company_id, token_id, node, demand, expires_at) VALUES ($1, $2, 'n', 1, $3)`, c, uuid.New(), expires)
		exec(`INSERT INTO relay_members (node, expires_at) VALUES ($1, $2)`, uuid.NewString(), expires)
		exec(`INSERT INTO processes (id, node, role, release, contracts, started_at, expires_at) VALUES ($1, 'n', 'api', '1', '{}', $2, $2)`, uuid.New(), expires)
		exec(`INSERT INTO admin_changes (id, created_at, operator, operation, of_company, request_id, expires_at) VALUES ($1, $2, 'x', 'x', $3, 'x', $2)`, uuid.New(), expires, c)
		exec(`INSERT INTO storage_usage (company_id, kind, expires_at, bytes) VALUES ($1, 'answers', $2, 1)`, c, expires)
		exec(`INSERT INTO job_chunks (company_id, job_id, n, body, expires_at) VALUES ($1, $2, 1, '', $3)`, c, uuid.New(), expires)
		exec(`INSERT INTO job_inputs (company_id, job_id, n, body, expires_at) VALUES ($1, $2, 1, '', $3)`, c, uuid.New(), expires)
		exec(`INSERT INTO jobs (company_id, id, type, status, resources, caller, input, state, steps, done, total, result_bytes, tries, run_at, served_at,
			lease_owner, lease_epoch, lease_until, created_at, updated_at, expires_at) VALUES ($1, $2, 'x', 'pending', '{}', '{}', '{}', '{}', 0, 0, 0, 0, 0, $3, $3, '', 0, $3, $3, $3, $3)`,
			c, uuid.New(), expires)
		exec(`INSERT INTO api_requests (company_id, id, created_at, method, route, operation, scope, path, status, duration_ms, token_id, token_name, address, represents, body_bytes)
			VALUES ($1, $2, $3, 'GET', '/x', 'x', '', '/x', 200, 1, $2, 'x', '192.0.2.1', 1, 0)`, c, uuid.New(), expires)
		exec(`INSERT INTO notices (company_id, kind, record_id, since, recipient, subject, body, status, tries, next_at, created_at, expires_at)
			VALUES ($1, 'x', $2, $3, '', '', '', 'sent', 1, $3, $3, $3)`, c, uuid.New(), expires)
		exec(`INSERT INTO sessions (company_id, id, user_id, hash, stage, operator, address, agent, created_at, seen_at, expires_at)
			VALUES ($1, $2, $2, $3, 'full', '', '', '', $4, $4, $4)`, c, uuid.New(), []byte(uuid.NewString()), expires)
		exec(`INSERT INTO account_links (company_id, id, user_id, kind, hash, created_at, expires_at) VALUES ($1, $2, $2, 'reset', $3, $4, $4)`, c, uuid.New(), []byte(uuid.NewString()), expires)
		exec(`INSERT INTO booking_holds (company_id, id, resource_id, start_at, duration_minutes, hold_minutes, end_at, buffer_before_minutes, buffer_after_minutes, expires_at,
			version, ev_pos, created_at, updated_at) VALUES ($1, $2, $2, $3, 5, 5, $4, 0, 0, $3, 1, 1, $3, $3)`, c, uuid.New(), expires, expires.Add(5*time.Minute))
		exec(`INSERT INTO sale_drafts (company_id, id, name, sale, expires_at, created_by_id, version, ev_pos, created_at, updated_at) VALUES ($1, $2, 'x', '{}', $3, $2, 1, 1, $3, $3)`, c, uuid.New(), expires)
		exec(`INSERT INTO attempt_counts (at, sender, delivered, retried, failed, expires_at) VALUES ($1, $2, 0, 0, 0, $1)`, expires, uuid.New())
		exec(`INSERT INTO pipeline_samples (at, published, outbox_rows, outbox_age_ms, open_deliveries, open_age_ms, expires_at) VALUES ($1, 0, 0, 0, 0, 0, $1)`, expires)
		exec(`INSERT INTO sign_in_limits (key, arrival, expires_at) VALUES ($1, $2, $2)`, uuid.NewString(), expires)
		for _, state := range []int{0, 2} {
			exec(`INSERT INTO deliveries (company_id, subscription_id, id, event_id, event, state, attempt, expires_at, is_test, created_at, updated_at)
				VALUES ($1, $2, $2, $2, 'x', $3, 1, $4, false, $4, $4)`, c, uuid.New(), state, expires)
		}
	}
	left := map[string]int{"tx_markers": 1, "idempotency_keys": 1, "events": 1, "rate_leases": 1, "relay_members": 1, "processes": 1, "deliveries": 3, "storage_usage": 1, "jobs": 1, "job_chunks": 1, "job_inputs": 1, "admin_changes": 1, "api_requests": 1, "notices": 1, "sessions": 1, "account_links": 1, "sign_in_limits": 1, "booking_holds": 1, "sale_drafts": 1, "pipeline_samples": 1, "attempt_counts": 1}
	jobs := CleanupJobs()
	require.Len(t, jobs, len(left), "each job has a row above")
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		cleanup.Runner{DB: d, Jobs: jobs, Every: 10 * time.Millisecond, Owner: func() bool { return true }, Log: slog.New(slog.DiscardHandler)}.Run(ctx)
	}()
	count := func(table string) (n int) {
		sql, args := `SELECT count(*) FROM `+table, []any{}
		switch table {
		case "tx_markers", "relay_members", "processes", "sign_in_limits", "pipeline_samples", "attempt_counts": // belong to no company
		case "admin_changes":
			sql, args = sql+` WHERE of_company = $1`, append(args, c)
		default:
			sql, args = sql+` WHERE company_id = $1`, append(args, c)
		}
		require.NoError(t, d.QueryRow(t.Context(), sql, args...).Scan(&n))
		return n
	}
	for table, n := range left {
		require.True(t, slices.ContainsFunc(jobs, func(j cleanup.Job) bool { return j.Table() == table }), table)
		require.Eventually(t, func() bool { return count(table) <= n }, time.Minute, 10*time.Millisecond, table)
		require.Equal(t, n, count(table), table)
	}
	stop()
	<-done
}
