package kafka

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/topics"
)

// watched is a group with a topic whose records are read at once, and one in which they wait for an hour.
type watched struct {
	t      *testing.T
	cfg    Config
	client *kgo.Client
	member *kgo.Client // of the group; nil = none
	adm    *kadm.Client
	log    bytes.Buffer
	watch  *GroupWatch
	now    time.Time
	group  string
}

const (
	direct = topics.Deliveries
	waits  = "webhook.delay.5s"
)

func newWatched(t *testing.T) *watched {
	t.Helper()
	cfg := Config{Brokers: dbtest.Broker(t)}
	client, err := NewClient(cfg, kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.RecordDeliveryTimeout(24*time.Hour)) // from the time of the record
	require.NoError(t, err)
	t.Cleanup(client.Close)
	w := &watched{t: t, cfg: cfg, client: client, adm: kadm.NewClient(client), now: time.Now(), group: t.Name()}
	groups := []topics.Consumer{{Group: w.group, Tiers: []topics.DelayTier{{Topic: direct}, {Topic: waits, Delay: time.Hour}}}}
	w.watch = NewGroupWatch(w.adm, slog.New(slog.NewTextHandler(&w.log, nil)), groups)
	return w
}

func (w *watched) value(of *prometheus.GaugeVec, topic string) int {
	w.t.Helper()
	m := &dto.Metric{}
	require.NoError(w.t, of.WithLabelValues(w.group, topic).Write(m))
	return int(m.GetGauge().GetValue())
}

func (w *watched) stalled(topic string) int {
	w.t.Helper()
	return w.value(groupStalled, topic)
}

// produce writes records of the age into partition 1.
func (w *watched) produce(topic string, age time.Duration, n int) {
	w.t.Helper()
	for range n {
		r := &kgo.Record{Topic: topic, Partition: 1, Timestamp: w.now.Add(-age), Value: []byte("v")}
		require.NoError(w.t, w.client.ProduceSync(w.t.Context(), r).FirstErr())
	}
}

func (w *watched) commit(topic string, at int64) {
	w.t.Helper()
	if w.member != nil { // brokers take the commits of a group with members from them only
		var err error
		w.member.CommitOffsetsSync(w.t.Context(), map[string]map[int32]kgo.EpochOffset{topic: {1: {Epoch: -1, Offset: at}}},
			func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, _ *kmsg.OffsetCommitResponse, failed error) {
				err = failed
			})
		require.NoError(w.t, err)
		return
	}
	o := kadm.Offsets{}
	o.AddOffset(topic, 1, at, -1)
	require.NoError(w.t, w.adm.CommitAllOffsets(w.t.Context(), w.group, o))
}

// measure measures some time later.
func (w *watched) measure(later time.Duration) {
	w.t.Helper()
	w.now = w.now.Add(later)
	require.NoError(w.t, w.watch.Measure(w.t.Context(), w.now))
}

func (w *watched) lines(text string) int { return strings.Count(w.log.String(), text) }

// A partition that nobody owns is stalled as soon as a rebalance would be over, whatever its members say: it has none.
func TestGroupWatchSeesAPartitionOfNobody(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	w.measure(0)
	require.Empty(t, w.watch.Notes(), "nothing to read")
	w.produce(direct, 0, 3)
	w.produce(waits, 0, 2)
	w.measure(time.Second)
	require.Equal(t, 3, w.value(groupLag, direct))
	require.Equal(t, 2, w.value(groupLag, waits))
	require.Zero(t, w.stalled(direct))
	w.measure(stalledAfter)
	require.Equal(t, 1, w.stalled(direct))
	require.Equal(t, 1, w.stalled(waits), "records that wait need an owner, too")
	require.Len(t, w.watch.Notes(), 2)
	require.Contains(t, w.watch.Notes()[0], w.group+" commits nothing in partition 1 of "+waits+" since ")
	require.Contains(t, w.watch.Notes()[1], "offset 0 of 3, assigned to no member")
	for range 7 {
		w.measure(10 * time.Second)
	}
	require.Equal(t, 2, w.lines("partitions are stalled"), "at once, then once a minute")
	w.commit(direct, 3)
	w.commit(waits, 2)
	w.measure(time.Second)
	require.Empty(t, w.watch.Notes())
	require.Zero(t, w.stalled(direct))
	require.Zero(t, w.stalled(waits))
	require.Equal(t, 1, w.lines("no partition is stalled any more"))
}

// An owner that is dead or stuck is named when records are due and its commit stands still. One that is slow is not stalled,
// nor is one whose records wait on purpose.
func TestGroupWatchSeesAnOwnerThatCommitsNothing(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	w.cfg.ClientID = "stuck"
	stuck, err := NewClient(w.cfg, kgo.ConsumerGroup(w.group), kgo.ConsumeTopics(direct, waits), kgo.DisableAutoCommit())
	require.NoError(t, err)
	t.Cleanup(stuck.Close)
	w.member = stuck
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go stuck.PollFetches(ctx)
	require.Eventually(t, func() bool {
		owners, err := ownersOf(t.Context(), w.adm, w.group)
		require.NoError(t, err)
		return strings.HasPrefix(owners[topicPartition{direct, 1}], "stuck@") && owners[topicPartition{waits, 1}] != ""
	}, time.Minute, 5*time.Millisecond)
	w.produce(direct, 0, 10)
	w.produce(waits, 50*time.Minute, 5)
	w.produce(waits, 0, 5)
	for i := range 10 {
		w.commit(direct, int64(i))
		w.measure(30 * time.Second)
		require.Zero(t, w.stalled(direct), "slow, but it moves")
		require.Zero(t, w.stalled(waits), "records wait until they are due")
	}
	w.measure(stalledAfter)
	require.Equal(t, 1, w.stalled(direct))
	require.Zero(t, w.stalled(waits))
	require.Contains(t, w.watch.Notes()[0], "offset 9 of 10, assigned to stuck@")
	w.measure(15 * time.Minute)
	require.Equal(t, 1, w.stalled(waits), "the first were due after 66 minutes at most")
	w.commit(direct, 10)
	w.commit(waits, 5)
	w.measure(time.Second)
	require.Empty(t, w.watch.Notes(), "the others are not due yet")

	w.commit(waits, 2)
	w.measure(stalledAfter)
	w.measure(stalledAfter)
	require.NotEmpty(t, w.watch.Notes())
	w.watch.Reset()
	require.Empty(t, w.watch.Notes(), "another process measures now")
	require.Zero(t, w.stalled(waits))
}

// A group that has committed beyond the end has read another topic of this name: it starts over.
func TestLagOfATopicThatWasMadeAnew(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	w.produce(direct, time.Minute, 3)
	w.produce(direct, 0, 1)
	w.commit(direct, 100)
	of := topics.Consumer{Group: w.group, Tiers: []topics.DelayTier{{Topic: direct}, {Topic: "no.such.topic"}}}
	lags, err := ReadLag(t.Context(), w.adm, of, w.now.Add(-time.Second))
	require.NoError(t, err)
	for _, l := range lags {
		require.Equal(t, direct, l.Topic)
		if l.Partition == 1 {
			require.Equal(t, Lag{Topic: direct, Partition: 1, Next: 0, End: 4, Due: 3}, l)
		} else {
			require.Zero(t, l.Unread())
		}
	}
	require.Greater(t, len(lags), 1)
}

// The rights that a dispatcher has anyway are enough, on brokers that check them.
func TestGroupWatchNeedsOnlyTheRightsOfADispatcher(t *testing.T) {
	t.Parallel()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.EnableSASL(), kfake.EnableACLs(),
		kfake.Superuser("PLAIN", "admin", "secret"), kfake.User("PLAIN", "dispatcher", "secret"))
	require.NoError(t, err)
	t.Cleanup(cluster.Close)
	as := func(user string, opts ...kgo.Opt) *kgo.Client {
		client, err := NewClient(Config{Brokers: cluster.ListenAddrs(), SASL: SASL{Mechanism: "plain", Username: user, Password: "secret"}}, opts...)
		require.NoError(t, err)
		t.Cleanup(client.Close)
		return client
	}
	admin := kadm.NewClient(as("admin"))
	_, err = Apply(t.Context(), admin, topics.Local(), 1)
	require.NoError(t, err)
	watch := NewGroupWatch(kadm.NewClient(as("dispatcher")), slog.New(slog.DiscardHandler), topics.Consumers(topics.DelayTiers()))
	require.Error(t, watch.Measure(t.Context(), time.Now()), "it has no right yet")
	require.NoError(t, Grant(t.Context(), admin, "dispatcher", topics.Rights()[topics.RoleDispatcher]))
	member := as("dispatcher", kgo.ConsumerGroup(topics.Senders), kgo.ConsumeTopics(topics.Deliveries), kgo.DisableAutoCommit())
	require.NoError(t, member.ProduceSync(t.Context(), &kgo.Record{Topic: topics.Deliveries, Value: []byte("v")}).FirstErr())
	require.NoError(t, member.PollFetches(t.Context()).Err())
	require.NoError(t, watch.Measure(t.Context(), time.Now()))
	require.NoError(t, watch.Measure(t.Context(), time.Now().Add(2*stalledAfter)))
	require.Len(t, watch.Notes(), 1)
	require.Contains(t, watch.Notes()[0], "assigned to ")
	require.NotContains(t, watch.Notes()[0], "no member")
}
