//go:build kafka

package kafka

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/tradegrid/tradegrid/tests/role"
	"github.com/tradegrid/tradegrid/topics"
)

// leader is the broker that leads the controllers, the worst one to lose; it counts from 0.
func (r *kit) leader() int {
	r.t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(r.brokers...))
	require.NoError(r.t, err)
	defer client.Close()
	topic := kmsg.NewDescribeQuorumRequestTopic()
	topic.Topic = "__cluster_metadata"
	topic.Partitions = []kmsg.DescribeQuorumRequestTopicPartition{kmsg.NewDescribeQuorumRequestTopicPartition()}
	req := kmsg.NewPtrDescribeQuorumRequest()
	req.Topics = []kmsg.DescribeQuorumRequestTopic{topic}
	resp, err := req.RequestWith(r.t.Context(), client)
	require.NoError(r.t, err)
	return int(resp.Topics[0].Partitions[0].LeaderID) - 1
}

// kill ends brokers, which are back at the end of the test at the latest: the next one wants them.
func (r *kit) kill(nodes ...int) (back func()) {
	r.t.Helper()
	require.NoError(r.t, three.Kill(nodes...))
	isBack := false
	back = func() {
		if isBack {
			return
		}
		isBack = true
		ctx, cancel := context.WithTimeout(context.Background(), role.Patience)
		defer cancel()
		require.NoError(r.t, three.Restart(nodes...))
		require.NoError(r.t, three.Await(ctx, 3))
	}
	r.t.Cleanup(back)
	return back
}

// whole waits until every partition has all its replicas in sync.
func (r *kit) whole() {
	r.t.Helper()
	role.Eventually(r.t, func() bool {
		all, err := r.admin.ListTopics(kadm.WithAuthorizedOps(r.t.Context())) // past the client's cache
		if err != nil {
			return false
		}
		for _, topic := range all {
			for _, p := range topic.Partitions {
				if len(p.ISR) != 3 {
					return false
				}
			}
		}
		return len(all) == len(topics.All())
	}, "all replicas are in sync")
}

// A broker dies under load and comes back: clients of the API notice nothing, nothing is lost, and events come in order.
func TestOneBrokerFails(t *testing.T) {
	t.Parallel()
	r := newKit(t)
	r.platform()
	r.subscribe("order.*")
	l := r.start(40)
	l.more(80)
	back := r.kill(r.leader())
	l.more(400) // some seconds longer than the cluster needs to notice
	back()
	r.whole()
	l.more(80)
	l.stop()
	l.settled()
}

// outage is how long all brokers are gone: three times as long as a batch waits for them.
const outage = 30 * time.Second

// All brokers are gone for a while: the API answers as always, the outbox grows, and is published in order afterwards.
func TestAllBrokersFail(t *testing.T) {
	t.Parallel()
	r := newKit(t)
	api, relay := r.platform()
	r.subscribe("order.*")
	l := r.start(10)
	l.more(20)
	back := r.kill(0, 1, 2)
	down, before := time.Now(), l.placed()
	role.Eventually(t, func() bool { status, _ := relay.Ask("/readyz"); return status == http.StatusServiceUnavailable }, "the relay says that it cannot work")
	_, why := relay.Ask("/readyz")
	require.Contains(t, why, "kafka")
	end := time.NewTimer(time.Until(down.Add(outage)))
	defer end.Stop()
	<-end.C
	during := l.placed() - before
	require.Greater(t, during, 150, "orders are placed without brokers")
	waiting := r.count(`SELECT count(*) FROM outbox`)
	require.GreaterOrEqual(t, waiting, 2*during, "their events wait in the outbox")
	status, answer := api.Ask("/readyz")
	require.Equal(t, http.StatusOK, status, answer)
	back()
	up := time.Now()
	l.more(20)
	l.stop()
	role.Eventually(t, func() bool { return r.count(`SELECT count(*) FROM outbox`) == 0 }, "the outbox is empty")
	facts.add(t, "brokers gone for %.0f s, %d orders meanwhile; %d rows of the outbox published %.1f s after their return", up.Sub(down).Seconds(), during, waiting, time.Since(up).Seconds())
	l.settled()
}
