//go:build kafka

package kafka

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/tests/role"
	"github.com/tradegrid/tradegrid/topics"
)

// load places orders at a steady rate and confirms each of them, so that every order has two events. No answer may be
// other than 2xx, and none is asked for twice.
type load struct {
	r      *kit
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu      sync.Mutex
	orders  []string // confirmed ones
	faults  []string
	slowest time.Duration // answer
}

// start begins a load of so many orders a second.
func (r *kit) start(perSecond int) *load {
	r.t.Helper()
	ctx, cancel := context.WithCancel(r.t.Context())
	l := &load{r: r, cancel: cancel}
	r.t.Cleanup(func() { cancel(); l.wg.Wait() })
	product := r.product()
	l.wg.Go(func() {
		tick := time.NewTicker(time.Second / time.Duration(perSecond))
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				l.wg.Go(func() { l.order(context.WithoutCancel(ctx), product) })
			}
		}
	})
	return l
}

func (l *load) order(ctx context.Context, product string) {
	var o struct{ ID string }
	body := map[string]any{"customerName": "Erika", "items": []map[string]any{{"refId": product, "qty": 2}}}
	if l.ask(ctx, "/orders", body, &o) && l.ask(ctx, "/orders/"+o.ID+"/status/confirmed", map[string]any{}, &o) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.orders = append(l.orders, o.ID)
	}
}

func (l *load) ask(ctx context.Context, path string, body, out any) bool {
	began := time.Now()
	status, answer, err := l.r.do(ctx, http.MethodPost, path, body)
	if err == nil && status < 300 {
		err = json.Unmarshal(answer, out)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.slowest = max(l.slowest, time.Since(began))
	if err != nil || status >= 300 {
		l.faults = append(l.faults, fmt.Sprintf("%s: %d %s %v", path, status, answer, err))
		return false
	}
	return true
}

func (l *load) placed() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.orders)
}

// more waits for n more orders.
func (l *load) more(n int) {
	l.r.t.Helper()
	n += l.placed()
	role.Eventually(l.r.t, func() bool { return l.placed() >= n }, "%d orders are placed", n)
}

// stop ends the load, which must have met no error.
func (l *load) stop() {
	l.r.t.Helper()
	l.cancel()
	l.wg.Wait()
	require.Empty(l.r.t, l.faults, "answers of the API")
}

// settled waits until everything has arrived, and sees that nothing is lost, unsigned or out of order.
func (l *load) settled() {
	t, r := l.r.t, l.r
	t.Helper()
	l.delivered()
	requests := 0
	r.mu.Lock()
	require.Empty(t, r.bad, "signatures")
	for _, all := range r.got {
		requests += len(all)
	}
	r.mu.Unlock()
	deliveries := eventsEach * len(l.orders)
	role.Eventually(t, func() bool { return r.count(`SELECT count(*) FROM deliveries WHERE state = 2`) == deliveries }, "every delivery is recorded as done")
	require.Equal(t, deliveries, r.count(`SELECT count(*) FROM deliveries`), "one delivery for each event")
	published := l.inOrder()
	facts.add(t, "%d orders, all answers 2xx (slowest %d ms); %d events, %d published again; %d deliveries, %d requests repeated; nothing lost, first publications in order",
		len(l.orders), l.slowest.Milliseconds(), deliveries, published-deliveries, deliveries, requests-deliveries)
}

// eventsEach is how many events an order has.
const eventsEach = 2

// delivered waits until every event has arrived.
func (l *load) delivered() {
	t, r := l.r.t, l.r
	t.Helper()
	role.Eventually(t, func() bool { return r.count(`SELECT count(*) FROM outbox`) == 0 }, "the outbox is empty")
	var missing string
	role.Eventually(t, func() bool {
		for _, order := range l.orders {
			for _, event := range [eventsEach]string{"order.created", "order.status_changed"} {
				if r.arrived(event, order) == 0 {
					missing = event + " of " + order
					return false
				}
			}
		}
		return true
	}, "every order's events arrive; the first that is missing: %s", lazy(func() string { return missing }))
}

// lazy is a text that is made when it is shown.
type lazy func() string

func (l lazy) String() string { return l() }

// inOrder reads the events of the orders, whose versions must come first in their order, and counts them all.
func (l *load) inOrder() (published int) {
	t := l.r.t
	t.Helper()
	last := map[string]int64{}
	seen := map[string]bool{}
	for _, rec := range l.r.records(topics.Events) {
		h := map[string]string{}
		for _, header := range rec.Headers {
			h[header.Key] = string(header.Value)
		}
		if h["agg_type"] != "order" {
			continue
		}
		published++
		if seen[h["ce_id"]] {
			continue
		}
		seen[h["ce_id"]] = true
		version, err := strconv.ParseInt(h["version"], 10, 64)
		require.NoError(t, err)
		require.Greater(t, version, last[h["agg_id"]], "order %s: first publications in the order of the changes", h["agg_id"])
		last[h["agg_id"]] = version
	}
	require.Len(t, seen, eventsEach*len(l.orders), "each event was published")
	return published
}

// records reads a topic from its start to its present end.
func (r *kit) records(topic string) (all []*kgo.Record) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), role.Patience)
	defer cancel()
	starts, err := r.admin.ListStartOffsets(ctx, topic)
	require.NoError(r.t, err)
	ends, err := r.admin.ListEndOffsets(ctx, topic)
	require.NoError(r.t, err)
	var want int64
	for _, end := range ends.Offsets()[topic] {
		want += end.At
	}
	for _, start := range starts.Offsets()[topic] {
		want -= start.At
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(r.brokers...), kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	require.NoError(r.t, err)
	defer client.Close()
	for int64(len(all)) < want {
		fetches := client.PollFetches(ctx)
		require.NoError(r.t, ctx.Err(), "%d of %d records of %s", len(all), want, topic)
		all = append(all, fetches.Records()...)
	}
	return all
}
