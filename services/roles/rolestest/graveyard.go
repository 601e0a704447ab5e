package rolestest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/delivery/deadletter"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/operations"
	"github.com/tradegrid/tradegrid/topics"
)

// Graveyard is one of each kind of what the platform gives up, and a second one that cannot be sent again.
type Graveyard struct {
	node    *Node
	Company tenant.ID
	Sub     string
	Brokers string
	IDs     map[string]uuid.UUID // of the events, by source
}

// NewGraveyard has a row in the outbox that failed on the first day of that year.
func NewGraveyard(t *testing.T, year int) *Graveyard {
	t.Helper()
	n := NewNode(dbtest.Open(t), Alone())
	owner, id := n.Owner(t)
	brokers := dbtest.Broker(t)
	g := &Graveyard{node: n, Company: id, Brokers: "--kafka-brokers=" + strings.Join(brokers, ","), IDs: map[string]uuid.UUID{}}
	g.Sub = owner.OK(t, "POST", "/webhooks/subscriptions", `{"url":"http://127.0.0.1:9/hook","events":["order.*"]}`).ID(t)
	exec := func(w db.Write, args ...any) {
		t.Helper()
		_, err := n.DB.Exec(t.Context(), w.SQL(), args...)
		require.NoError(t, err)
	}
	for i, source := range []string{operations.DeadInOutbox, operations.DeadEvents, operations.DeadDeliveries} {
		event := uuid.Must(uuid.NewV7())
		g.IDs[source] = event
		if source == operations.DeadInOutbox {
			exec(db.Table("outbox_dead").Insert(`(bucket, pos, id, company_id, topic, key, event, agg_type, agg_id, agg_version, payload, traceparent, tracestate, created_at, error, failed_at)
VALUES (7, 4711, $1, $2, 'events', $3, 'order.created', 'order', $1, 1, '{"event":"order.created"}', '', '', $4, 'MESSAGE_TOO_LARGE', $5)`),
				event, id, id.String(), time.Now(), time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC))
			continue
		}
		exec(db.Table("events").Insert(`(company_id, seq, id, event, agg_type, agg_id, agg_version, body, occurred_at, expires_at)
VALUES ($1, $2, $3, 'order.created', 'order', $3, 1, '{"event":"order.created"}', $4, $5)`), id, i+1, event, time.Now(), time.Now().Add(time.Hour))
	}
	client, err := kafka.NewClient(kafka.Config{Brokers: brokers, ClientID: "test"})
	require.NoError(t, err)
	defer client.Close()
	w := deadletter.New(client)
	for _, lost := range []uuid.UUID{g.IDs[operations.DeadEvents], g.IDs[operations.DeadEvents], uuid.New()} { // one of them twice
		require.NoError(t, w.Record(t.Context(), topics.EventsDead, &kgo.Record{
			Topic: topics.Events, Partition: 3, Offset: 17, Key: []byte(id.String()), Value: []byte("{"),
			Headers: []kgo.RecordHeader{{Key: "companyid", Value: []byte(id.String())}, {Key: "ce_id", Value: []byte(lost.String())}, {Key: "ce_type", Value: []byte("order.created")}},
		}, deadletter.Decode, errors.New("unexpected end")))
	}
	require.NoError(t, w.Record(t.Context(), topics.EventsDead, &kgo.Record{Topic: topics.Events, Value: []byte("noise")}, deadletter.Decode, errors.New("no company")))
	event := g.IDs[operations.DeadDeliveries]
	m := &webhook.Message{
		DeliveryID: webhook.DeliveryID(event, uuid.MustParse(g.Sub), 0), SubscriptionID: uuid.MustParse(g.Sub), Company: id, EventID: event, Event: "order.created", Body: []byte("{}"),
	}
	require.NoError(t, w.Delivery(t.Context(), m, deadletter.Attempts, "503"))
	exec(db.Table("deliveries").Insert(`(company_id, subscription_id, id, event_id, event, state, attempt, expires_at, is_test, created_at, updated_at, completed_at)
VALUES ($1, $2, $3, $4, 'order.created', 3, 7, $5, false, $5, $5, $5)`), id, g.Sub, m.DeliveryID, event, time.Now())
	return g
}

// Count counts rows.
func (g *Graveyard) Count(t *testing.T, sql string, args ...any) (n int) {
	t.Helper()
	require.NoError(t, g.node.DB.QueryRow(t.Context(), sql, append([]any{g.Company}, args...)...).Scan(&n))
	return n
}
