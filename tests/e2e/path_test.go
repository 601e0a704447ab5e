package e2e

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/tests/role"
)

// envelope is the body of a webhook; see docs/reference/events.md#envelope.
type envelope struct {
	Event      string    `json:"event"`
	CompanyID  string    `json:"companyId"`
	OccurredAt time.Time `json:"occurredAt"`
	ActorID    string    `json:"actorId"`
	EventID    string    `json:"eventId"`
	Data       struct {
		ID             string           `json:"id"`
		Number         int64            `json:"number"`
		Status         string           `json:"status"`
		PreviousStatus *string          `json:"previousStatus"`
		Total          int64            `json:"total"`
		Lines          []map[string]any `json:"lines"`
	} `json:"data"`
}

// event reads a delivery of the event about an order, whose bytes must be those of the event log.
func (c *client) event(name, event, dataID string) (e envelope) {
	c.r.t.Helper()
	d := c.r.await(name, event, dataID)
	raw := c.r.bytesOf(d.ID)
	require.NoError(c.r.t, json.Unmarshal(raw, &e))
	var logged answer
	role.Eventually(c.r.t, func() bool { // a webhook may be faster than the log
		var err error
		logged, err = c.do(http.MethodGet, "/events/"+e.EventID, "", nil)
		require.NoError(c.r.t, err)
		return logged.status == http.StatusOK
	}, "event %s is in the log", e.EventID)
	require.Equal(c.r.t, string(raw), string(logged.body), "the webhook and the event log carry the same bytes")
	return e
}

func TestOrderReachesTheReceiver(t *testing.T) {
	t.Parallel()
	r := newKit(t)
	api := r.platform()
	api.subscribe("shop", "order.*")
	product, before := api.product(), time.Now().Add(-time.Second)
	o := api.order(product)

	e := api.event("shop", "order.created", o.ID)
	require.Equal(t, r.company.String(), e.CompanyID)
	require.NotEmpty(t, e.ActorID)
	require.NotEqual(t, "system", e.ActorID, "a token made the change")
	require.WithinRange(t, e.OccurredAt, before, time.Now().Add(time.Second))
	require.Equal(t, o.Number, e.Data.Number)
	require.Equal(t, "new", e.Data.Status)
	require.EqualValues(t, 2*1890, e.Data.Total)
	require.Len(t, e.Data.Lines, 1)
	require.Equal(t, product, e.Data.Lines[0]["refId"])
	require.Nil(t, e.Data.PreviousStatus)

	api.call(http.MethodPost, "/orders/"+o.ID+"/status/confirmed", map[string]any{}, nil)
	e = api.event("shop", "order.status_changed", o.ID)
	require.Equal(t, "confirmed", e.Data.Status)
	require.Equal(t, "new", *e.Data.PreviousStatus)

	other := api.order(product)
	api.call(http.MethodPost, "/orders/"+other.ID+"/status/cancelled", map[string]any{"reason": "changed their mind"}, nil)
	changed := api.event("shop", "order.status_changed", other.ID)
	cancelled := api.event("shop", "order.cancelled", other.ID)
	for _, e := range []envelope{changed, cancelled} {
		require.Equal(t, "cancelled", e.Data.Status)
		require.Equal(t, "new", *e.Data.PreviousStatus)
	}
	require.NotEqual(t, changed.EventID, cancelled.EventID)
}
