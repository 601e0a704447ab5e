package webhooks_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/compress"
	"github.com/tradegrid/tradegrid/pkg/kit/config"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
	"github.com/tradegrid/tradegrid/topics"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

const (
	subscriptions = "/webhooks/subscriptions"
	hook          = "https://receiver.example.com/hook"
)

// note has the fields that filters of the tests name.
type note struct {
	ID       uuid.UUID         `json:"id"`
	Status   string            `json:"status"`
	Kind     string            `json:"kind"`
	Channel  string            `json:"channel"`
	Zone     int               `json:"zone"`
	Total    int               `json:"total"`
	Lines    []note            `json:"lines"`
	Metadata map[string]string `json:"metadata"`
	Missing  *string           `json:"missing"`
	X        any               `json:"x"`
	Umlaut   string            `json:"é"`
}

func registry() *event.Registry {
	return event.NewRegistry(webhooks.Domain().Events, []event.Type{
		event.New[note]("order.created", "An order was created.").Type("orders", "orders"),
		event.New[note]("order.updated", "An order was changed.").Type("orders", "orders"),
		event.New[note]("product.created", "A product was created.").Type("catalog", "catalog"),
		event.New[note]("stock.movement.created", "Stock moved.").Type("warehouse", "warehouse"),
	})
}

// policy is that of roles without settings.
func policy() webhook.Policy { return config.Defaults[webhook.Policy]() }

// kit is an API with a fresh company.
type kit struct {
	*apitest.Client
	t       *testing.T
	db      *db.DB
	server  *apitest.Server
	summary map[string]any // of the last replay
}

func setup(t *testing.T, edit ...func(*webhooks.Config)) *kit {
	t.Helper()
	d := dbtest.Open(t)
	cfg := webhooks.Config{DB: d, Registry: registry(), Policy: policy(), Owners: apitest.Owners, Deliveries: store.Deliveries{}, Keys: apitest.Keys(t)}
	for _, e := range edit {
		e(&cfg)
	}
	server := apitest.New(t, d, webhooks.New(cfg).Register)
	return &kit{Client: server.Company(), t: t, db: d, server: server}
}

func (r *kit) company() tenant.ID { return r.Principal.Company }

// as is another client of the company, with fewer scopes.
func (r *kit) as(scopes ...string) *apitest.Client {
	return r.server.Caller(r.company(), func(p *access.Principal) { p.Scopes = apitest.Scopes(scopes...) })
}

// subscribe makes a subscription to all events and returns its id.
func (r *kit) subscribe() string {
	r.t.Helper()
	return r.Do(r.t, "POST", subscriptions, map[string]any{"url": hook, "events": []string{"*"}}).OK(201)["id"].(string)
}

// open gives the secret that a column holds.
func (r *kit) open(id string, stored webhook.StoredSecret) string {
	r.t.Helper()
	text, err := stored.Open(apitest.Keys(r.t), r.company(), uuid.MustParse(id))
	require.NoError(r.t, err)
	return text
}

// published is a row of the outbox.
type published struct {
	ID      uuid.UUID
	Key     string
	Name    string
	Payload []byte
}

func (r *kit) published(topic string) []published {
	r.t.Helper()
	rows, err := r.db.Query(r.t.Context(), `SELECT id, key, event, payload FROM outbox WHERE bucket = $1 AND company_id = $2 AND topic = $3 ORDER BY pos, id`,
		outbox.Bucket(r.company()), r.company(), topic)
	require.NoError(r.t, err)
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[published])
	require.NoError(r.t, err)
	for i := range all {
		all[i].Payload, err = compress.Open(all[i].Payload)
		require.NoError(r.t, err)
	}
	return all
}

// messages decodes what was handed to the senders, as they do.
func (r *kit) messages() []*webhook.Message {
	r.t.Helper()
	rows := r.published(topics.Deliveries)
	all := make([]*webhook.Message, 0, len(rows))
	for _, p := range rows {
		m, err := webhook.DecodeMessage(&kgo.Record{Key: []byte(p.Key), Value: p.Payload, Headers: []kgo.RecordHeader{
			{Key: "companyid", Value: []byte(r.company().String())},
		}})
		require.NoError(r.t, err)
		require.Equal(r.t, m.SubscriptionID.String(), p.Key)
		all = append(all, m)
	}
	return all
}

// log puts an event into the event log, as the relay does, and returns its id and body.
func (r *kit) log(name string, entity uuid.UUID, at time.Time) (uuid.UUID, []byte) {
	r.t.Helper()
	return r.logAs(name, "system", entity, note{ID: entity}, at)
}

func (r *kit) logAs(name, actor string, entity uuid.UUID, data any, at time.Time) (uuid.UUID, []byte) {
	r.t.Helper()
	id := uuid.Must(uuid.NewV7())
	low, _ := record.IDsBetween(at, at)
	copy(id[:6], low[:])
	text, err := json.Marshal(data)
	require.NoError(r.t, err)
	body, err := event.Envelope{Event: name, CompanyID: r.company(), OccurredAt: at, ActorID: actor, Data: text, EventID: id.String()}.Freeze()
	require.NoError(r.t, err)
	err = r.db.RunTx(r.t.Context(), "test.log", func(ctx context.Context, tx *db.Tx) error {
		var seq int64
		if err := tx.ReturningRow(ctx, db.Table("event_log_heads").Update(`SET n = n + 1 WHERE bucket = $1 RETURNING n`), outbox.Bucket(r.company())).Scan(&seq); err != nil {
			return err
		}
		tx.Queue(db.Table("events").Insert(`(company_id, seq, id, event, agg_type, agg_id, agg_version, body, occurred_at, expires_at)
VALUES ($1, $2, $3, $4, 'note', $5, 1, $6, $7, $8)`), r.company(), seq, id, name, entity, body, at, at.Add(30*24*time.Hour))
		return nil
	}, db.ReadCommitted())
	require.NoError(r.t, err)
	return id, body
}

// delivery puts a delivery of an event into the database, as the router does, and returns its id.
func (r *kit) delivery(subscription string, eventID uuid.UUID, name string, state int16, at time.Time) uuid.UUID {
	r.t.Helper()
	sub := uuid.MustParse(subscription)
	id := webhook.DeliveryID(eventID, sub, 0)
	_, err := r.db.Exec(r.t.Context(), `INSERT INTO deliveries (company_id, subscription_id, id, event_id, event, state, attempt, expires_at, is_test, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, 1, $7, false, $8, $8)`, r.company(), sub, id, eventID, name, state, at.Add(22*time.Hour), at)
	require.NoError(r.t, err)
	return id
}

func TestSubscriptionLife(t *testing.T) {
	t.Parallel()
	r := setup(t)
	made := r.Do(t, "POST", subscriptions, map[string]any{
		"url": hook, "events": []string{"order.*", "product.created", "order.*"}, "name": " Mirror ",
		"filter": json.RawMessage(`{"data.total": 10.5, "data.kind": ["b", "a"], "data.é": "<ü>"}`),
	})
	sub := made.OK(201)
	id := sub["id"].(string)
	require.Equal(t, "Mirror", sub["name"])
	require.Equal(t, []any{"order.*", "product.created"}, sub["events"])
	require.Equal(t, map[string]any{"data.total": 10.5, "data.kind": []any{"b", "a"}, "data.é": "<ü>"}, sub["filter"])
	require.Equal(t, "active", sub["status"])
	require.Equal(t, r.Principal.Actor.String(), sub["createdById"])
	require.Nil(t, sub["maxPerSecond"])
	secret := sub["secret"].(string)
	require.NoError(t, webhook.CheckSecret(secret))
	require.Equal(t, secret[len(secret)-4:], sub["secretHint"])
	require.Contains(t, made.Header.Get("Location"), id)

	got := r.Do(t, "GET", subscriptions+"/"+id, nil).OK(200)
	require.NotContains(t, got, "secret")
	delete(sub, "secret")
	require.Equal(t, sub, got)

	again := r.Do(t, "PATCH", subscriptions+"/"+id, map[string]any{"filter": sub["filter"], "events": sub["events"]}).OK(200)
	require.Equal(t, float64(1), again["version"], "the same values are no change")
	changed := r.Do(t, "PATCH", subscriptions+"/"+id, `{"filter":null,"name":null,"events":["*"],"excludeOwnEvents":true,"maxPerSecond":20}`).OK(200)
	require.InDelta(t, 20, changed["maxPerSecond"], 0)
	require.Nil(t, changed["filter"])
	require.Nil(t, changed["name"])
	require.Equal(t, float64(2), changed["version"])
	r.Do(t, "PATCH", subscriptions+"/"+id, `{"name":"x"}`, apitest.Header{"If-Match", `"1"`}).Fault(412, "PRECONDITION_FAILED")
	r.Do(t, "DELETE", subscriptions+"/"+id, nil, apitest.Header{"If-Match", `"1"`}).Fault(412, "PRECONDITION_FAILED")

	page := r.Do(t, "GET", subscriptions+"?search=RECEIVER", nil).OK(200)
	require.Len(t, page["items"], 1)
	require.Equal(t, float64(1), page["total"])
	require.Empty(t, r.Do(t, "GET", subscriptions+"?search=nothing", nil).OK(200)["items"])

	r.Do(t, "DELETE", subscriptions+"/"+id, nil).OK(204)
	r.Do(t, "GET", subscriptions+"/"+id, nil).Fault(404, "WEBHOOK_SUBSCRIPTION_NOT_FOUND")
	rows := r.published(topics.Subscriptions)
	require.Len(t, rows, 3, "created, updated, deleted")
	for i, row := range rows {
		require.Equal(t, r.company().String()+"/"+id, row.Key)
		require.JSONEq(t, `{"companyId":"`+r.company().String()+`","id":"`+id+`","deleted":`+[]string{"false", "false", "true"}[i]+`}`, string(row.Payload))
	}
}

func TestSubscriptionInputFaults(t *testing.T) {
	t.Parallel()
	r := setup(t)
	id := r.subscribe()
	rows := []struct {
		name, field, value string
		want               map[string]string
	}{
		{"http", "url", `"http://receiver.example.com/"`, map[string]string{"url": "FORMAT"}},
		{"ftp", "url", `"ftp://receiver.example.com/"`, map[string]string{"url": "FORMAT"}},
		{"fragment", "url", `"https://receiver.example.com/#x"`, map[string]string{"url": "FORMAT"}},
		{"no host", "url", `"https:///x"`, map[string]string{"url": "FORMAT"}},
		{"user in url", "url", `"https://a:b@example.com/"`, map[string]string{"url": "FORMAT"}},
		{"loopback", "url", `"https://127.0.0.1/"`, map[string]string{"url": "FORMAT"}},
		{"metadata", "url", `"https://169.254.169.254/latest"`, map[string]string{"url": "FORMAT"}},
		{"blank url", "url", `"  "`, map[string]string{"url": "LENGTH"}},
		{"url null", "url", `null`, map[string]string{"url": "TYPE"}},
		{"no events", "events", `[]`, map[string]string{"events": "MIN"}},
		{"events text", "events", `"order.created"`, map[string]string{"events": "TYPE"}},
		{"unknown event", "events", `["order.created","order.exploded"]`, map[string]string{"events[1]": "ENUM"}},
		{"unknown prefix", "events", `["payroll.*"]`, map[string]string{"events[0]": "ENUM"}},
		{"name of a module", "events", `["orders.*"]`, map[string]string{"events[0]": "ENUM"}},
		{"bad pattern", "events", `["*.created","Order created"]`, map[string]string{"events[0]": "FORMAT", "events[1]": "FORMAT"}},
		{"number as event", "events", `[1]`, map[string]string{"events[0]": "TYPE"}},
		{"filter array", "filter", `[1]`, map[string]string{"filter": "TYPE"}},
		{"filter paths", "filter", `{"a..b":1,"data.x":[],"event":1}`, map[string]string{"filter.a..b": "FORMAT", "filter.data.x": "FORMAT"}},
		{"filter beside data", "filter", `{"channel":"manual"}`, map[string]string{"filter.channel": "FORMAT"}},
		{"filter on no field", "filter", `{"data.chanel":"manual","data.truncated":true,"data.metadata.shop":"1"}`, map[string]string{"filter.data.chanel": "UNKNOWN"}},
		{"filter with U+0000", "filter", `{"data.x":["\u0000"]}`, map[string]string{"filter.data.x[0]": "FORMAT"}},
		{"filter key with U+0000", "filter", `{"data.x":{"a\u0000":1}}`, map[string]string{"filter.data.x.a\x00": "FORMAT"}},
		{"filter number", "filter", `{"data.x":1e200000}`, map[string]string{"filter.data.x": "FORMAT"}},
		{"long name", "name", `"` + strings.Repeat("x", 256) + `"`, map[string]string{"name": "LENGTH"}},
		{"isActive text", "isActive", `"yes"`, map[string]string{"isActive": "TYPE"}},
		{"maxPerSecond 0", "maxPerSecond", `0`, map[string]string{"maxPerSecond": "MIN"}},
		{"maxPerSecond 1001", "maxPerSecond", `1001`, map[string]string{"maxPerSecond": "MAX"}},
		{"maxPerSecond fraction", "maxPerSecond", `1.5`, map[string]string{"maxPerSecond": "STEP"}},
		{"excludeOwnEvents null", "excludeOwnEvents", `null`, map[string]string{"excludeOwnEvents": "TYPE"}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			body := map[string]any{"url": hook + "2", "events": []string{"*"}}
			body[row.field] = json.RawMessage(row.value)
			require.Equal(t, row.want, r.Do(t, "POST", subscriptions, body).Fields())
			require.Equal(t, row.want, r.Do(t, "PATCH", subscriptions+"/"+id, `{"`+row.field+`":`+row.value+`}`).Fields())
		})
	}
	require.Equal(t, map[string]string{"url": "REQUIRED", "events": "REQUIRED"}, r.Do(t, "POST", subscriptions, `{}`).Fields())
	require.Equal(t, map[string]string{"url": "FORMAT", "events[0]": "ENUM", "filter.a.": "FORMAT"},
		r.Do(t, "POST", subscriptions, `{"url":"https://127.0.0.1/","events":["no.such"],"filter":{"a.":1}}`).Fields(), "all faults at once")
	got := r.Do(t, "POST", subscriptions, map[string]any{"url": hook + "2", "events": []string{"order.exploded"}})
	require.Contains(t, string(got.Body), "order.exploded is not an event")
}

func TestInsecureReceiversInDevelopment(t *testing.T) {
	t.Parallel()
	r := setup(t, func(c *webhooks.Config) { c.AllowInsecure = true })
	r.Do(t, "POST", subscriptions, `{"url":"http://127.0.0.1:8080/hook","events":["*"]}`).OK(201)
}
