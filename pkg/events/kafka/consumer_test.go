package kafka_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/topics"
)

const topic = "things"

type broker struct {
	client *kgo.Client
	cfg    kafka.Config
}

func setup(t *testing.T, partitions int32) *broker {
	t.Helper()
	cfg := kafka.Config{Brokers: brokersWith(t, partitions), ClientID: "test"}
	client, err := kafka.NewClient(cfg, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return &broker{client: client, cfg: cfg}
}

// brokersWith gives brokers with the topic, those that the environment names or one in this process.
func brokersWith(t *testing.T, partitions int32) []string {
	t.Helper()
	if addresses := dbtest.RealBrokers(t); addresses != nil {
		client, err := kgo.NewClient(kgo.SeedBrokers(addresses...))
		require.NoError(t, err)
		defer client.Close()
		_, err = kadm.NewClient(client).CreateTopic(t.Context(), partitions, -1, nil, topic)
		require.NoError(t, err)
		return addresses
	}
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(partitions, topic),
		kfake.BrokerConfigs(map[string]string{"group.initial.rebalance.delay.ms": "0"}))
	require.NoError(t, err)
	t.Cleanup(cluster.Close)
	return cluster.ListenAddrs()
}

// produce writes n numbered records round-robin over the partitions.
func (b *broker) produce(t *testing.T, from, n, partitions int) {
	t.Helper()
	records := make([]*kgo.Record, n)
	for i := range records {
		records[i] = &kgo.Record{Topic: topic, Partition: int32((from + i) % partitions), Value: []byte(strconv.Itoa(from + i))}
	}
	require.NoError(t, b.client.ProduceSync(t.Context(), records...).FirstErr())
}

func (b *broker) committed(t *testing.T, group string) (sum int64) {
	offsets, err := kadm.NewClient(b.client).FetchOffsets(t.Context(), group)
	if err != nil {
		return 0
	}
	offsets.Each(func(o kadm.OffsetResponse) { sum += o.At })
	return sum
}

func (b *broker) start(t *testing.T, cfg kafka.ConsumerConfig) (stop func()) {
	t.Helper()
	cfg.Client, cfg.Topics, cfg.CommitEvery = b.cfg, []string{topic}, 20*time.Millisecond
	cfg.Opts = append(cfg.Opts, kgo.HeartbeatInterval(50*time.Millisecond))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- kafka.Consume(ctx, cfg) }()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	t.Cleanup(stop)
	return stop
}

func TestCommitsOnlyTheFinishedPrefix(t *testing.T) {
	t.Parallel()
	b := setup(t, 1)
	b.produce(t, 0, 10, 1)
	got := make(chan *kafka.Record, 10)
	b.start(t, kafka.ConsumerConfig{Group: "g", Handle: func(_ context.Context, r *kafka.Record) { got <- r }})
	records := make([]*kafka.Record, 10)
	for i := range records {
		records[i] = <-got
		require.Equal(t, strconv.Itoa(i), string(records[i].Value))
	}
	for _, i := range []int{0, 1, 3, 4, 5, 6, 7, 8, 9} {
		records[i].Done()
		records[i].Done() // a second time changes nothing
	}
	require.Eventually(t, func() bool { return b.committed(t, "g") == 2 }, time.Minute, 10*time.Millisecond)
	records[2].Done()
	require.Eventually(t, func() bool { return b.committed(t, "g") == 10 }, time.Minute, 10*time.Millisecond)
}

func TestWindowBoundsWhatIsUnfinished(t *testing.T) {
	t.Parallel()
	const total, window, batch = 5000, 300, 50
	b := setup(t, 1)
	b.produce(t, 0, total, 1)
	var open, most, seen atomic.Int64
	held := make(chan *kafka.Record, total)
	b.start(t, kafka.ConsumerConfig{Group: "g", WindowRecords: window, MaxBatch: batch, Handle: func(_ context.Context, r *kafka.Record) {
		seen.Add(1)
		if n := open.Add(1); n > most.Load() {
			most.Store(n)
		}
		held <- r
	}})
	require.Eventually(t, func() bool { return open.Load() >= window }, time.Minute, time.Millisecond)
	for range total {
		r := <-held
		open.Add(-1)
		r.Done()
	}
	require.EqualValues(t, total, seen.Load(), "a pause repeats or skips nothing")
	require.LessOrEqual(t, most.Load(), int64(window+batch))
	require.Eventually(t, func() bool { return b.committed(t, "g") == total }, time.Minute, 10*time.Millisecond)
}

func TestBatchesComeInOrderAndOneAtATime(t *testing.T) {
	t.Parallel()
	const total, partitions = 4000, 3
	b := setup(t, partitions)
	b.produce(t, 0, total, partitions)
	var running [partitions]atomic.Int32
	next := [partitions]int{0, 1, 2}
	var seen atomic.Int64
	b.start(t, kafka.ConsumerConfig{Group: "g", BatchCalls: 2, HandleBatch: func(_ context.Context, batch []*kafka.Record) {
		of := map[int32]bool{}
		for _, r := range batch {
			of[r.Partition] = true
		}
		for id := range of {
			if running[id].Add(1) != 1 {
				panic("two batches with records of one partition at a time")
			}
			defer running[id].Add(-1)
		}
		for _, r := range batch {
			id := r.Partition
			if string(r.Value) != strconv.Itoa(next[id]) {
				panic(fmt.Sprintf("partition %d: got %s, expected %d", id, r.Value, next[id]))
			}
			next[id] += partitions
			r.Done()
		}
		seen.Add(int64(len(batch)))
	}})
	require.Eventually(t, func() bool { return seen.Load() == total }, time.Minute, time.Millisecond)
}

// What arrives while a call is under way is in one batch after it, whatever its partition.
func TestPartitionsShareBatches(t *testing.T) {
	t.Parallel()
	const total, partitions = 300, 3
	b := setup(t, partitions)
	b.produce(t, 0, partitions, partitions)
	var calls, seen, most atomic.Int64
	release, polled := make(chan struct{}), &polledRecords{}
	b.start(t, kafka.ConsumerConfig{Group: "g", BatchCalls: 1, Opts: []kgo.Opt{kgo.WithHooks(polled)}, HandleBatch: func(_ context.Context, batch []*kafka.Record) {
		if calls.Add(1) == 1 {
			<-release
		}
		of := map[int32]bool{}
		for _, r := range batch {
			of[r.Partition] = true
			r.Done()
		}
		most.Store(max(most.Load(), int64(len(of))))
		seen.Add(int64(len(batch)))
	}})
	require.Eventually(t, func() bool { return calls.Load() == 1 }, time.Minute, time.Millisecond)
	b.produce(t, partitions, total-partitions, partitions)
	require.Eventually(t, func() bool { return polled.n.Load() == total }, time.Minute, time.Millisecond)
	close(release)
	require.Eventually(t, func() bool { return seen.Load() == total }, time.Minute, time.Millisecond)
	require.Greater(t, most.Load(), int64(1))
}

// polledRecords counts the records that polls have returned.
type polledRecords struct{ n atomic.Int64 }

func (p *polledRecords) OnFetchRecordUnbuffered(_ *kgo.Record, polled bool) {
	if polled {
		p.n.Add(1)
	}
}

func TestStopWaitsForWhatIsInFlight(t *testing.T) {
	t.Parallel()
	b := setup(t, 1)
	b.produce(t, 0, 3, 1)
	got := make(chan *kafka.Record, 3)
	stop := b.start(t, kafka.ConsumerConfig{Group: "g", Handle: func(_ context.Context, r *kafka.Record) { got <- r }})
	first, second, third := <-got, <-got, <-got
	stopped := make(chan struct{})
	go func() {
		stop()
		close(stopped)
	}()
	<-first.Stopping()
	third.Drop()
	first.Done()
	select {
	case <-stopped:
		require.Fail(t, "stopped with a record in flight")
	default:
	}
	second.Done()
	<-stopped
	require.EqualValues(t, 2, b.committed(t, "g"), "the dropped record is left to the next owner")
}

// Members join, hold back records and leave, while records arrive and are finished out of order.
func TestRebalancesLoseNothing(t *testing.T) {
	t.Parallel()
	const partitions, rounds = 6, 8
	b := setup(t, partitions)
	var mu sync.Mutex
	times := map[string]int{}
	handled := func(n int) func() bool {
		return func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(times) >= n
		}
	}
	member := func(held chan<- string) kafka.ConsumerConfig {
		return kafka.ConsumerConfig{
			Group: "g", MaxBatch: 50, RevokeWait: 200 * time.Millisecond,
			Handle: func(_ context.Context, r *kafka.Record) {
				if held != nil && rand.IntN(10) == 0 {
					select {
					case held <- string(r.Value):
					default:
					}
					return // never finished by this member, as if it crashed
				}
				go func() {
					mu.Lock()
					times[string(r.Value)]++
					mu.Unlock()
					r.Done()
				}()
			},
		}
	}
	b.cfg.DrainWait = 200 * time.Millisecond
	b.start(t, member(nil))
	sent := 0
	for range rounds {
		held := make(chan string, 1)
		stop := b.start(t, member(held))
		for len(held) == 0 { // until the newcomer has partitions and work
			b.produce(t, sent, 10*partitions, partitions)
			sent += 10 * partitions
		}
		stop()
		require.Eventually(t, handled(sent), 30*time.Second, 5*time.Millisecond)
	}
	require.Eventually(t, func() bool { return b.committed(t, "g") == int64(sent) }, time.Minute, 10*time.Millisecond)
	var repeats int
	for _, n := range times {
		repeats += n - 1
	}
	t.Logf("%d of %d handled again", repeats, sent)
}

// A commit beyond the end of its partition is one of a topic that was deleted: the new one is consumed from its start, although the
// brokers say that nothing was written since the commit. Others count.
func TestRecreatedTopicIsConsumedFromItsStart(t *testing.T) {
	t.Parallel()
	const partitions = 3
	b := setup(t, partitions)
	b.produce(t, 0, 30, partitions)
	commits, gone := kadm.Offsets{}, kadm.Offsets{}
	commits.AddOffset(topic, 0, 13, 0) // with the epoch, as consumers commit
	commits.AddOffset(topic, 1, 7, 0)
	commits.AddOffset(topic, 2, 13, 0)
	gone.AddOffset(topic, 2, 4, 0)
	admin := kadm.NewClient(b.client)
	_, err := admin.DeleteRecords(t.Context(), gone) // this partition is old, and has lost what was committed
	require.NoError(t, err)
	require.NoError(t, admin.CommitAllOffsets(t.Context(), "g", commits))
	lag, err := kafka.ReadLag(t.Context(), admin, topics.Consumer{Group: "g", Tiers: []topics.DelayTier{{Topic: topic}}}, time.Now())
	require.NoError(t, err)
	next := map[int32]int64{}
	for _, l := range lag {
		next[l.Partition] = l.Next
	}
	got := make(chan *kafka.Record, 100)
	consume := func() (stop func()) {
		return b.start(t, kafka.ConsumerConfig{Group: "g", Handle: func(_ context.Context, r *kafka.Record) {
			r.Done()
			got <- r
		}})
	}
	stop := consume()
	first := map[int32]int64{}
	for range 10 + 3 {
		r := <-got
		if at, ok := first[r.Partition]; !ok || r.Offset < at {
			first[r.Partition] = r.Offset
		}
	}
	require.Equal(t, map[int32]int64{0: 0, 1: 7}, first)
	require.Equal(t, map[int32]int64{0: 0, 1: 7, 2: 10}, next, "that is what the lag says, too")
	stop()
	consume()
	b.produce(t, 30, 1, partitions)
	require.Equal(t, "30", string((<-got).Value))
	require.Empty(t, got)
}

func TestConsumerConfigIsChecked(t *testing.T) {
	t.Parallel()
	err := kafka.Consume(t.Context(), kafka.ConsumerConfig{Group: "g", Topics: []string{topic}})
	require.ErrorContains(t, err, "exactly one of Handle and HandleBatch")
}

func TestTailReadsOnlyWhatIsNew(t *testing.T) {
	t.Parallel()
	b := setup(t, 2)
	b.produce(t, 0, 10, 2)
	got := make(chan string, 100)
	go func() {
		_ = kafka.Tail(t.Context(), b.cfg, nil, func(r *kgo.Record) { got <- string(r.Value) }, topic)
	}()
	n := 10
	require.Eventually(t, func() bool { // the tail begins some time after its call
		b.produce(t, n, 1, 2)
		n++
		return len(got) > 0
	}, time.Minute, 20*time.Millisecond)
	first, err := strconv.Atoi(<-got)
	require.NoError(t, err)
	require.GreaterOrEqual(t, first, 10)
}

// A static member that comes back within the session has its partitions at once, and those of others stay where they are.
func TestStaticMemberComesBack(t *testing.T) {
	t.Parallel()
	const partitions = 6
	b := setup(t, partitions)
	b.cfg.Session = 30 * time.Second
	var mu sync.Mutex
	by := map[string]string{} // record → member
	member := func(name string) kafka.ConsumerConfig {
		return kafka.ConsumerConfig{Group: "g", InstanceID: name, Handle: func(_ context.Context, r *kafka.Record) {
			mu.Lock()
			by[string(r.Value)] = name
			mu.Unlock()
			r.Done()
		}}
	}
	sent := 0
	// owners produces to all partitions and tells who took what.
	owners := func() map[int]string {
		t.Helper()
		from := sent
		b.produce(t, from, partitions, partitions)
		sent += partitions
		require.Eventually(t, func() bool { mu.Lock(); defer mu.Unlock(); return len(by) == sent }, time.Minute, 5*time.Millisecond)
		mu.Lock()
		defer mu.Unlock()
		all := map[int]string{}
		for i := from; i < sent; i++ {
			all[i%partitions] = by[strconv.Itoa(i)]
		}
		return all
	}
	stop := b.start(t, member("one"))
	b.start(t, member("two"))
	var before map[int]string
	require.Eventually(t, func() bool {
		before = owners()
		n := 0
		for _, name := range before {
			if name == "one" {
				n++
			}
		}
		return n == partitions/2
	}, time.Minute, 10*time.Millisecond, "both have their share")
	for range 3 {
		stop()
		stop = b.start(t, member("one"))
		require.Equal(t, before, owners())
	}
}
