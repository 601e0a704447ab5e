package orders_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
)

func (s *kit) ship(order, body any) *apitest.Response {
	s.t.Helper()
	return s.Do(s.t, "POST", "/orders/"+order.(string)+"/shipments", body)
}

func (s *kit) cancel(order, shipment any) *apitest.Response {
	s.t.Helper()
	return s.Do(s.t, "POST", "/orders/"+order.(string)+"/shipments/"+shipment.(string)+"/cancel", nil)
}

func (s *kit) deliver(order any, next string) *apitest.Response {
	s.t.Helper()
	return s.Do(s.t, "POST", "/orders/"+order.(string)+"/delivery-status/"+next, nil)
}

func (s *kit) read(order any) map[string]any {
	s.t.Helper()
	return s.Do(s.t, "GET", "/orders/"+order.(string), nil).OK(200)
}

func (s *kit) shipments(order any) (all []map[string]any) {
	s.t.Helper()
	s.Do(s.t, "GET", "/orders/"+order.(string)+"/shipments", nil).Decode(&all)
	return all
}

// line returns a line of an order.
func line(o map[string]any, i int) map[string]any { return o["lines"].([]any)[i].(map[string]any) }

func item(o map[string]any, i int, qty float64) map[string]any {
	return map[string]any{"orderLineId": line(o, i)["id"], "qty": qty}
}

// lastEvents returns the events after the first n, with their data.
func (s *kit) lastEvents(n int) (names []string, data []map[string]any) {
	s.t.Helper()
	for _, e := range apitest.Events(s.t, s.d, s.Principal.Company)[n:] {
		var d map[string]any
		require.NoError(s.t, json.Unmarshal(e.Data, &d))
		names, data = append(names, e.Event), append(data, d)
	}
	return names, data
}

func TestLifeOfAShipment(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	s.receive(s.wood, 10)
	o := s.create("items", []any{map[string]any{"refId": s.wood, "qty": 3}, map[string]any{"kind": "custom", "name": "Card", "unitPrice": 5}})
	id := o["id"].(string)
	before := len(s.events())

	shippedAt := time.Now().Add(-24 * time.Hour).UTC().Format(jsontype.Layout)
	sh := s.ship(id, map[string]any{
		"items": []any{item(o, 0, 1)}, "deliveryMethod": "post", "carrier": "Parcel Ltd", "trackingNumber": "T-1", "shippedAt": shippedAt,
		"deliveryCost": 700, "deliveryAddressText": "Street 1", "note": "fragile",
	}).OK(201)
	for field, want := range map[string]any{
		"companyId": s.Principal.Company.String(), "orderId": id, "number": 1.0, "status": "posted", "warehouseId": s.warehouse.String(), "warehouseName": "Depot",
		"deliveryMethod": "post", "carrier": "Parcel Ltd", "trackingNumber": "T-1", "shippedAt": shippedAt, "note": "fragile", "totalQty": 1.0,
		"createdById": s.Principal.Actor.String(), "version": 1.0,
	} {
		require.Equal(t, want, sh[field], field)
	}
	l := line(sh, 0)
	for field, want := range map[string]any{
		"orderLineId": line(o, 0)["id"], "productId": s.wood.String(), "variantId": nil, "sku": "W-1", "name": "Wood", "qty": 1.0,
	} {
		require.Equal(t, want, l[field], field)
	}
	require.Equal(t, "9/2", s.stock(s.wood))
	got := s.read(id)
	for field, want := range map[string]any{
		"status": "new", "deliveryStatus": "shipped", "deliveryMethod": "post", "deliveryCost": 700.0, "deliveryAddressText": "Street 1", "version": 2.0,
		"amountDue": 2997.0 + 5 + 700,
	} {
		require.Equal(t, want, got[field], field)
	}
	require.Equal(t, []any{1.0, 2.0}, []any{line(got, 0)["shippedQty"], line(got, 0)["reservedQty"]})

	names, data := s.lastEvents(before)
	require.Equal(t, []string{"stock.movement.created", "order.shipped"}, names)
	require.Equal(t, sh, data[1]["shipment"])
	delete(data[1], "shipment")
	require.Equal(t, got, data[1])
	for field, want := range map[string]any{"type": "shipment", "delta": -1.0, "documentType": "shipment", "documentId": sh["id"], "documentNumber": 1.0} {
		require.Equal(t, want, data[0][field], field)
	}

	rest := s.ship(id, nil).OK(201)
	require.Equal(t, []any{2.0, 3.0, "post", nil}, []any{rest["number"], rest["totalQty"], rest["deliveryMethod"], rest["carrier"]})
	require.Nil(t, line(rest, 1)["productId"], "something custom is shipped, too")
	require.Equal(t, "7/0", s.stock(s.wood))
	s.ship(id, nil).Fault(409, "SHIPMENT_NOTHING_TO_SHIP")
	s.move(id, "cancelled").Fault(409, "ORDER_HAS_SHIPMENTS")
	s.patch(id, s.body()).Fault(409, "ORDER_HAS_SHIPMENTS")
	require.Equal(t, []map[string]any{sh, rest}, s.shipments(id))
	require.Equal(t, sh, s.Do(t, "GET", "/orders/"+id+"/shipments/"+sh["id"].(string), nil).OK(200))

	before = len(s.events())
	gone := s.cancel(id, sh["id"]).OK(200)
	require.Equal(t, []any{"cancelled", 2.0}, []any{gone["status"], gone["version"]})
	require.Equal(t, "8/1", s.stock(s.wood))
	got = s.read(id)
	require.Equal(t, []any{2.0, 1.0, "shipped"}, []any{line(got, 0)["shippedQty"], line(got, 0)["reservedQty"], got["deliveryStatus"]})
	names, data = s.lastEvents(before)
	require.Equal(t, []string{"stock.movement.created", "order.updated"}, names)
	require.Equal(t, []any{"lines"}, data[1]["changedFields"])
	require.Equal(t, []any{"shipment_cancel", 1.0}, []any{data[0]["type"], data[0]["delta"]})
	s.cancel(id, sh["id"]).Fault(409, "SHIPMENT_ALREADY_CANCELLED")
	s.cancel(id, rest["id"]).OK(200)
	require.Equal(t, "10/3", s.stock(s.wood))
	require.Equal(t, "pending", s.read(id)["deliveryStatus"], "with a method but nothing shipped the delivery starts again")
	s.move(id, "cancelled").OK(200)
	require.Equal(t, "10/0", s.stock(s.wood))
	s.ship(id, nil).Fault(409, "ORDER_CANCELLED")
	s.deliver(id, "packing").Fault(409, "ORDER_CANCELLED")

	var history []map[string]any
	s.Do(t, "GET", "/orders/"+id+"/history", nil).Decode(&history)
	var fields []string
	for _, h := range history {
		fields = append(fields, fmt.Sprint(h["field"], " ", h["from"], " ", h["to"]))
	}
	require.Equal(t, []string{
		"amountDue 3002 3702", "deliveryAddressText <nil> Street 1", "deliveryCost 0 700", "deliveryMethod <nil> post", "deliveryStatus <nil> shipped", "shippedQty 0 1",
		"shippedQty 1 4", "shippedQty 4 3", "deliveryStatus shipped pending", "shippedQty 3 0", "status new cancelled",
	}, fields)
}

func TestRefusedShipments(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	o := s.create("items", []any{map[string]any{"refId": s.wood, "qty": 3}, map[string]any{"kind": "service", "refId": s.fix}})
	id := o["id"].(string)
	for name, row := range map[string]struct {
		body   any
		status int
		code   string
		fields map[string]string
	}{
		"no items":          {map[string]any{"items": []any{}}, 400, "VALIDATION_ERROR", map[string]string{"items": "MIN"}},
		"no quantity":       {map[string]any{"items": []any{map[string]any{"orderLineId": line(o, 0)["id"]}}}, 400, "VALIDATION_ERROR", map[string]string{"items[0].qty": "REQUIRED"}},
		"quantity 0":        {map[string]any{"items": []any{item(o, 0, 0)}}, 400, "VALIDATION_ERROR", map[string]string{"items[0].qty": "MIN"}},
		"a line twice":      {map[string]any{"items": []any{item(o, 0, 1), item(o, 0, 1)}}, 400, "VALIDATION_ERROR", map[string]string{"items[1].orderLineId": "CONFLICT"}},
		"a service":         {map[string]any{"items": []any{item(o, 1, 1)}}, 400, "VALIDATION_ERROR", map[string]string{"items[0].orderLineId": "CONFLICT"}},
		"unknown line":      {map[string]any{"items": []any{map[string]any{"orderLineId": uuid.New(), "qty": 1}}}, 404, "ORDER_LINE_NOT_FOUND", nil},
		"unknown warehouse": {map[string]any{"warehouseId": uuid.New()}, 404, "WAREHOUSE_NOT_FOUND", nil},
		"unknown method":    {map[string]any{"deliveryMethod": "drone"}, 400, "VALIDATION_ERROR", map[string]string{"deliveryMethod": "ENUM"}},
		"negative cost":     {map[string]any{"deliveryCost": -1}, 400, "VALIDATION_ERROR", map[string]string{"deliveryCost": "MIN"}},
		"too much":          {map[string]any{"items": []any{item(o, 0, 3.001)}}, 409, "SHIPMENT_QTY_EXCEEDED", nil},
	} {
		res := s.ship(id, row.body)
		fault := res.Fault(row.status, row.code)
		if row.fields != nil {
			require.Equal(t, row.fields, res.Fields(), name)
		}
		if row.code == "SHIPMENT_QTY_EXCEEDED" {
			require.Equal(t, map[string]any{"lines": []any{map[string]any{"orderLineId": line(o, 0)["id"], "name": "Wood", "qty": 3.001, "left": 3.0}}}, fault["meta"])
		}
	}
	require.Equal(t, "0/3", s.stock(s.wood))
	require.Empty(t, s.shipments(id))
	s.ship(uuid.NewString(), nil).Fault(404, "ORDER_NOT_FOUND")
	s.Do(t, "GET", "/orders/"+uuid.NewString()+"/shipments", nil).Fault(404, "ORDER_NOT_FOUND")
	s.Do(t, "POST", "/orders/"+id+"/shipments", nil, apitest.Header{"If-Match", `"7"`}).Fault(412, "PRECONDITION_FAILED")

	sh := s.ship(id, nil).OK(201)
	require.Equal(t, 3.0, sh["totalQty"], "the service is left out")
	require.Equal(t, 1.0, sh["number"], "refused shipments take no number")
	other := s.create()["id"]
	s.cancel(other, sh["id"]).Fault(404, "SHIPMENT_NOT_FOUND")
	s.cancel(id, uuid.NewString()).Fault(404, "SHIPMENT_NOT_FOUND")
	s.Do(t, "GET", "/orders/"+other.(string)+"/shipments/"+sh["id"].(string), nil).Fault(404, "SHIPMENT_NOT_FOUND")
	s.Do(t, "POST", "/orders/"+id+"/shipments/"+sh["id"].(string)+"/cancel", nil, apitest.Header{"If-Match", `"2"`}).Fault(412, "PRECONDITION_FAILED")
	foreign := s.server.Company()
	foreign.Do(t, "POST", "/orders/"+id+"/shipments", nil).Fault(404, "ORDER_NOT_FOUND")
	foreign.Do(t, "GET", "/orders/"+id+"/shipments", nil).Fault(404, "ORDER_NOT_FOUND")
	foreign.Do(t, "POST", "/orders/"+id+"/delivery-status/delivered", nil).Fault(404, "ORDER_NOT_FOUND")
	s.Do(t, "POST", "/orders/"+id+"/shipments/"+sh["id"].(string)+"/cancel", nil, apitest.Header{"If-Match", `"1"`}).OK(200)
	paid := s.create("prepaidAmount", 2997, "deliveryCost", 0)["id"]
	s.ship(paid, map[string]any{"deliveryCost": 100}).OK(201)
	require.Equal(t, "partial", s.read(paid)["paymentStatus"], "the delivery has to be paid, too")
	costly := s.create("prepaidAmount", 3097, "deliveryCost", 100)["id"]
	s.ship(costly, map[string]any{"deliveryCost": 0}).Fault(409, "ORDER_OVERPAID")
}

// A bundle takes its components with each part that is shipped, and completion takes only what is left.
func TestBundlesAreShippedInParts(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	o := s.create("items", []any{map[string]any{"refId": s.kit, "qty": 3}}) // 7.5 wood and 12 bolts
	id := o["id"].(string)
	require.Equal(t, "0/7.5", s.stock(s.wood))
	first := s.ship(id, map[string]any{"items": []any{item(o, 0, 1)}}).OK(201)
	require.Equal(t, []string{"-2.5/5", "-4/8"}, []string{s.stock(s.wood), s.stock(s.bolt)})
	s.ship(id, map[string]any{"items": []any{item(o, 0, 0.333)}}).OK(201)
	require.Equal(t, []string{"-3.333/4.167", "-5.332/6.668"}, []string{s.stock(s.wood), s.stock(s.bolt)})
	s.cancel(id, first["id"]).OK(200)
	require.Equal(t, []string{"-0.833/6.667", "-1.332/10.668"}, []string{s.stock(s.wood), s.stock(s.bolt)})
	s.move(id, "in_progress").OK(200)
	before := len(s.events())
	s.move(id, "completed").OK(200)
	require.Equal(t, []string{"-7.5/0", "-12/0"}, []string{s.stock(s.wood), s.stock(s.bolt)})
	names, data := s.lastEvents(before)
	require.Equal(t, []string{"stock.movement.created", "stock.movement.created", "order.status_changed"}, names)
	require.ElementsMatch(t, []any{-6.667, -10.668}, []any{data[0]["delta"], data[1]["delta"]})
	s.ship(id, nil).Fault(409, "SHIPMENT_NOTHING_TO_SHIP")
}

func TestShipmentsOfCompletedOrders(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	o := s.create()
	id := o["id"].(string)
	sh := s.ship(id, map[string]any{"items": []any{item(o, 0, 2)}}).OK(201)
	s.move(id, "in_progress").OK(200)
	s.move(id, "completed").OK(200)
	require.Equal(t, "-3/0", s.stock(s.wood))
	s.cancel(id, sh["id"]).OK(200)
	require.Equal(t, "-1/0", s.stock(s.wood), "a completed order reserves nothing")
	got := s.read(id)
	require.Equal(t, []any{nil, 0.0, 0.0}, []any{got["deliveryStatus"], line(got, 0)["shippedQty"], line(got, 0)["reservedQty"]})
}

func TestShipmentsFromAnotherWarehouse(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	o := s.create()
	id := o["id"].(string)
	depot, side := s.warehouse, s.secondWarehouse()
	sh := s.ship(id, map[string]any{"warehouseId": side, "items": []any{item(o, 0, 1)}}).OK(201)
	require.Equal(t, []any{side.String(), "Side"}, []any{sh["warehouseId"], sh["warehouseName"]})
	require.Equal(t, "0/2", s.stock(s.wood))
	s.warehouse = side
	require.Equal(t, "-1/0", s.stock(s.wood))
	s.patch(id, map[string]any{"warehouseId": side}).OK(200)
	require.Equal(t, "-1/2", s.stock(s.wood), "what is left is reserved where the order takes its stock")
	s.cancel(id, sh["id"]).OK(200)
	require.Equal(t, "0/3", s.stock(s.wood))
	s.warehouse = depot
	require.Equal(t, "0/0", s.stock(s.wood))
}

// secondWarehouse makes another warehouse of the company.
func (s *kit) secondWarehouse() (id uuid.UUID) {
	s.t.Helper()
	id = record.NewID()
	_, err := s.d.Exec(context.Background(), sqlInsertWarehouse, s.Principal.Company, id, uuid.New())
	require.NoError(s.t, err)
	return id
}

const sqlInsertWarehouse = `INSERT INTO warehouses (company_id, id, name, is_default, branch_id, search_text, version, ev_pos, created_at, updated_at)
VALUES ($1, $2, 'Side', false, $3, 'side', 1, 1, now(), now())`

func TestDeliveryStatuses(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	allowed := map[string][]string{
		"": {"pending"}, "pending": {"packing", "shipped"}, "packing": {"pending", "shipped"}, "shipped": {"delivered", "returned"}, "delivered": {"returned"}, "returned": {},
	}
	ways := map[string][]string{
		"": nil, "pending": {"pending"}, "packing": {"pending", "packing"}, "shipped": {"pending", "shipped"},
		"delivered": {"pending", "shipped", "delivered"}, "returned": {"pending", "shipped", "returned"},
	}
	for from, way := range ways {
		for to := range allowed {
			if to == "" {
				continue
			}
			id := s.create()["id"]
			for _, next := range way {
				s.deliver(id, next).OK(200)
			}
			before := len(s.events())
			ok := false
			for _, next := range allowed[from] {
				ok = ok || next == to
			}
			if ok {
				got := s.deliver(id, to).OK(200)
				require.Equal(t, to, got["deliveryStatus"])
				names, data := s.lastEvents(before)
				require.Equal(t, []string{"order.updated"}, names)
				require.Equal(t, []any{"deliveryStatus"}, data[0]["changedFields"])
				continue
			}
			want := map[string]any{"from": any(from), "to": to, "allowed": []any{}}
			if from == "" {
				want["from"] = nil
			}
			for _, next := range allowed[from] {
				want["allowed"] = append(want["allowed"].([]any), next)
			}
			require.Equal(t, want, s.deliver(id, to).Fault(409, "ORDER_DELIVERY_TRANSITION_INVALID")["meta"], "%s to %s", from, to)
			require.Len(t, s.events(), before)
		}
	}
	id := s.create()["id"]
	s.deliver(id, "lost").Fault(400, "VALIDATION_ERROR")
	require.Equal(t, "pending", s.patch(id, `{"deliveryMethod":"courier"}`).OK(200)["deliveryStatus"])
	s.deliver(id, "packing").OK(200)
	require.Nil(t, s.patch(id, `{"deliveryMethod":null}`).OK(200)["deliveryStatus"])
	s.patch(id, `{"deliveryMethod":"post"}`).OK(200)
	s.deliver(id, "shipped").OK(200)
	s.patch(id, `{"deliveryMethod":null}`).Fault(409, "ORDER_DELIVERY_TRANSITION_INVALID")
	s.Do(t, "POST", "/orders/"+id.(string)+"/delivery-status/delivered", nil, apitest.Header{"If-Match", `"1"`}).Fault(412, "PRECONDITION_FAILED")
}

func TestReturnedDeliveries(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	o := s.create("items", []any{map[string]any{"refId": s.wood, "qty": 5}})
	id := o["id"].(string)
	gone := s.ship(id, map[string]any{"items": []any{item(o, 0, 1)}}).OK(201)
	s.cancel(id, gone["id"]).OK(200)
	side := s.secondWarehouse()
	sh := s.ship(id, map[string]any{"items": []any{item(o, 0, 2)}}).OK(201)
	s.ship(id, map[string]any{"items": []any{item(o, 0, 1)}, "warehouseId": side}).OK(201)
	require.Equal(t, "-2/2", s.stock(s.wood))
	s.deliver(id, "delivered").OK(200)
	s.ship(id, nil).Fault(409, "ORDER_DELIVERY_TRANSITION_INVALID")
	before := len(s.events())
	s.deliver(id, "returned").OK(200)
	require.Equal(t, "0/2", s.stock(s.wood))
	depot := s.warehouse
	s.warehouse = side
	require.Equal(t, "0/0", s.stock(s.wood), "all goes back to where it came from")
	s.warehouse = depot
	names, data := s.lastEvents(before)
	require.Equal(t, []string{"stock.movement.created", "stock.movement.created", "order.updated"}, names)
	require.Equal(t, []any{"order_return", "order", id}, []any{data[0]["type"], data[0]["documentType"], data[0]["documentId"]})
	s.cancel(id, sh["id"]).Fault(409, "ORDER_DELIVERY_TRANSITION_INVALID")
	s.ship(id, nil).Fault(409, "ORDER_DELIVERY_TRANSITION_INVALID")
	s.deliver(id, "returned").Fault(409, "ORDER_DELIVERY_TRANSITION_INVALID")
	s.move(id, "in_progress").OK(200)
	s.move(id, "completed").OK(200)
	require.Equal(t, "-2/0", s.stock(s.wood), "completion takes what was not shipped")
}

func TestShipmentsOfOldOrdersWithoutAWarehouse(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	id := s.oldOrder()
	o := s.read(id)
	s.ship(id, map[string]any{"items": []any{item(o, 0, 1)}}).OK(201)
	require.Equal(t, "-1/2", s.stock(s.wood))
	require.Equal(t, s.warehouse.String(), s.read(id)["warehouseId"])
}

// Many ship the same order at once: each unit leaves once, the numbers have no gaps, and nobody is refused with a 503.
func TestShippingOneOrderAtOnce(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	const units = 6
	o := s.create("items", []any{map[string]any{"refId": s.wood, "qty": units}})
	body := map[string]any{"items": []any{item(o, 0, 1)}}
	statuses := make([]int, 3*units)
	var wg sync.WaitGroup
	for i := range statuses {
		wg.Go(func() { statuses[i] = s.ship(o["id"], body).Status })
	}
	wg.Wait()
	count := map[int]int{}
	for _, st := range statuses {
		count[st]++
	}
	require.Equal(t, map[int]int{http.StatusCreated: units, http.StatusConflict: 2 * units}, count)
	require.Equal(t, "-6/0", s.stock(s.wood))
	all := s.shipments(o["id"])
	require.Len(t, all, units)
	for i, sh := range all {
		require.EqualValues(t, i+1, sh["number"])
	}
	for i := range statuses {
		wg.Go(func() { statuses[i] = s.cancel(o["id"], all[i%units]["id"]).Status })
	}
	wg.Wait()
	clear(count)
	for _, st := range statuses {
		count[st]++
	}
	require.Equal(t, map[int]int{http.StatusOK: units, http.StatusConflict: 2 * units}, count)
	require.Equal(t, "0/6", s.stock(s.wood))
}

// Orders of one company are shipped at once: they share the counter and the stock.
func TestShippingManyOrdersAtOnce(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	const orders = 24
	ids := make([]any, orders)
	for i := range ids {
		ids[i] = s.create("items", []any{map[string]any{"refId": s.kit}})["id"]
	}
	numbers := make([]float64, orders)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() { numbers[i] = s.ship(ids[i], nil).OK(201)["number"].(float64) })
	}
	wg.Wait()
	want := make([]float64, orders)
	for i := range want {
		want[i] = float64(i + 1)
	}
	require.ElementsMatch(t, want, numbers)
	require.Equal(t, "-60/0", s.stock(s.wood))
}

func TestAShipmentIsRepeatedByItsKey(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	o := s.create()
	key := apitest.Header{"X-Idempotency-Key", uuid.NewString()}
	path := "/orders/" + o["id"].(string) + "/shipments"
	body := map[string]any{"items": []any{item(o, 0, 1)}}
	first := s.Do(t, "POST", path, body, key).OK(201)
	require.Equal(t, first, s.Do(t, "POST", path, body, key).OK(201))
	require.Equal(t, "-1/2", s.stock(s.wood))
	require.Equal(t, []string{"order.created", "stock.movement.created", "order.shipped"}, s.events())
}

// A company that does not allow negative stock ships only what is there, wherever that is.
func TestShipmentsUnderTheStockPolicy(t *testing.T) {
	t.Parallel()
	s := open(t, nil, func(p *access.Principal) { p.Settings.StockPolicy = access.StockBlock })
	s.receive(s.wood, 5)
	o := s.create()
	id := o["id"].(string)
	side := s.secondWarehouse()
	meta := s.ship(id, map[string]any{"warehouseId": side}).Fault(409, "STOCK_INSUFFICIENT")["meta"].(map[string]any)
	require.Equal(t, side.String(), meta["lines"].([]any)[0].(map[string]any)["warehouseId"])
	s.patch(id, map[string]any{"warehouseId": side}).Fault(409, "STOCK_INSUFFICIENT")
	require.Equal(t, "5/3", s.stock(s.wood))
	sh := s.ship(id, nil).OK(201)
	require.Equal(t, 1.0, sh["number"], "a refused shipment takes no number")
	require.Equal(t, "2/0", s.stock(s.wood))
	s.cancel(id, sh["id"]).OK(200)
	require.Equal(t, "5/3", s.stock(s.wood))
	s.move(id, "in_progress").OK(200)
	s.move(id, "completed").OK(200)
	require.Equal(t, "2/0", s.stock(s.wood))
}
