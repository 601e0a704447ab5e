package webhooks_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// stored is a delivery as the test knows it.
type stored struct {
	id, sub, event, entity uuid.UUID
	name, status, answer   string
	at                     time.Time
}

// walk reads all pages and returns the ids.
func (r *kit) walk(query url.Values) (ids []string) {
	r.t.Helper()
	for pages := 0; ; pages++ {
		require.Less(r.t, pages, 1000)
		page := r.Do(r.t, "GET", "/webhooks/deliveries?"+query.Encode(), nil).OK(200)
		for _, v := range page["items"].([]any) {
			ids = append(ids, v.(map[string]any)["id"].(string))
		}
		require.Equal(r.t, page["hasMore"], page["nextCursor"] != nil)
		if page["hasMore"] == false {
			return ids
		}
		query.Set("cursor", page["nextCursor"].(string))
	}
}

// Every combination of filters is walked in pages, and compared with what the test stored.
func TestCompanyDeliveries(t *testing.T) {
	t.Parallel()
	r := setup(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	start := time.Now().UTC().Add(-time.Hour).Truncate(time.Millisecond)
	entities := []uuid.UUID{uuid.New(), uuid.New()}
	names := []string{"order.created", "order.updated", "product.created"}
	codes := map[string]any{"2xx": 204, "4xx": 404, "5xx": 500, "none": nil}
	answers := []string{"2xx", "4xx", "5xx", "none"}
	var subs []uuid.UUID
	for n := range 3 {
		made := r.Do(t, "POST", subscriptions, map[string]any{"url": fmt.Sprint(hook, n), "events": []string{"*"}}).OK(201)
		subs = append(subs, uuid.MustParse(made["id"].(string)))
	}
	var all []stored
	for n := range 60 {
		entity, name, at := entities[random.IntN(2)], names[random.IntN(3)], start.Add(time.Duration(n/3)*time.Minute)
		event, _ := r.log(name, entity, at)
		for _, sub := range subs {
			if random.IntN(3) == 0 {
				continue
			}
			state, answer := random.IntN(4), answers[random.IntN(4)]
			id := r.delivery(sub.String(), event, name, int16(state), at)
			_, err := r.db.Exec(t.Context(), `UPDATE deliveries SET http_code = $3 WHERE company_id = $1 AND id = $2`, r.company(), id, codes[answer])
			require.NoError(t, err)
			all = append(all, stored{id, sub, event, entity, name, webhook.States[state].String(), answer, timeOf(event)})
		}
	}
	slices.SortFunc(all, func(a, b stored) int { return slices.Compare(b.id[:], a.id[:]) })
	for range 60 {
		query := url.Values{"limit": {fmt.Sprint(1 + random.IntN(40))}}
		checks := []func(stored) bool{}
		narrow := func(key, value string, check func(stored) bool) {
			if random.IntN(4) == 0 {
				query.Set(key, value)
				checks = append(checks, check)
			}
		}
		one := all[random.IntN(len(all))]
		narrow("subscriptionId", one.sub.String(), func(d stored) bool { return d.sub == one.sub })
		narrow("status", one.status, func(d stored) bool { return d.status == one.status })
		narrow("answer", one.answer, func(d stored) bool { return d.answer == one.answer })
		narrow("events", "order.*,webhook.test", func(d stored) bool { return d.name != "product.created" })
		narrow("eventId", one.event.String(), func(d stored) bool { return d.event == one.event })
		narrow("entityId", one.entity.String(), func(d stored) bool { return d.entity == one.entity })
		narrow("dateFrom", one.at.Format(time.RFC3339Nano), func(d stored) bool { return !d.at.Before(one.at) })
		narrow("dateTo", one.at.Format(time.RFC3339Nano), func(d stored) bool { return !d.at.After(one.at) })
		var want []string
		for _, d := range all {
			if !slices.ContainsFunc(checks, func(check func(stored) bool) bool { return !check(d) }) {
				want = append(want, d.id.String())
			}
		}
		asked := query.Encode()
		require.Equal(t, want, r.walk(query), asked)
	}

	require.Equal(t, map[string]string{"cursor": "FORMAT"}, r.Do(t, "GET", "/webhooks/deliveries?cursor=x", nil).Fields())
	require.Equal(t, map[string]string{"events[0]": "ENUM"}, r.Do(t, "GET", "/webhooks/deliveries?events=nothing.at_all", nil).Fields())
	require.Equal(t, map[string]string{"dateFrom": "CONFLICT"}, r.Do(t, "GET", "/webhooks/deliveries?dateFrom=2026-02-01&dateTo=2026-01-01", nil).Fields())
	r.Do(t, "DELETE", subscriptions+"/"+subs[0].String(), nil).OK(204)
	for _, v := range r.Do(t, "GET", "/webhooks/deliveries?limit=200", nil).OK(200)["items"].([]any) {
		require.NotEqual(t, subs[0].String(), v.(map[string]any)["subscriptionId"])
	}
	require.NotEmpty(t, r.walk(url.Values{"subscriptionId": {subs[0].String()}}), "of a subscription that is gone")
	other := r.server.Company().Do(t, "GET", "/webhooks/deliveries?subscriptionId="+subs[1].String(), nil).OK(200)
	require.Equal(t, map[string]any{"items": []any{}, "nextCursor": nil, "hasMore": false}, other)
}

func timeOf(id uuid.UUID) time.Time {
	seconds, nanos := id.Time().UnixTime()
	return time.Unix(seconds, nanos).UTC().Truncate(time.Millisecond)
}

// A page that looks at few of many deliveries says where it stopped, and nothing is left out.
func TestCompanyDeliveriesAreReadInParts(t *testing.T) {
	t.Parallel()
	r := setup(t)
	sub := r.subscribe()
	other := r.Do(t, "POST", subscriptions, map[string]any{"url": hook + "/2", "events": []string{"*"}}).OK(201)["id"].(string)
	for range 40 { // they lie between those of the other subscription, and none of them is listed twice
		_, err := r.db.Exec(t.Context(), `INSERT INTO deliveries (company_id, subscription_id, id, event_id, event, state, attempt, expires_at, is_test, created_at, updated_at, http_code)
VALUES ($1, $2, gen_random_uuid(), gen_random_uuid(), 'order.created', 2, 1, now(), false, now(), now(), 404)`, r.company(), other)
		require.NoError(t, err)
	}
	_, err := r.db.Exec(t.Context(), `INSERT INTO deliveries (company_id, subscription_id, id, event_id, event, state, attempt, expires_at, is_test, created_at, updated_at, http_code)
SELECT $1, $2, gen_random_uuid(), gen_random_uuid(), 'order.created', 2, 1, now(), false, now(), now(), CASE WHEN n % 4000 = 0 THEN 299 ELSE 200 END
FROM generate_series(1, 12000) AS n`, r.company(), sub)
	require.NoError(t, err)
	_, err = r.db.Exec(t.Context(), `UPDATE deliveries SET http_code = 404 WHERE company_id = $1 AND http_code = 299`, r.company())
	require.NoError(t, err)
	first := r.Do(t, "GET", "/webhooks/deliveries?answer=5xx", nil).OK(200)
	require.Equal(t, []any{[]any{}, true}, []any{first["items"], first["hasMore"]})
	require.Len(t, r.walk(url.Values{"answer": {"4xx"}}), 43)
	require.Len(t, r.walk(url.Values{"limit": {"200"}}), 12040)
}
