package webhooks_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
)

func (r *kit) service() (*webhooks.Service, access.Caller) {
	s := webhooks.New(webhooks.Config{DB: r.db, Registry: registry(), Policy: policy(), Deliveries: store.Deliveries{}, Keys: apitest.Keys(r.t)})
	return s, access.Caller{Principal: &access.Principal{Company: r.company(), Scopes: access.Scopes{"*:read"}, Components: r.Principal.Components}}
}

// Deliveries are counted in the hour of their event, and those that wait however old they are.
func TestActivityOfSubscriptions(t *testing.T) {
	t.Parallel()
	r := setup(t)
	s, by := r.service()
	one, two := r.subscribe(), r.Do(t, "POST", subscriptions, map[string]any{"url": hook + "/two", "events": []string{"*"}}).OK(201)["id"].(string)
	hour := time.Now().UTC().Truncate(time.Hour)
	put := func(sub string, state int16, at time.Time) {
		id := uuid.Must(uuid.NewV7())
		ms := at.UnixMilli()
		for i := range 6 {
			id[i] = byte(ms >> (40 - 8*i))
		}
		r.delivery(sub, id, "order.created", state, at)
	}
	const success, failed, pending = 2, 3, 0
	for i := range 5 {
		put(one, success, hour.Add(-3*time.Hour+time.Duration(i)*time.Minute))
	}
	put(one, failed, hour.Add(-3*time.Hour))
	put(one, failed, hour.Add(-25*time.Hour)) // before the hours
	put(one, pending, hour.Add(-2*time.Hour))
	put(one, pending, hour.Add(-40*time.Hour))
	put(one, success, hour)
	put(two, success, hour.Add(-23*time.Hour))
	ids := []uuid.UUID{uuid.MustParse(one), uuid.MustParse(two)}
	all, err := s.Activity(t.Context(), by, ids)
	require.NoError(t, err)
	a, b := all[ids[0]], all[ids[1]]
	require.Len(t, a.Hours, 24)
	require.Equal(t, webhooks.Hour{From: hour.Add(-3 * time.Hour), Total: 6, Failed: 1}, a.Hours[20])
	require.Equal(t, webhooks.Hour{From: hour.Add(-2 * time.Hour), Total: 1, Open: 1}, a.Hours[21])
	require.Equal(t, 1, a.Hours[23].Total)
	total, about := a.Total()
	require.Equal(t, 8, total)
	require.False(t, about)
	require.Equal(t, 1, a.Failed)
	require.Equal(t, 2, a.Waiting)
	require.Equal(t, 1, a.Retrying, "the other one is of an event before the hours")
	require.WithinDuration(t, hour.Add(-40*time.Hour), *a.Oldest, 0)
	require.WithinDuration(t, hour.Add(-18*time.Hour), *a.Expires, 0)
	require.Equal(t, 1, b.Hours[0].Total)
	require.Nil(t, b.Oldest)

	stranger := access.Caller{Principal: &access.Principal{Company: setup(t).company(), Scopes: access.Scopes{"*:read"}}}
	all, err = s.Activity(t.Context(), stranger, ids)
	require.NoError(t, err)
	require.Zero(t, all[ids[0]].Waiting, "ids of another company have no deliveries")
}

// An hour with more deliveries than a page looks at is estimated by the time that the first ones took.
func TestActivityOfBusySubscriptions(t *testing.T) {
	t.Parallel()
	r := setup(t)
	s, by := r.service()
	sub := uuid.MustParse(r.subscribe())
	began := time.Now().UTC().Truncate(time.Hour).Add(-2 * time.Hour)
	_, err := r.db.Exec(t.Context(), `INSERT INTO deliveries (company_id, subscription_id, id, event_id, event, state, attempt, expires_at, is_test, created_at, updated_at)
SELECT $1, $2, (lpad(to_hex($3::BIGINT + g * 1000), 12, '0') || '7000' || '8000' || lpad(to_hex(g), 12, '0'))::UUID, gen_random_uuid(), 'order.created', 2, 1, now(), false, now(), now()
FROM generate_series(0, 3599) AS g`, r.company(), sub, began.UnixMilli())
	require.NoError(t, err)
	all, err := s.Activity(t.Context(), by, []uuid.UUID{sub})
	require.NoError(t, err)
	h := all[sub].Hours[21]
	require.Equal(t, began, h.From)
	require.True(t, h.About)
	require.InDelta(t, 3600, h.Total, 10)
}

// A change token is another one after whatever a page shows has changed, and the same otherwise.
func TestChangeTokensTellOfChanges(t *testing.T) {
	t.Parallel()
	r := setup(t)
	s, _ := r.service()
	id := r.subscribe()
	sub, event, now := uuid.MustParse(id), uuid.Must(uuid.NewV7()), time.Now().UTC()
	tokens := func() (all [4]string) {
		var err error
		all[0], err = s.SubscriptionsToken(t.Context(), r.company())
		require.NoError(t, err)
		all[1], err = s.SubscriptionToken(t.Context(), r.company(), sub)
		require.NoError(t, err)
		all[2], err = s.EventToken(t.Context(), r.company(), event)
		require.NoError(t, err)
		return all
	}
	before := tokens()
	require.Equal(t, before, tokens())
	d := r.delivery(id, event, "order.created", 0, now)
	after := tokens()
	require.Equal(t, before[0], after[0])
	require.NotEqual(t, before[1], after[1])
	require.NotEqual(t, before[2], after[2])
	was, err := s.DeliveryToken(t.Context(), r.company(), sub, d)
	require.NoError(t, err)
	_, err = r.db.Exec(t.Context(), `UPDATE deliveries SET state = 2, updated_at = updated_at + interval '1 second' WHERE company_id = $1 AND id = $2`, r.company(), d)
	require.NoError(t, err)
	is, err := s.DeliveryToken(t.Context(), r.company(), sub, d)
	require.NoError(t, err)
	require.NotEqual(t, was, is)
	done := tokens()
	require.NotEqual(t, after[1], done[1])
	require.NotEqual(t, after[2], done[2])
	r.Do(t, "PATCH", subscriptions+"/"+id, `{"name":"Another"}`).OK(200)
	require.NotEqual(t, done[0], tokens()[0])
	other, err := s.SubscriptionToken(t.Context(), setup(t).company(), sub)
	require.NoError(t, err)
	require.NotEqual(t, done[1], other)
}

// A preview says of real events what the subscription would have got, in the words of an explanation.
func TestTryOnRealEvents(t *testing.T) {
	t.Parallel()
	r := setup(t)
	s, by := r.service()
	now := time.Now().UTC().Add(-time.Hour)
	type order struct {
		ID     uuid.UUID `json:"id"`
		Status string    `json:"status"`
	}
	for i, status := range []string{"new", "paid"} {
		r.logAs("order.created", "system", uuid.New(), order{uuid.New(), status}, now.Add(time.Duration(i)*time.Second))
	}
	r.log("product.created", uuid.New(), now)
	filter := jsontype.Object(`{"data.status":"new","data.zone":1}`)
	in := webhooks.SubscriptionFields{Events: []string{"order.*"}, Filter: &filter}
	previews, err := s.Preview(t.Context(), by, in, 20)
	require.NoError(t, err)
	require.Len(t, previews, 2)
	require.Equal(t, "filtered", previews[0].Outcome)
	require.Equal(t, "data.status", previews[0].Filter.Key)
	require.JSONEq(t, `"new"`, string(previews[0].Filter.Wanted))
	require.JSONEq(t, `"paid"`, string(previews[0].Filter.Found))
	require.Equal(t, "data.zone", previews[1].Filter.Key)
	require.True(t, previews[1].Filter.Missing)

	filter = `{"data.status":["new"]}`
	previews, err = s.Preview(t.Context(), by, in, 20)
	require.NoError(t, err)
	require.Equal(t, "delivered", previews[1].Outcome)
	_, err = s.Preview(t.Context(), by, webhooks.SubscriptionFields{}, 20)
	require.ErrorContains(t, err, "events")
	filter = `{"data..x":1}`
	_, err = s.Preview(t.Context(), by, in, 20)
	require.Error(t, err)
	narrow := access.Caller{Principal: &access.Principal{Company: by.Company, Scopes: access.Scopes{"catalog:read"}, Components: by.Components}}
	previews, err = s.Preview(t.Context(), narrow, webhooks.SubscriptionFields{Events: []string{"*"}}, 20)
	require.NoError(t, err)
	require.Len(t, previews, 1, "only what the caller may read")
}

// Shares say which events happened most among those that the caller may read, and how many of each a subscription gets as it is now,
// although the platform has disabled it.
func TestSharesOfEvents(t *testing.T) {
	t.Parallel()
	r := setup(t)
	s, by := r.service()
	sub := uuid.MustParse(r.Do(t, "POST", subscriptions, `{"url":"`+hook+`","events":["order.*"],"filter":{"data.status":["new"]}}`).OK(201)["id"].(string))
	_, err := r.db.Exec(t.Context(), `UPDATE webhook_subscriptions SET status = 'disabled' WHERE company_id = $1 AND id = $2`, r.company(), sub)
	require.NoError(t, err)
	shares := func(by access.Caller, limit int) webhooks.EventShares {
		t.Helper()
		got, err := s.Shares(t.Context(), by, sub, limit)
		require.NoError(t, err)
		return got
	}
	require.Empty(t, shares(by, 10))
	at := time.Now().UTC().Add(-time.Hour).Truncate(time.Millisecond)
	type order struct {
		ID     uuid.UUID `json:"id"`
		Status string    `json:"status"`
	}
	log := func(event, status string, after time.Duration) {
		r.logAs(event, "system", uuid.New(), order{uuid.New(), status}, at.Add(after))
	}
	log("product.created", "new", 0)
	for i, status := range []string{"paid", "new", "paid"} {
		log("order.created", status, time.Duration(i+1)*time.Second)
	}
	log("order.updated", "new", 4*time.Second)
	got := shares(by, 10)
	require.Equal(t, []webhooks.EventShare{
		{Event: "order.created", Happened: 3, Wanted: 1, Why: "filtered"},
		{Event: "order.updated", Happened: 1, Wanted: 1},
		{Event: "product.created", Happened: 1, Why: "not_subscribed"},
	}, got.Names)
	require.Equal(t, 5, got.Events)
	require.True(t, at.Equal(got.Since), "%s", got.Since)
	require.Equal(t, 2, shares(by, 2).Events, "the last ones")
	narrow := access.Caller{Principal: &access.Principal{Company: by.Company, Scopes: access.Scopes{"catalog:read"}, Components: by.Components}}
	require.Equal(t, []webhooks.EventShare{{Event: "product.created", Happened: 1, Why: "not_subscribed"}}, shares(narrow, 10).Names, "only what the caller may read")
	_, err = s.Shares(t.Context(), access.Caller{Principal: &access.Principal{Company: setup(t).company(), Scopes: access.Scopes{"*:read"}}}, sub, 10)
	require.Error(t, err, "of another company")
}
