package outbox

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/dbtest"
	"github.com/tradegrid/tradegrid/pkg/kafka"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/topics"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

// eventually is how long a test waits for what must come.
const eventually = 30 * time.Second

// rig is a database and a broker that one test has for itself.
type rig struct {
	t       testing.TB
	db      *db.DB
	brokers []string
}

func setup(t testing.TB) *rig {
	t.Helper()
	d, err := db.Open(t.Context(), db.Config{URL: dbtest.NewDatabase(t), MaxConns: 24})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	return &rig{t: t, db: d, brokers: dbtest.Broker(t)}
}

func (g *rig) client(opts ...kgo.Opt) *kgo.Client {
	g.t.Helper()
	cl, err := kafka.NewClient(kafka.Config{Brokers: g.brokers, ClientID: "test"}, opts...)
	require.NoError(g.t, err)
	g.t.Cleanup(cl.Close)
	return cl
}

// relay makes a relay with short leases.
func (g *rig) relay(node string, change ...func(*Relay)) *Relay {
	g.t.Helper()
	cfg := RelayConfig{Node: node, LeaseTTL: time.Second, LeaseMargin: 200 * time.Millisecond, Renew: 100 * time.Millisecond,
		FullSweep: time.Second, PublishTimeout: 2 * time.Second, DrainTimeout: 2 * time.Second}
	if testing.Verbose() {
		cfg.Log = slog.New(slog.NewTextHandler(g.t.Output(), nil))
	}
	r, err := NewRelay(g.db, g.client(), cfg)
	require.NoError(g.t, err)
	for _, f := range change {
		f(r)
	}
	return r
}

// run starts the relay; the returned function stops it and waits.
func (g *rig) run(r *Relay) (stop func()) {
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

func nowMicro() int64 { return time.Now().UnixMicro() }

// message is the n-th fact of a record.
func message(record uuid.UUID, version, pos int64) Message {
	id := uuid.Must(uuid.NewV7())
	return Message{
		ID: id, Name: "order.updated", AggType: "order", AggID: record, Version: version, Pos: pos,
		Payload:   fmt.Appendf(nil, `{"eventId":%q,"version":%d}`, id, version),
		CreatedAt: time.Now().UTC().Truncate(time.Microsecond),
	}
}

func (g *rig) append(company tenant.ID, messages ...Message) {
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

func (g *rig) count(table string) (n int) {
	g.t.Helper()
	require.NoError(g.t, g.db.QueryRow(g.t.Context(), "SELECT count(*) FROM "+table).Scan(&n))
	return n
}

func (g *rig) drained() {
	g.t.Helper()
	require.Eventually(g.t, func() bool { return g.count("outbox") == 0 }, eventually, 10*time.Millisecond)
}

// seen is a record as a consumer gets it.
type seen struct {
	id      string
	record  string
	version string
	rec     *kgo.Record
}

// records reads everything that the topic holds now.
func (g *rig) records(topic string) []seen {
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

func header(r *kgo.Record, key string) string {
	for _, h := range r.Headers {
		if h.Key == key {
			return string(h.Value)
		}
	}
	return ""
}

func company() tenant.ID { return tenant.NewID() }

var _ = topics.Events
