package orders_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// charge changes the price of an item in the catalog.
func (s *kit) charge(r trade.ItemRef, price money.Amount) {
	item := s.n.Items[r]
	item.Price, item.Name = price, item.Name+" new"
	s.n.Items[r] = item
}

// An order that is sent again after a change in the catalog is the order that it was.
func TestLinesKeepTheirPrices(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	wrapped := map[string]any{"refId": s.wood, "qty": 2, "modifiers": []any{map[string]any{"optionId": s.gift}}}
	body := map[string]any{"items": []any{map[string]any{"refId": s.wood, "qty": 3}, wrapped, map[string]any{"kind": "service", "refId": s.fix}}}
	at := "/orders/by-external-id/shop/1"
	o := s.Do(t, "PUT", at, body).OK(201)
	require.Equal(t, 999.0*3+1149*2+3000, o["total"])
	id := o["id"].(string)
	s.pay(id, map[string]any{"amount": o["total"], "method": "card"}).OK(201)
	s.charge(trade.ItemRef{Kind: "product", ID: s.wood}, 777)
	s.charge(trade.ItemRef{Kind: "service", ID: s.fix}, 1)
	o = s.read(id)

	require.Equal(t, o, s.Do(t, "PUT", at, body).OK(200), "nothing changed")
	require.Equal(t, o, s.patch(id, map[string]any{"items": body["items"]}).OK(200))

	body["items"] = []any{map[string]any{"kind": "service", "refId": s.fix}, map[string]any{"refId": s.bolt, "qty": 2}, wrapped, map[string]any{"refId": s.wood, "qty": 4}}
	o = s.Do(t, "PUT", at, body).OK(200)
	require.Equal(t, []any{3000.0, 250.0, 1149.0, 999.0}, []any{line(o, 0)["unitPrice"], line(o, 1)["unitPrice"], line(o, 2)["unitPrice"], line(o, 3)["unitPrice"]}, "in another order, with another quantity")
	require.Equal(t, "Wood", line(o, 3)["name"])

	wrapped["qty"], body["items"] = 3, append(body["items"].([]any), map[string]any{"refId": s.wood, "unitPrice": 5000}, map[string]any{"refId": s.wood})
	o = s.Do(t, "PUT", at, body).OK(200)
	require.Equal(t, []any{1149.0, 999.0, 5000.0, 777.0}, []any{line(o, 2)["unitPrice"], line(o, 3)["unitPrice"], line(o, 4)["unitPrice"], line(o, 5)["unitPrice"]}, "a further line of the item is a new one")

	s.patch(id, map[string]any{"reprice": true}).Fault(400, "VALIDATION_ERROR")
	body["reprice"] = true
	s.Do(t, "PUT", at, body).OK(200)
	o = s.read(id)
	require.Equal(t, []any{1.0, 250.0, 927.0, 777.0, 5000.0, 777.0}, []any{
		line(o, 0)["unitPrice"], line(o, 1)["unitPrice"], line(o, 2)["unitPrice"], line(o, 3)["unitPrice"], line(o, 4)["unitPrice"], line(o, 5)["unitPrice"],
	}, "prices of the catalog, where none is sent")
	s.move(id, "in_progress").OK(200)
	s.patch(id, body).Fault(409, "ORDER_ITEMS_LOCKED")
	delete(body, "reprice")
	require.Equal(t, s.read(id), s.Do(t, "PUT", at, body).OK(200))
}
