package bench

import (
	"context"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/warehouse"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/dev/receiver"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/topics"
)

// drainApart drains a preloaded outbox with relay and dispatcher in processes of their own and the broker in this one.
// Each company has one subscription that gets the events, and others whose filters they do not pass.
func drainApart(b *testing.B, companies, others int, declared []topics.Topic) {
	p := &platform{kit: newKit(b), arrived: map[string]time.Time{}}
	p.subscribe(companies, others)
	brokers := dbtest.Broker(b)
	client, err := kafka.NewClient(kafka.Config{Brokers: brokers})
	require.NoError(b, err)
	defer client.Close()
	_, err = kafka.Apply(b.Context(), kadm.NewClient(client), declared, 1)
	require.NoError(b, err)
	backends := []string{"--database-url", p.url, "--kafka-brokers", strings.Join(brokers, ",")}
	start := func(role string, flags ...string) *process {
		p.ops = freeAddress(b)
		started := p.start(append(append([]string{role, "--ops-listen", p.ops}, flags...), backends...)...)
		started.answers("http://" + p.ops + "/readyz")
		return started
	}
	roles := map[string]*process{"relay": start("relay")}
	began := time.Now()
	roles["dispatcher"] = start("dispatcher", "--allow-insecure")
	ready := time.Since(began)
	p.process = roles["dispatcher"]
	p.preload(len(p.hooks)) // until the consumer groups have formed
	p.await(len(p.hooks))
	for b.Loop() {
		p.clear()
		p.preload(preloaded)
		p.drain(roles)
	}
	for role, process := range roles {
		b.ReportMetric(process.peakMB(), role+"-peak-MB")
	}
	b.ReportMetric(ready.Seconds(), "dispatcher-start-s")
	b.ReportMetric(0, "ns/op")
}

// sqlCopyCompany and sqlCopyComponents copy a company under other ids.
const (
	sqlCopyCompany    = `INSERT INTO companies SELECT (jsonb_populate_record(c, jsonb_build_object('id', u.id))).* FROM companies AS c, unnest($2::UUID[]) AS u(id) WHERE c.id = $1`
	sqlCopyComponents = `INSERT INTO company_components SELECT (jsonb_populate_record(c, jsonb_build_object('company_id', u.id))).*
FROM company_components AS c, unnest($2::UUID[]) AS u(id) WHERE c.company_id = $1`
)

// sqlSubscribe gives each company a subscription to all orders.
const sqlSubscribe = `INSERT INTO webhook_subscriptions (company_id, id, url, events, is_active, status, exclude_own_events, read_scopes, secret, created_by_id, version, ev_pos, created_at, updated_at)
SELECT c, i, url, '{order.*}', true, 'active', false, '{orders:read}', secret, i, 1, 1, now(), now() FROM unnest($1::UUID[], $2::UUID[], $3::TEXT[], $4::TEXT[]) AS u(c, i, url, secret)`

// sqlSubscribeOthers gives each company subscriptions with filters that no event of the benchmark passes, so that nothing opens their secrets.
const sqlSubscribeOthers = `INSERT INTO webhook_subscriptions (company_id, id, url, events, filter, is_active, status, exclude_own_events, read_scopes, secret, created_by_id, version, ev_pos, created_at, updated_at)
SELECT c, gen_random_uuid(), 'https://example.com/' || g, '{order.*,client.*}', jsonb_build_object('data.version', g + 1, 'data.channel', jsonb_build_array('phone', 'web')), true, 'active', false, '{orders:read}', secret, c, 1, 1, now(), now()
FROM unnest($1::UUID[], $3::TEXT[]) AS u(c, secret), generate_series(1, $2::INT) AS g`

// subscribe makes companies, each with a subscription at one receiver, as fast as the database can.
func (p *platform) subscribe(n, others int) {
	b := p.b
	b.Helper()
	text := webhook.NewSecret()
	hooks := receiver.New(receiver.Config{Secret: text, Arrived: p.arrive})
	srv := httptest.NewServer(hooks)
	b.Cleanup(func() { hooks.Close(); srv.Close() })
	signer, err := webhook.NewSigner(text, "")
	require.NoError(b, err)
	_, path, _ := strings.Cut(p.keys, "=")
	keys, err := secret.ReadKeys("--secret-keys-file", path, nil)
	require.NoError(b, err)
	companies, subscriptions, urls, sealed := make([]tenant.ID, n), make([]uuid.UUID, n), make([]string, n), make([]webhook.StoredSecret, n)
	service := company.New(company.Config{DB: p.db, Warehouses: warehouse.New(warehouse.Config{DB: p.db}), Access: apitest.Registry()})
	require.NoError(b, p.db.RunTx(b.Context(), "bench.company", func(ctx context.Context, tx *db.Tx) error {
		co, err := service.Create(ctx, tx, company.NewCompany{Name: "Shop 1", Plan: "business"})
		companies[0] = co.ID
		return err
	}))
	for i := range companies {
		if i > 0 {
			companies[i] = tenant.NewID()
		}
		subscriptions[i], urls[i] = uuid.Must(uuid.NewV7()), srv.URL+"/hook/"+companies[i].String()
		sealed[i], err = webhook.SealSecret(keys, companies[i], subscriptions[i], text)
		require.NoError(b, err)
		h := &hook{company: companies[i], id: subscriptions[i], signer: signer}
		h.url, err = url.Parse(urls[i])
		require.NoError(b, err)
		p.hooks = append(p.hooks, h)
	}
	for _, statement := range []struct {
		sql  string
		args []any
	}{
		{sqlCopyCompany, []any{companies[0], companies[1:]}},
		{sqlCopyComponents, []any{companies[0], companies[1:]}},
		{sqlSubscribe, []any{companies, subscriptions, urls, sealed}},
		{sqlSubscribeOthers, []any{companies, others, sealed}},
		{`INSERT INTO webhook_companies (company_id, changes) SELECT unnest($1::UUID[]), 1`, []any{companies}},
		{`ANALYZE companies, company_components, webhook_subscriptions, webhook_companies`, nil},
	} {
		_, err := p.db.Exec(b.Context(), statement.sql, statement.args...)
		require.NoError(b, err, statement.sql)
	}
}
