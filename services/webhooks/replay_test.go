package webhooks_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/apitest"
	"github.com/tradegrid/tradegrid/pkg/job"
	"github.com/tradegrid/tradegrid/services/dispatch/store"
	"github.com/tradegrid/tradegrid/services/webhooks"
)

// work runs the jobs of all companies until the end of the test, a step at a time.
func (r *kit) work() {
	r.t.Helper()
	apitest.Work(r.t, r.db, webhooks.New(webhooks.Config{DB: r.db, Registry: registry(), Deliveries: store.Deliveries{}}).Jobs())
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
	found := map[uuid.UUID]int{}
	for _, m := range r.messages() {
		found[m.EventID]++
	}
	return found
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
	require.Equal(t, want, r.replayed(r.replay(r.Client, sub, `,"status":"all"`), 120))
	for id := range want {
		want[id] = 2
	}
	require.Equal(t, want, r.replayed(r.replay(r.Client, sub, `,"status":"all"`), 120), "again, as deliveries of their own")
}

func TestReplayFaults(t *testing.T) {
	t.Parallel()
	r := setup(t)
	sub := r.subscribe()
	path := subscriptions + "/" + sub + "/replay"
	for body, want := range map[string]map[string]string{
		`{}`: {"from": "REQUIRED", "to": "REQUIRED"},
		`{"from":"2026-01-02T00:00:00Z","to":"2026-01-01T00:00:00Z","events":["order.gone"]}`: {"from": "CONFLICT", "events[0]": "ENUM"},
		`{"from":"2026-01-02T00:00:00Z","to":"2026-01-03T00:00:00Z","status":"success"}`:      {"status": "ENUM"},
	} {
		require.Equal(t, want, r.Do(t, "POST", path, body).Fields(), body)
	}
	r.replay(r.Client, uuid.NewString(), "").Fault(404, "WEBHOOK_SUBSCRIPTION_NOT_FOUND")
	r.replay(r.server.Company(), sub, "").Fault(404, "WEBHOOK_SUBSCRIPTION_NOT_FOUND")
	narrow := r.server.Caller(r.company(), func(p *access.Principal) { p.Scopes = apitest.Scopes("webhooks:write") })
	r.replay(narrow, sub, "").Fault(403, "AUTH_API_SCOPE_INSUFFICIENT")
	_, err := r.db.Exec(t.Context(), `INSERT INTO events (company_id, seq, id, event, agg_type, agg_id, agg_version, body, occurred_at, expires_at)
SELECT $1, g, gen_random_uuid(), 'order.created', 'order', $1, 1, '{}', now(), now() + INTERVAL '1 day' FROM generate_series(1, 10001) AS g`, r.company())
	require.NoError(t, err)
	require.Equal(t, map[string]string{"from": "MAX"}, r.replay(r.Client, sub, `,"status":"all"`).Fields())
	_, err = r.db.Exec(t.Context(), `DELETE FROM events WHERE company_id = $1 AND seq = 1`, r.company())
	require.NoError(t, err)
	r.replay(r.Client, sub, `,"status":"all"`).OK(202)
	_, err = r.db.Exec(t.Context(), `DELETE FROM events WHERE company_id = $1`, r.company())
	require.NoError(t, err)
}
