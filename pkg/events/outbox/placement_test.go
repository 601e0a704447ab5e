package outbox

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/kit/failpoint"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/topics"
)

// routers is a member of the routers' group that is slow.
type routers struct {
	mu       sync.Mutex
	versions map[string][]int // by record, in the order of their processing
	held     chan struct{}    // not nil: nothing is processed until it is closed
}

// route starts the group; it looks for added partitions more often than usual.
func (g *testKit) route() *routers {
	g.t.Helper()
	r := &routers{versions: map[string][]int{}}
	ctx, cancel := context.WithCancel(context.WithoutCancel(g.t.Context()))
	done := make(chan error, 1)
	go func() {
		done <- kafka.Consume(ctx, kafka.ConsumerConfig{
			Client: kafka.Config{Brokers: g.brokers, ClientID: "router"}, Group: topics.Routers, Topics: []string{topics.Events},
			CommitEvery: 20 * time.Millisecond, Handle: r.handle, Opts: []kgo.Opt{kgo.MetadataMaxAge(200 * time.Millisecond)},
		})
	}()
	g.t.Cleanup(func() {
		cancel()
		require.NoError(g.t, <-done)
	})
	return r
}

func (r *routers) handle(_ context.Context, rec *kafka.Record) {
	r.mu.Lock()
	held := r.held
	r.mu.Unlock()
	if held != nil {
		<-held
	}
	time.Sleep(rand.N(4 * time.Millisecond))
	version, _ := strconv.Atoi(header(rec.Record, "version")) // the relay wrote it
	r.mu.Lock()
	defer r.mu.Unlock()
	if all := r.versions[header(rec.Record, "agg_id")]; !slices.Contains(all, version) {
		r.versions[header(rec.Record, "agg_id")] = append(all, version)
	}
	rec.Done()
}

// hold stops the processing until the returned function is called.
func (r *routers) hold() (release func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held = make(chan struct{})
	return sync.OnceFunc(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		close(r.held)
		r.held = nil
	})
}

func (r *routers) processed(record uuid.UUID) []int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.versions[record.String()])
}

// placed counts the buckets by the number of partitions that is stored for them.
func (g *testKit) placed(partitions int) (n int) {
	g.t.Helper()
	require.NoError(g.t, g.db.QueryRow(g.t.Context(), `SELECT count(*) FROM outbox_leases WHERE partitions = $1`, partitions).Scan(&n))
	return n
}

func (g *testKit) awaitPlaced(partitions int) {
	g.t.Helper()
	require.Eventually(g.t, func() bool { return g.placed(partitions) == Buckets }, eventually, 10*time.Millisecond)
}

// partitions sets how many partitions the topic of events has.
func (g *testKit) partitions(n int) {
	g.t.Helper()
	got, err := kadm.NewClient(g.client()).UpdatePartitions(g.t.Context(), n, topics.Events)
	require.NoError(g.t, err)
	require.NoError(g.t, got.Error())
}

// fleet is records of many companies that are changed again and again.
type fleet struct {
	g       *testKit
	records map[tenant.ID]uuid.UUID
	version int64
}

func newFleet(g *testKit) *fleet {
	f := &fleet{g: g, records: map[tenant.ID]uuid.UUID{}}
	for range 40 {
		f.records[company()] = uuid.New()
	}
	return f
}

// change appends that many versions of each record.
func (f *fleet) change(n int) {
	f.g.t.Helper()
	for c, record := range f.records {
		var messages []Message
		for i := range int64(n) {
			messages = append(messages, message(record, f.version+i+1, nowMicro()+i))
		}
		f.g.append(c, messages...)
	}
	f.version += int64(n)
}

// inOrder waits until each version was processed, and checks that none overtook another.
func (f *fleet) inOrder(r *routers) {
	f.g.t.Helper()
	for _, record := range f.records {
		require.Eventually(f.g.t, func() bool { return len(r.processed(record)) == int(f.version) }, eventually, 10*time.Millisecond)
		require.True(f.g.t, slices.IsSorted(r.processed(record)), "%v", r.processed(record))
	}
}

// Relays use added partitions only after the routers have processed what the others hold, so that the changes of a record stay
// in order, also if a relay stops meanwhile.
func TestAddedPartitionsKeepTheOrderOfEvents(t *testing.T) {
	t.Parallel()
	g := setup(t)
	often := func(r *Relay) {
		r.cfg.placement = 50 * time.Millisecond
		r.cfg.inject = failpoint.On(points{beforeProduce: func(context.Context) error { // batches are in flight when a pause begins
			time.Sleep(rand.N(50 * time.Millisecond))
			return nil
		}})
	}
	stop := g.run(g.relay("a", often))
	g.run(g.relay("b", often))
	r, f := g.route(), newFleet(g)
	g.awaitPlaced(8)
	for _, n := range []int{12, 32} {
		f.change(10)
		g.partitions(n)
		for g.placed(n) < Buckets {
			f.change(1)
			time.Sleep(50 * time.Millisecond) // the routers keep up
			stop()
		}
	}
	f.change(2)
	f.inOrder(r)
	used := map[int32]bool{}
	for _, s := range g.records(topics.Events) {
		used[s.rec.Partition] = true
	}
	require.Greater(t, len(used), 20)
}

// A topic that was created again with fewer partitions has nothing to wait for.
func TestRecreatedTopicMayHaveFewerPartitions(t *testing.T) {
	t.Parallel()
	g := setup(t)
	g.run(g.relay("a", func(r *Relay) { r.cfg.placement = 50 * time.Millisecond }))
	f := newFleet(g)
	f.change(1)
	g.awaitPlaced(8)
	g.drained()
	admin := kadm.NewClient(g.client())
	_, err := admin.DeleteTopic(t.Context(), topics.Events)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, err := admin.CreateTopic(t.Context(), 4, -1, nil, topics.Events) // brokers forget the old one with a delay
		return err == nil
	}, eventually, 10*time.Millisecond)
	f.change(1)
	g.awaitPlaced(4)
	g.drained()
}

// A bucket that another relay owned since the pause began is not moved: that relay published without waiting.
func TestBucketIsMovedInItsEpochOnly(t *testing.T) {
	t.Parallel()
	g := setup(t)
	r := g.relay("a", func(r *Relay) { r.cfg.LeaseTTL = time.Minute })
	require.NoError(t, r.leasePass(t.Context(), true, false))
	require.NoError(t, r.place(t.Context(), sqlPlaceBuckets, r.leases(), 8))
	mine := r.leases()[:2]
	_, err := g.db.Exec(t.Context(), `UPDATE outbox_leases SET epoch = epoch + 2 WHERE bucket = $1`, mine[0].Bucket)
	require.NoError(t, err)
	require.NoError(t, r.place(t.Context(), sqlMoveBuckets, mine, 16))
	require.Equal(t, 1, g.placed(16))
	require.Equal(t, Buckets-1, g.placed(8))
	require.EqualValues(t, 8, r.leases()[0].Partitions)
	require.EqualValues(t, 16, r.leases()[1].Partitions)
}

// lines are what a log says.
type lines chan string

func (l lines) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}

// While routers are behind, events go on in the partitions that they have.
func TestEventsDoNotWaitForRoutersThatAreBehind(t *testing.T) {
	t.Parallel()
	g := setup(t)
	said := make(lines, 1000)
	g.run(g.relay("a", func(r *Relay) {
		r.cfg.placement = 50 * time.Millisecond
		r.log = slog.New(slog.NewTextHandler(said, nil))
	}))
	r, f := g.route(), newFleet(g)
	g.awaitPlaced(8)
	release := r.hold()
	t.Cleanup(release)
	f.change(1)
	g.drained()
	g.partitions(16)
	require.Eventually(t, func() bool { return strings.Contains(<-said, errBehind.Error()) }, eventually, time.Millisecond)
	f.change(1)
	g.drained()
	require.Zero(t, g.placed(16))
	release()
	g.awaitPlaced(16)
	f.inOrder(r)
}
