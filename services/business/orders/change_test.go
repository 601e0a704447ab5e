package orders_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// clock is the time that a test sets.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func TestTimesOfAnOrder(t *testing.T) {
	t.Parallel()
	open(t, nil) // the tables of the test are there
	c := &clock{time.Date(2031, 1, 30, 12, 0, 0, 123_456_000, time.UTC)}
	s := open(t, dbtest.Open(t).WithClock(c.now))
	o := s.create("customerId", s.ann)
	require.Equal(t, "2031-01-30T12:00:00.123Z", o["createdAt"])
	require.Equal(t, o["createdAt"], o["updatedAt"])
	require.Equal(t, "2031-02-09T12:00:00.123Z", o["payDueAt"], "ten days are the terms of the client")
	require.Equal(t, "2031-06-01T00:00:00.000Z", s.create("customerId", s.ann, "payDueAt", "2031-06-01T02:00:00+02:00")["payDueAt"])

	c.at = c.at.Add(time.Hour)
	require.Equal(t, "2031-01-30T13:00:00.123Z", s.patch(o["id"], `{"note":"x"}`).OK(200)["updatedAt"])
	c.at = c.at.Add(time.Hour)
	s.move(o["id"], "in_progress").OK(200)
	c.at = c.at.Add(time.Hour)
	done := s.move(o["id"], "completed").OK(200)
	require.Equal(t, "2031-01-30T15:00:00.123Z", done["completedAt"])
	require.Equal(t, done["completedAt"], done["updatedAt"])
	require.Equal(t, o["createdAt"], done["createdAt"])
	var history []map[string]any
	s.Do(t, "GET", "/orders/"+o["id"].(string)+"/history", nil).Decode(&history)
	require.Equal(t, "2031-01-30T13:00:00.123Z", history[0]["at"])
	require.Equal(t, done["updatedAt"], history[len(history)-1]["at"])
}

// What a client reads it can send back: nothing has changed then, and there is no version, event or history of it.
func TestSendingBackWhatWasRead(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	o := s.create("customerId", s.ann, "assignedToId", s.bob, "deliveryMethod", "post", "deliveryCost", 5, "discountPercent", 12.5, "prepaidAmount", 7,
		"source", "shop", "externalId", "1", "dueAt", "2031-01-30T12:00:00.123456Z", "customerNote", "n")
	body := map[string]any{}
	for _, field := range []string{
		"customerId", "assetId", "addressId", "customerName", "customerPhone", "customerEmail", "customerNote", "channel", "source", "externalId", "warehouseId",
		"deliveryMethod", "deliveryCost", "deliveryAddressText", "dueAt", "readyBy", "payDueAt", "note", "discountPercent", "prepaidAmount", "assignedToId",
	} {
		require.Contains(t, o, field)
		body[field] = o[field]
	}
	require.Equal(t, o, s.patch(o["id"], body).OK(200))
	require.Equal(t, []string{"order.created", "order.payment.created"}, s.events())
	require.Equal(t, o["warehouseId"], s.patch(o["id"], map[string]any{"warehouseId": nil}).OK(200)["warehouseId"], "null leaves it")
	require.NotNil(t, s.patch(o["id"], map[string]any{"payDueAt": "2031-01-30T12:00:00.001Z"}).OK(200)["payDueAt"])
	require.Len(t, s.events(), 3)
}

func TestEmptyTextsAreNull(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	o := s.create("externalId", "", "source", " ", "customerName", "", "customerEmail", "", "note", "  ", "addressId", "")
	for _, field := range []string{"externalId", "source", "customerName", "customerEmail", "note", "addressId"} {
		require.Nil(t, o[field], field)
	}
	s.create("externalId", "") // two orders without an external id
	o = s.create("customerId", s.ann, "customerName", "", "note", "x")
	require.Equal(t, "Ann Lee", o["customerName"])
	require.Nil(t, s.patch(o["id"], `{"note":" "}`).OK(200)["note"])
	require.Nil(t, s.patch(o["id"], `{"customerName":""}`).OK(200)["customerName"])
}

func TestHistoryHasTheValues(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	o := s.create("note", "a <b>")
	s.patch(o["id"], s.body("note", nil, "discountPercent", 12.5, "channel", "phone", "items", []any{
		map[string]any{"refId": s.wood, "qty": 2}, map[string]any{"kind": "service", "refId": s.fix},
	})).OK(200)
	var history []map[string]any
	s.Do(t, "GET", "/orders/"+o["id"].(string)+"/history", nil).Decode(&history)
	var got [][3]any
	for _, e := range history {
		require.Equal(t, s.Principal.Actor.String(), e["actorId"])
		got = append(got, [3]any{e["field"], e["from"], e["to"]})
	}
	require.Equal(t, [][3]any{
		{"amountDue", 2997.0, 4373.0},
		{"channel", "manual", "phone"},
		{"discountAmount", 0.0, 625.0},
		{"discountPercent", 0.0, 12.5},
		{"lines", 1.0, 2.0},
		{"note", "a <b>", nil},
		{"subtotal", 2997.0, 4998.0},
		{"total", 2997.0, 4373.0},
	}, got)
}

// The customer of an order takes the payments along; what was said of the customer stays unless the order gets another.
func TestChangeOfCustomer(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	o := s.create("prepaidAmount", 100, "customerName", "Walk-in", "customerEmail", "w@example.com")
	o = s.patch(o["id"], map[string]any{"customerId": s.ann, "customerEmail": "ann@example.com"}).OK(200)
	require.Equal(t, "Ann Lee", o["customerName"])
	require.Equal(t, "ann@example.com", o["customerEmail"], "what is sent goes before what the client has")
	require.EqualValues(t, 100, s.balance(s.ann))
	s.patch(o["id"], map[string]any{"customerId": s.gone}).Fault(409, "CLIENT_ARCHIVED")
	o = s.patch(o["id"], map[string]any{"customerName": "A. Lee", "customerId": s.ann}).OK(200)
	require.Equal(t, "A. Lee", o["customerName"])
	require.Equal(t, "A. Lee", s.patch(o["id"], s.body()).OK(200)["customerName"], "new items need the client's prices, not the name")
	other := s.patch(s.create()["id"], map[string]any{"customerName": "Ann", "customerId": s.ann}).OK(200)
	require.Equal(t, "Ann", other["customerName"])
	require.Equal(t, "+49 151 2345678", other["customerPhone"])
	delete(s.n.clients, s.ann)
	require.Equal(t, "x", s.patch(o["id"], map[string]any{"note": "x", "customerId": s.ann}).OK(200)["note"], "what an order names already is not looked for")
}
