package reconcile

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/delivery/dispatchtest"
	"github.com/tradegrid/tradegrid/services/delivery/router"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/topics"
)

// audit is a kit whose events are in the log as well, with a reconciler that looks at its company.
type audit struct {
	*dispatchtest.Kit
	*Reconciler
	group string
	sub   uuid.UUID
}

func newAudit(t *testing.T) *audit {
	t.Helper()
	return auditOf(t, dbtest.Open(t))
}

func auditOf(t *testing.T, d *db.DB) *audit {
	t.Helper()
	k := dispatchtest.New(t, d)
	group := topics.Routers + "-" + k.Company.String() // other tests store their progress in the same database
	cfg := Config{Group: group, Events: dispatchtest.Registry(), Components: dispatchtest.Components{}, CompaniesChanged: company.ChangedAt, every: 1}
	a := &audit{Kit: k, Reconciler: New(k.DB, kadm.NewClient(k.Client), cfg), group: group, sub: k.Subscription()}
	a.companies = func(context.Context, uuid.UUID) ([]uuid.UUID, error) { return []uuid.UUID{uuid.UUID(k.Company)}, nil }
	k.Set(a.sub, "updated_at = $3", time.Now().Add(-time.Hour))
	return a
}

func (a *audit) router() (stop func()) {
	a.T.Helper()
	r, err := router.New(a.DB, dispatchtest.Registry(), dispatchtest.Components{}, router.Config{Kafka: a.Kafka, TTL: dispatchtest.Policy().DeliveryTTL, Group: a.group, Backoff: time.Millisecond})
	require.NoError(a.T, err)
	return a.Run(r.Run)
}

// raise publishes events and writes them to the log, as a relay does.
func (a *audit) raise(events ...dispatchtest.Event) {
	a.T.Helper()
	for _, e := range events {
		rec := e.Record(a.T)
		a.Produce(rec)
		a.log(e.ID, e.Name, rec.Value)
	}
}

func (a *audit) log(id uuid.UUID, name string, body []byte) {
	a.T.Helper()
	now := time.Now().UTC()
	a.Exec(`UPDATE event_log_heads SET n = n + 1 WHERE bucket = $1`, outbox.Bucket(a.Company))
	a.Exec(`INSERT INTO events (company_id, seq, id, event, agg_type, agg_id, agg_version, body, occurred_at, expires_at)
SELECT $1, h.n, $2, $3, 'order', $2, 1, $4, $5, $6 FROM event_log_heads AS h WHERE h.bucket = $7`,
		a.Company, id, name, body, now, now.Add(time.Hour), outbox.Bucket(a.Company))
}

// compared makes steps until a comparison has been made.
func (a *audit) compared() {
	a.T.Helper()
	var err error
	require.Eventually(a.T, func() bool {
		err = a.Step(context.Background())
		return err == nil && a.until == nil
	}, time.Minute, 20*time.Millisecond, "the router gets there: %v", &err)
}

func (a *audit) lose(e dispatchtest.Event) {
	a.Exec(`DELETE FROM deliveries WHERE company_id = $1 AND id = $2`, a.Company, webhook.DeliveryID(e.ID, a.sub, 0))
}

func TestReconcilerFindsNothingMissing(t *testing.T) {
	t.Parallel()
	a := newAudit(t)
	stop := a.router()
	unwanted := a.Event("stock.movement.created") // of a component that the company does not have
	a.raise(a.Event("order.created"), a.Event("product.created"), unwanted)
	a.compared()
	require.Empty(t, a.missing)
	require.Equal(t, 2, a.Deliveries("true"))
	checked := value(t, reconcilerChecked)
	a.raise(a.Event("order.created"))
	a.compared()
	require.Empty(t, a.missing)
	require.Greater(t, value(t, reconcilerChecked), checked)
	stop()
}

// What has no row although the routers went past it is lost, until somebody puts it right.
func TestReconcilerFindsWhatIsLost(t *testing.T) {
	t.Parallel()
	a := newAudit(t)
	a.router()
	sent := a.Collect(topics.Deliveries)
	kept, lost := a.Event("order.created"), a.Event("order.created")
	a.raise(kept, lost)
	a.Await(sent, 2) // then the router does not repeat its transaction any more
	a.lose(lost)
	a.compared()
	require.Len(t, a.missing, 1)
	require.Contains(t, a.missing, pair{a.Company, a.sub, lost.ID})

	a.compared()
	require.Len(t, a.missing, 1, "it stays, though its part of the log is over")
	a.Produce(lost.Record(t)) // an operator sets the offsets back
	require.Eventually(t, func() bool { return a.Deliveries("true") == 2 }, time.Minute, 5*time.Millisecond)
	a.compared()
	require.Empty(t, a.missing)

	a.lose(kept)
	a.compared()
	require.Empty(t, a.missing, "each part of the log is compared once")
}

// An entry of the log that cannot be read is passed by, and what is missing beside it is found.
func TestReconcilerPassesByWhatItCannotRead(t *testing.T) {
	t.Parallel()
	a := newAudit(t)
	a.router()
	sent := a.Collect(topics.Deliveries)
	a.log(uuid.Must(uuid.NewV7()), "order.created", []byte{7, 7}) // a later release reads it
	a.log(uuid.Must(uuid.NewV7()), "order.created", []byte{1, 0xff})
	lost := a.Event("order.created")
	a.raise(lost)
	a.Await(sent, 1) // then the router does not repeat its transaction any more
	a.lose(lost)
	a.compared()
	require.Len(t, a.missing, 1)
}

// An event that the broker lost before the router saw it has no trace but in the log.
func TestReconcilerFindsATruncatedTopic(t *testing.T) {
	t.Parallel()
	a := newAudit(t)
	e := a.Event("order.created")
	a.raise(e)
	admin := kadm.NewClient(a.Client)
	ends, err := admin.ListEndOffsets(t.Context(), topics.Events)
	require.NoError(t, err)
	_, err = admin.DeleteRecords(t.Context(), ends.Offsets())
	require.NoError(t, err)
	a.router()
	a.compared()
	require.Contains(t, a.missing, pair{a.Company, a.sub, e.ID})
}

// A router that is behind loses nothing.
func TestReconcilerWaitsForTheRouter(t *testing.T) {
	t.Parallel()
	a := newAudit(t)
	a.raise(a.Event("order.created"))
	for range 3 {
		require.NoError(t, a.Step(t.Context()))
		require.NotNil(t, a.until, "nothing is compared before")
	}
	require.Empty(t, a.missing)
	a.router()
	a.compared()
	require.Empty(t, a.missing)
}

func TestReconcilerLeavesOutWhatIsNotSure(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(a *audit){
		"a subscription that was changed": func(a *audit) { a.Set(a.sub, "updated_at = $3", time.Now()) },
		"one that was deleted":            func(a *audit) { a.Exec(`DELETE FROM webhook_subscriptions WHERE company_id = $1`, a.Company) },
		"one that is disabled":            func(a *audit) { a.Set(a.sub, "status = 'disabled'") },
		"one that wants other events":     func(a *audit) { a.Set(a.sub, "events = ARRAY['lead.*']") },
		"a component that was changed": func(a *audit) {
			a.Exec(`INSERT INTO companies (id, name, search_text, status, plan, is_test, cell, home_region, currency, country_prefix, stock_policy, accrual_percent_bp, time_zone, version, ev_pos, created_at, updated_at)
VALUES ($1, 'x', 'x', 'active', 'pro', true, '', '', 'USD', '1', 'block', 0, 'UTC', 1, 1, $2, $2)`, a.Company, time.Now().Add(-time.Hour))
			a.Exec(`INSERT INTO company_components (company_id, component, enabled, updated_at) VALUES ($1, 'orders', true, $2)`, a.Company, time.Now())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAudit(t)
			e := a.Event("order.created")
			a.log(e.ID, e.Name, e.Record(t).Value)
			change(a)
			a.compared()
			require.Empty(t, a.missing)
		})
	}
	t.Run("an event that is a dead letter", func(t *testing.T) {
		t.Parallel()
		a := newAudit(t)
		a.log(uuid.Must(uuid.NewV7()), "order.created", make([]byte, event.MaxBody+1))
		a.log(uuid.Must(uuid.NewV7()), "order.unheard", []byte(`{}`))
		a.compared()
		require.Empty(t, a.missing)
	})
	t.Run("and finds the same without", func(t *testing.T) {
		t.Parallel()
		a := newAudit(t)
		e := a.Event("order.created")
		a.log(e.ID, e.Name, e.Record(t).Value)
		a.compared()
		require.Len(t, a.missing, 1)
	})
}

// No position of the log is read twice.
func TestReconcilerReadsItsStatements(t *testing.T) {
	t.Parallel()
	a := newAudit(t)
	for range 3 {
		a.log(uuid.Must(uuid.NewV7()), "order.created", []byte(`{}`))
	}
	high, err := outbox.ReadLogHeads(t.Context(), a.DB)
	require.NoError(t, err)
	in := outbox.LogRange{High: high}
	in.Low[outbox.Bucket(a.Company)] = high[outbox.Bucket(a.Company)] - 2
	all, err := in.First(t.Context(), a.DB, []uuid.UUID{uuid.UUID(a.Company)}, 25)
	require.NoError(t, err)
	require.Len(t, all, 2)
	some, err := in.First(t.Context(), a.DB, []uuid.UUID{uuid.UUID(a.Company)}, 1)
	require.NoError(t, err)
	require.Equal(t, all[0].ID, some[0].ID)
}

// value is what a counter or gauge without labels shows.
func value(t *testing.T, m prometheus.Metric) float64 {
	t.Helper()
	var d dto.Metric
	require.NoError(t, m.Write(&d))
	return d.GetCounter().GetValue() + d.GetGauge().GetValue()
}
