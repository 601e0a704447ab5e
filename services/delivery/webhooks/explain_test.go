package webhooks_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/services/delivery/match"
)

// logData puts an event with this data and actor into the event log and returns its id.
func (r *kit) logData(name, actor string, data any, at time.Time) uuid.UUID {
	r.t.Helper()
	id, _ := r.logAs(name, actor, uuid.New(), data, at)
	return id
}

func (r *kit) explain(subscription string, event uuid.UUID) map[string]any {
	r.t.Helper()
	return r.Do(r.t, "GET", subscriptions+"/"+subscription+"/explain?eventId="+event.String(), nil).OK(200)
}

// Every pair of a random population is decided by the router's own function, and explained over the API.
func TestExplainAgreesWithTheRouter(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	r := setup(t)
	some := func(options ...any) any { return options[random.IntN(len(options))] }
	makers := []*apitest.Client{r.Client, r.as("webhooks:write", "orders:read"), r.as("webhooks:write", "catalog:read", "warehouse:read")}
	byID := map[string]bool{}
	const most = 20
	for n := range most {
		sub := map[string]any{
			"url":              fmt.Sprintf("%s/%d", hook, n),
			"events":           []any{some("*", "order.*", "order.created", "product.*", "stock.movement.created"), some("order.updated", "product.created", "webhook.test")},
			"filter":           some(nil, nil, json.RawMessage(`{"data.total":1.50}`), json.RawMessage(`{"data.status":["new",null],"data.lines.0.kind":"product"}`), json.RawMessage(`{"data.missing":null}`)),
			"excludeOwnEvents": some(true, false), "isActive": some(true, true, false),
		}
		maker := makers[random.IntN(len(makers))]
		if n == most-1 { // chance alone makes none that leaves out its own events in one of thirty runs
			maker, sub["events"], sub["filter"], sub["excludeOwnEvents"], sub["isActive"] = r.Client, []any{"*"}, nil, true, true
		}
		id := maker.Do(t, "POST", subscriptions, sub).OK(201)["id"].(string)
		byID[id] = true
	}
	_, err := r.db.Exec(t.Context(), `UPDATE webhook_subscriptions SET status = 'disabled' WHERE company_id = $1 AND id IN (SELECT id FROM webhook_subscriptions WHERE company_id = $1 ORDER BY id LIMIT 2)`, r.company())
	require.NoError(t, err)
	_, err = r.db.Exec(t.Context(), `UPDATE webhook_subscription_versions SET status = 'disabled' WHERE company_id = $1 AND subscription_id IN (SELECT id FROM webhook_subscriptions WHERE company_id = $1 AND status = 'disabled')`, r.company())
	require.NoError(t, err)

	subs, err := match.Read(t.Context(), r.db, []uuid.UUID{uuid.UUID(r.company())}, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	outcomes := map[string]int{}
	for _, components := range []access.Components{{"core", "orders", "catalog", "warehouse"}, {"core", "orders"}} {
		reader := r.server.Caller(r.company(), func(p *access.Principal) { p.Components = components })
		for range 30 {
			at := time.Now().Add(time.Second).UTC().Truncate(time.Millisecond)
			id := r.logData(some("order.created", "order.updated", "product.created", "stock.movement.created").(string), some("system", r.Principal.Actor.String()).(string), map[string]any{
				"id": uuid.New(), "total": some(1.5, 2, "1.5"), "status": some("new", "done", nil), "lines": []any{map[string]any{"kind": some("product", "service")}},
			}, at)
			entry, err := outbox.LogEvent(t.Context(), r.db, r.company(), id)
			require.NoError(t, err)
			decoded, err := match.FromLog(match.Event{Company: r.company(), ID: id, Body: entry.Body, CommittedAt: at}, entry.Event, registry())
			require.NoError(t, err)
			routed := map[string]bool{}
			for _, d := range match.Match(decoded, subs[r.company()], components, nil) {
				routed[d.Subscription.String()] = true
			}
			explained := reader.Do(t, "GET", "/events/"+id.String()+"/deliveries", nil).OK(200)["items"].([]any)
			require.Len(t, explained, len(byID))
			for _, v := range explained {
				e := v.(map[string]any)
				outcomes[fmt.Sprint(e["outcome"], " ", e["reason"])]++
				require.Equal(t, routed[e["subscriptionId"].(string)], e["outcome"] == "pending" && e["reason"] == "router", "%v", e)
				require.NotEmpty(t, e["message"])
				require.Equal(t, e["outcome"] == "filtered", e["filter"] != nil, "%v", e)
			}
		}
	}
	for _, each := range []string{"pending router", "filtered <nil>", "not_subscribed <nil>", "skipped component_off", "skipped scope_missing", "skipped own_change", "skipped disabled"} {
		require.Positive(t, outcomes[each], "%s in %v", each, outcomes)
	}
}

func TestExplainNamesWhatKeepsAnEvent(t *testing.T) {
	t.Parallel()
	r := setup(t)
	sub := r.Do(t, "POST", subscriptions, map[string]any{"url": hook, "events": []string{"order.*"}, "filter": json.RawMessage(`{"data.status":["new","paid"]}`)}).OK(201)["id"].(string)
	now := time.Now().Add(time.Second).UTC().Truncate(time.Millisecond)
	e := r.explain(sub, r.logData("order.created", "system", map[string]any{"status": "done"}, now))
	require.Equal(t, "filtered", e["outcome"])
	require.Equal(t, map[string]any{"key": "data.status", "wanted": []any{"new", "paid"}, "found": "done", "missing": false}, e["filter"])
	require.Equal(t, `The filter wants ["new","paid"] at data.status; found "done".`, e["message"])
	e = r.explain(sub, r.logData("order.created", "system", map[string]any{}, now))
	require.Equal(t, map[string]any{"key": "data.status", "wanted": []any{"new", "paid"}, "found": nil, "missing": true}, e["filter"])
	e = r.explain(sub, r.logData("order.created", "system", map[string]any{"status": strings.Repeat("x", 2000)}, now))
	require.Equal(t, map[string]any{"key": "data.status", "wanted": []any{"new", "paid"}, "found": nil, "missing": false}, e["filter"])
	require.Contains(t, e["message"], "a value of more than 1 KiB stands there")
	e = r.explain(sub, r.logData("product.created", "system", map[string]any{"status": "new"}, now))
	require.Equal(t, "not_subscribed", e["outcome"])
	e = r.explain(sub, r.logData("order.created", "system", map[string]any{"status": "new"}, now.Add(-time.Hour)))
	require.Equal(t, []any{"skipped", "younger"}, []any{e["outcome"], e["reason"]})

	path := subscriptions + "/" + sub + "/explain"
	require.Equal(t, map[string]string{"eventId": "REQUIRED"}, r.Do(t, "GET", path, nil).Fields())
	r.Do(t, "GET", path+"?eventId="+uuid.NewString(), nil).Fault(404, "EVENT_NOT_FOUND")
	r.Do(t, "GET", "/events/"+uuid.NewString()+"/deliveries", nil).Fault(404, "EVENT_NOT_FOUND")
	unread := r.logData("product.created", "system", map[string]any{}, now)
	r.as("webhooks:read", "orders:read").Do(t, "GET", path+"?eventId="+unread.String(), nil).Fault(404, "EVENT_NOT_FOUND")
	r.server.Company().Do(t, "GET", path+"?eventId="+unread.String(), nil).Fault(404, "WEBHOOK_SUBSCRIPTION_NOT_FOUND")
}

func TestExplainKnowsWhatTheSubscriptionWas(t *testing.T) {
	t.Parallel()
	r := setup(t)
	sub := r.Do(t, "POST", subscriptions, map[string]any{"url": hook, "events": []string{"order.created"}}).OK(201)["id"].(string)
	at := time.Now().UTC()
	before := r.logData("order.updated", "system", map[string]any{}, at)
	wanted := r.logData("order.created", "system", map[string]any{}, at)
	r.Do(t, "PATCH", subscriptions+"/"+sub, map[string]any{"events": []string{"order.updated"}}).OK(200)
	for _, later := range []string{
		`UPDATE webhook_subscriptions SET updated_at = updated_at + INTERVAL '1 second' WHERE company_id = $1`,
		`UPDATE webhook_subscription_versions SET valid_from = valid_from + INTERVAL '1 second' WHERE company_id = $1 AND version = 2`,
	} {
		_, err := r.db.Exec(t.Context(), later, r.company())
		require.NoError(t, err)
	}

	e := r.explain(sub, before)
	require.Equal(t, []any{"not_subscribed", "delivered"}, []any{e["outcome"], e["today"]})
	require.NotNil(t, e["subscriptionChangedAt"])
	require.Equal(t, "The subscription names order.created; order.updated is not among them. As it is today: the subscription gets the event.", e["message"])
	e = r.explain(sub, wanted)
	require.Equal(t, []any{"not_subscribed", nil, nil}, []any{e["outcome"], e["reason"], e["today"]})
	require.Contains(t, e["message"], "but before it was routed")

	_, err := r.db.Exec(t.Context(), `DELETE FROM webhook_subscription_versions WHERE company_id = $1`, r.company())
	require.NoError(t, err)
	require.Contains(t, r.explain(sub, before)["message"], "what it was before its change at")

	for n := range 110 {
		r.Do(t, "PATCH", subscriptions+"/"+sub, map[string]any{"name": fmt.Sprint(n)}).OK(200)
	}
	count := func() (n int) {
		require.NoError(t, r.db.QueryRow(t.Context(), `SELECT count(*) FROM webhook_subscription_versions WHERE company_id = $1`, r.company()).Scan(&n))
		return n
	}
	require.Equal(t, 100, count())
	r.Do(t, "DELETE", subscriptions+"/"+sub, nil).OK(204)
	require.Zero(t, count())
}

func TestExplainFollowsTheDelivery(t *testing.T) {
	t.Parallel()
	r := setup(t)
	sub := r.subscribe()
	at := time.Now().UTC().Truncate(time.Microsecond)
	event, _ := r.log("order.created", uuid.New(), at)
	id := r.delivery(sub, event, "order.created", 0, at)
	set := func(text string, args ...any) {
		t.Helper()
		_, err := r.db.Exec(t.Context(), text, append([]any{r.company()}, args...)...)
		require.NoError(t, err)
	}
	deliveries, receivers := `UPDATE deliveries SET `, `UPDATE webhook_subscriptions SET `
	where := ` WHERE company_id = $1`
	later := at.Add(time.Hour)
	for _, c := range []struct {
		name, change     string
		args             []any
		outcome, waiting string
		next             any
	}{
		{"on its way", deliveries + `next_attempt_at = $2`, []any{at}, "pending", "sender", at},
		{"retry", deliveries + `next_attempt_at = $2, waiting_for = 'retry'`, []any{later}, "pending", "retry", later},
		{"asked", deliveries + `waiting_for = 'retry_after'`, nil, "pending", "retry_after", later},
		{"due, not taken yet", deliveries + `next_attempt_at = $2`, []any{at}, "pending", "sender", at},
		{"host", deliveries + `next_attempt_at = NULL, waiting_for = 'host_share'`, nil, "pending", "host_share", nil},
		{"rate", deliveries + `next_attempt_at = NULL, waiting_for = 'rate'`, nil, "pending", "rate", nil},
		{"host again", deliveries + `waiting_for = 'host_share'`, nil, "pending", "host_share", nil},
		{"resting", receivers + `breaker_opens = 3, breaker_open_until = $2`, []any{later}, "pending", "circuit_open", later},
		{"paused", receivers + `status = 'paused'`, nil, "pending", "paused", nil},
		{"resumed after the rest", receivers + `status = 'active', breaker_opens = 0, breaker_open_until = NULL`, nil, "pending", "host_share", nil},
		{"sweeper", deliveries + `waiting_for = 'circuit_open'`, nil, "pending", "sweeper", nil},
		{"attempt", deliveries + `state = 1`, nil, "pending", "answer", nil},
		{"failed", deliveries + `state = 3, waiting_for = NULL, attempt = 7, http_code = 500, error = 'HTTP 500', completed_at = $2`, []any{at}, "failed", "attempts_used", nil},
		{"expired", deliveries + `attempt = 2, completed_at = expires_at`, nil, "failed", "expired", nil},
		{"arrived", deliveries + `state = 2, error = NULL, http_code = 200`, nil, "delivered", "", nil},
	} {
		set(c.change+where, c.args...)
		e := r.explain(sub, event)
		require.Equal(t, c.outcome, e["outcome"], c.name)
		d := e["delivery"].(map[string]any)
		require.Equal(t, id.String(), d["id"], c.name)
		if c.outcome == "pending" {
			require.Equal(t, []any{c.waiting, c.waiting}, []any{e["reason"], d["waitingFor"]}, c.name)
		} else {
			require.Nil(t, d["waitingFor"], c.name)
		}
		if c.next != nil {
			require.Equal(t, c.next.(time.Time).Format("2006-01-02T15:04:05.000Z"), e["nextAttemptAt"], c.name)
		} else {
			require.Nil(t, e["nextAttemptAt"], c.name)
		}
		require.Equal(t, d, r.Do(t, "GET", subscriptions+"/"+sub+"/deliveries", nil).OK(200)["items"].([]any)[0], c.name)
	}
	// One that arrived tells more than a later one that did not.
	again := r.Do(t, "POST", "/webhooks/deliveries/"+id.String()+"/redeliver", nil).OK(201)
	require.Equal(t, "sender", again["waitingFor"])
	require.Equal(t, "delivered", r.explain(sub, event)["outcome"])
}

func TestHealthOfReceivers(t *testing.T) {
	t.Parallel()
	r := setup(t)
	sub := r.subscribe()
	at := time.Now().UTC().Truncate(time.Millisecond)
	set := func(text string, args ...any) {
		t.Helper()
		_, err := r.db.Exec(t.Context(), text, append([]any{r.company()}, args...)...)
		require.NoError(t, err)
	}
	health := func() map[string]any {
		t.Helper()
		one := r.Do(t, "GET", subscriptions+"/"+sub, nil).OK(200)["health"].(map[string]any)
		require.Equal(t, one, r.Do(t, "GET", subscriptions, nil).OK(200)["items"].([]any)[0].(map[string]any)["health"])
		return one
	}
	require.Equal(t, map[string]any{"status": "unknown", "failingSince": nil, "restingUntil": nil, "averageMs": nil, "lastError": nil}, health())
	for range 3 {
		id := r.delivery(sub, uuid.Must(uuid.NewV7()), "order.created", 2, at)
		set(`UPDATE deliveries SET duration_ms = 200 WHERE company_id = $1 AND id = $2`, id)
	}
	set(`UPDATE webhook_subscriptions SET last_success_at = $2 WHERE company_id = $1`, at)
	require.Equal(t, []any{"healthy", 200.0}, []any{health()["status"], health()["averageMs"]})
	set(`UPDATE deliveries SET duration_ms = 1200 WHERE company_id = $1`)
	require.Equal(t, "slow", health()["status"])
	failed := r.delivery(sub, uuid.Must(uuid.NewV7()), "order.created", 0, at)
	set(`INSERT INTO delivery_attempts (company_id, subscription_id, ring, seq, delivery_id, attempt, http_code, error, duration_ms, started_at)
VALUES ($1, $2, 0, 1, $3, 1, 503, 'HTTP 503', 5, $4)`, sub, failed, at)
	set(`UPDATE webhook_subscriptions SET last_failure_at = $2, failing_since = $3 WHERE company_id = $1`, at.Add(time.Second), at.Add(-time.Hour))
	h := health()
	require.Equal(t, "failing", h["status"])
	require.NotNil(t, h["failingSince"])
	require.Equal(t, map[string]any{"at": at.Format("2006-01-02T15:04:05.000Z"), "deliveryId": failed.String(), "attempt": 1.0, "httpCode": 503.0, "errorMessage": "HTTP 503"}, h["lastError"])
	set(`UPDATE webhook_subscriptions SET breaker_opens = 1, breaker_open_until = $2 WHERE company_id = $1`, at.Add(time.Hour))
	h = health()
	require.Equal(t, "resting", h["status"])
	require.NotNil(t, h["restingUntil"])
}
