package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/kit/config"
	"github.com/tradegrid/tradegrid/pkg/kit/failpoint"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

// eventually is how long tests wait for a condition.
const eventually = time.Minute

// testKit is a database and a broker for the exclusive use of one test.
type testKit struct {
	t       testing.TB
	db      *db.DB
	brokers []string
}

func setup(t testing.TB) *testKit {
	t.Helper()
	d, err := db.Open(t.Context(), db.Config{URL: dbtest.NewDatabase(t), MaxConns: 24})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	return &testKit{t: t, db: d, brokers: dbtest.Broker(t)}
}

func (g *testKit) client(opts ...kgo.Opt) *kgo.Client {
	g.t.Helper()
	cl, err := kafka.NewClient(kafka.Config{Brokers: g.brokers, ClientID: "test"}, opts...)
	require.NoError(g.t, err)
	g.t.Cleanup(cl.Close)
	return cl
}

// relay creates a relay with short leases.
func (g *testKit) relay(node string, change ...func(*Relay)) *Relay {
	g.t.Helper()
	cfg := RelayConfig{RelaySettings: config.Defaults[RelaySettings](), Node: node, EventRetention: 30 * day, DrainTimeout: 2 * time.Second}
	cfg.LeaseTTL, cfg.LeaseMargin, cfg.Renew, cfg.FullSweep = time.Second, 200*time.Millisecond, 100*time.Millisecond, time.Second
	if !dbtest.OnRealBrokers() { // new topics of a busy cluster take their time, and what times out is published again
		cfg.PublishTimeout = 2 * time.Second
	}
	if testing.Verbose() {
		cfg.Log = slog.New(slog.NewTextHandler(g.t.Output(), nil))
	}
	client, err := NewClient(kafka.Config{Brokers: g.brokers, ClientID: node})
	require.NoError(g.t, err)
	g.t.Cleanup(client.Close)
	r, err := NewRelay(g.db, client, cfg)
	require.NoError(g.t, err)
	for _, f := range change {
		f(r)
	}
	return r
}

// run starts the relay; the returned function stops it and waits.
func (g *testKit) run(r *Relay) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(g.t.Context()))
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			require.NoError(g.t, <-done)
		})
	}
	g.t.Cleanup(stop)
	return stop
}

// points are what a relay does at its points.
type points = map[failpoint.Point]func(context.Context) error

var errFrozen = errors.New("frozen")

// unless makes the point fail while a relay is frozen.
func unless(frozen *atomic.Bool) func(context.Context) error {
	return func(context.Context) error {
		if frozen.Load() {
			return errFrozen
		}
		return nil
	}
}

func nowMicro() int64 { return time.Now().UnixMicro() }

// message returns the n-th message of a record.
func message(record uuid.UUID, version, pos int64) Message {
	id := uuid.Must(uuid.NewV7())
	return Message{
		ID: id, Name: "order.updated", AggType: "order", AggID: record, Version: version, Pos: pos,
		Payload:   fmt.Appendf(nil, `{"eventId":%q,"version":%d}`, id, version),
		CreatedAt: time.Now().UTC().Truncate(time.Microsecond),
	}
}

func (g *testKit) append(company tenant.ID, messages ...Message) {
	g.t.Helper()
	err := g.db.RunTx(g.t.Context(), "test.append", func(ctx context.Context, tx *db.Tx) error {
		for _, m := range messages {
			if err := Append(ctx, tx, company, m); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(g.t, err)
}

func (g *testKit) count(table string) (n int) {
	g.t.Helper()
	require.NoError(g.t, g.db.QueryRow(g.t.Context(), "SELECT count(*) FROM "+table).Scan(&n))
	return n
}

func (g *testKit) drained() {
	g.t.Helper()
	require.Eventually(g.t, func() bool { return g.count("outbox") == 0 }, eventually, 10*time.Millisecond)
}

// seen is a record as a consumer sees it.
type seen struct {
	id      string
	record  string
	version string
	rec     *kgo.Record
}

// records reads all records currently in the topic.
func (g *testKit) records(topic string) []seen {
	g.t.Helper()
	cl := g.client(kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	defer cl.Close()
	want := g.ends(topic)
	var out []seen
	ctx, cancel := context.WithTimeout(g.t.Context(), eventually)
	defer cancel()
	for int64(len(out)) < want {
		fetches := cl.PollFetches(ctx)
		require.NoError(g.t, ctx.Err())
		fetches.EachRecord(func(r *kgo.Record) {
			out = append(out, seen{id: header(r, "ce_id"), record: header(r, "agg_id"), version: header(r, "version"), rec: r})
		})
	}
	return out
}

// ends returns the number of records in a topic from which none were deleted.
func (g *testKit) ends(topic string) (n int64) {
	g.t.Helper()
	offsets, err := kadm.NewClient(g.client()).ListEndOffsets(g.t.Context(), topic)
	require.NoError(g.t, err)
	offsets.Each(func(o kadm.ListedOffset) { n += o.Offset })
	return n
}

// versions returns the versions of a record in order of their first publication, and the number of duplicates.
func versions(all []seen, record uuid.UUID) (first []string, repeated int) {
	known := make(map[string]bool)
	for _, s := range all {
		if s.record != record.String() {
			continue
		}
		if known[s.id] {
			repeated++
			continue
		}
		known[s.id] = true
		first = append(first, s.version)
	}
	return first, repeated
}

// history returns n messages of one record.
func history(record uuid.UUID, from, to int) (out []Message, want []string) {
	pos := nowMicro()
	for v := from; v <= to; v++ {
		out = append(out, message(record, int64(v), pos+int64(v)))
		want = append(want, strconv.Itoa(v))
	}
	return out, want
}

// logged returns the versions of a company's events in the order of the log, and checks that positions increase.
func (g *testKit) logged(c tenant.ID) (out []string) {
	g.t.Helper()
	entries, _, err := ReadLog(g.t.Context(), g.db, c, 0, 10_000, LogFilter{})
	require.NoError(g.t, err)
	last := int64(0)
	for _, e := range entries {
		require.Greater(g.t, e.Seq, last)
		last = e.Seq
		out = append(out, strconv.FormatInt(e.AggVersion, 10))
	}
	return out
}

func header(r *kgo.Record, key string) string {
	for _, h := range r.Headers {
		if h.Key == key {
			return string(h.Value)
		}
	}
	return ""
}

func company() tenant.ID { return tenant.NewID() }
