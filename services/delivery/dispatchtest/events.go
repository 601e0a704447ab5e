package dispatchtest

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/topics"
)

type anyData struct{}

// Registry has one event of a component that companies have, one of a component that they have not, and one of a
// component that is always on.
func Registry() *event.Registry {
	return event.NewRegistry([]event.Type{
		event.New[anyData]("order.created", "An order.").Type("orders", "orders"),
		event.New[anyData]("stock.movement.created", "A movement.").Type("warehouse", "warehouse"),
		event.New[anyData]("product.created", "A product.").Type("catalog", "catalog"),
	})
}

// Components gives every company orders, and the catalog, which is always on.
type Components struct{}

// Of implements match.Components.
func (Components) Of(_ context.Context, companies []tenant.ID) (map[tenant.ID]access.Components, error) {
	all := make(map[tenant.ID]access.Components, len(companies))
	for _, company := range companies {
		all[company] = access.Components{"catalog", "orders"}
	}
	return all, nil
}

// Event is an event as a change raises it.
type Event struct {
	Company tenant.ID
	ID      uuid.UUID
	Name    string
	Actor   uuid.UUID
	Data    string
	Trace   string
}

// NewEvent makes an event.
func NewEvent(company tenant.ID, name string) Event {
	return Event{Company: company, ID: uuid.Must(uuid.NewV7()), Name: name, Actor: uuid.New(), Data: `{"status":"new","total":1500}`}
}

// Event makes an event of the company.
func (k *Kit) Event(name string) Event { return NewEvent(k.Company, name) }

// Record is the form in which the relay publishes the event.
func (e Event) Record(t testing.TB) *kgo.Record {
	t.Helper()
	body, err := event.Envelope{
		Event: e.Name, CompanyID: e.Company, OccurredAt: time.Now(), ActorID: e.Actor.String(), Data: []byte(e.Data), EventID: e.ID.String(),
	}.Freeze()
	require.NoError(t, err)
	r := &kgo.Record{Topic: topics.Events, Key: []byte(e.Company.String()), Value: body}
	for key, value := range map[string]string{
		"ce_id": e.ID.String(), "ce_type": e.Name, "ce_source": "tradegrid", "companyid": e.Company.String(), "agg_type": "order",
		"agg_id": uuid.NewString(), "version": "1", "pos": "1", "schema": "1", "traceparent": e.Trace, "tracestate": "",
		"committed_at": strconv.FormatInt(time.Now().UnixMicro(), 10),
	} {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: key, Value: []byte(value)})
	}
	return r
}

// SetHeader changes a header of a record.
func SetHeader(r *kgo.Record, key, value string) {
	for i := range r.Headers {
		if r.Headers[i].Key == key {
			r.Headers[i].Value = []byte(value)
		}
	}
}

// Header returns the value of a header of a record; "" if it has none.
func Header(r *kgo.Record, key string) string {
	for _, h := range r.Headers {
		if h.Key == key {
			return string(h.Value)
		}
	}
	return ""
}
