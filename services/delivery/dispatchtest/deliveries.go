package dispatchtest

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/kit/config"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/topics"
)

const deliveries = db.Table("deliveries")

// Policy is that of roles without settings.
func Policy() webhook.Policy { return config.Defaults[webhook.Policy]() }

// Messages makes deliveries of one subscription and their rows, as the router would.
func (k *Kit) Messages(sub uuid.UUID, n int) []*webhook.Message {
	k.T.Helper()
	now := time.Now().UTC().Truncate(time.Millisecond)
	out := make([]*webhook.Message, n)
	ids, events := make([]uuid.UUID, n), make([]uuid.UUID, n)
	for i := range out {
		ids[i], events[i] = uuid.Must(uuid.NewV7()), uuid.Must(uuid.NewV7())
		out[i] = &webhook.Message{
			Company: k.Company, DeliveryID: ids[i], SubscriptionID: sub, Event: "order.created", EventID: events[i],
			Attempt: 1, ExpiresAt: now.Add(Policy().DeliveryTTL), CommittedAt: now,
			Body: fmt.Appendf(nil, `{"event":"order.created","n":%d}`, i),
		}
	}
	k.Exec(deliveries.Insert(`(company_id, subscription_id, id, event_id, event, state, attempt, next_attempt_at, expires_at, is_test, created_at, updated_at)
SELECT $1, $2, i, e, 'order.created', 0, 0, $5, $6, false, $5, $5 FROM unnest($3::UUID[], $4::UUID[]) AS u(i, e)`).SQL(),
		k.Company, sub, ids, events, now, now.Add(Policy().DeliveryTTL))
	return out
}

// Send hands deliveries to the sender and waits for the brokers once for all.
func (k *Kit) Send(messages ...*webhook.Message) {
	k.T.Helper()
	for _, m := range messages {
		k.Client.Produce(context.Background(), m.Record(topics.Deliveries), func(_ *kgo.Record, err error) {
			if err != nil {
				k.T.Error(err)
			}
		})
	}
	require.NoError(k.T, k.Client.Flush(context.Background()))
}

// Decode reads a delivery.
func (k *Kit) Decode(r *kgo.Record) *webhook.Message {
	k.T.Helper()
	m, err := webhook.DecodeMessage(r)
	require.NoError(k.T, err)
	return m
}

// Deliveries counts the deliveries of the company for which the condition holds.
func (k *Kit) Deliveries(condition string) int {
	k.T.Helper()
	return k.Query(`SELECT count(*) FROM deliveries WHERE company_id = $1 AND `+condition, k.Company)
}

// InState counts the deliveries of a subscription in a state.
func (k *Kit) InState(sub uuid.UUID, state webhook.State) int {
	k.T.Helper()
	return k.Query(`SELECT count(*) FROM deliveries WHERE company_id = $1 AND subscription_id = $2 AND state = $3`, k.Company, sub, state)
}

// Row is a delivery as it is stored.
type Row struct {
	State     webhook.State
	Attempt   int16
	Next      *time.Time
	Code      *int32
	Body      []byte
	Err       *string
	Completed *time.Time
}

// Row reads a delivery.
func (k *Kit) Row(id uuid.UUID) (r Row) {
	k.T.Helper()
	err := k.DB.QueryRow(context.Background(), `SELECT state, attempt, next_attempt_at, http_code, response_body, error, completed_at
FROM deliveries WHERE company_id = $1 AND id = $2`, k.Company, id).
		Scan(&r.State, &r.Attempt, &r.Next, &r.Code, &r.Body, &r.Err, &r.Completed)
	require.NoError(k.T, err)
	return r
}

// AwaitState waits until a delivery is in a state.
func (k *Kit) AwaitState(id uuid.UUID, state webhook.State) Row {
	k.T.Helper()
	k.Eventually(func() bool { return k.Row(id).State == state }, state.String())
	return k.Row(id)
}

// ForwardDelayed does the work of the delay topics.
func (k *Kit) ForwardDelayed() {
	k.T.Helper()
	names := make([]string, 0, 7)
	for _, tier := range topics.DelayTiers() {
		names = append(names, tier.Topic)
	}
	k.Tail(func(r *kgo.Record) {
		m, err := webhook.DecodeMessage(r)
		if err != nil {
			k.T.Errorf("delay topic: %v", err)
			return
		}
		time.AfterFunc(time.Until(m.NotBefore), func() {
			k.Client.Produce(context.Background(), m.Record(topics.Deliveries), func(*kgo.Record, error) {})
		})
	}, names...)
}
