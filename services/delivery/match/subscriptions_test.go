package match

import (
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// Whoever subscribes and then causes an event gets it, although the router has just looked and no announcement came yet.
func TestNewSubscriptionIsSeenAtOnce(t *testing.T) {
	t.Parallel()
	d, company := dbtest.Open(t), tenant.NewID()
	c, err := NewCache(d, 10, time.Hour, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	load := func() []Subscription {
		found, err := c.Load(t.Context(), []tenant.ID{company})
		require.NoError(t, err)
		return found[company]
	}
	require.Empty(t, load())
	for n := range 3 {
		_, err = d.Pool().Exec(t.Context(), `INSERT INTO webhook_subscriptions (company_id, id, url, events, is_active, status, exclude_own_events, read_scopes, secret, created_by_id, version, ev_pos, created_at, updated_at)
VALUES ($1, $2, 'https://example.com', '{*}', true, 'active', false, '{*:read}', '', $2, 1, 1, now(), now())`, company, uuid.New())
		require.NoError(t, err)
		require.Len(t, load(), n, "what was read is used as long as nothing says that it changed")
		_, err = d.Pool().Exec(t.Context(), `INSERT INTO webhook_companies (company_id, changes) VALUES ($1, 1)
ON CONFLICT (company_id) DO UPDATE SET changes = webhook_companies.changes + 1`, company)
		require.NoError(t, err)
		require.Len(t, load(), n+1)
	}
}
