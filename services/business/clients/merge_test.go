package clients_test

import (
	"context"
	"fmt"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/job"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// merge merges a client into another one, and returns the job by which the rest follows.
func (f kit) merge(t testing.TB, from, into string) (id uuid.UUID) {
	t.Helper()
	return uuid.MustParse(f.Do(t, "POST", "/clients/"+from+"/merge", map[string]any{"intoId": into}).OK(202)["id"].(string))
}

// follow waits for the end of a job of a merge, which does not wait for stragglers: they come then, once, however often the step is tried.
func (f kit) follow(t *testing.T, id uuid.UUID, stragglers func()) job.Record {
	t.Helper()
	stragglers = sync.OnceFunc(stragglers)
	h := f.service.Jobs()[0]
	step := h.Step
	h.Step = func(ctx context.Context, task job.Task) (job.Store, error) {
		store, err := step(ctx, task)
		return func(ctx context.Context, tx *db.Tx) (job.Progress, error) {
			p, err := store(ctx, tx)
			if p.Wait > 0 && task.ID == id {
				stragglers()
			}
			p.Wait = 0
			return p, err
		}, err
	}
	ctx, cancel := context.WithCancel(t.Context())
	w := job.NewWorker(job.Config{DB: f.db, Owner: uuid.NewString(), Handlers: []job.Handler{h}, Every: 5 * time.Millisecond})
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	defer func() { cancel(); require.NoError(t, <-done) }()
	var found job.Found
	require.Eventually(t, func() (ended bool) {
		var err error
		found, err = job.Get(t.Context(), f.db, f.by(), id)
		require.NoError(t, err)
		return found.CompletedAt != nil
	}, time.Minute, 5*time.Millisecond)
	require.Equal(t, job.Done, found.Status)
	return found.Record
}

func (f kit) read(t testing.TB, id string) map[string]any {
	t.Helper()
	return f.Do(t, "GET", "/clients/"+id, nil).OK(200)
}

var sqlLateInteraction = db.Table("client_interactions").Insert(`(company_id, id, client_id, type, occurred_at, created_by_id, search_text, version, ev_pos, created_at, updated_at)
VALUES ($1, $2, $3, 'note', now(), $2, '', 1, 1, now(), now())`)

func TestMerge(t *testing.T) {
	t.Parallel()
	f := setup(t)
	list := f.Do(t, "POST", "/clients/price-lists", map[string]any{"name": "Wholesale"}).OK(201)["id"]
	a := f.create(t, map[string]any{
		"displayName": "A. Lee", "phone": "+49 30 1234567", "email": "old@example.com", "externalId": "a", "source": "shop", "tags": []string{"vip", "x"}, "priceListId": list, "note": "knocks twice",
		"metadata": map[string]any{"shelf": "7", "row": "1"},
	})["id"].(string)
	b := f.create(t, map[string]any{"displayName": "Ann Lee", "email": "ann@example.com", "externalId": "b", "source": "shop", "tags": []string{"x", "y"}, "metadata": map[string]any{"shelf": "8"}})["id"].(string)
	f.Do(t, "POST", "/clients/"+a+"/points", map[string]any{"delta": 30}).OK(201)
	f.Do(t, "POST", "/clients/"+b+"/points", map[string]any{"delta": 12}).OK(201)
	f.enter(t, uuid.MustParse(a), trade.LedgerEntry{Kind: trade.LedgerPayment, Paid: 500})
	f.enter(t, uuid.MustParse(b), trade.LedgerEntry{Kind: trade.LedgerOrder, Charged: 200})
	home := f.Do(t, "POST", "/clients/"+a+"/addresses", map[string]any{"label": "Home", "text": "Kanalstraße 9", "isDefault": true}).OK(201)["id"]
	f.Do(t, "POST", "/clients/"+a+"/assets", map[string]any{"name": "Bike"}).OK(201)
	f.Do(t, "POST", "/clients/"+a+"/interactions", map[string]any{"type": "note", "body": "called"}).OK(201)

	moving := f.merge(t, a, b)
	gone, got := f.read(t, a), f.read(t, b)
	require.Equal(t, []any{b, "archived", 0.0, 0.0, "A. Lee", "a"}, []any{gone["mergedIntoId"], gone["status"], gone["balance"], gone["points"], gone["displayName"], gone["externalId"]})
	require.Equal(t, []any{nil, "active", 300.0, 42.0, "Ann Lee", "b"}, []any{got["mergedIntoId"], got["status"], got["balance"], got["points"], got["displayName"], got["externalId"]})
	require.Equal(t, []any{"+49 30 1234567", "ann@example.com", []any{"x", "y", "vip"}, list, "knocks twice", map[string]any{"shelf": "8", "row": "1"}},
		[]any{got["phone"], got["email"], got["tags"], got["priceListId"], got["note"], got["metadata"]})
	names, _ := f.events(t)
	require.Equal(t, []string{"client.merged", "client.updated"}, names[len(names)-2:])

	// Money and points are in the statements and ledgers of both, to the last entry.
	opening, closing, items := f.walk(t, b, "order=asc", func() {})
	adds(t, opening, closing, items, true)
	require.Equal(t, []any{"merge", 500.0, a, 300.0}, []any{items[len(items)-1]["kind"], items[len(items)-1]["amount"], items[len(items)-1]["otherClientId"], closing})
	opening, closing, items = f.walk(t, a, "order=asc", func() {})
	adds(t, opening, closing, items, true)
	require.Equal(t, []any{-500.0, b, 0.0}, []any{items[len(items)-1]["amount"], items[len(items)-1]["otherClientId"], closing})
	points := f.Do(t, "GET", "/clients/"+b+"/points", nil).OK(200)["items"].([]any)[0].(map[string]any)
	require.Equal(t, []any{30.0, 42.0, "merged"}, []any{points["delta"], points["balance"], points["reason"]})
	require.Equal(t, -30.0, f.Do(t, "GET", "/clients/"+a+"/points", nil).OK(200)["items"].([]any)[0].(map[string]any)["delta"])

	// What is the client's follows; of two default addresses that of the client that stays is one.
	late := 0
	done := f.follow(t, moving, func() { // what was made of what had been read before the merge
		late++
		require.NoError(t, f.tx(t, func(_ context.Context, tx *db.Tx) error {
			tx.Queue(sqlLateInteraction, f.Principal.Company, uuid.New(), uuid.MustParse(a))
			return nil
		}))
	})
	require.Equal(t, []any{1, int64(3)}, []any{late, done.Processed})
	require.Equal(t, home, f.Do(t, "GET", "/clients/"+b+"/addresses", nil).OK(200)["items"].([]any)[0].(map[string]any)["id"])
	for part, n := range map[string]int{"addresses": 1, "assets": 1, "interactions": 2} {
		require.Len(t, f.Do(t, "GET", "/clients/"+b+"/"+part, nil).OK(200)["items"], n, part)
		require.Empty(t, f.Do(t, "GET", "/clients/"+a+"/"+part, nil).OK(200)["items"], part)
	}
	require.Equal(t, true, f.Do(t, "GET", "/clients/"+b+"/addresses", nil).OK(200)["items"].([]any)[0].(map[string]any)["isDefault"])
	require.Len(t, f.Do(t, "GET", "/clients?mergedIntoId="+b, nil).OK(200)["items"], 1)
}

// Every write that names the client that was merged is refused with the one that it is now, or goes there.
func TestMergedClientLeadsToTheOther(t *testing.T) {
	t.Parallel()
	f := setup(t)
	a := f.create(t, map[string]any{"displayName": "A", "phone": "+49 30 1234567", "email": "a@example.com", "externalId": "a", "source": "shop"})["id"].(string)
	b := f.create(t, map[string]any{"displayName": "B", "phone": "+49 30 7654321", "email": "b@example.com", "externalId": "b", "source": "shop"})["id"].(string)
	f.merge(t, a, b)
	refused := func(method, path string, body any) {
		t.Helper()
		require.Equal(t, b, f.Do(t, method, path, body).Fault(409, "CLIENT_MERGED")["meta"].(map[string]any)["mergedIntoId"])
	}
	at := "/clients/" + a
	refused("PATCH", at, map[string]any{"note": "x"})
	refused("POST", at+"/archive", nil)
	refused("POST", at+"/restore", nil)
	refused("POST", at+"/anonymize", nil)
	refused("POST", at+"/addresses", map[string]any{"label": "Home", "text": "Kanalstraße 9"})
	refused("POST", at+"/assets", map[string]any{"name": "Bike"})
	refused("POST", at+"/interactions", map[string]any{"type": "note"})
	refused("POST", at+"/points", map[string]any{"delta": 1})
	refused("POST", at+"/merge", map[string]any{"intoId": b})
	refused("POST", "/clients/"+b+"/merge", map[string]any{"intoId": a})

	// A sync that knows the old one changes the other, which keeps its own external id, number and address.
	for _, path := range []string{"/clients/by-external-id/shop/a", "/clients/by-phone/" + url.PathEscape("030 1234567"), "/clients/by-email/A@example.com"} {
		body := map[string]any{"kind": "individual", "displayName": path}
		if path == "/clients/by-external-id/shop/a" {
			body["source"], body["externalId"] = "shop", "a"
		}
		got := f.Do(t, "PUT", path, body).OK(200)
		require.Equal(t, []any{b, path, "b", "+49 30 7654321", "b@example.com"}, []any{got["id"], got["displayName"], got["externalId"], got["phone"], got["email"]})
	}
	batch := f.Do(t, "POST", "/clients/batch", map[string]any{"items": []any{map[string]any{"op": "upsert", "source": "shop", "externalId": "a", "body": map[string]any{"kind": "individual", "displayName": "Batch"}}}}).OK(200)
	require.Equal(t, b, batch["results"].([]any)[0].(map[string]any)["id"])
	f.Do(t, "PATCH", "/clients/"+b, map[string]any{"externalId": "c"}).OK(200)

	// Amounts of documents that have not followed yet.
	f.enter(t, uuid.MustParse(a), trade.LedgerEntry{Kind: trade.LedgerPayment, Paid: 70})
	require.NoError(t, f.addPoints(t, uuid.MustParse(a), 7, trade.PointsEarned, nil))
	got := f.read(t, b)
	require.Equal(t, []any{70.0, 7.0, 0.0, 0.0}, []any{got["balance"], got["points"], f.read(t, a)["balance"], f.read(t, a)["points"]})
	var of uuid.UUID
	require.NoError(t, f.tx(t, func(ctx context.Context, tx *db.Tx) error {
		c, _, err := f.service.DocumentClient(ctx, tx, f.Principal.Company, uuid.MustParse(a), true)
		of = c.ID
		return err
	}))
	require.Equal(t, b, of.String())

	// Its data goes with that of the other.
	f.Do(t, "POST", "/clients/"+b+"/anonymize", nil).OK(200)
	for _, id := range []string{a, b} {
		c := f.read(t, id)
		require.Equal(t, []any{"Anonymized client", nil, nil, nil}, []any{c["displayName"], c["phone"], c["email"], c["externalId"]})
		require.NotNil(t, c["anonymizedAt"])
	}
}

func TestMergeIsRefused(t *testing.T) {
	t.Parallel()
	f := setup(t)
	a, b, c := f.client(t), f.client(t), f.client(t)
	at := "/clients/" + a + "/merge"
	into := func(id string) map[string]any { return map[string]any{"intoId": id} }
	require.Equal(t, map[string]string{"intoId": "CONFLICT"}, f.Do(t, "POST", at, into(a)).Fields())
	require.Equal(t, map[string]string{"intoId": "REQUIRED"}, f.Do(t, "POST", at, map[string]any{}).Fields())
	require.Equal(t, "intoId", f.Do(t, "POST", at, into(uuid.NewString())).Fault(404, "CLIENT_NOT_FOUND")["meta"].(map[string]any)["field"])
	f.Do(t, "POST", "/clients/"+uuid.NewString()+"/merge", into(a)).Fault(404, "CLIENT_NOT_FOUND")
	stranger := f.server.Company()
	stranger.Do(t, "POST", at, into(b)).Fault(404, "CLIENT_NOT_FOUND")
	f.Do(t, "POST", at, into(f.server.Company().Do(t, "POST", "/clients", full).OK(201)["id"].(string))).Fault(404, "CLIENT_NOT_FOUND")
	f.Do(t, "POST", "/clients/"+b+"/archive", nil).OK(200)
	f.Do(t, "POST", at, into(b)).Fault(409, "CLIENT_ARCHIVED")
	f.merge(t, b, a)
	f.Do(t, "POST", "/clients/"+c+"/anonymize", nil).OK(200)
	f.Do(t, "POST", at, into(c)).Fault(409, "CLIENT_ANONYMIZED")
	f.Do(t, "POST", "/clients/"+c+"/merge", into(a)).Fault(409, "CLIENT_ANONYMIZED")
}

// Chains end at the client that is left, however merges, payments and points meet; nothing is lost and nothing counts twice.
func TestMergesMeetPaymentsAndPoints(t *testing.T) {
	t.Parallel()
	f := setup(t)
	const n = 6
	ids := make([]string, n)
	for i := range ids {
		ids[i] = f.client(t)
	}
	var wg sync.WaitGroup
	for i, id := range ids {
		client := uuid.MustParse(id)
		for range 5 {
			wg.Go(func() { f.enter(t, client, trade.LedgerEntry{Kind: trade.LedgerPayment, Paid: 100}) })
			wg.Go(func() { f.enter(t, client, trade.LedgerEntry{Kind: trade.LedgerOrder, Charged: 30}) })
			wg.Go(func() { require.NoError(t, f.addPoints(t, client, 7, trade.PointsEarned, nil)) })
		}
		// Each is merged into the next, at once and in all orders; one that meets a merged client follows what it is told.
		if i < n-1 {
			wg.Go(func() {
				for into, tries := ids[i+1], 0; ; tries++ {
					require.Less(t, tries, 50)
					r := f.Do(t, "POST", "/clients/"+id+"/merge", map[string]any{"intoId": into})
					if r.Status == 202 {
						return
					}
					into = fmt.Sprint(r.Fault(409, "CLIENT_MERGED")["meta"].(map[string]any)["mergedIntoId"])
				}
			})
		}
	}
	wg.Wait()
	last := ids[n-1]
	got := f.read(t, last)
	require.Equal(t, []any{float64(n * 5 * 70), float64(n * 5 * 7)}, []any{got["balance"], got["points"]})
	for _, id := range ids {
		c := f.read(t, id)
		opening, closing, items := f.walk(t, id, "order=asc", func() {})
		adds(t, opening, closing, items, true)
		require.Equal(t, c["balance"], closing)
		points := 0.0
		for _, it := range f.Do(t, "GET", "/clients/"+id+"/points?pageSize=200", nil).OK(200)["items"].([]any) {
			points += it.(map[string]any)["delta"].(float64)
		}
		require.Equal(t, c["points"], points)
		if id != last {
			require.Equal(t, []any{last, 0.0, 0.0}, []any{c["mergedIntoId"], c["balance"], c["points"]})
		}
	}
}
