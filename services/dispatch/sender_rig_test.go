package dispatch

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/dbtest"
	"github.com/tradegrid/tradegrid/pkg/egress"
	"github.com/tradegrid/tradegrid/pkg/kafka"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/webhook"
	"github.com/tradegrid/tradegrid/topics"
)

// senderRig is a sender on a real database and a broker of its own, with delays that tests can wait for.
type senderRig struct {
	t       testing.TB
	db      *db.DB
	brokers []string
	client  *kgo.Client
	company tenant.ID
	cache   *ReceiverCache
	sender  *Sender
	stop    func() // ends the sender and waits for it
}

func quickConfig(brokers []string) SenderConfig {
	lines := topics.Lines()
	delays := make([]time.Duration, len(lines))
	for i := range lines {
		lines[i].Delay = 10 * time.Millisecond
		delays[i] = lines[i].Delay
	}
	return SenderConfig{
		Client:  kafka.Config{Brokers: brokers, ClientID: "test-sender"},
		Retry:   RetryConfig{Lines: lines, Delays: delays[:6], Jitter: -1, MaxWait: time.Hour},
		Results: ResultsConfig{Linger: 5 * time.Millisecond},
		Egress:  egress.Config{AllowInsecure: true, AllowPrivate: true, Timeout: 2 * time.Second},
		Breaker: BreakerConfig{Failures: 1000},
		Log:     slog.New(slog.DiscardHandler),
	}
}

func newSenderRig(t testing.TB, d *db.DB, configure func(*SenderConfig)) *senderRig {
	t.Helper()
	brokers := dbtest.Broker(t)
	client, err := kafka.NewClient(kafka.Config{Brokers: brokers, ClientID: "test"})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	rig := &senderRig{t: t, db: d, brokers: brokers, client: client, company: tenant.NewID()}
	rig.cache = NewReceiverCache(d, time.Second)
	cfg := quickConfig(brokers)
	if configure != nil {
		configure(&cfg)
	}
	rig.run(cfg)
	return rig
}

// run starts a sender; a former one must have been stopped.
func (rig *senderRig) run(cfg SenderConfig) {
	rig.sender = NewSender(cfg, rig.db, rig.client, rig.cache)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- rig.sender.Run(ctx) }()
	rig.stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(rig.t, <-done)
	})
	rig.t.Cleanup(rig.stop)
}

// forward does the work of the delay lines.
func (rig *senderRig) forward() {
	names := make([]string, 0, 7)
	for _, l := range topics.Lines() {
		names = append(names, l.Topic)
	}
	rig.tail(names, func(r *kgo.Record) {
		m, err := webhook.DecodeMessage(r)
		if err != nil {
			rig.t.Errorf("delay line: %v", err)
			return
		}
		time.AfterFunc(time.Until(m.NotBefore), func() {
			rig.client.Produce(context.Background(), m.Record(topics.Deliveries), func(*kgo.Record, error) {})
		})
	})
}

// tail hands every record of the topics, from the beginning, to the function.
func (rig *senderRig) tail(names []string, handle func(*kgo.Record)) {
	client, err := kafka.NewClient(kafka.Config{Brokers: rig.brokers}, kgo.ConsumeTopics(names...))
	require.NoError(rig.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			client.PollFetches(ctx).EachRecord(handle)
		}
	}()
	rig.t.Cleanup(func() {
		cancel()
		<-done
		client.Close()
	})
}

// collect keeps the records of topics for assertions.
func (rig *senderRig) collect(names ...string) func() []*kgo.Record {
	var mu sync.Mutex
	var all []*kgo.Record
	rig.tail(names, func(r *kgo.Record) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, r)
	})
	return func() []*kgo.Record {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

const sqlTestSubscription = `INSERT INTO webhook_subscriptions (company_id, id, url, events, is_active, status, exclude_own_events, read_scopes, secret, previous_secret, previous_until, created_by_id, version, ev_pos, created_at, updated_at)
VALUES ($1, $2, $3, ARRAY['*'], true, 'active', false, ARRAY['*'], $4, NULL, NULL, $2, 1, 1, $5, $5)`

// subscribe makes a subscription and returns its id and secret.
func (rig *senderRig) subscribe(url string) (id uuid.UUID, secret string) {
	rig.t.Helper()
	id, secret = uuid.Must(uuid.NewV7()), webhook.NewSecret()
	_, err := rig.db.Exec(context.Background(), sqlTestSubscription, rig.company, id, url, secret, time.Now().UTC())
	require.NoError(rig.t, err)
	return id, secret
}

func (rig *senderRig) exec(sql string, args ...any) {
	rig.t.Helper()
	_, err := rig.db.Exec(context.Background(), sql, args...)
	require.NoError(rig.t, err)
}

// messages makes deliveries of one subscription, as the router would.
func (rig *senderRig) messages(sub uuid.UUID, n int) []*webhook.Message {
	rig.t.Helper()
	now := time.Now().UTC().Truncate(time.Millisecond)
	out := make([]*webhook.Message, n)
	ids, events := make([]uuid.UUID, n), make([]uuid.UUID, n)
	for i := range out {
		ids[i], events[i] = uuid.Must(uuid.NewV7()), uuid.Must(uuid.NewV7())
		out[i] = &webhook.Message{
			Company: rig.company, DeliveryID: ids[i], SubscriptionID: sub, Event: "order.created", EventID: events[i],
			Attempt: 1, ExpiresAt: now.Add(22 * time.Hour), CommittedAt: now,
			Body: fmt.Appendf(nil, `{"event":"order.created","n":%d}`, i),
		}
	}
	rig.exec(`INSERT INTO deliveries (company_id, subscription_id, id, event_id, event, state, attempt, next_attempt_at, expires_at, is_test, created_at, updated_at)
SELECT $1, $2, i, e, 'order.created', 0, 0, $5, $6, false, $5, $5 FROM unnest($3::UUID[], $4::UUID[]) AS u(i, e)`,
		rig.company, sub, ids, events, now, now.Add(22*time.Hour))
	return out
}

func (rig *senderRig) produce(messages ...*webhook.Message) {
	rig.t.Helper()
	records := make([]*kgo.Record, len(messages))
	for i, m := range messages {
		records[i] = m.Record(topics.Deliveries)
	}
	require.NoError(rig.t, rig.client.ProduceSync(context.Background(), records...).FirstErr())
}

type deliveryRow struct {
	State     webhook.State
	Attempt   int16
	Next      *time.Time
	Code      *int32
	Body      []byte
	Err       *string
	Completed *time.Time
}

func (rig *senderRig) row(m *webhook.Message) (r deliveryRow) {
	rig.t.Helper()
	err := rig.db.QueryRow(context.Background(), `SELECT state, attempt, next_attempt_at, http_code, response_body, error, completed_at
FROM deliveries WHERE company_id = $1 AND subscription_id = $2 AND id = $3`, m.Company, m.SubscriptionID, m.DeliveryID).
		Scan(&r.State, &r.Attempt, &r.Next, &r.Code, &r.Body, &r.Err, &r.Completed)
	require.NoError(rig.t, err)
	return r
}

func (rig *senderRig) count(sql string, args ...any) (n int) {
	rig.t.Helper()
	require.NoError(rig.t, rig.db.QueryRow(context.Background(), sql, args...).Scan(&n))
	return n
}

// inState counts the deliveries of a subscription.
func (rig *senderRig) inState(sub uuid.UUID, state webhook.State) int {
	return rig.count(`SELECT count(*) FROM deliveries WHERE company_id = $1 AND subscription_id = $2 AND state = $3`, rig.company, sub, state)
}

func (rig *senderRig) eventually(what func() bool, name string) {
	rig.t.Helper()
	require.Eventually(rig.t, what, time.Minute, 10*time.Millisecond, name)
}

func (rig *senderRig) eventuallyState(m *webhook.Message, state webhook.State) deliveryRow {
	rig.t.Helper()
	rig.eventually(func() bool { return rig.row(m).State == state }, fmt.Sprintf("state %d", state))
	return rig.row(m)
}

// hit is one request that reached a receiver.
type hit struct {
	id      string
	attempt int
	header  http.Header
	body    []byte
}

// hook is a receiver that keeps what it got and answers as it is told.
type hook struct {
	*httptest.Server
	mu     sync.Mutex
	hits   []hit
	answer http.HandlerFunc
}

func newHook(t testing.TB, answer http.HandlerFunc) *hook {
	h := &hook{answer: answer}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		n, _ := strconv.Atoi(r.Header.Get(webhook.HeaderAttempt))
		h.mu.Lock()
		h.hits = append(h.hits, hit{r.Header.Get(webhook.HeaderDeliveryID), n, r.Header.Clone(), body})
		answer := h.answer
		h.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *hook) all() []hit {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.hits)
}

func (h *hook) set(answer http.HandlerFunc) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answer = answer
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}
