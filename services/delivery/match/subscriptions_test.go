package match

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// stored makes a subscription.
func stored(t *testing.T, d *db.DB, company tenant.ID) {
	t.Helper()
	_, err := d.Pool().Exec(t.Context(), `INSERT INTO webhook_subscriptions (company_id, id, url, events, is_active, status, exclude_own_events, read_scopes, secret, created_by_id, version, ev_pos, created_at, updated_at)
VALUES ($1, $2, 'https://example.com', '{*}', true, 'active', false, '{*:read}', '', $2, 1, 1, now(), now())`, company, uuid.New())
	require.NoError(t, err)
}

// changed counts a change of the subscriptions of a company.
func changed(t *testing.T, d *db.DB, company tenant.ID) {
	t.Helper()
	_, err := d.Pool().Exec(t.Context(), `INSERT INTO webhook_companies (company_id, changes) VALUES ($1, 1)
ON CONFLICT (company_id) DO UPDATE SET changes = webhook_companies.changes + 1`, company)
	require.NoError(t, err)
}

// Whoever subscribes and then causes an event gets it, although the router has just looked and no announcement came yet.
func TestNewSubscriptionIsSeenAtOnce(t *testing.T) {
	t.Parallel()
	d, company := dbtest.Open(t), tenant.NewID()
	c, err := NewCache(d, 10, time.Hour, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	load := func() []Subscription {
		found, err := c.Load(t.Context(), []tenant.ID{company}, nil)
		require.NoError(t, err)
		return found[company]
	}
	require.Empty(t, load())
	for n := range 3 {
		stored(t, d, company)
		require.Len(t, load(), n, "what was read is used as long as nothing says that it changed")
		changed(t, d, company)
		require.Len(t, load(), n+1)
	}
}

// What events say of the changes replaces the question, and whatever else they say does not.
func TestChangesThatEventsKnowOfAreNotAskedFor(t *testing.T) {
	t.Parallel()
	d, one, two := dbtest.Open(t), tenant.NewID(), tenant.NewID()
	q := &counted{Querier: d}
	c, err := NewCache(q, 10, time.Hour, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	load := func(seen map[tenant.ID]int64) (ofOne, queries int) {
		before := q.queries
		found, err := c.Load(t.Context(), []tenant.ID{one, two}, seen)
		require.NoError(t, err)
		return len(found[one]), q.queries - before
	}
	expect := func(subs, queries int, seen map[tenant.ID]int64, why string) {
		t.Helper()
		ofOne, n := load(seen)
		require.Equal(t, subs, ofOne, why)
		require.Equal(t, queries, n, why)
	}
	expect(0, 2, map[tenant.ID]int64{one: 0, two: 0}, "nothing is cached")
	expect(0, 0, map[tenant.ID]int64{one: 0, two: 0}, "as cached")
	expect(0, 1, map[tenant.ID]int64{one: 0}, "unknown for the other one")
	stored(t, d, one)
	changed(t, d, one)
	expect(1, 2, map[tenant.ID]int64{one: 1, two: 0}, "an event after the change")
	expect(1, 1, map[tenant.ID]int64{one: 0, two: 0}, "an event before it")
	expect(1, 1, map[tenant.ID]int64{one: 7, two: 0}, "of a database that was restored since")
	expect(1, 0, map[tenant.ID]int64{one: 1, two: 0}, "as cached")
}

// counted counts the queries.
type counted struct {
	db.Querier
	queries int
}

func (c *counted) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	c.queries++
	return c.Querier.Query(ctx, sql, args...)
}

// What is used and expires soon is read with what has expired, and a change in between is seen all the same.
func TestSubscriptionsThatExpireSoonAreReadTogether(t *testing.T) {
	t.Parallel()
	d, one, two := dbtest.Open(t), tenant.NewID(), tenant.NewID()
	q, now := &counted{Querier: d}, time.Now()
	c, err := NewCache(q, 10, 10*time.Second, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	c.now = func() time.Time { return now }
	load := func(after time.Duration, company tenant.ID) (subs, queries int) {
		now = now.Add(after)
		before := q.queries
		found, err := c.Load(t.Context(), []tenant.ID{company}, nil)
		require.NoError(t, err)
		return len(found[company]), q.queries - before
	}
	queries := func(after time.Duration, company tenant.ID) int {
		_, n := load(after, company)
		return n
	}
	require.Equal(t, 2, queries(0, one), "the changes and the subscriptions")
	require.Equal(t, 2, queries(2*time.Second, two))
	require.Equal(t, 1, queries(2*time.Second, two), "used")
	require.Equal(t, 2, queries(7*time.Second, one), "and the other one with it")
	require.Equal(t, 1, queries(8*time.Second, two))

	stored(t, d, two)
	changed(t, d, two)
	subs, n := load(0, two)
	require.Equal(t, 1, subs)
	require.Equal(t, 2, n)
}
