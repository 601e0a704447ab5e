package sender

import (
	"bytes"
	"cmp"
	"context"
	"log/slog"
	"math"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/delivery/dispatchtest"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/topics"
)

func TestSenderDelivers(t *testing.T) {
	t.Parallel()
	k := newKit(t, dbtest.Open(t), nil)
	h := dispatchtest.NewReceiver(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("thanks")) })
	sub, secret := k.Subscribe(h.URL + "/hook?a=b")
	m := k.Messages(sub, 1)[0]
	k.Send(m)
	row := k.AwaitState(m.DeliveryID, webhook.StateSuccess)
	require.EqualValues(t, 1, row.Attempt)
	require.EqualValues(t, 200, *row.Code)
	require.Equal(t, "thanks", string(row.Body))
	require.Nil(t, row.Err)
	require.NotNil(t, row.Completed)
	require.Nil(t, row.Next)

	hits := h.Requests()
	require.Len(t, hits, 1)
	require.Equal(t, m.Body, hits[0].Body)
	require.Equal(t, m.SubscriptionID.String(), hits[0].Header.Get(webhook.HeaderWebhookID))
	require.Equal(t, "1", hits[0].Header.Get(webhook.HeaderAttempt))
	require.Empty(t, hits[0].Header.Get("traceparent"))
	require.NoError(t, webhook.Verify(secret, hits[0].Header, hits[0].Body, time.Now(), time.Minute))
	k.Eventually(func() bool {
		return k.Query(`SELECT count(*) FROM webhook_subscriptions WHERE company_id = $1 AND id = $2 AND last_success_at IS NOT NULL AND last_failure_at IS NULL`, k.Company, sub) == 1
	}, "last success")
	require.Zero(t, k.Query(`SELECT count(*) FROM delivery_attempts WHERE company_id = $1 AND subscription_id = $2`, k.Company, sub), "the delivery itself describes its success")
}

func TestSenderTakesTheOutboxForm(t *testing.T) {
	t.Parallel()
	k := newKit(t, dbtest.Open(t), nil)
	h := dispatchtest.NewReceiver(t, dispatchtest.Status(204))
	sub, _ := k.Subscribe(h.URL)
	m := k.Messages(sub, 1)[0]
	payload, err := m.OutboxPayload()
	require.NoError(t, err)
	rec := &kgo.Record{Topic: topics.Deliveries, Key: []byte(sub.String()), Value: payload, Headers: []kgo.RecordHeader{{Key: "companyid", Value: []byte(k.Company.String())}}}
	require.NoError(t, k.Client.ProduceSync(t.Context(), rec).FirstErr())
	k.AwaitState(m.DeliveryID, webhook.StateSuccess)
	require.Equal(t, m.Body, h.Requests()[0].Body)
}

func TestSenderGivesUpAfterSevenAttempts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer  http.HandlerFunc
		want    string
		timeout time.Duration // none that a slow machine could reach, where 0
	}{
		"500":      {dispatchtest.Status(500), "the receiver answered 500", 0},
		"410":      {dispatchtest.Status(410), "the receiver answered 410", 0},
		"redirect": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/x", http.StatusFound) }, "the receiver answered 302", 0},
		"hang":     {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "no complete answer within 200ms", 200 * time.Millisecond},
		"close":    {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "connection broke", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t, dbtest.Open(t), func(c *Config) { c.Egress.Timeout = cmp.Or(test.timeout, time.Minute) })
			k.ForwardDelayed()
			dead := k.Collect(topics.DeliveriesDead)
			h := dispatchtest.NewReceiver(t, test.answer)
			sub, _ := k.Subscribe(h.URL)
			m := k.Messages(sub, 1)[0]
			k.Send(m)
			row := k.AwaitState(m.DeliveryID, webhook.StateFailed)
			require.EqualValues(t, 7, row.Attempt)
			require.Contains(t, *row.Err, test.want)
			var numbers []int
			for _, hit := range h.Requests() {
				require.Equal(t, m.DeliveryID.String(), hit.ID)
				numbers = append(numbers, hit.Attempt)
			}
			if test.timeout == 0 {
				require.Equal(t, []int{1, 2, 3, 4, 5, 6, 7}, numbers)
			} else { // an attempt may be given up before the receiver has read it
				require.Subset(t, []int{1, 2, 3, 4, 5, 6, 7}, numbers)
			}
			k.Eventually(func() bool { return len(dead()) == 1 }, "dead letter")
			letter, err := webhook.DecodeMessage(dead()[0])
			require.NoError(t, err)
			require.Equal(t, m.DeliveryID, letter.DeliveryID)
			require.Equal(t, 7, k.Query(`SELECT count(*) FROM delivery_attempts WHERE company_id = $1 AND subscription_id = $2`, k.Company, sub))
		})
	}
}

func TestSenderCutsHugeAnswers(t *testing.T) {
	t.Parallel()
	k := newKit(t, dbtest.Open(t), nil)
	h := dispatchtest.NewReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		for range 1000 {
			if _, err := w.Write([]byte(strings.Repeat("x", 10_000))); err != nil {
				return
			}
		}
	})
	sub, _ := k.Subscribe(h.URL)
	m := k.Messages(sub, 1)[0]
	k.Send(m)
	require.Len(t, k.AwaitState(m.DeliveryID, webhook.StateSuccess).Body, 2048)
}

func TestSenderHonoursRetryAfter(t *testing.T) {
	t.Parallel()
	k := newKit(t, dbtest.Open(t), nil)
	h := dispatchtest.NewReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "1800")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	sub, _ := k.Subscribe(h.URL)
	m := k.Messages(sub, 1)[0]
	waiting := k.Collect("webhook.delay.20480s")
	k.Send(m)
	k.Eventually(func() bool { return len(waiting()) == 1 }, "on the longest line")
	next, err := webhook.DecodeMessage(waiting()[0])
	require.NoError(t, err)
	require.Equal(t, 2, next.Attempt)
	require.WithinDuration(t, time.Now().Add(30*time.Minute), next.NotBefore, time.Minute)
	k.Eventually(func() bool { return k.Row(m.DeliveryID).Attempt == 1 }, "recorded")
	require.WithinDuration(t, next.NotBefore, *k.Row(m.DeliveryID).Next, time.Second)
}

func TestSenderDropsWhatIsOver(t *testing.T) {
	t.Parallel()
	k := newKit(t, dbtest.Open(t), nil)
	dead := k.Collect(topics.DeliveriesDead)
	h := dispatchtest.NewReceiver(t, dispatchtest.Status(200))
	sub, _ := k.Subscribe(h.URL)
	late := k.Messages(sub, 1)[0]
	late.ExpiresAt = time.Now().Add(-time.Second)
	orphan := k.Messages(uuid.Must(uuid.NewV7()), 1)[0]
	k.Send(late, orphan)
	require.Equal(t, "ttl expired", *k.AwaitState(late.DeliveryID, webhook.StateFailed).Err)
	row := k.AwaitState(orphan.DeliveryID, webhook.StateFailed)
	require.Equal(t, "subscription deleted", *row.Err)
	require.Zero(t, row.Attempt)
	require.Empty(t, h.Requests())
	k.Eventually(func() bool { return len(dead()) == 2 }, "dead letters")
}

func TestSenderHoldsDeliveriesOfPausedSubscriptions(t *testing.T) {
	t.Parallel()
	k := newKit(t, dbtest.Open(t), nil)
	h := dispatchtest.NewReceiver(t, dispatchtest.Status(200))
	sub, _ := k.Subscribe(h.URL)
	k.Exec(`UPDATE webhook_subscriptions SET status = 'paused' WHERE company_id = $1 AND id = $2`, k.Company, sub)
	m, test := k.Messages(sub, 1)[0], k.Messages(sub, 1)[0]
	test.IsTest = true
	k.Send(m, test)
	k.AwaitState(test.DeliveryID, webhook.StateSuccess)
	k.Eventually(func() bool { return k.Row(m.DeliveryID).Next == nil }, "held in the database")
	require.EqualValues(t, 1, k.Query(`SELECT count(*) FROM deliveries WHERE company_id = $1 AND id = $2 AND waiting_for = 'paused'`, k.Company, m.DeliveryID))
	require.EqualValues(t, webhook.StatePending, k.Row(m.DeliveryID).State)
	require.Zero(t, k.Row(m.DeliveryID).Attempt)
	require.Len(t, h.Requests(), 1)
}

func TestSenderDropsDuplicates(t *testing.T) {
	t.Parallel()
	k := newKit(t, dbtest.Open(t), nil)
	h := dispatchtest.NewReceiver(t, dispatchtest.Status(200))
	sub, _ := k.Subscribe(h.URL)
	m := k.Messages(sub, 20)
	for _, one := range m {
		k.Send(one, one)
	}
	k.Eventually(func() bool { return k.InState(sub, webhook.StateSuccess) == 20 }, "delivered")
	k.stop()
	// A new owner has no memory; the database has.
	k.run(quickConfig(k.Kafka))
	k.Send(m...)
	marker := k.Messages(sub, 1)[0]
	k.Send(marker)
	k.AwaitState(marker.DeliveryID, webhook.StateSuccess)
	require.Len(t, h.Requests(), 21)
}

func TestSenderUsesTheSecretOfTheMoment(t *testing.T) {
	t.Parallel()
	k := newKit(t, dbtest.Open(t), nil)
	h := dispatchtest.NewReceiver(t, dispatchtest.Status(200))
	sub, old := k.Subscribe(h.URL)
	m := k.Messages(sub, 3)
	k.Send(m[0])
	k.AwaitState(m[0].DeliveryID, webhook.StateSuccess)

	fresh := webhook.NewSecret()
	k.Exec(`UPDATE webhook_subscriptions SET secret = $3, previous_secret = $4, previous_until = $5 WHERE company_id = $1 AND id = $2`,
		k.Company, sub, k.Seal(sub, fresh), k.Seal(sub, old), time.Now().Add(time.Hour))
	k.cache.invalidate(webhook.SubscriptionKey{Company: k.Company, ID: sub})
	k.Send(m[1])
	k.AwaitState(m[1].DeliveryID, webhook.StateSuccess)
	hits := h.Requests()
	require.NoError(t, webhook.Verify(fresh, hits[1].Header, hits[1].Body, time.Now(), time.Minute))
	require.NotEmpty(t, hits[1].Header.Get(webhook.HeaderSignaturePrevious))

	k.Exec(`UPDATE webhook_subscriptions SET previous_until = $3 WHERE company_id = $1 AND id = $2`, k.Company, sub, time.Now().Add(-time.Hour))
	k.cache.invalidate(webhook.SubscriptionKey{Company: k.Company, ID: sub})
	k.Send(m[2])
	k.AwaitState(m[2].DeliveryID, webhook.StateSuccess)
	require.Empty(t, h.Requests()[2].Header.Get(webhook.HeaderSignaturePrevious))
}

func TestSenderBreaker(t *testing.T) {
	t.Parallel()
	k := newKit(t, dbtest.Open(t), func(c *Config) {
		c.Breaker = BreakerConfig{Failures: 10, Open: 30 * time.Second}
		c.Queues.PerReceiver = 1
	})
	postponed := k.Collect("webhook.delay.5s", "webhook.delay.20480s")
	h := dispatchtest.NewReceiver(t, dispatchtest.Status(503))
	sub, _ := k.Subscribe(h.URL)
	m := k.Messages(sub, 25)
	k.Send(m...)
	k.Eventually(func() bool { return len(postponed()) == 25 }, "all on delay tiers")
	k.Eventually(func() bool {
		return k.Query(`SELECT count(*) FROM deliveries WHERE company_id = $1 AND waiting_for = 'circuit_open'`, k.Company) > 0
	}, "the rows say why")
	require.Len(t, h.Requests(), 10)
	used, unused := 0, 0
	for _, r := range postponed() {
		next, err := webhook.DecodeMessage(r)
		require.NoError(t, err)
		if next.Attempt == 2 {
			used++
			continue
		}
		unused++
		require.Equal(t, 1, next.Attempt)
		require.Equal(t, 1, next.Postponements)
		require.WithinDuration(t, time.Now().Add(30*time.Second), next.NotBefore, 10*time.Second)
	}
	require.Equal(t, [2]int{10, 15}, [2]int{used, unused})
	k.Eventually(func() bool {
		return k.Query(`SELECT count(*) FROM webhook_subscriptions WHERE company_id = $1 AND id = $2 AND breaker_opens = 1 AND breaker_open_until > $3`, k.Company, sub, time.Now()) == 1
	}, "open in the database")

	// The circuit stays open for a new owner.
	k.stop()
	k.cache = k.receivers()
	cfg := quickConfig(k.Kafka)
	cfg.Retry.maxPostponements = 2
	k.run(cfg)
	more := k.Messages(sub, 2)
	more[1].Postponements = 2
	k.Send(more...)
	k.Eventually(func() bool { return len(postponed()) == 26 }, "postponed by the new owner")
	k.Eventually(func() bool { return k.Row(more[1].DeliveryID).Next == nil }, "too deep: in the database")
	require.Len(t, h.Requests(), 10)
}

func TestSenderKeepsTheLastHundredAttempts(t *testing.T) {
	t.Parallel()
	k := newKit(t, dbtest.Open(t), func(c *Config) { c.Retry.maxPostponements = 1000 }) // no sweeper here
	h := dispatchtest.NewReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(webhook.HeaderAttempt) == "1" {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	k.ForwardDelayed()
	sub, _ := k.Subscribe(h.URL)
	k.Send(k.Messages(sub, 250)...)
	k.Eventually(func() bool { return k.InState(sub, webhook.StateSuccess) == 250 }, "delivered")
	k.stop()
	count := `SELECT count(*) FROM delivery_attempts WHERE company_id = $1 AND subscription_id = $2`
	require.Equal(t, 100, k.Query(count, k.Company, sub))
	top := k.Query(`SELECT max(seq) FROM delivery_attempts WHERE company_id = $1 AND subscription_id = $2`, k.Company, sub)

	// The next owner goes on where this one stopped.
	k.run(quickConfig(k.Kafka))
	last := k.Messages(sub, 1)[0]
	k.Send(last)
	k.AwaitState(last.DeliveryID, webhook.StateSuccess)
	require.Equal(t, 100, k.Query(count, k.Company, sub))
	require.Equal(t, top+1, k.Query(`SELECT seq FROM delivery_attempts WHERE company_id = $1 AND subscription_id = $2 AND delivery_id = $3`, k.Company, sub, last.DeliveryID))
	require.Zero(t, k.Query(`SELECT count(*) FROM delivery_attempts WHERE company_id = $1 AND subscription_id = $2 AND error IS NULL`, k.Company, sub), "only the unsuccessful ones")
}

func TestSenderSurvivesAnOutageOfTheReceiver(t *testing.T) {
	t.Parallel()
	k := newKit(t, dbtest.Open(t), func(c *Config) {
		c.Breaker = BreakerConfig{Failures: 10, Open: 20 * time.Millisecond, MaxOpen: 80 * time.Millisecond}
		c.Retry.maxPostponements = 1000 // no sweeper here
	})
	k.ForwardDelayed()
	h := dispatchtest.NewReceiver(t, dispatchtest.Status(500))
	sub, _ := k.Subscribe(h.URL)
	m := k.Messages(sub, 200)
	k.Send(m...)
	k.Eventually(func() bool { return len(h.Requests()) >= 40 }, "failing")
	h.Answer(dispatchtest.Status(200))
	k.Eventually(func() bool {
		return k.InState(sub, webhook.StateSuccess)+k.InState(sub, webhook.StateFailed) == 200
	}, "settled")
	require.Equal(t, 200, k.InState(sub, webhook.StateSuccess))
	attempts := map[string]int{}
	for _, hit := range h.Requests() {
		attempts[hit.ID] = max(attempts[hit.ID], hit.Attempt)
	}
	require.Len(t, attempts, 200)
	for id, n := range attempts {
		require.LessOrEqual(t, n, 7, id)
	}
}

func TestSenderShowsLongAttempts(t *testing.T) {
	t.Parallel()
	k := newKit(t, dbtest.Open(t), func(c *Config) { c.Results.showAge = 50 * time.Millisecond })
	release := make(chan struct{})
	h := dispatchtest.NewReceiver(t, func(w http.ResponseWriter, _ *http.Request) { <-release })
	sub, _ := k.Subscribe(h.URL)
	m := k.Messages(sub, 1)[0]
	k.Send(m)
	row := k.AwaitState(m.DeliveryID, webhook.StateDelivering)
	require.Zero(t, row.Attempt)
	close(release)
	require.EqualValues(t, 1, k.AwaitState(m.DeliveryID, webhook.StateSuccess).Attempt)
}

func TestSenderEndsRequestsUnderWayWhenItStops(t *testing.T) {
	t.Parallel()
	k := newKit(t, dbtest.Open(t), func(c *Config) { c.Queues.PerReceiver = 1 })
	arrived, release := make(chan struct{}), make(chan struct{})
	var first atomic.Bool
	h := dispatchtest.NewReceiver(t, func(http.ResponseWriter, *http.Request) {
		if first.CompareAndSwap(false, true) {
			close(arrived)
			<-release
		}
	})
	sub, _ := k.Subscribe(h.URL)
	m := k.Messages(sub, 5)
	k.Send(m...)
	<-arrived
	stopped := make(chan struct{})
	go func() {
		k.stop()
		close(stopped)
	}()
	k.Eventually(func() bool {
		k.sender.mu.Lock()
		defer k.sender.mu.Unlock()
		return len(k.sender.assignments) == 0
	}, "stopping")
	close(release)
	<-stopped
	require.EqualValues(t, webhook.StateSuccess, k.Row(m[0].DeliveryID).State)
	require.Len(t, h.Requests(), 1)
	k.run(quickConfig(k.Kafka))
	k.Eventually(func() bool { return k.InState(sub, webhook.StateSuccess) == 5 }, "the rest is sent by the next one")
	require.Len(t, h.Requests(), 5)
}

func TestSenderDeadLettersWhatItCannotRead(t *testing.T) {
	t.Parallel()
	k := newKit(t, dbtest.Open(t), nil)
	dead := k.Collect(topics.DeliveriesDead)
	h := dispatchtest.NewReceiver(t, dispatchtest.Status(200))
	sub, _ := k.Subscribe(h.URL)
	poison := &kgo.Record{Topic: topics.Deliveries, Key: []byte(sub.String()), Value: []byte("{"), Headers: []kgo.RecordHeader{{Key: "companyid", Value: []byte("x")}}}
	require.NoError(t, k.Client.ProduceSync(context.Background(), poison).FirstErr())
	m := k.Messages(sub, 1)[0]
	k.Send(m)
	k.AwaitState(m.DeliveryID, webhook.StateSuccess)
	k.Eventually(func() bool { return len(dead()) == 1 }, "dead letter")
}

// A record of a later release is neither sent as this one understands it nor dead: the delivery stays open.
func TestSenderLeavesWhatALaterReleaseWrote(t *testing.T) {
	t.Parallel()
	k := newKit(t, dbtest.Open(t), nil)
	dead := k.Collect(topics.DeliveriesDead)
	h := dispatchtest.NewReceiver(t, dispatchtest.Status(200))
	sub, _ := k.Subscribe(h.URL)
	m := k.Messages(sub, 2)
	later := m[0].Record(topics.Deliveries)
	dispatchtest.SetHeader(later, "schema", "2")
	require.NoError(t, k.Client.ProduceSync(context.Background(), later).FirstErr())
	k.Send(m[1])
	k.AwaitState(m[1].DeliveryID, webhook.StateSuccess)
	require.Equal(t, webhook.StatePending, k.Row(m[0].DeliveryID).State)
	require.NotNil(t, k.Row(m[0].DeliveryID).Next, "the sweeper injects it when it is overdue")
	require.Empty(t, dead())
	require.Len(t, h.Requests(), 1)
}

// Of successes only a sample is logged, of failures everything.
func TestSenderSamplesTheLogOfSuccesses(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	k := newKit(t, dbtest.Open(t), func(c *Config) {
		c.LogSuccess, c.Retry.MaxAttempts = math.MaxInt, 1
		c.Log = slog.New(slog.NewTextHandler(&log, nil)) // the handler serializes its writes
	})
	good, bad := dispatchtest.NewReceiver(t, dispatchtest.Status(204)), dispatchtest.NewReceiver(t, dispatchtest.Status(500))
	for _, h := range []*dispatchtest.Receiver{good, bad} {
		sub, _ := k.Subscribe(h.URL)
		m := k.Messages(sub, 1)[0]
		k.Send(m)
		k.Eventually(func() bool {
			return k.Query(`SELECT count(*) FROM deliveries WHERE company_id = $1 AND id = $2 AND state > 1`, k.Company, m.DeliveryID) == 1
		}, "the delivery ends")
	}
	k.stop()
	require.Equal(t, 1, strings.Count(log.String(), "delivery attempted"))
	require.Contains(t, log.String(), "result=failed")
}
