package webhooks_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

func TestLimitHoldsUnderParallelCreates(t *testing.T) {
	t.Parallel()
	r := setup(t)
	const tries, most = 40, 20
	r.Client = r.server.Caller(r.company(), func(p *access.Principal) { p.Plan, p.Subscriptions = "standard", most })
	statuses := make([]int, tries)
	var all sync.WaitGroup
	for i := range tries {
		all.Go(func() {
			got := r.Do(t, "POST", subscriptions, map[string]any{"url": fmt.Sprintf("%s/%d", hook, i), "events": []string{"*"}})
			statuses[i] = got.Status
		})
	}
	all.Wait()
	made := len(slices.DeleteFunc(slices.Clone(statuses), func(s int) bool { return s != http.StatusCreated }))
	refused := len(slices.DeleteFunc(slices.Clone(statuses), func(s int) bool { return s != http.StatusConflict }))
	require.Equal(t, []int{most, tries - most}, []int{made, refused}, "%v", statuses)

	got := r.Do(t, "POST", subscriptions, map[string]any{"url": hook, "events": []string{"*"}}).Fault(409, "WEBHOOK_LIMIT_REACHED")
	require.Equal(t, map[string]any{"limit": float64(most), "plan": "standard"}, got["meta"])
	require.Contains(t, got["message"], "the plan standard has at most 20 subscriptions")
	page := r.Do(t, "GET", subscriptions, nil).OK(200)
	require.Len(t, page["items"], most)
	r.server.Caller(r.company()).Do(t, "POST", subscriptions, map[string]any{"url": hook, "events": []string{"*"}}).OK(201) // with a larger plan
	r.Do(t, "POST", subscriptions, map[string]any{"url": hook + "/more", "events": []string{"*"}}).Fault(409, "WEBHOOK_LIMIT_REACHED")
	other := r.server.Company()
	require.Empty(t, other.Do(t, "GET", subscriptions, nil).OK(200)["items"])
	other.Do(t, "POST", subscriptions, map[string]any{"url": hook, "events": []string{"*"}}).OK(201)
}

func TestSameUrlAndEventsOnce(t *testing.T) {
	t.Parallel()
	r := setup(t)
	const tries = 8
	codes := make(chan int, tries)
	var all sync.WaitGroup
	for range tries {
		all.Go(func() {
			codes <- r.Do(t, "POST", subscriptions, map[string]any{"url": hook, "events": []string{"order.*", "product.created"}}).Status
		})
	}
	all.Wait()
	close(codes)
	var sorted []int
	for c := range codes {
		sorted = append(sorted, c)
	}
	slices.Sort(sorted)
	require.Equal(t, []int{201, 409, 409, 409, 409, 409, 409, 409}, sorted)

	got := r.Do(t, "POST", subscriptions, `{"url":"`+hook+`","events":["product.created","order.*"]}`).Fault(409, "WEBHOOK_SUBSCRIPTION_EXISTS")
	first := got["meta"].(map[string]any)["subscriptionId"].(string)
	second := r.Do(t, "POST", subscriptions, `{"url":"`+hook+`","events":["product.created"]}`).OK(201)["id"].(string)
	r.Do(t, "PATCH", subscriptions+"/"+second, `{"events":["product.created","order.*"]}`).Fault(409, "WEBHOOK_SUBSCRIPTION_EXISTS")
	r.Do(t, "PATCH", subscriptions+"/"+first, `{"events":["product.created","order.*"]}`).OK(200)
}

func TestRepeatedCreateShowsTheSameSecret(t *testing.T) {
	t.Parallel()
	r := setup(t)
	key := apitest.Header{"X-Idempotency-Key", uuid.NewString()}
	body := map[string]any{"url": hook, "events": []string{"*"}}
	first := r.Do(t, "POST", subscriptions, body, key)
	again := r.Do(t, "POST", subscriptions, body, key)
	require.Equal(t, 201, again.Status)
	require.Equal(t, "true", again.Header.Get("X-Idempotent-Replayed"))
	require.Equal(t, string(first.Body), string(again.Body))
	require.NotEmpty(t, first.OK(201)["secret"])
	require.Len(t, r.Do(t, "GET", subscriptions, nil).OK(200)["items"], 1)
}

func TestRotateSecret(t *testing.T) {
	t.Parallel()
	r := setup(t)
	sub := r.Do(t, "POST", subscriptions, map[string]any{"url": hook, "events": []string{"*"}}).OK(201)
	id, old := sub["id"].(string), sub["secret"].(string)
	stored := func() (secret string, previous *string, until *time.Time) {
		var sealed webhook.StoredSecret
		var sealedBefore *webhook.StoredSecret
		err := r.db.QueryRow(t.Context(), `SELECT secret, previous_secret, previous_until FROM webhook_subscriptions WHERE company_id = $1 AND id = $2`,
			r.company(), id).Scan(&sealed, &sealedBefore, &until)
		require.NoError(t, err)
		secret = r.open(id, sealed)
		if sealedBefore != nil {
			before := r.open(id, *sealedBefore)
			previous = &before
		}
		return secret, previous, until
	}
	path := subscriptions + "/" + id + "/rotate-secret"
	for _, bad := range []string{`{"overlapHours":-1}`, `{"overlapHours":73}`, `{"overlapHours":1.5}`, `{"overlapHours":"1"}`} {
		require.Len(t, r.Do(t, "POST", path, bad).Fields(), 1, bad)
	}
	rotated := r.Do(t, "POST", path, `{"overlapHours":24}`).OK(200)
	require.NotEqual(t, old, rotated["secret"])
	secret, previous, until := stored()
	require.Equal(t, rotated["secret"], secret)
	require.Equal(t, old, *previous)
	require.WithinDuration(t, time.Now().Add(24*time.Hour), *until, time.Minute)

	again := r.Do(t, "POST", path, nil).OK(200)
	secret, previous, until = stored()
	require.Equal(t, again["secret"], secret)
	require.Nil(t, previous, "without an overlap the old secret ends at once")
	require.Nil(t, until)
	require.Equal(t, float64(3), again["version"])
	r.Do(t, "POST", subscriptions+"/"+uuid.NewString()+"/rotate-secret", nil).Fault(404, "WEBHOOK_SUBSCRIPTION_NOT_FOUND")
}

func TestPauseResumeAndReturnToService(t *testing.T) {
	t.Parallel()
	r := setup(t)
	id := r.subscribe()
	patch := func(body string) map[string]any { return r.Do(t, "PATCH", subscriptions+"/"+id, body).OK(200) }
	paused := patch(`{"isActive":false}`)
	require.Equal(t, []any{false, "paused"}, []any{paused["isActive"], paused["status"]})
	// The router makes deliveries for what is marked active, and holds back those of a paused subscription.
	var marked bool
	require.NoError(t, r.db.QueryRow(t.Context(), `SELECT is_active FROM webhook_subscriptions WHERE company_id = $1 AND id = $2`, r.company(), id).Scan(&marked))
	require.True(t, marked)
	resumed := patch(`{"isActive":true}`)
	require.Equal(t, []any{true, "active"}, []any{resumed["isActive"], resumed["status"]})

	_, err := r.db.Exec(t.Context(), `UPDATE webhook_subscriptions SET status = 'disabled', disabled_reason = 'failed for days' WHERE company_id = $1 AND id = $2`, r.company(), id)
	require.NoError(t, err)
	disabled := r.Do(t, "GET", subscriptions+"/"+id, nil).OK(200)
	require.Equal(t, []any{false, "disabled", "failed for days"}, []any{disabled["isActive"], disabled["status"], disabled["disabledReason"]})
	same := patch(`{"isActive":false}`)
	require.Equal(t, "disabled", same["status"])
	back := patch(`{"isActive":true}`)
	require.Equal(t, []any{true, "active", nil}, []any{back["isActive"], back["status"], back["disabledReason"]})
	var enabled *time.Time
	require.NoError(t, r.db.QueryRow(t.Context(), `SELECT enabled_at FROM webhook_subscriptions WHERE company_id = $1 AND id = $2`, r.company(), id).Scan(&enabled))
	require.WithinDuration(t, time.Now(), *enabled, time.Minute)

	second := r.Do(t, "POST", subscriptions, map[string]any{"url": hook + "/2", "events": []string{"*"}, "isActive": false}).OK(201)
	require.Equal(t, []any{false, "paused"}, []any{second["isActive"], second["status"]})
}

func TestDeleteFailsOpenDeliveries(t *testing.T) {
	t.Parallel()
	r := setup(t)
	id, other := r.subscribe(), r.Do(t, "POST", subscriptions, `{"url":"`+hook+`","events":["order.created"]}`).OK(201)["id"].(string)
	now := time.Now().UTC()
	var all [4]uuid.UUID
	for state := range all {
		all[state] = r.delivery(id, uuid.Must(uuid.NewV7()), "order.created", int16(state), now)
	}
	kept := r.delivery(other, uuid.Must(uuid.NewV7()), "order.created", 0, now)
	r.Do(t, "DELETE", subscriptions+"/"+id, nil).OK(204)
	for state, want := range []string{"failed", "failed", "success", "failed"} {
		got := r.Do(t, "GET", "/webhooks/deliveries/"+all[state].String(), nil).OK(200)
		require.Equal(t, want, got["status"])
		if state < 2 {
			require.Equal(t, "subscription deleted", got["errorMessage"])
			require.NotNil(t, got["completedAt"])
		}
	}
	require.Equal(t, "pending", r.Do(t, "GET", "/webhooks/deliveries/"+kept.String(), nil).OK(200)["status"])
	r.Do(t, "POST", "/webhooks/deliveries/"+all[2].String()+"/redeliver", nil).Fault(404, "WEBHOOK_SUBSCRIPTION_NOT_FOUND")
	r.Do(t, "GET", subscriptions+"/"+id+"/deliveries", nil).Fault(404, "WEBHOOK_SUBSCRIPTION_NOT_FOUND")
}

func TestScopesOfSubscriptions(t *testing.T) {
	t.Parallel()
	r := setup(t)
	scopesOf := func(id any) (scopes []string) {
		require.NoError(t, r.db.QueryRow(t.Context(), `SELECT read_scopes FROM webhook_subscriptions WHERE company_id = $1 AND id = $2`, r.company(), id).Scan(&scopes))
		return scopes
	}
	wide := r.subscribe()
	require.Equal(t, []string{"*:read"}, scopesOf(wide))
	narrow := r.as("webhooks:write", "orders:read")
	made := narrow.Do(t, "POST", subscriptions, `{"url":"`+hook+`/n","events":["order.*"]}`).OK(201)
	require.Equal(t, []string{"orders:read", "webhooks:read"}, scopesOf(made["id"]))
	_, err := apitest.Registry().ParseScopes(scopesOf(made["id"]))
	require.NoError(t, err)
	require.True(t, access.Scopes(scopesOf(made["id"])).Allows("orders", false), "the form that the router asks")

	narrow.Do(t, "PATCH", subscriptions+"/"+made["id"].(string), `{"url":"`+hook+`/other"}`).OK(200)
	for _, body := range []string{`{"events":["order.created"]}`, `{"filter":{"data.channel":"manual"}}`} {
		narrow.Do(t, "PATCH", subscriptions+"/"+wide, body).Fault(403, "AUTH_API_SCOPE_INSUFFICIENT")
		narrow.Do(t, "PATCH", subscriptions+"/"+made["id"].(string), body).OK(200)
	}
	narrow.Do(t, "PATCH", subscriptions+"/"+wide, `{"name":"Other","events":["*"],"filter":null}`).OK(200) // what is sent stays
	got := narrow.Do(t, "PATCH", subscriptions+"/"+wide, `{"url":"https://elsewhere.example.com/"}`).Fault(403, "AUTH_API_SCOPE_INSUFFICIENT")
	require.Equal(t, map[string]any{"scopes": []any{"*:read"}}, got["meta"])
	narrow.Do(t, "PATCH", subscriptions+"/"+wide, `{"name":"renamed"}`).OK(200)

	reader := r.as("webhooks:read")
	reader.Do(t, "GET", subscriptions, nil).OK(200)
	reader.Do(t, "POST", subscriptions, `{"url":"`+hook+`","events":["*"]}`).Fault(403, "AUTH_API_SCOPE_INSUFFICIENT")
	r.as("orders:write").Do(t, "GET", subscriptions, nil).Fault(403, "AUTH_API_SCOPE_INSUFFICIENT")
	reader.Do(t, "GET", "/events", nil).Fault(403, "AUTH_API_SCOPE_INSUFFICIENT")
	r.server.Anonymous().Do(t, "GET", subscriptions, nil).Fault(401, "AUTH_API_TOKEN_INVALID")
}

// Whoever holds the secret, or gets signed messages at will, could forge what the subscription carries: that takes a token
// that may read as much. So does what shows a payload.
func TestWhatASubscriptionCarriesNeedsItsScopes(t *testing.T) {
	t.Parallel()
	r := setup(t)
	wide := r.subscribe()
	maker := r.as("webhooks:write", "orders:read")
	narrow := maker.Do(t, "POST", subscriptions, `{"url":"`+hook+`/n","events":["order.*"]}`).OK(201)["id"].(string)
	at := time.Now().UTC()
	eventID, _ := r.log("order.created", uuid.New(), at)
	deliveries := map[string]string{}
	for _, id := range []string{wide, narrow} {
		deliveries[id] = r.delivery(id, eventID, "order.created", 3, at).String()
	}
	blind := r.as("webhooks:write", "catalog:read")
	for _, op := range []struct {
		method, path string
		ok           int
	}{
		{"POST", "/webhooks/subscriptions/{id}/rotate-secret", 200},
		{"POST", "/webhooks/subscriptions/{id}/test", 202},
		{"GET", "/webhooks/deliveries/{delivery}", 200},
		{"POST", "/webhooks/deliveries/{delivery}/redeliver", 201},
	} {
		path := func(id string) string {
			return strings.NewReplacer("{id}", id, "{delivery}", deliveries[id]).Replace(op.path)
		}
		for caller, rows := range map[*apitest.Client]map[string][]any{
			blind: {wide: {"*:read"}, narrow: {"orders:read"}},
			maker: {wide: {"*:read"}},
		} {
			for id, missing := range rows {
				got := caller.Do(t, op.method, path(id), nil).Fault(403, "AUTH_API_SCOPE_INSUFFICIENT")
				require.Equal(t, map[string]any{"scopes": missing}, got["meta"], op.path)
			}
		}
		maker.Do(t, op.method, path(narrow), nil).OK(op.ok)
		r.Do(t, op.method, path(wide), nil).OK(op.ok)
	}
	require.Len(t, r.messages(), 4, "two tests and two redeliveries; what was refused sent nothing")

	r.Do(t, "DELETE", subscriptions+"/"+narrow, nil).OK(204)
	got := blind.Do(t, "GET", "/webhooks/deliveries/"+deliveries[narrow], nil).Fault(403, "AUTH_API_SCOPE_INSUFFICIENT")
	require.Equal(t, map[string]any{"scopes": []any{"orders:read"}}, got["meta"], "of the event, when the subscription is gone")
	maker.Do(t, "GET", "/webhooks/deliveries/"+deliveries[narrow], nil).OK(200)
}

func TestSecretsAreStoredSealed(t *testing.T) {
	t.Parallel()
	r := setup(t)
	key, again := apitest.Header{"X-Idempotency-Key", uuid.NewString()}, apitest.Header{"X-Idempotency-Key", uuid.NewString()}
	body := map[string]any{"url": hook, "events": []string{"*"}}
	made := r.Do(t, "POST", subscriptions, body, key)
	id, first := made.OK(201)["id"].(string), made.OK(201)["secret"].(string)
	path := subscriptions + "/" + id + "/rotate-secret"
	rotated := r.Do(t, "POST", path, `{"overlapHours":1}`, again)
	second := rotated.OK(200)["secret"].(string)

	// Everything that the database has of the company, as text.
	for table, sql := range map[string]string{
		"webhook_subscriptions": `SELECT row_to_json(x)::TEXT FROM webhook_subscriptions AS x WHERE company_id = $1 AND $2::INT4 >= 0`,
		"idempotency_keys":      `SELECT row_to_json(x)::TEXT FROM idempotency_keys AS x WHERE company_id = $1 AND $2::INT4 >= 0`,
		"outbox":                `SELECT row_to_json(x)::TEXT FROM outbox AS x WHERE company_id = $1 AND bucket = $2`,
	} {
		rows, err := r.db.Query(t.Context(), sql, r.company(), outbox.Bucket(r.company()))
		require.NoError(t, err)
		all, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		require.NotEmpty(t, all, table)
		for _, secret := range []string{first, second} {
			for _, form := range []string{secret, fmt.Sprintf("%x", secret)} {
				require.NotContains(t, strings.Join(all, "\n"), form, table)
			}
		}
	}
	for name, replay := range map[string][2]*apitest.Response{
		"create": {made, r.Do(t, "POST", subscriptions, body, key)}, "rotate": {rotated, r.Do(t, "POST", path, `{"overlapHours":1}`, again)},
	} {
		require.Equal(t, "true", replay[1].Header.Get("X-Idempotent-Replayed"), name)
		require.Equal(t, string(replay[0].Body), string(replay[1].Body), name)
	}
}

// TestForeignCompany walks all operations on one record with an id of another company.
func TestForeignCompany(t *testing.T) {
	t.Parallel()
	r := setup(t)
	id := r.subscribe()
	at := time.Now().UTC()
	eventID, _ := r.log("order.created", uuid.New(), at)
	delivery := r.delivery(id, eventID, "order.created", 3, at).String()
	ids := strings.NewReplacer("/subscriptions/{id}", "/subscriptions/"+id, "/deliveries/{id}", "/deliveries/"+delivery, "{eventId}", eventID.String())
	stranger := r.server.Company()
	walked := 0
	for _, op := range r.server.API.Ops() {
		if !strings.Contains(op.Path, "{") {
			continue
		}
		walked++
		var body any
		if op.Method == http.MethodPatch {
			body = `{"name":"x"}`
		}
		if strings.HasSuffix(op.Path, "/replay") {
			body = `{"from":"2026-01-01T00:00:00Z","to":"2026-01-02T00:00:00Z"}`
		}
		path := op.Path
		if strings.HasSuffix(path, "/explain") {
			path += "?eventId=" + eventID.String()
		}
		got := stranger.Do(t, op.Method, ids.Replace(path), body)
		require.Equal(t, 404, got.Status, "%s %s: %s", op.Method, op.Path, got.Body)
		bad := r.Do(t, op.Method, strings.NewReplacer("{id}", "x", "{eventId}", "x").Replace(op.Path), body)
		require.Equal(t, 400, bad.Status, "%s %s: %s", op.Method, op.Path, bad.Body)
	}
	require.Equal(t, 17, walked)
	require.Equal(t, "active", r.Do(t, "GET", subscriptions+"/"+id, nil).OK(200)["status"])
}

func TestSecretFormIsWhatSignersTake(t *testing.T) {
	t.Parallel()
	r := setup(t)
	sub := r.Do(t, "POST", subscriptions, map[string]any{"url": hook, "events": []string{"*"}}).OK(201)
	_, err := webhook.NewSigner(sub["secret"].(string), "")
	require.NoError(t, err)
}
