package dispatch_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/delivery/dispatchtest"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// Events pass router, sender, delay tiers and sweeper while those stop and start and a receiver fails: each delivery
// arrives, signed, with its frozen body, and none is made twice.
func TestWholePathUnderRestarts(t *testing.T) {
	t.Parallel()
	const events, rounds = 300, 3
	k := dispatchtest.New(t, dbtest.OpenNew(t))
	var mu sync.Mutex
	seen := map[string]int{}     // requests by delivery
	accepted := map[string]int{} // 2xx by delivery
	failFirst := func(next http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			id := r.Header.Get(webhook.HeaderDeliveryID)
			mu.Lock()
			seen[id]++
			fail := seen[id] == 1 && id[len(id)-1] < '4'
			mu.Unlock()
			if fail {
				w.WriteHeader(http.StatusInternalServerError)
				return
			}
			next(w, r)
		}
	}
	secrets := map[string]string{}
	srv := httptest.NewServer(failFirst(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		if webhook.Verify(secrets[r.Header.Get(webhook.HeaderWebhookID)], r.Header, body, time.Now(), time.Minute) != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		accepted[r.Header.Get(webhook.HeaderDeliveryID)]++
	}))
	t.Cleanup(srv.Close)
	for range 3 {
		id, secret := k.Subscribe(srv.URL)
		mu.Lock()
		secrets[id.String()] = secret
		mu.Unlock()
	}
	done := func() int {
		var n int
		require.NoError(t, k.DB.QueryRow(context.Background(), `SELECT count(*) FROM deliveries WHERE company_id = $1 AND state = 2`, k.Company).Scan(&n))
		return n
	}
	for round := range rounds {
		stop := roles(t, k)
		for range events / rounds {
			k.Produce(change(t, k, uuid.New(), 1)) // with a body in the log: a slow machine holds deliveries in the database
		}
		if round < rounds-1 {
			require.Eventually(t, func() bool { return done() > 0 }, time.Minute, time.Millisecond)
			stop() // in the middle of the work
		}
	}
	require.Eventually(t, func() bool { return done() == 3*events }, 60*time.Second, 20*time.Millisecond)
	require.Equal(t, 3*events, k.Deliveries("true"), "one row per event and subscription")
	require.Equal(t, 0, k.Deliveries("attempt > 3"))
	mu.Lock()
	defer mu.Unlock()
	require.Len(t, accepted, 3*events)
	repeats := 0
	for _, n := range accepted {
		repeats += n - 1
	}
	t.Logf("%d deliveries, %d accepted more than once", len(accepted), repeats)
	require.Zero(t, repeats, "nobody was killed, so nothing was sent twice")
}
