package dispatch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/delivery/delay"
	"github.com/tradegrid/tradegrid/services/delivery/dispatchtest"
	"github.com/tradegrid/tradegrid/services/delivery/egress"
	"github.com/tradegrid/tradegrid/services/delivery/router"
	"github.com/tradegrid/tradegrid/services/delivery/sender"
	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/services/delivery/sweeper"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/topics"
)

// roles runs router, sender, delay tiers and sweeper, with short delays, and returns what stops them.
func roles(t *testing.T, k *dispatchtest.Kit) (stop func()) {
	t.Helper()
	tiers := topics.DelayTiers()
	for i := range tiers {
		tiers[i].Delay = 10 * time.Millisecond
	}
	events, err := router.New(k.DB, dispatchtest.Registry(), dispatchtest.Components{}, router.Config{Kafka: k.Kafka, TTL: dispatchtest.Policy().DeliveryTTL, Backoff: time.Millisecond})
	require.NoError(t, err)
	attempts := sender.New(sender.Config{
		Client:  k.Kafka,
		Retry:   sender.RetryConfig{MaxAttempts: dispatchtest.Policy().MaxAttempts, Tiers: tiers, Jitter: -1, MaxWait: time.Hour},
		Results: sender.ResultsConfig{Linger: 5 * time.Millisecond},
		Egress:  egress.Config{Settings: egress.Settings{AllowInsecure: true, Timeout: 2 * time.Second}, AllowPrivate: true},
		Breaker: sender.BreakerConfig{Failures: 1000},
	}, k.DB, k.Client, sender.NewReceiverCache(k.DB, time.Second, k.Keys, slog.New(slog.DiscardHandler)))
	delayed, err := delay.New(delay.Config{Kafka: k.Kafka, Tiers: tiers})
	require.NoError(t, err)
	open, err := sweeper.New(k.DB, sweeper.Config{
		Policy: dispatchtest.Policy(), Kafka: k.Kafka, Owner: uuid.NewString(), HoldGrace: 50 * time.Millisecond, Lease: time.Second, Tiers: tiers,
		Settings: sweeper.Settings{Every: 100 * time.Millisecond, Grace: 3 * time.Second, DisableFailed: 1},
	})
	require.NoError(t, err)
	stops := []func(){k.Run(events.Run), k.Run(attempts.Run), k.Run(delayed.Run), k.Run(open.Run)}
	return func() {
		for _, stop := range stops {
			stop()
		}
	}
}

// change is an event about a record, as the relay publishes it and writes it to the event log.
func change(t *testing.T, k *dispatchtest.Kit, record uuid.UUID, version int) *kgo.Record {
	t.Helper()
	e := k.Event("order.created")
	e.Data = fmt.Sprintf(`{"id":%q,"version":%d}`, record, version)
	rec := e.Record(t)
	dispatchtest.SetHeader(rec, "agg_id", record.String())
	dispatchtest.SetHeader(rec, "version", strconv.Itoa(version))
	keep(k, e, rec.Value, record, version)
	return rec
}

// keep writes an event to the event log, from which the sweeper takes the bodies of what it injects.
func keep(k *dispatchtest.Kit, e dispatchtest.Event, body []byte, record uuid.UUID, version int) {
	k.T.Helper()
	k.Exec(`INSERT INTO events (company_id, seq, id, event, agg_type, agg_id, agg_version, body, occurred_at, expires_at)
SELECT $1, COALESCE(max(seq), 0) + 1, $2, $3, 'order', $4, $5, $6, now(), now() + INTERVAL '1 day' FROM events WHERE company_id = $1`,
		k.Company, e.ID, e.Name, record, version, body)
}

// changed is the record that a request is about, and its version.
func changed(r *http.Request) (record string, version int) {
	var body struct {
		Data struct {
			ID      string
			Version int
		}
	}
	_ = json.NewDecoder(r.Body).Decode(&body) // the test knows what it sent
	return body.Data.ID, body.Data.Version
}

// accepted is what a receiver has taken, by record.
type accepted struct {
	mu     sync.Mutex
	orders map[string][]int // versions in the order in which they were first accepted
	seen   map[string]bool
}

func (a *accepted) take(record string, version int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if key := record + "/" + strconv.Itoa(version); !a.seen[key] {
		a.seen[key] = true
		a.orders[record] = append(a.orders[record], version)
	}
}

// overtaken counts the versions that were accepted after a later one of their record.
func (a *accepted) overtaken() (n, all int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, versions := range a.orders {
		latest := 0
		for _, v := range versions {
			if all++; v < latest {
				n++
			}
			latest = max(latest, v)
		}
	}
	return n, all
}

// A receiver that refuses a third of all requests, while the roles stop and start, gets the changes of each record in order from an
// ordered subscription. From another one it does not.
func TestOrderedSubscriptionKeepsTheOrderOfEachRecord(t *testing.T) {
	t.Parallel()
	const records, each, rounds = 6, 20, 3
	k := dispatchtest.New(t, dbtest.OpenNew(t))
	got := map[bool]*accepted{}
	for _, ordered := range []bool{true, false} {
		a := &accepted{orders: map[string][]int{}, seen: map[string]bool{}}
		got[ordered] = a
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			record, version := changed(r)
			if rand.IntN(3) == 0 {
				w.WriteHeader(http.StatusInternalServerError)
				return
			}
			a.take(record, version)
		}))
		t.Cleanup(srv.Close)
		sub := k.Subscription()
		k.Set(sub, "url = $3, ordered = $4", srv.URL, ordered)
	}
	ids := make([]uuid.UUID, records)
	for i := range ids {
		ids[i] = uuid.New()
	}
	done := func() int {
		var n int
		require.NoError(t, k.DB.QueryRow(context.Background(), `SELECT count(*) FROM deliveries WHERE company_id = $1 AND state >= 2`, k.Company).Scan(&n))
		return n
	}
	for round := range rounds {
		before := done() // what is done while the changes are produced counts: that may be nearly everything
		stop := roles(t, k)
		for n := range each {
			for _, id := range ids {
				k.Produce(change(t, k, id, round*each+n+1))
			}
		}
		if round < rounds-1 {
			require.Eventually(t, func() bool { return done() > before+records }, time.Minute, time.Millisecond)
			stop() // in the middle of the work
		}
	}
	total := 2 * records * each * rounds
	require.Eventually(t, func() bool { return done() == total }, 3*time.Minute, 20*time.Millisecond)
	n, all := got[true].overtaken()
	require.Zero(t, n, "of %d", all)
	require.Equal(t, records*each*rounds, all+k.Deliveries("state = 3 AND entity_id IS NOT NULL"))
	n, all = got[false].overtaken()
	require.Positive(t, n, "of %d: without order, deliveries overtake each other: otherwise this test shows nothing", all)
	t.Logf("without order, %d of %d were overtaken", n, all)
}

// A delivery that fails holds its own record only, and whoever skips it releases that.
func TestSkipReleasesARecord(t *testing.T) {
	t.Parallel()
	k := dispatchtest.New(t, dbtest.OpenNew(t))
	stuck, free := uuid.New(), uuid.New()
	var mu sync.Mutex
	var took []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		record, version := changed(r)
		if record == stuck.String() && version == 1 {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		took = append(took, record+"/"+strconv.Itoa(version))
	}))
	t.Cleanup(srv.Close)
	sub := k.Subscription()
	k.Set(sub, "url = $3, ordered = true", srv.URL)
	roles(t, k)
	for version := 1; version <= 3; version++ {
		for _, id := range []uuid.UUID{stuck, free} {
			k.Produce(change(t, k, id, version))
		}
	}
	k.Eventually(func() bool { return k.InState(sub, webhook.StateSuccess) == 3 }, "the other record goes on")
	k.Eventually(func() bool { return k.Deliveries("state = 0 AND waiting_for = 'record'") == 2 }, "the later ones wait")
	time.Sleep(500 * time.Millisecond) // several passes of the sweeper
	require.Equal(t, 2, k.Deliveries("state = 0 AND waiting_for = 'record' AND next_attempt_at IS NULL"))
	require.Equal(t, 3, k.InState(sub, webhook.StateSuccess))

	var head uuid.UUID
	require.NoError(t, k.DB.QueryRow(t.Context(), `SELECT id FROM deliveries WHERE company_id = $1 AND state = 0 AND entity_version = 1`, k.Company).Scan(&head))
	key := webhook.SubscriptionKey{Company: k.Company, ID: sub}
	require.NoError(t, k.DB.RunTx(t.Context(), "test.skip", func(_ context.Context, tx *db.Tx) error {
		store.Deliveries{}.Skip(tx, key, head, tx.Now())
		return nil
	}))
	k.Eventually(func() bool { return k.InState(sub, webhook.StateSuccess) == 5 }, "the others of the record follow")
	row := k.Row(head)
	require.Equal(t, webhook.StateFailed, row.State)
	require.Equal(t, webhook.Skipped, *row.Err)
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, []string{stuck.String() + "/2", stuck.String() + "/3"}, took[3:])
}
