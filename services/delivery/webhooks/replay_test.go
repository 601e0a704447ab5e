package webhooks_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/job"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
)

// work runs the jobs of all companies until the end of the test, a step at a time.
func (r *kit) work() {
	r.t.Helper()
	apitest.Work(r.t, r.db, webhooks.New(webhooks.Config{DB: r.db, Registry: registry(), Policy: policy(), Deliveries: store.Deliveries{}}).Jobs())
}

// replay starts a replay of the last hour.
func (r *kit) replay(by *apitest.Client, subscription, more string) *apitest.Response {
	r.t.Helper()
	now := time.Now()
	return by.Do(r.t, "POST", subscriptions+"/"+subscription+"/replay",
		fmt.Sprintf(`{"from":%q,"to":%q%s}`, now.Add(-time.Hour).Format(time.RFC3339), now.Add(time.Minute).Format(time.RFC3339), more))
}

// replayed waits for a replay, and returns the events that it sent, with their numbers.
func (r *kit) replayed(answer *apitest.Response, processed int) map[uuid.UUID]int {
	r.t.Helper()
	id := answer.OK(202)["id"].(string)
	by := access.Caller{Principal: &access.Principal{Company: r.company(), Scopes: access.Scopes{"webhooks:read"}}}
	var f job.Found
	require.Eventually(r.t, func() (ended bool) {
		var err error
		f, err = job.Get(r.t.Context(), r.db, by, uuid.MustParse(id))
		require.NoError(r.t, err)
		return f.CompletedAt != nil
	}, time.Minute, 5*time.Millisecond)
	require.Equal(r.t, job.Done, f.Status, "%+v", f.Error)
	require.EqualValues(r.t, processed, f.Processed)
	require.NoError(r.t, json.Unmarshal([]byte(*f.Summary), &r.summary))
	found := map[uuid.UUID]int{}
	for _, m := range r.messages() {
		found[m.EventID]++
	}
	return found
}

// The replays of a subscription are listed with what was asked for, newest first, and those of others are not.
func TestListReplays(t *testing.T) {
	t.Parallel()
	r := setup(t)
	s, by := r.service()
	id, other := r.subscribe(), r.Do(t, "POST", subscriptions, map[string]any{"url": hook + "/two", "events": []string{"*"}}).OK(201)["id"].(string)
	first := r.replay(r.Client, id, `,"dryRun":true,"rate":7,"events":["order.*"],"status":"all"`).OK(202)["id"].(string)
	second := r.replay(r.Client, id, ``).OK(202)["id"].(string)
	r.replay(r.Client, other, ``).OK(202)
	found, err := s.Replays(t.Context(), by, uuid.MustParse(id))
	require.NoError(t, err)
	require.Len(t, found, 2)
	require.Equal(t, []string{second, first}, []string{found[0].ID.String(), found[1].ID.String()})
	in := found[1].Input
	require.True(t, in.DryRun)
	require.Equal(t, "all", in.Status)
	require.Equal(t, 7, in.Rate)
	require.Equal(t, []string{"order.*"}, in.Events)
	require.NotNil(t, in.From)
	require.NotEmpty(t, found[1].Status)
	_, err = s.Replays(t.Context(), access.Caller{Principal: &access.Principal{Company: setup(t).company(), Scopes: access.Scopes{"*:read"}}}, uuid.MustParse(id))
	require.ErrorContains(t, err, id)
}

const (
	delivered = 2
	failed    = 3
)

func TestReplayOfFailedDeliveries(t *testing.T) {
	t.Parallel()
	r := setup(t)
	r.work()
	sub, now := r.subscribe(), time.Now()
	event := func(name string, state int16) (uuid.UUID, uuid.UUID) {
		id, _ := r.log(name, uuid.New(), now)
		return id, r.delivery(sub, id, name, state, now)
	}
	first, original := event("order.created", failed)
	event("order.created", delivered)
	arrived, old := event("order.created", failed)
	other, _ := event("order.updated", failed)
	gone, _ := event("order.created", failed)
	_, err := r.db.Exec(t.Context(), `DELETE FROM events WHERE company_id = $1 AND id = $2`, r.company(), gone)
	require.NoError(t, err)
	r.Do(t, "POST", "/webhooks/deliveries/"+old.String()+"/redeliver", nil).OK(201)
	_, err = r.db.Exec(t.Context(), `UPDATE deliveries SET state = 2 WHERE company_id = $1 AND redelivery_no = 1`, r.company())
	require.NoError(t, err)

	got := r.replayed(r.replay(r.Client, sub, `,"events":["order.created"]`), 4)
	require.Equal(t, map[uuid.UUID]int{first: 1, arrived: 1}, got, "arrived only by hand")
	var of uuid.UUID
	var number int
	require.NoError(t, r.db.QueryRow(t.Context(), `SELECT redelivery_of, redelivery_no FROM deliveries WHERE company_id = $1 AND event_id = $2 AND redelivery_no > 0`, r.company(), first).Scan(&of, &number))
	require.Equal(t, original, of)
	require.Equal(t, 1, number)

	got = r.replayed(r.replay(r.Client, sub, ``), 4)
	require.Equal(t, map[uuid.UUID]int{first: 1, arrived: 1, other: 1}, got, "what is under way is not sent once more")
}

// A step and the pause after it are one transaction, and a replay passes quickly over what it does not send.
func TestReplayTakesFewSteps(t *testing.T) {
	t.Parallel()
	r := setup(t)
	r.work()
	sub, now := r.subscribe(), time.Now()
	steps := func() (n int) {
		require.NoError(t, r.db.QueryRow(t.Context(), `SELECT steps FROM jobs WHERE company_id = $1 ORDER BY id DESC LIMIT 1`, r.company()).Scan(&n))
		return n
	}
	for range 100 {
		r.log("order.created", uuid.New(), now)
	}
	require.Len(t, r.replayed(r.replay(r.Client, sub, `,"status":"all","rate":100`), 100), 100)
	require.LessOrEqual(t, steps(), 5, "one that counts, one with all events, one that finds no more; a timer may be early")
	for range 200 {
		id, _ := r.log("order.created", uuid.New(), now)
		r.delivery(sub, id, "order.created", delivered, now)
	}
	r.replayed(r.replay(r.Client, sub, `,"status":"missed","rate":100`), 300)
	require.LessOrEqual(t, steps(), 4)
}

// All events of the log go to the subscription that wants them and may carry them, over many steps, each once.
func TestReplayOfTheLog(t *testing.T) {
	t.Parallel()
	r := setup(t)
	r.work()
	sub := r.Do(t, "POST", subscriptions, map[string]any{"url": hook, "events": []string{"order.*"}}).OK(201)["id"].(string)
	want := map[uuid.UUID]int{}
	for range 120 {
		id, _ := r.log("order.created", uuid.New(), time.Now())
		want[id] = 1
	}
	r.log("product.created", uuid.New(), time.Now())
	r.log("order.created", uuid.New(), time.Now().Add(-2*time.Hour))
	require.Equal(t, want, r.replayed(r.replay(r.Client, sub, `,"status":"all","rate":100`), 120))
	for id := range want {
		want[id] = 2
	}
	require.Equal(t, want, r.replayed(r.replay(r.Client, sub, `,"status":"all","rate":100`), 120), "again, as deliveries of their own")
}

func TestReplayFaults(t *testing.T) {
	t.Parallel()
	r := setup(t)
	sub := r.subscribe()
	path := subscriptions + "/" + sub + "/replay"
	for body, want := range map[string]map[string]string{
		`{"from":"2126-01-02T00:00:00Z"}`: {"from": "CONFLICT"},
		`{"from":"2026-01-02T00:00:00Z","to":"2026-01-01T00:00:00Z","events":["order.gone"]}`:       {"from": "CONFLICT", "events[0]": "ENUM"},
		`{"from":"2026-01-02T00:00:00Z","to":"2026-01-03T00:00:00Z","status":"success","rate":501}`: {"status": "ENUM", "rate": "MAX"},
	} {
		require.Equal(t, want, r.Do(t, "POST", path, body).Fields(), body)
	}
	r.replay(r.Client, uuid.NewString(), "").Fault(404, "WEBHOOK_SUBSCRIPTION_NOT_FOUND")
	r.replay(r.server.Company(), sub, "").Fault(404, "WEBHOOK_SUBSCRIPTION_NOT_FOUND")
	narrow := r.server.Caller(r.company(), func(p *access.Principal) { p.Scopes = apitest.Scopes("webhooks:write") })
	r.replay(narrow, sub, "").Fault(403, "AUTH_API_SCOPE_INSUFFICIENT")
}

// A dry run sends nothing and tells what would be sent: of what was missed, that is what failed and what occurred while the
// subscription was disabled, but not what a filter of that time left out.
func TestReplayOfWhatWasMissed(t *testing.T) {
	t.Parallel()
	r := setup(t)
	r.work()
	sub, now := r.Do(t, "POST", subscriptions, map[string]any{"url": hook, "events": []string{"order.*"}}).OK(201)["id"].(string), time.Now()
	_, err := r.db.Exec(t.Context(), `UPDATE webhook_subscriptions SET created_at = $3, updated_at = $3 WHERE company_id = $1 AND id = $2`, r.company(), sub, now.Add(-20*24*time.Hour))
	require.NoError(t, err)
	_, err = r.db.Exec(t.Context(), `DELETE FROM webhook_subscription_versions WHERE company_id = $1 AND subscription_id = $2`, r.company(), sub)
	require.NoError(t, err)
	for i, v := range []struct {
		ago    time.Duration
		status string
	}{{20 * 24 * time.Hour, "active"}, {10 * time.Hour, "disabled"}, {5 * time.Hour, "active"}} {
		_, err = r.db.Exec(t.Context(), `INSERT INTO webhook_subscription_versions (company_id, subscription_id, version, valid_from, status, events, exclude_own_events, read_scopes)
VALUES ($1, $2, $3, $4, $5, '{order.*}', false, '{*:read}')`, r.company(), sub, i+1, now.Add(-v.ago), v.status)
		require.NoError(t, err)
	}
	event := func(name string, ago time.Duration, state int16) uuid.UUID {
		id, _ := r.log(name, uuid.New(), now.Add(-ago))
		if state != 0 {
			r.delivery(sub, id, name, state, now.Add(-ago))
		}
		return id
	}
	event("order.created", 12*time.Hour, 0)                       // left out by what the subscription was
	event("order.created", 11*time.Hour, delivered)               // arrived
	before := event("order.created", 10*time.Hour+time.Minute, 0) // routed once it was disabled
	disabled := event("order.updated", 6*time.Hour, 0)
	event("product.created", 6*time.Hour, 0) // not subscribed
	event("order.created", 5*time.Hour-time.Minute, 0)
	broken := event("order.created", time.Hour, failed)
	want := map[uuid.UUID]int{before: 1, disabled: 1, broken: 1}

	path := subscriptions + "/" + sub + "/replay"
	require.Empty(t, r.replayed(r.Do(t, "POST", path, `{"status":"missed","dryRun":true,"rate":2}`), 6))
	summary := map[string]any{"subscriptionId": sub, "dryRun": true, "selected": 3.0, "sent": 0.0, "seconds": 2.0, "events": map[string]any{"order.created": 2.0, "order.updated": 1.0}}
	require.Equal(t, summary, r.summary)
	require.Equal(t, want, r.replayed(r.Do(t, "POST", path, `{"status":"missed"}`), 6))
	summary["dryRun"], summary["sent"], summary["seconds"] = false, 3.0, 1.0
	require.Equal(t, summary, r.summary)
	require.Equal(t, want, r.replayed(r.Do(t, "POST", path, `{"status":"missed"}`), 6), "what is under way is not missed any more")
}

// However large the interval is, a replay sends at its pace, and waits while the receiver has not been tried with what it sent
// before.
func TestReplayKeepsItsPace(t *testing.T) {
	t.Parallel()
	r := setup(t)
	sub := r.Do(t, "POST", subscriptions, map[string]any{"url": hook, "events": []string{"order.*"}}).OK(201)["id"].(string)
	fill(r, 60_000)
	id := r.replay(r.Client, sub, `,"status":"all","rate":60`).OK(202)["id"].(string)
	stop := apitest.Work(t, r.db, webhooks.New(webhooks.Config{DB: r.db, Registry: registry(), Policy: policy(), Deliveries: store.Deliveries{}}).Jobs())
	find := func() map[string]any {
		f, err := job.Get(t.Context(), r.db, access.Caller{Principal: &access.Principal{Company: r.company(), Scopes: access.Scopes{"webhooks:read"}}}, uuid.MustParse(id))
		require.NoError(t, err)
		raw, err := json.Marshal(f.Record)
		require.NoError(t, err)
		var all map[string]any
		require.NoError(t, json.Unmarshal(raw, &all))
		return all
	}
	began := time.Now()
	require.Eventually(t, func() bool { return find()["processed"] == 120.0 }, time.Minute, 5*time.Millisecond)
	require.EqualValues(t, 60_000, find()["total"])
	time.Sleep(time.Until(began.Add(3 * time.Second)))
	require.EqualValues(t, 120, find()["processed"], "nothing was tried")

	began = time.Now()
	require.Eventually(t, func() bool {
		_, err := r.db.Exec(t.Context(), `UPDATE deliveries SET attempt = 1 WHERE company_id = $1 AND attempt = 0`, r.company())
		require.NoError(t, err)
		return find()["processed"].(float64) >= 300
	}, time.Minute, 5*time.Millisecond)
	require.GreaterOrEqual(t, time.Since(began), time.Second, "180 events, of which it could have sent 60 before")
	stop()
	sent := r.messages()
	require.GreaterOrEqual(t, len(sent), 300)
	for _, m := range sent {
		require.True(t, m.Yields)
		require.Equal(t, 15*time.Millisecond, m.Gap, "a little less than at the rate of 60 a second")
	}
}

// fill adds events to the log.
func fill(r *kit, n int) {
	r.t.Helper()
	now := time.Now()
	low, _ := record.IDsBetween(now.Add(-time.Minute), now)
	_, body := r.log("client.updated", uuid.New(), now)
	_, err := r.db.Exec(r.t.Context(), `INSERT INTO events (company_id, seq, id, event, agg_type, agg_id, agg_version, body, occurred_at, expires_at)
SELECT $1, 1000000 + g, (left($2::TEXT, 24) || lpad(to_hex(g), 12, '0'))::UUID, 'order.created', 'order', $1, 1, $3, $4::TIMESTAMPTZ, $4::TIMESTAMPTZ + INTERVAL '1 day'
FROM generate_series(1, $5::INT) AS g`, r.company(), low, body, now.Add(-time.Minute), n)
	require.NoError(r.t, err)
}
