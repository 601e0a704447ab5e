package webhooks_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
	"github.com/tradegrid/tradegrid/topics"
)

type told struct {
	Kind, Recipient, Subject, Body string
	Since                          time.Time
}

func (r *kit) told() []told {
	r.t.Helper()
	rows, err := r.db.Query(r.t.Context(), `SELECT kind, recipient, subject, body, since FROM notices WHERE company_id = $1 ORDER BY kind, since`, r.company())
	require.NoError(r.t, err)
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[told])
	require.NoError(r.t, err)
	return all
}

// active makes the company of the kit one that is active.
func (r *kit) active() {
	r.t.Helper()
	_, err := r.db.Exec(r.t.Context(), `INSERT INTO companies (id, name, search_text, status, plan, is_test, cell, home_region, currency, country_prefix, stock_policy, accrual_percent_bp, time_zone, version, ev_pos, created_at, updated_at)
VALUES ($1, 'Nordic', '', 'active', 'standard', false, 'c1', '', 'USD', '+1', 'block', 0, 'UTC', 1, 1, now(), now())`, r.company())
	require.NoError(r.t, err)
}

func (r *kit) set(sub, column string, value any) {
	r.t.Helper()
	_, err := r.db.Exec(r.t.Context(), `UPDATE webhook_subscriptions SET `+column+` = $3 WHERE company_id = $1 AND id = $2`, r.company(), sub, value)
	require.NoError(r.t, err)
}

func TestOwnersLearnOfADisabledSubscription(t *testing.T) {
	t.Parallel()
	r := setup(t)
	s := webhooks.New(webhooks.Config{DB: r.db, Registry: registry(), Policy: policy(), Owners: apitest.Owners})
	made := r.Do(t, "POST", subscriptions, map[string]any{"url": hook + "/private?key=hidden", "events": []string{"*"}, "name": "Mirror"}).OK(201)
	sub, secret := made["id"].(string), made["secret"].(string)
	since := time.Now().Add(-5 * 24 * time.Hour).UTC().Truncate(time.Microsecond)
	r.set(sub, "created_at", since.Add(-time.Hour))
	r.set(sub, "failing_since", since)
	for range 2 {
		_, err := s.Disable(t.Context(), r.company(), uuid.MustParse(sub), "no success since long", time.Now().Add(-time.Hour))
		require.NoError(t, err)
	}
	raised := r.published(topics.Events)
	require.Len(t, raised, 1)
	require.Equal(t, "webhook.disabled", raised[0].Name)
	require.NotContains(t, string(raised[0].Payload), secret[len(secret)-4:], "not even the hint")
	var e struct {
		ActorID string
		Data    map[string]any
	}
	require.NoError(t, json.Unmarshal(raised[0].Payload, &e))
	require.Equal(t, "system", e.ActorID)
	require.Equal(t, "disabled", e.Data["status"])
	require.Equal(t, "no success since long", e.Data["disabledReason"])
	require.Equal(t, since.Format("2006-01-02T15:04:05.000Z"), e.Data["failingSince"])
	require.EqualValues(t, 2, e.Data["version"])
	require.NotContains(t, e.Data, "secretHint")

	got := r.told()
	require.Len(t, got, 1)
	require.Equal(t, "webhook.disabled", got[0].Kind)
	require.Equal(t, "anna@example.com", got[0].Recipient)
	require.Equal(t, `Webhook disabled: "Mirror" to receiver.example.com`, got[0].Subject)
	require.Contains(t, got[0].Body, "no success since long")
	require.NotContains(t, got[0].Body, "hidden")
	require.NotContains(t, got[0].Body, secret)

	// Disabled again after it was enabled by hand, the owners are told again.
	r.Do(t, "PATCH", subscriptions+"/"+sub, map[string]any{"isActive": true}).OK(200)
	r.set(sub, "enabled_at", since)
	_, err := s.Disable(t.Context(), r.company(), uuid.MustParse(sub), "again", time.Now().Add(-time.Hour))
	require.NoError(t, err)
	require.Len(t, r.told(), 2)
}

func TestOwnersLearnOfAnOutage(t *testing.T) {
	t.Parallel()
	now := time.Now().UTC().Truncate(time.Microsecond)
	d := dbtest.OpenNew(t).WithClock(func() time.Time { return now })
	s := webhooks.New(webhooks.Config{DB: d, Registry: registry(), Policy: policy(), Owners: apitest.Owners, Deliveries: store.Deliveries{}, Keys: apitest.Keys(t)})
	server := apitest.New(t, d, s.Register)
	r := &kit{Client: server.Company(), t: t, db: d, server: server}
	r.active()
	sub := r.subscribe()
	tell := func() int {
		require.NoError(t, s.TellFailing(t.Context()))
		return len(r.told())
	}
	require.Zero(t, tell())
	r.set(sub, "failing_since", now.Add(-time.Hour+time.Second))
	require.Zero(t, tell(), "not for an hour yet")
	now = now.Add(time.Minute)
	r.set(sub, "status", "paused")
	require.Zero(t, tell(), "nothing is sent to it")
	r.set(sub, "status", "active")
	require.Equal(t, 1, tell())
	now = now.Add(24 * time.Hour)
	require.Equal(t, 1, tell(), "once")
	require.Contains(t, r.told()[0].Subject, "Webhook failing: to receiver.example.com")
	require.Contains(t, r.told()[0].Body, "since "+now.Add(-25*time.Hour-59*time.Second).Format(time.RFC1123))
	r.set(sub, "failing_since", nil)
	require.Equal(t, 1, tell(), "it is back")
	r.set(sub, "failing_since", now.Add(-2*time.Hour))
	require.Equal(t, 2, tell(), "another outage")
}
