package dispatch

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/dbtest"
	"github.com/tradegrid/tradegrid/pkg/webhook"
	"github.com/tradegrid/tradegrid/topics"
)

func TestSenderDelivers(t *testing.T) {
	t.Parallel()
	rig := newSenderRig(t, dbtest.Open(t), nil)
	h := newHook(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("thanks")) })
	sub, secret := rig.subscribe(h.URL + "/hook?a=b")
	m := rig.messages(sub, 1)[0]
	rig.produce(m)
	row := rig.eventuallyState(m, webhook.StateSuccess)
	require.EqualValues(t, 1, row.Attempt)
	require.EqualValues(t, 200, *row.Code)
	require.Equal(t, "thanks", string(row.Body))
	require.Nil(t, row.Err)
	require.NotNil(t, row.Completed)
	require.Nil(t, row.Next)

	hits := h.all()
	require.Len(t, hits, 1)
	require.Equal(t, m.Body, hits[0].body)
	require.Equal(t, m.SubscriptionID.String(), hits[0].header.Get(webhook.HeaderWebhookID))
	require.Equal(t, "1", hits[0].header.Get(webhook.HeaderAttempt))
	require.Empty(t, hits[0].header.Get("traceparent"))
	require.NoError(t, webhook.Verify(secret, hits[0].header, hits[0].body, time.Now(), time.Minute))
	rig.eventually(func() bool {
		return rig.count(`SELECT count(*) FROM webhook_subscriptions WHERE company_id = $1 AND id = $2 AND last_success_at IS NOT NULL AND last_failure_at IS NULL`, rig.company, sub) == 1
	}, "last success")
	require.Equal(t, 1, rig.count(`SELECT count(*) FROM delivery_attempts WHERE company_id = $1 AND subscription_id = $2 AND delivery_id = $3 AND http_code = 200`, rig.company, sub, m.DeliveryID))
}

func TestSenderTakesTheOutboxForm(t *testing.T) {
	t.Parallel()
	rig := newSenderRig(t, dbtest.Open(t), nil)
	h := newHook(t, status(204))
	sub, _ := rig.subscribe(h.URL)
	m := rig.messages(sub, 1)[0]
	payload, err := m.OutboxPayload()
	require.NoError(t, err)
	rec := &kgo.Record{Topic: topics.Deliveries, Key: []byte(sub.String()), Value: payload, Headers: []kgo.RecordHeader{{Key: "companyid", Value: []byte(rig.company.String())}}}
	require.NoError(t, rig.client.ProduceSync(t.Context(), rec).FirstErr())
	rig.eventuallyState(m, webhook.StateSuccess)
	require.Equal(t, m.Body, h.all()[0].body)
}

func TestSenderGivesUpAfterSevenAttempts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer  http.HandlerFunc
		want    string
		timeout time.Duration // none that a slow machine could reach, where 0
	}{
		"500":      {status(500), "the receiver answered 500", 0},
		"410":      {status(410), "the receiver answered 410", 0},
		"redirect": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/x", http.StatusFound) }, "the receiver answered 302", 0},
		"hang":     {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "no complete answer within 200ms", 200 * time.Millisecond},
		"close":    {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "connection broke", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rig := newSenderRig(t, dbtest.Open(t), func(c *SenderConfig) { c.Egress.Timeout = cmp.Or(test.timeout, time.Minute) })
			rig.forward()
			dead := rig.collect(topics.DeliveriesDead)
			h := newHook(t, test.answer)
			sub, _ := rig.subscribe(h.URL)
			m := rig.messages(sub, 1)[0]
			rig.produce(m)
			row := rig.eventuallyState(m, webhook.StateFailed)
			require.EqualValues(t, 7, row.Attempt)
			require.Contains(t, *row.Err, test.want)
			var numbers []int
			for _, hit := range h.all() {
				require.Equal(t, m.DeliveryID.String(), hit.id)
				numbers = append(numbers, hit.attempt)
			}
			if test.timeout == 0 {
				require.Equal(t, []int{1, 2, 3, 4, 5, 6, 7}, numbers)
			} else { // an attempt may be given up before the receiver has read it
				require.Subset(t, []int{1, 2, 3, 4, 5, 6, 7}, numbers)
			}
			rig.eventually(func() bool { return len(dead()) == 1 }, "dead letter")
			letter, err := webhook.DecodeMessage(dead()[0])
			require.NoError(t, err)
			require.Equal(t, m.DeliveryID, letter.DeliveryID)
			require.Equal(t, 7, rig.count(`SELECT count(*) FROM delivery_attempts WHERE company_id = $1 AND subscription_id = $2`, rig.company, sub))
		})
	}
}

func TestSenderCutsHugeAnswers(t *testing.T) {
	t.Parallel()
	rig := newSenderRig(t, dbtest.Open(t), nil)
	h := newHook(t, func(w http.ResponseWriter, _ *http.Request) {
		for range 1000 {
			if _, err := w.Write([]byte(strings.Repeat("x", 10_000))); err != nil {
				return
			}
		}
	})
	sub, _ := rig.subscribe(h.URL)
	m := rig.messages(sub, 1)[0]
	rig.produce(m)
	require.Len(t, rig.eventuallyState(m, webhook.StateSuccess).Body, 2048)
}

func TestSenderHonoursRetryAfter(t *testing.T) {
	t.Parallel()
	rig := newSenderRig(t, dbtest.Open(t), nil)
	h := newHook(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "1800")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	sub, _ := rig.subscribe(h.URL)
	m := rig.messages(sub, 1)[0]
	waiting := rig.collect("webhook.delay.20480s")
	rig.produce(m)
	rig.eventually(func() bool { return len(waiting()) == 1 }, "on the longest line")
	next, err := webhook.DecodeMessage(waiting()[0])
	require.NoError(t, err)
	require.Equal(t, 2, next.Attempt)
	require.WithinDuration(t, time.Now().Add(30*time.Minute), next.NotBefore, time.Minute)
	rig.eventually(func() bool { return rig.row(m).Attempt == 1 }, "recorded")
	require.WithinDuration(t, next.NotBefore, *rig.row(m).Next, time.Second)
}

func TestSenderDropsWhatIsOver(t *testing.T) {
	t.Parallel()
	rig := newSenderRig(t, dbtest.Open(t), nil)
	dead := rig.collect(topics.DeliveriesDead)
	h := newHook(t, status(200))
	sub, _ := rig.subscribe(h.URL)
	late := rig.messages(sub, 1)[0]
	late.ExpiresAt = time.Now().Add(-time.Second)
	orphan := rig.messages(uuid.Must(uuid.NewV7()), 1)[0]
	rig.produce(late, orphan)
	require.Equal(t, "ttl expired", *rig.eventuallyState(late, webhook.StateFailed).Err)
	row := rig.eventuallyState(orphan, webhook.StateFailed)
	require.Equal(t, "subscription deleted", *row.Err)
	require.Zero(t, row.Attempt)
	require.Empty(t, h.all())
	rig.eventually(func() bool { return len(dead()) == 2 }, "dead letters")
}

func TestSenderParksForPausedSubscriptions(t *testing.T) {
	t.Parallel()
	rig := newSenderRig(t, dbtest.Open(t), nil)
	h := newHook(t, status(200))
	sub, _ := rig.subscribe(h.URL)
	rig.exec(`UPDATE webhook_subscriptions SET status = 'paused' WHERE company_id = $1 AND id = $2`, rig.company, sub)
	m, test := rig.messages(sub, 1)[0], rig.messages(sub, 1)[0]
	test.IsTest = true
	rig.produce(m, test)
	rig.eventuallyState(test, webhook.StateSuccess)
	rig.eventually(func() bool { return rig.row(m).Next == nil }, "parked in the database")
	require.EqualValues(t, webhook.StatePending, rig.row(m).State)
	require.Zero(t, rig.row(m).Attempt)
	require.Len(t, h.all(), 1)
}

func TestSenderDropsDuplicates(t *testing.T) {
	t.Parallel()
	rig := newSenderRig(t, dbtest.Open(t), nil)
	h := newHook(t, status(200))
	sub, _ := rig.subscribe(h.URL)
	m := rig.messages(sub, 20)
	for _, one := range m {
		rig.produce(one, one)
	}
	rig.eventually(func() bool { return rig.inState(sub, webhook.StateSuccess) == 20 }, "delivered")
	rig.stop()
	// A new owner has no memory; the database has.
	rig.run(quickConfig(rig.brokers))
	rig.produce(m...)
	marker := rig.messages(sub, 1)[0]
	rig.produce(marker)
	rig.eventuallyState(marker, webhook.StateSuccess)
	require.Len(t, h.all(), 21)
}

func TestSenderUsesTheSecretOfTheMoment(t *testing.T) {
	t.Parallel()
	rig := newSenderRig(t, dbtest.Open(t), nil)
	h := newHook(t, status(200))
	sub, old := rig.subscribe(h.URL)
	m := rig.messages(sub, 3)
	rig.produce(m[0])
	rig.eventuallyState(m[0], webhook.StateSuccess)

	fresh := webhook.NewSecret()
	rig.exec(`UPDATE webhook_subscriptions SET secret = $3, previous_secret = $4, previous_until = $5 WHERE company_id = $1 AND id = $2`,
		rig.company, sub, fresh, old, time.Now().Add(time.Hour))
	rig.cache.Invalidate(rig.company, sub)
	rig.produce(m[1])
	rig.eventuallyState(m[1], webhook.StateSuccess)
	hits := h.all()
	require.NoError(t, webhook.Verify(fresh, hits[1].header, hits[1].body, time.Now(), time.Minute))
	require.NotEmpty(t, hits[1].header.Get(webhook.HeaderSignaturePrevious))

	rig.exec(`UPDATE webhook_subscriptions SET previous_until = $3 WHERE company_id = $1 AND id = $2`, rig.company, sub, time.Now().Add(-time.Hour))
	rig.cache.Invalidate(rig.company, sub)
	rig.produce(m[2])
	rig.eventuallyState(m[2], webhook.StateSuccess)
	require.Empty(t, h.all()[2].header.Get(webhook.HeaderSignaturePrevious))
}

func TestSenderBreaker(t *testing.T) {
	t.Parallel()
	rig := newSenderRig(t, dbtest.Open(t), func(c *SenderConfig) {
		c.Breaker = BreakerConfig{Failures: 10, Open: 30 * time.Second}
		c.Lanes.PerReceiver = 1
	})
	parked := rig.collect("webhook.delay.5s", "webhook.delay.20480s")
	h := newHook(t, status(503))
	sub, _ := rig.subscribe(h.URL)
	m := rig.messages(sub, 25)
	rig.produce(m...)
	rig.eventually(func() bool { return len(parked()) == 25 }, "all on delay lines")
	require.Len(t, h.all(), 10)
	used, unused := 0, 0
	for _, r := range parked() {
		next, err := webhook.DecodeMessage(r)
		require.NoError(t, err)
		if next.Attempt == 2 {
			used++
			continue
		}
		unused++
		require.Equal(t, 1, next.Attempt)
		require.Equal(t, 1, next.Parks)
		require.WithinDuration(t, time.Now().Add(30*time.Second), next.NotBefore, 10*time.Second)
	}
	require.Equal(t, [2]int{10, 15}, [2]int{used, unused})
	rig.eventually(func() bool {
		return rig.count(`SELECT count(*) FROM webhook_subscriptions WHERE company_id = $1 AND id = $2 AND breaker_opens = 1 AND breaker_open_until > $3`, rig.company, sub, time.Now()) == 1
	}, "open in the database")

	// A new owner goes on resting.
	rig.stop()
	rig.cache = NewReceiverCache(rig.db, time.Second)
	cfg := quickConfig(rig.brokers)
	cfg.Retry.MaxParks = 2
	rig.run(cfg)
	more := rig.messages(sub, 2)
	more[1].Parks = 2
	rig.produce(more...)
	rig.eventually(func() bool { return len(parked()) == 26 }, "parked by the new owner")
	rig.eventually(func() bool { return rig.row(more[1]).Next == nil }, "too deep: in the database")
	require.Len(t, h.all(), 10)
}

func TestSenderKeepsTheLastHundredAttempts(t *testing.T) {
	t.Parallel()
	rig := newSenderRig(t, dbtest.Open(t), nil)
	h := newHook(t, status(200))
	sub, _ := rig.subscribe(h.URL)
	rig.produce(rig.messages(sub, 250)...)
	rig.eventually(func() bool { return rig.inState(sub, webhook.StateSuccess) == 250 }, "delivered")
	rig.stop()
	count := `SELECT count(*) FROM delivery_attempts WHERE company_id = $1 AND subscription_id = $2`
	require.Equal(t, 100, rig.count(count, rig.company, sub))
	top := rig.count(`SELECT max(seq) FROM delivery_attempts WHERE company_id = $1 AND subscription_id = $2`, rig.company, sub)

	// The next owner goes on where this one stopped.
	rig.run(quickConfig(rig.brokers))
	last := rig.messages(sub, 1)[0]
	rig.produce(last)
	rig.eventuallyState(last, webhook.StateSuccess)
	require.Equal(t, 100, rig.count(count, rig.company, sub))
	require.Equal(t, top+1, rig.count(`SELECT seq FROM delivery_attempts WHERE company_id = $1 AND subscription_id = $2 AND delivery_id = $3`, rig.company, sub, last.DeliveryID))
}

func TestSenderSurvivesAnOutageOfTheReceiver(t *testing.T) {
	t.Parallel()
	rig := newSenderRig(t, dbtest.Open(t), func(c *SenderConfig) {
		c.Breaker = BreakerConfig{Failures: 10, Open: 20 * time.Millisecond, MaxOpen: 80 * time.Millisecond}
		c.Retry.MaxParks = 1000 // no sweeper here
	})
	rig.forward()
	h := newHook(t, status(500))
	sub, _ := rig.subscribe(h.URL)
	m := rig.messages(sub, 200)
	rig.produce(m...)
	rig.eventually(func() bool { return len(h.all()) >= 40 }, "failing")
	h.set(status(200))
	rig.eventually(func() bool {
		return rig.inState(sub, webhook.StateSuccess)+rig.inState(sub, webhook.StateFailed) == 200
	}, "settled")
	require.Equal(t, 200, rig.inState(sub, webhook.StateSuccess))
	attempts := map[string]int{}
	for _, hit := range h.all() {
		attempts[hit.id] = max(attempts[hit.id], hit.attempt)
	}
	require.Len(t, attempts, 200)
	for id, n := range attempts {
		require.LessOrEqual(t, n, 7, id)
	}
}

func TestSenderShowsLongAttempts(t *testing.T) {
	t.Parallel()
	rig := newSenderRig(t, dbtest.Open(t), func(c *SenderConfig) { c.Results.ShowAge = 50 * time.Millisecond })
	release := make(chan struct{})
	h := newHook(t, func(w http.ResponseWriter, _ *http.Request) { <-release })
	sub, _ := rig.subscribe(h.URL)
	m := rig.messages(sub, 1)[0]
	rig.produce(m)
	row := rig.eventuallyState(m, webhook.StateDelivering)
	require.Zero(t, row.Attempt)
	close(release)
	require.EqualValues(t, 1, rig.eventuallyState(m, webhook.StateSuccess).Attempt)
}

func TestSenderEndsRequestsUnderWayWhenItStops(t *testing.T) {
	t.Parallel()
	rig := newSenderRig(t, dbtest.Open(t), func(c *SenderConfig) { c.Lanes.PerReceiver = 1 })
	arrived, release := make(chan struct{}), make(chan struct{})
	var first atomic.Bool
	h := newHook(t, func(http.ResponseWriter, *http.Request) {
		if first.CompareAndSwap(false, true) {
			close(arrived)
			<-release
		}
	})
	sub, _ := rig.subscribe(h.URL)
	m := rig.messages(sub, 5)
	rig.produce(m...)
	<-arrived
	stopped := make(chan struct{})
	go func() {
		rig.stop()
		close(stopped)
	}()
	rig.eventually(func() bool {
		rig.sender.mu.Lock()
		defer rig.sender.mu.Unlock()
		return len(rig.sender.assignments) == 0
	}, "stopping")
	close(release)
	<-stopped
	require.EqualValues(t, webhook.StateSuccess, rig.row(m[0]).State)
	require.Len(t, h.all(), 1)
	rig.run(quickConfig(rig.brokers))
	rig.eventually(func() bool { return rig.inState(sub, webhook.StateSuccess) == 5 }, "the rest is sent by the next one")
	require.Len(t, h.all(), 5)
}

func TestSenderBuriesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	rig := newSenderRig(t, dbtest.Open(t), nil)
	dead := rig.collect(topics.DeliveriesDead)
	h := newHook(t, status(200))
	sub, _ := rig.subscribe(h.URL)
	poison := &kgo.Record{Topic: topics.Deliveries, Key: []byte(sub.String()), Value: []byte("{"), Headers: []kgo.RecordHeader{{Key: "companyid", Value: []byte("x")}}}
	require.NoError(t, rig.client.ProduceSync(context.Background(), poison).FirstErr())
	m := rig.messages(sub, 1)[0]
	rig.produce(m)
	rig.eventuallyState(m, webhook.StateSuccess)
	rig.eventually(func() bool { return len(dead()) == 1 }, "dead letter")
}
