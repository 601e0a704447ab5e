package orders_test

import (
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
)

func (s *kit) giveBack(order, body any) *apitest.Response {
	s.t.Helper()
	return s.Do(s.t, "POST", "/orders/"+order.(string)+"/returns", body)
}

// A paid order whose goods all come back and whose money goes back leaves neither a debt nor goods that are missing.
func TestLifeOfAReturn(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	s.n.Users[s.Principal.Actor] = "Till"
	s.receive(s.wood, 10)
	o := s.create("customerId", s.bea, "discountPercent", 10, "deliveryCost", 500, "items", []any{
		map[string]any{"refId": s.wood, "qty": 3}, map[string]any{"kind": "service", "refId": s.fix},
	})
	id, total := o["id"].(string), o["total"].(float64)
	s.giveBack(id, nil).Fault(409, "RETURN_NOTHING_TO_RETURN")
	p := s.pay(id, map[string]any{"amount": total + 500, "method": "card"}).OK(201)["id"].(string)
	s.move(id, "in_progress").OK(200)
	s.move(id, "completed").OK(200)
	require.EqualValues(t, 0, s.balance(s.bea))
	require.Equal(t, "7/0", s.stock(s.wood))
	before := len(s.events())

	res := s.giveBack(id, map[string]any{
		"items": []any{item(o, 0, 1)}, "reason": "too long", "fee": 99, "source": "shop", "externalId": "R-1", "refunds": []any{map[string]any{"paymentId": p}},
	})
	r := res.OK(201)
	share := line(o, 0)["total"].(float64) / 3 // 2697
	for field, want := range map[string]any{
		"orderId": id, "number": 1.0, "status": "posted", "warehouseId": s.warehouse.String(), "reason": "too long", "totalQty": 1.0, "amount": share, "deliveryAmount": 0.0,
		"fee": 99.0, "total": share - 99, "refundedAmount": 800.0, "externalId": "R-1", "cancelledAt": nil, "version": 1.0,
	} {
		require.Equal(t, want, r[field], field)
	}
	l := line(r, 0)
	for field, want := range map[string]any{
		"orderLineId": line(o, 0)["id"], "productId": s.wood.String(), "sku": "W-1", "name": "Wood", "qty": 1.0, "restock": true, "amount": share, "share": share,
	} {
		require.Equal(t, want, l[field], field)
	}
	require.Equal(t, "8/0", s.stock(s.wood))
	got := s.read(id)
	for field, want := range map[string]any{
		"total": total, "returnedAmount": share - 99, "payable": total + 500 - share + 99, "amountDue": 0.0, "prepaidAmount": total + 500 - 800, "paymentStatus": "paid",
	} {
		require.Equal(t, want, got[field], field)
	}
	require.Equal(t, 1.0, line(got, 0)["returnedQty"])
	require.EqualValues(t, 0, s.balance(s.bea))
	names, all := s.lastEvents(before)
	require.ElementsMatch(t, []string{"stock.movement.created", "order.updated", "order.updated", "order.payment.refunded", "order.return.created"}, names)
	var data []map[string]any
	for _, name := range []string{"stock.movement.created", "order.payment.refunded", "order.return.created"} {
		data = append(data, all[slices.Index(names, name)])
	}
	require.Equal(t, []any{"order_return", "return", r["id"]}, []any{data[0]["type"], data[0]["documentType"], data[0]["documentId"]})
	require.Equal(t, []any{r["id"], "too long"}, []any{data[1]["returnId"], data[1]["reason"]})
	summary := data[2]["order"].(map[string]any)
	require.Equal(t, []any{id, got["payable"], 0.0}, []any{summary["id"], summary["payable"], summary["amountDue"]})
	delete(data[2], "order")
	require.Equal(t, r, data[2])
	require.Equal(t, r["id"], s.giveBack(id, map[string]any{"externalId": "R-1", "source": "shop"}).Fault(409, "RETURN_EXTERNAL_ID_TAKEN")["meta"].(map[string]any)["id"])

	rest := s.giveBack(id, map[string]any{"restock": false, "deliveryAmount": 500}).OK(201)
	require.Equal(t, []any{3.0, nil}, []any{rest["totalQty"], rest["warehouseId"]})
	require.Equal(t, "8/0", s.stock(s.wood), "it was not restocked")
	got = s.read(id)
	require.Equal(t, []any{99.0, 99 - got["prepaidAmount"].(float64), "paid"}, []any{got["payable"], got["amountDue"], got["paymentStatus"]}, "until it is refunded")
	require.EqualValues(t, got["prepaidAmount"].(float64)-99, s.balance(s.bea))
	s.giveBack(id, nil).Fault(409, "RETURN_NOTHING_TO_RETURN")
	s.refund(id, p, map[string]any{"amount": got["prepaidAmount"].(float64) - 99}).OK(201)
	got = s.read(id)
	require.Equal(t, []any{99.0, 0.0, "paid"}, []any{got["payable"], got["amountDue"], got["paymentStatus"]})
	require.EqualValues(t, 0, s.balance(s.bea))
	s.pay(id, map[string]any{"amount": 1, "method": "cash"}).Fault(409, "ORDER_OVERPAID")

	at := "/orders/" + id + "/returns"
	list := s.Do(t, "GET", at, nil).OK(200)["items"].([]any)
	require.Equal(t, []any{rest["id"], r["id"]}, []any{list[0].(map[string]any)["id"], list[1].(map[string]any)["id"]})
	require.Equal(t, []any{1.0, "Till"}, []any{list[0].(map[string]any)["orderNumber"], list[0].(map[string]any)["createdByName"]})
	for query, want := range map[string]int{"": 2, "status=posted": 2, "status=cancelled": 0, "number=1": 1, "search=LONG": 1, "externalId=R-1": 1, "orderId=" + id: 2, "orderId=" + uuid.NewString(): 0, "sort=number": 2, "returnedFrom=2020-01-01T00:00:00Z": 2, "returnedTo=2020-01-01T00:00:00Z": 0, "source=shop": 1} {
		require.Len(t, s.Do(t, "GET", "/returns?"+query, nil).OK(200)["items"], want, query)
	}
	require.Equal(t, r, s.Do(t, "GET", at+"/"+r["id"].(string), nil).OK(200))
	s.Do(t, "GET", at+"/"+uuid.NewString(), nil).Fault(404, "RETURN_NOT_FOUND")
	other := s.create()["id"].(string)
	s.Do(t, "GET", "/orders/"+other+"/returns/"+r["id"].(string), nil).Fault(404, "RETURN_NOT_FOUND")
	s.Do(t, "POST", "/orders/"+other+"/returns/"+r["id"].(string)+"/cancel", nil).Fault(404, "RETURN_NOT_FOUND")

	gone := s.Do(t, "POST", at+"/"+r["id"].(string)+"/cancel", nil).OK(200)
	require.Equal(t, []any{"cancelled", 2.0}, []any{gone["status"], gone["version"]})
	require.Equal(t, "7/3", s.stock(s.wood))
	s.Do(t, "POST", at+"/"+r["id"].(string)+"/cancel", nil).Fault(409, "RETURN_ALREADY_CANCELLED")
	require.EqualValues(t, -share+99, s.balance(s.bea), "the client has the goods again")
	names, _ = s.lastEvents(len(s.events()) - 3)
	require.ElementsMatch(t, []string{"stock.movement.created", "order.updated", "order.return.cancelled"}, names)
}

func TestFaultsOfReturns(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	o := s.create("deliveryCost", 100, "items", []any{map[string]any{"refId": s.wood, "qty": 3}, map[string]any{"kind": "custom", "name": "Card", "unitPrice": 5}})
	id := o["id"].(string)
	sh := s.ship(id, map[string]any{"items": []any{item(o, 0, 2)}}).OK(201)
	for code, body := range map[string]map[string]any{
		"RETURN_QTY_EXCEEDED":  {"items": []any{item(o, 0, 3)}},
		"ORDER_LINE_NOT_FOUND": {"items": []any{map[string]any{"orderLineId": uuid.NewString(), "qty": 1}}},
		"WAREHOUSE_NOT_FOUND":  {"warehouseId": uuid.NewString()},
		"PAYMENT_NOT_FOUND":    {"refunds": []any{map[string]any{"paymentId": uuid.NewString()}}},
		"VALIDATION_ERROR":     {"items": []any{item(o, 0, 1), item(o, 0, 1)}},
	} {
		f := s.giveBack(id, body)
		require.Equal(t, code, f.Fault(f.Status, code)["code"])
	}
	half := item(o, 0, 1)
	half["amount"] = 1000
	all := item(o, 0, 2)
	all["amount"] = money.MaxAmount // also more than the line
	for _, body := range []map[string]any{{"items": []any{half}}, {"items": []any{all}}, {"deliveryAmount": 101}, {"fee": 1999}, {"fee": 100, "items": []any{}}} {
		if items, ok := body["items"].([]any); ok && len(items) == 0 {
			s.giveBack(id, body).Fault(400, "VALIDATION_ERROR")
			continue
		}
		s.giveBack(id, body).Fault(409, "RETURN_AMOUNT_EXCEEDED")
	}
	half["amount"] = 400
	r := s.giveBack(id, map[string]any{"items": []any{half}, "deliveryAmount": 60}).OK(201)
	require.Equal(t, []any{400.0, 999.0}, []any{line(r, 0)["amount"], line(r, 0)["share"]})
	s.cancel(id, sh["id"]).Fault(409, "ORDER_HAS_RETURNS")
	s.patch(id, `{"discountPercent":5}`).Fault(409, "ORDER_HAS_RETURNS")
	s.patch(id, `{"deliveryCost":5}`).Fault(409, "ORDER_HAS_RETURNS")
	s.patch(id, `{"note":"x"}`).OK(200)
	s.move(id, "cancelled").Fault(409, "ORDER_HAS_SHIPMENTS")
	s.giveBack(id, map[string]any{"deliveryAmount": 41}).Fault(409, "RETURN_AMOUNT_EXCEEDED")
	s.giveBack(id, map[string]any{"deliveryAmount": 40}).OK(201)
	s.move(id, "cancelled").OK(200)
	require.Equal(t, "0/0", s.stock(s.wood))
	s.giveBack(id, nil).Fault(409, "ORDER_CANCELLED")
}

// What was not shipped is dropped, and the rest of the order lives on.
func TestDroppedLines(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	s.receive(s.wood, 10)
	o := s.create("customerId", s.bea, "items", []any{
		map[string]any{"refId": s.wood, "qty": 3}, map[string]any{"refId": s.bolt, "qty": 4}, map[string]any{"kind": "service", "refId": s.fix},
	})
	id := o["id"].(string)
	drop := func(body any) *apitest.Response { return s.Do(t, "POST", "/orders/"+id+"/cancel-unshipped", body) }
	s.move(id, "in_progress").OK(200)
	s.ship(id, map[string]any{"items": []any{item(o, 0, 1)}}).OK(201)
	drop(map[string]any{"items": []any{item(o, 0, 3)}}).Fault(409, "SHIPMENT_QTY_EXCEEDED")
	got := drop(map[string]any{"items": []any{item(o, 0, 1)}}).OK(200)
	require.Equal(t, []any{2.0, 1.0, 1.0, 999.0 * 2}, []any{line(got, 0)["qty"], line(got, 0)["shippedQty"], line(got, 0)["reservedQty"], line(got, 0)["total"]})
	require.Equal(t, "9/1", s.stock(s.wood))
	got = drop(nil).OK(200)
	require.Len(t, got["lines"], 2, "the service stays")
	require.Equal(t, []any{1.0, 0.0, 999.0 + 3000}, []any{line(got, 0)["qty"], line(got, 0)["reservedQty"], got["total"]})
	require.Equal(t, []string{"9/0", "0/0"}, []string{s.stock(s.wood), s.stock(s.bolt)})
	drop(nil).Fault(409, "SHIPMENT_NOTHING_TO_SHIP")
	drop(map[string]any{"items": []any{item(got, 1, 1)}}).OK(200)
	s.move(id, "completed").OK(200)
	require.EqualValues(t, -999, s.balance(s.bea))
	require.Equal(t, "9/0", s.stock(s.wood))
}
