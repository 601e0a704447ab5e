package loadshed_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/tradegrid/tradegrid/pkg/api/loadshed"
	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/failpoint"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

const soon = time.Minute

// gauge is a probe whose value the test sets.
type gauge struct {
	limit string
	value atomic.Int64
	fails atomic.Bool
	calls atomic.Int64
}

func (g *gauge) probe() loadshed.Probe {
	return loadshed.Probe{Name: "gauge", Every: 10 * time.Millisecond, Measure: func(context.Context) (loadshed.Readings, error) {
		g.calls.Add(1)
		if g.fails.Load() {
			return nil, errors.New("no answer")
		}
		return loadshed.Readings{g.limit: float64(g.value.Load())}, nil
	}}
}

func shedder(t *testing.T, d *db.DB, node string, l loadshed.Limits, probes ...loadshed.Probe) *loadshed.Shedder {
	t.Helper()
	g := loadshed.New(loadshed.Config{
		DB: d, Node: node, Limits: l, Probes: probes, Every: 10 * time.Millisecond, Stale: 2 * time.Second, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- g.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	return g
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	require.Eventually(t, ok, soon, 5*time.Millisecond, what)
}

func refuses(g *loadshed.Shedder) func() bool { return func() bool { return g.Admit() != nil } }
func takes(g *loadshed.Shedder) func() bool   { return func() bool { return g.Admit() == nil } }

func TestChangesAreRefusedAtALimitAndTakenWellBelow(t *testing.T) {
	t.Parallel()
	rows := &gauge{limit: loadshed.OutboxRows}
	g := shedder(t, dbtest.OpenNew(t), "a", loadshed.Limits{OutboxRows: 100}, rows.probe())
	seen := func() {
		n := rows.calls.Load()
		eventually(t, "measured", func() bool { return rows.calls.Load() > n+2 })
	}
	rows.value.Store(99)
	seen()
	require.NoError(t, g.Admit())
	rows.value.Store(100)
	eventually(t, "at the limit", refuses(g))
	err := g.Admit()
	f, ok := apierr.As(err)
	require.True(t, ok)
	require.Equal(t, 503, f.Status)
	require.Equal(t, "SERVICE_UNAVAILABLE", f.Code)
	require.Equal(t, apierr.OutboxFull, f.Reason())
	require.Positive(t, f.RetryAfter)
	require.NotContains(t, f.Message, "outbox", "no internals")
	require.Equal(t, []string{loadshed.OutboxRows}, g.Active())
	rows.value.Store(96)
	seen()
	require.Error(t, g.Admit(), "just below the limit it would flap")
	rows.value.Store(94)
	eventually(t, "well below", takes(g))
	require.Empty(t, g.Active())

	g.SetLimits(loadshed.Limits{OutboxRows: 90})
	require.Error(t, g.Admit(), "a new limit counts at once")
	g.SetLimits(loadshed.Limits{})
	require.NoError(t, g.Admit(), "0 is no limit")
}

func TestOneProcessMeasuresForAll(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenNew(t)
	mine, theirs := &gauge{limit: loadshed.KafkaSize}, &gauge{limit: loadshed.KafkaSize}
	mine.value.Store(50)
	slow := mine.probe()
	slow.Every = time.Hour // no turn for the other
	a := shedder(t, d, "a", loadshed.Limits{KafkaSize: 10}, slow)
	eventually(t, "the first measures", refuses(a))
	b := shedder(t, d, "b", loadshed.Limits{KafkaSize: 10}, theirs.probe())
	eventually(t, "the other reads it", refuses(b))
	require.Zero(t, theirs.calls.Load())
	require.EqualValues(t, 1, mine.calls.Load())
	eventually(t, "a reading that nobody renews grows stale", takes(b))
}

// A process measures only for limits that it has, and leaves the lease to others that have them.
func TestOnlyLimitsThatAreSetAreMeasured(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenNew(t)
	idle, other, asks := &gauge{limit: loadshed.KafkaSize}, &gauge{limit: loadshed.OutboxRows}, &gauge{limit: loadshed.KafkaSize}
	of := func(g *gauge, name string) loadshed.Probe {
		p := g.probe()
		p.Name, p.Limits = name, []string{loadshed.KafkaDisk, g.limit}
		return p
	}
	a := shedder(t, d, "a", loadshed.Limits{OutboxRows: 10}, of(idle, "kafka"), of(other, "outbox"))
	eventually(t, "measures what it needs", func() bool { return other.calls.Load() > 5 })
	require.Zero(t, idle.calls.Load())
	shedder(t, d, "b", loadshed.Limits{KafkaSize: 10}, of(asks, "kafka"))
	eventually(t, "another one measures", func() bool { return asks.calls.Load() > 5 })
	require.Zero(t, idle.calls.Load())
	asks.value.Store(20)
	a.SetLimits(loadshed.Limits{KafkaSize: 10})
	eventually(t, "a new limit counts", refuses(a))
}

// lasts is for how long the owner of a lease in these tests is dead.
const lasts = 700 * time.Millisecond

func TestSuccessorMeasuresWhenTheOwnerIsDeadOrGone(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenNew(t)
	_, err := d.Exec(t.Context(), `INSERT INTO job_leases (name, owner, epoch, expires_at) VALUES ('probe.gauge', 'dead', 1, now() + $1::BIGINT * INTERVAL '1 millisecond')`, lasts.Milliseconds())
	require.NoError(t, err)
	began := time.Now()
	mine, theirs := &gauge{limit: loadshed.KafkaSize}, &gauge{limit: loadshed.KafkaSize}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	a := loadshed.New(loadshed.Config{DB: d, Node: "a", Probes: []loadshed.Probe{mine.probe()}, Every: 10 * time.Millisecond})
	go func() { done <- a.Run(ctx) }()
	eventually(t, "the successor measures", func() bool { return mine.calls.Load() > 0 })
	require.Greater(t, time.Since(began), lasts/2, "the owner may be alive")

	shedder(t, d, "b", loadshed.Limits{}, theirs.probe())
	n := mine.calls.Load()
	eventually(t, "it goes on", func() bool { return mine.calls.Load() > n+5 })
	require.Zero(t, theirs.calls.Load())
	stop()
	require.NoError(t, <-done)
	left := time.Now()
	eventually(t, "the next takes over", func() bool { return theirs.calls.Load() > 0 })
	require.Less(t, time.Since(left), 10*time.Second, "without waiting for the end of the lease")
}

// A node that cannot store its lease or its readings measures for itself: a full database must be noticed.
func TestFullDatabaseIsMeasured(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]func(tx string) bool{
		"nothing can be stored":  func(string) bool { return true },
		"leases, but no results": func(tx string) bool { return tx == "shed.probe" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			full, err := db.Open(t.Context(), db.Config{URL: dbtest.NewDatabase(t), MaxConns: 8, Inject: func(_ context.Context, h failpoint.Hit) error {
				if h.Point == db.AtStatement && fails(h.Of) {
					return &pgconn.PgError{Severity: "ERROR", Code: "53100", Message: "could not extend file: No space left on device"}
				}
				return nil
			}})
			require.NoError(t, err)
			t.Cleanup(full.Close)
			disk := &gauge{limit: loadshed.DatabaseDisk}
			disk.value.Store(1)
			a := shedder(t, full, "a", loadshed.Limits{Disk: 0.85}, disk.probe())
			b := shedder(t, full, "b", loadshed.Limits{Disk: 0.85}, disk.probe())
			eventually(t, "the first refuses", refuses(a))
			eventually(t, "the second refuses", refuses(b))
			disk.value.Store(0)
			eventually(t, "the first takes again", takes(a))
			eventually(t, "the second takes again", takes(b))
			var stored int
			require.NoError(t, full.QueryRow(t.Context(), `SELECT count(*) FROM limit_probes`).Scan(&stored))
			require.Zero(t, stored)
		})
	}
}

func TestWhatCannotBeMeasuredRefusesNothing(t *testing.T) {
	t.Parallel()
	disk := &gauge{limit: loadshed.DatabaseDisk}
	disk.value.Store(1)
	g := shedder(t, dbtest.OpenNew(t), "a", loadshed.Limits{Disk: 0.85}, disk.probe())
	eventually(t, "full", refuses(g))
	disk.fails.Store(true)
	eventually(t, "not known any more", takes(g))
	disk.fails.Store(false)
	eventually(t, "full again", refuses(g))
}

func TestRequestsUnderWayAreBounded(t *testing.T) {
	t.Parallel()
	g := loadshed.New(loadshed.Config{Limits: loadshed.Limits{InFlight: 2}})
	first, err := g.Enter()
	require.NoError(t, err)
	_, err = g.Enter()
	require.NoError(t, err)
	_, err = g.Enter()
	require.True(t, apierr.Is(err, "SERVICE_UNAVAILABLE"), err)
	first()
	_, err = g.Enter()
	require.NoError(t, err, "the refused one is not counted")
}

func TestNilShedderAdmitsAll(t *testing.T) {
	t.Parallel()
	var g *loadshed.Shedder
	leave, err := g.Enter()
	require.NoError(t, err)
	leave()
	require.NoError(t, g.Admit())
}

// A change that would wait long for a connection is refused at once.
func TestExhaustedPoolRefusesChanges(t *testing.T) {
	t.Parallel()
	d, err := db.Open(t.Context(), db.Config{URL: dbtest.NewDatabase(t), MaxConns: 3})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	g := shedder(t, d, "a", loadshed.Limits{PoolWait: 50 * time.Millisecond})
	var held []*pgxpool.Conn
	for range 3 {
		c, err := d.Pool().Acquire(t.Context())
		require.NoError(t, err)
		held = append(held, c)
	}
	eventually(t, "no connection left", refuses(g))
	require.Equal(t, []string{loadshed.PoolWait}, g.Active())
	for _, c := range held {
		c.Release()
	}
	eventually(t, "connections are back", takes(g))
}

func TestProbesMeasureTheirStores(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenNew(t)
	readings, err := loadshed.OutboxProbe(d).Measure(t.Context())
	require.NoError(t, err)
	require.Equal(t, loadshed.Readings{loadshed.OutboxRows: 0, loadshed.OutboxAge: 0}, readings)
	_, err = d.Exec(t.Context(), `INSERT INTO outbox (bucket, pos, id, company_id, topic, key, event, agg_type, agg_id, agg_version, payload, traceparent, tracestate, created_at)
SELECT 1, n, gen_random_uuid(), gen_random_uuid(), 'events', 'k', 'e', 'order', gen_random_uuid(), 1, '', '', '', now() - n * INTERVAL '1 minute' FROM generate_series(1, 3) AS n`)
	require.NoError(t, err)
	readings, err = loadshed.OutboxProbe(d).Measure(t.Context())
	require.NoError(t, err)
	require.InDelta(t, 3, readings[loadshed.OutboxRows], 0)
	require.InDelta(t, 180, readings[loadshed.OutboxAge], 60)

	readings, err = loadshed.DatabaseProbe(d, func() (float64, error) { return 0.5, nil }).Measure(t.Context())
	require.NoError(t, err)
	require.Greater(t, readings[loadshed.DatabaseSize], float64(1<<20))
	require.InDelta(t, 0.5, readings[loadshed.DatabaseDisk], 0)
	_, err = loadshed.DatabaseProbe(d, func() (float64, error) { return 0, errors.New("no disk") }).Measure(t.Context())
	require.ErrorContains(t, err, "no disk")
}

func TestKafkaProbe(t *testing.T) {
	t.Parallel()
	cl, err := kafka.NewClient(kafka.Config{Brokers: dbtest.Broker(t), ClientID: "test"})
	require.NoError(t, err)
	t.Cleanup(cl.Close)
	readings, err := loadshed.KafkaProbe(kadm.NewClient(cl)).Measure(t.Context())
	require.NoError(t, err)
	require.Contains(t, readings, loadshed.KafkaSize)
	require.GreaterOrEqual(t, readings[loadshed.KafkaSize], 0.0)
}

// What was never refused is on the page as well, else the first refusal is lost to rates.
func TestAllLimitsAreOnTheFirstPage(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewPedanticRegistry()
	for _, c := range loadshed.Metrics() {
		require.NoError(t, reg.Register(c))
	}
	families, err := reg.Gather()
	require.NoError(t, err)
	for _, family := range families {
		if family.GetName() == "tradegrid_shed_total" || family.GetName() == "tradegrid_shed_active" {
			require.Len(t, family.GetMetric(), len(loadshed.Names()), family.GetName())
		}
	}
}
