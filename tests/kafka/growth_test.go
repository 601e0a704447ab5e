//go:build kafka

package kafka

import (
	"cmp"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/tradegrid/tradegrid/services/dev/receiver"
	"github.com/tradegrid/tradegrid/tests/role"
	"github.com/tradegrid/tradegrid/topics"
)

// turnover is how often a process dies and another one starts.
const turnover = 3 * time.Second

// deliveriesWait is longer than routers leave added partitions unused.
const deliveriesWait = 35 * time.Second

// grow doubles the partitions of every topic that is read with a key.
func (r *kit) grow() (events int) {
	r.t.Helper()
	all, err := r.admin.ListTopics(kadm.WithAuthorizedOps(r.t.Context()))
	require.NoError(r.t, err)
	for _, topic := range topics.All() {
		n := 2 * len(all[topic.Name].Partitions)
		if topic.Name == topics.Events {
			events = n
		}
		if topic.Name == topics.OutboxWakeups {
			continue
		}
		grown, err := r.admin.UpdatePartitions(r.t.Context(), n, topic.Name)
		require.NoError(r.t, err)
		require.NoError(r.t, grown.Error())
	}
	return events
}

// Partitions are added twice under load, while every few seconds a relay or a dispatcher dies and another one starts: nothing is
// lost, an ordered subscription gets the changes of each record in order, and in the end the added partitions are used.
func TestPartitionsAreAddedUnderLoad(t *testing.T) {
	t.Parallel()
	r := newKit(t)
	r.api = r.role("api").URL
	running := []*role.Process{r.launch("relay"), r.launch("dispatcher"), r.launch("relay"), r.launch("dispatcher")}
	for _, p := range running {
		p.AwaitStart()
	}
	subscription := r.subscribe("order.*")
	r.call(http.MethodPatch, "/webhooks/subscriptions/"+subscription, map[string]any{"ordered": true}, nil)
	l := r.start(20)
	kills := 0
	turn := func() {
		next := time.NewTimer(turnover)
		defer next.Stop()
		running[0].Kill()
		kills++
		running = append(running[1:], r.role([]string{"relay", "dispatcher"}[(kills+1)%2]))
		<-next.C
	}
	var took []time.Duration
	for range 2 {
		l.more(20)
		n, began := r.grow(), time.Now()
		role.Eventually(t, func() bool {
			turn()
			return r.count(`SELECT count(*) FROM outbox_leases WHERE partitions = $1`, n) == 256
		}, "all buckets use %d partitions", n)
		took = append(took, time.Since(began).Round(time.Second))
	}
	for end := time.Now().Add(deliveriesWait); time.Now().Before(end); {
		turn()
	}
	l.stop()
	l.settled()
	first := map[string][]string{}
	for _, d := range r.arrivals() {
		if !slices.Contains(first[d.DataID], d.Event) {
			first[d.DataID] = append(first[d.DataID], d.Event)
		}
	}
	for order, events := range first {
		require.Equal(t, []string{"order.created", "order.status_changed"}, events, "order %s", order)
	}
	facts.add(t, "partitions doubled twice, all events in the added ones after %v, while %d processes died; the ordered subscription got %d orders in order", took, kills, len(first))
}

// arrivals lists what receivers got, in the order of its arrival.
func (r *kit) arrivals() (all []receiver.Delivery) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, some := range r.got {
		all = append(all, some...)
	}
	slices.SortFunc(all, func(a, b receiver.Delivery) int { return cmp.Compare(a.Seq, b.Seq) })
	return all
}
