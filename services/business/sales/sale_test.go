package sales_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/services/business/clients"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

func TestSale(t *testing.T) {
	t.Parallel()
	f := open(t)
	shift := f.shift()
	made := f.post(shift, "items", []any{
		map[string]any{"refId": f.wood, "qty": 1.5, "modifiers": []any{map[string]any{"optionId": f.gift}}},
		map[string]any{"kind": "service", "refId": f.fix, "name": "Big repair", "unitPrice": 2001},
	}, "discountPercent", 12.5, "paymentMethodExt", "coupon", "receivedAmount", 5000, "customerName", " Ann ", "customerPhone", "+49 1", "channel", "qr_menu")
	v := made.OK(201)
	id := v["id"].(string)
	require.Equal(t, "/api/external/v1/sales/"+id, made.Header.Get("Location"))
	require.Equal(t, `"1"`, made.Header.Get("ETag"))
	// 1.5 × (999 + 150) = 1723.5 → 1724, and 2001: 3725; 12.5 % of it is 465.625 → 466.
	for field, want := range map[string]any{
		"companyId": f.Principal.Company.String(), "shiftId": shift, "number": 1.0, "kind": "sale", "subtotal": 3725.0, "discountPercent": 12.5,
		"discountAmount": 466.0, "total": 3259.0, "redeemedPoints": 0.0, "earnedPoints": 0.0, "paymentMethod": "cash", "paymentMethodExt": "coupon",
		"receivedAmount": 5000.0, "changeAmount": 1741.0, "cashierId": f.Principal.Actor.String(), "cashierName": nil,
		"createdById": f.Principal.Actor.String(), "refundOfSaleId": nil, "refundedBySaleId": nil, "refundStatus": "none", "refundedTotal": 0.0, "reason": nil,
		"customerId": nil, "customerName": "Ann", "customerPhone": "+49 1", "channel": "qr_menu", "warehouseId": f.depot.String(), "version": 1.0,
	} {
		require.Contains(t, v, field)
		require.Equal(t, want, v[field], field)
	}
	lines := v["lines"].([]any)
	require.Len(t, lines, 2)
	first := lines[0].(map[string]any)
	require.Equal(t, map[string]any{
		"id": first["id"], "kind": "product", "refId": f.wood.String(), "variantId": nil, "sku": "W-1", "name": "Wood", "unit": "m", "qty": 1.5,
		"unitPrice": 1149.0, "amount": 1724.0, "discountAmount": 216.0, "total": 1508.0, "sortOrder": 0.0,
		"discountPercent": 0.0, "fixedDiscount": 0.0, "taxRateId": nil, "taxRate": nil, "taxAmount": 0.0,
		"refundedQty": 0.0, "refundOfLineId": nil,
		"modifiers": []any{map[string]any{"optionId": f.gift.String(), "name": "Gift wrap", "surcharge": 150.0, "qty": 1.0}},
	}, first)
	require.Equal(t, "Big repair", lines[1].(map[string]any)["name"])
	payments := v["payments"].([]any)
	paid := payments[0].(map[string]any)
	require.Equal(t, []any{map[string]any{"id": paid["id"], "paymentMethod": "cash", "paymentMethodExt": "coupon", "amount": 3259.0, "refundedAmount": 0.0, "createdAt": v["createdAt"]}}, payments)

	require.Equal(t, v, f.Do(t, "GET", "/sales/"+id, nil).OK(200))
	require.Equal(t, "-1.5", f.stock(f.depot, f.wood, uuid.Nil))
	names := []string{}
	for _, e := range f.events() {
		names = append(names, e.Name)
		switch e.Name {
		case "sale.completed":
			require.Equal(t, v, e.Data)
		case "stock.movement.created":
			require.Equal(t, "sale", e.Data["type"])
			require.Equal(t, "sale", e.Data["documentType"])
			require.Equal(t, id, e.Data["documentId"])
			require.Equal(t, 1.0, e.Data["documentNumber"])
			require.Equal(t, -1.5, e.Data["delta"])
		}
	}
	require.ElementsMatch(t, []string{"shift.opened", "stock.movement.created", "sale.completed"}, names)
	f.server.Company().Do(t, "GET", "/sales/"+id, nil).Fault(404, "SALE_NOT_FOUND")
}

func TestDefaultsOfASale(t *testing.T) {
	t.Parallel()
	f := open(t)
	v := f.sale(f.shift())
	for field, want := range map[string]any{
		"channel": "pos", "customerName": nil, "customerPhone": nil, "paymentMethodExt": nil, "receivedAmount": nil, "changeAmount": nil,
		"warehouseId": nil, "discountPercent": 0.0, "discountAmount": 0.0, "total": 1000.0,
	} {
		require.Equal(t, want, v[field], field)
	}
	ann := f.client(0)
	v = f.sale(v["shiftId"].(string), "customerId", ann)
	require.Equal(t, "Ann Lee", v["customerName"])
	require.Equal(t, "+49 151 234", v["customerPhone"])
	v = f.sale(v["shiftId"].(string), "customerId", ann, "customerName", "Somebody")
	require.Equal(t, "Somebody", v["customerName"])
	require.Equal(t, 3.0, v["number"])
	f.noGaps()
}

func pay(method string, amount int64) map[string]any {
	return map[string]any{"paymentMethod": method, "amount": amount}
}

// The sale of these rows has a total of 1000.
func TestPayments(t *testing.T) {
	t.Parallel()
	f := open(t)
	shift := f.shift()
	type row struct {
		name  string
		body  []any
		fault map[string]string
		want  string // payments, received, change
	}
	for _, r := range []row{
		{"cash without payments", []any{"paymentMethod", "cash"}, nil, "cash 1000; <nil> <nil>"},
		{"card without payments", []any{"paymentMethod", "card"}, nil, "card 1000; <nil> <nil>"},
		{"sbp with its payment", []any{"paymentMethod", "sbp", "payments", []any{pay("sbp", 1000)}}, nil, "sbp 1000; <nil> <nil>"},
		{"method is another name", []any{"paymentMethod", "card", "payments", []any{map[string]any{"method": "card", "amount": 1000}}}, nil, "card 1000; <nil> <nil>"},
		{"both names", []any{"paymentMethod", "card", "payments", []any{map[string]any{"method": "card", "paymentMethod": "card", "amount": 1000}}}, nil, "card 1000; <nil> <nil>"},
		{"mixed", []any{"paymentMethod", "mixed", "payments", []any{pay("cash", 300), pay("card", 500), pay("sbp", 200)}}, nil, "cash 300, card 500, sbp 200; <nil> <nil>"},
		{"mixed of one method", []any{"paymentMethod", "mixed", "payments", []any{pay("card", 300), pay("card", 700)}}, nil, "card 300, card 700; <nil> <nil>"},
		{"change of cash", []any{"receivedAmount", 1500}, nil, "cash 1000; 1500 500"},
		{"exact cash", []any{"receivedAmount", 1000}, nil, "cash 1000; 1000 0"},
		{"change of the cash part", []any{"paymentMethod", "mixed", "payments", []any{pay("cash", 300), pay("card", 700)}, "receivedAmount", 500}, nil, "cash 300, card 700; 500 200"},
		{"received without a cash part", []any{"paymentMethod", "card", "receivedAmount", 5}, nil, "card 1000; <nil> <nil>"},
		{"nothing to pay", []any{"discountPercent", 100, "receivedAmount", 5}, nil, "; <nil> <nil>"},
		{"nothing to pay, mixed", []any{"discountPercent", 100, "paymentMethod", "mixed"}, nil, "; <nil> <nil>"},

		{"no method", []any{"paymentMethod", nil}, map[string]string{"paymentMethod": "TYPE"}, ""},
		{"unknown method", []any{"paymentMethod", "gold"}, map[string]string{"paymentMethod": "ENUM"}, ""},
		{"mixed without payments", []any{"paymentMethod", "mixed"}, map[string]string{"payments": "MIN"}, ""},
		{"mixed with one payment", []any{"paymentMethod", "mixed", "payments", []any{pay("cash", 1000)}}, map[string]string{"payments": "MIN"}, ""},
		{"mixed below the total", []any{"paymentMethod", "mixed", "payments", []any{pay("cash", 300), pay("card", 699)}}, map[string]string{"payments": "CONFLICT"}, ""},
		{"mixed above the total", []any{"paymentMethod", "mixed", "payments", []any{pay("cash", 300), pay("card", 701)}}, map[string]string{"payments": "CONFLICT"}, ""},
		{"mixed in a payment", []any{"paymentMethod", "mixed", "payments", []any{pay("mixed", 300), pay("card", 700)}}, map[string]string{"payments[0].paymentMethod": "ENUM"}, ""},
		{"one method, another payment", []any{"payments", []any{pay("card", 1000)}}, map[string]string{"payments[0].paymentMethod": "CONFLICT"}, ""},
		{"one method, wrong amount", []any{"payments", []any{pay("cash", 999)}}, map[string]string{"payments": "CONFLICT"}, ""},
		{"one method, two payments", []any{"payments", []any{pay("cash", 500), pay("cash", 500)}}, map[string]string{"payments": "MAX"}, ""},
		{"payment of 0", []any{"payments", []any{pay("cash", 0)}}, map[string]string{"payments[0].amount": "MIN"}, ""},
		{"payment without an amount", []any{"payments", []any{map[string]any{"paymentMethod": "cash"}}}, map[string]string{"payments[0].amount": "REQUIRED"}, ""},
		{"payment without a method", []any{"payments", []any{map[string]any{"amount": 1000}}}, map[string]string{"payments[0].paymentMethod": "REQUIRED"}, ""},
		{"two names, two methods", []any{"payments", []any{map[string]any{"method": "card", "paymentMethod": "cash", "amount": 1000}}}, map[string]string{"payments[0].paymentMethod": "CONFLICT"}, ""},
		{"nothing to pay, paid", []any{"discountPercent", 100, "payments", []any{pay("cash", 1)}}, map[string]string{"payments": "CONFLICT"}, ""},
		{"too little cash", []any{"receivedAmount", 999}, map[string]string{"receivedAmount": "MIN"}, ""},
		{"too little for the cash part", []any{"paymentMethod", "mixed", "payments", []any{pay("cash", 300), pay("card", 700)}, "receivedAmount", 299}, map[string]string{"receivedAmount": "MIN"}, ""},
		{"two faults", []any{"paymentMethod", "mixed", "payments", []any{pay("cash", 300), pay("card", 701)}, "receivedAmount", 299}, map[string]string{"payments": "CONFLICT", "receivedAmount": "MIN"}, ""},
	} {
		got := f.post(shift, r.body...)
		if r.fault != nil {
			require.Equal(t, r.fault, got.Fields(), r.name)
			continue
		}
		v := got.OK(201)
		var all []string
		for _, p := range v["payments"].([]any) {
			p := p.(map[string]any)
			all = append(all, text(p["paymentMethod"])+" "+text(p["amount"]))
		}
		require.Equal(t, r.want, strings.Join(all, ", ")+"; "+text(v["receivedAmount"])+" "+text(v["changeAmount"]), r.name)
	}
	f.noGaps()
}

func TestBadSales(t *testing.T) {
	t.Parallel()
	f := open(t)
	shift := f.shift()
	many := make([]any, 501)
	for i := range many {
		many[i] = custom(1)
	}
	for _, row := range []struct {
		body []any
		want map[string]string
	}{
		{[]any{"shiftId", "x"}, map[string]string{"shiftId": "FORMAT"}},
		{[]any{"items", []any{}}, map[string]string{"items": "MIN"}},
		{[]any{"items", many}, map[string]string{"items": "MAX"}},
		{[]any{"items", nil}, map[string]string{"items": "TYPE"}},
		{[]any{"items", []any{map[string]any{"kind": "custom"}}}, map[string]string{"items[0].name": "REQUIRED", "items[0].unitPrice": "REQUIRED"}},
		{[]any{"items", []any{map[string]any{"qty": 0}}}, map[string]string{"items[0].qty": "MIN"}},
		{[]any{"items", []any{map[string]any{}}}, map[string]string{"items[0].refId": "REQUIRED"}},
		{[]any{"discountPercent", 100.01}, map[string]string{"discountPercent": "MAX"}},
		{[]any{"discountPercent", -1}, map[string]string{"discountPercent": "MIN"}},
		{[]any{"redeemPoints", -1}, map[string]string{"redeemPoints": "MIN"}},
		{[]any{"redeemPoints", 1.5}, map[string]string{"redeemPoints": "STEP"}},
		{[]any{"redeemPoints", 1}, map[string]string{"customerId": "REQUIRED"}},
		{[]any{"receivedAmount", -1}, map[string]string{"receivedAmount": "MIN"}},
		{[]any{"customerName", strings.Repeat("x", 256)}, map[string]string{"customerName": "LENGTH"}},
		{[]any{"customerPhone", strings.Repeat("1", 33)}, map[string]string{"customerPhone": "LENGTH"}},
		{[]any{"channel", strings.Repeat("x", 65)}, map[string]string{"channel": "LENGTH"}},
		{[]any{"redeemPoints", 1, "items", []any{map[string]any{}}, "payments", []any{pay("card", 1)}}, map[string]string{"customerId": "REQUIRED", "items[0].refId": "REQUIRED", "payments[0].paymentMethod": "CONFLICT"}},
		{[]any{"items", []any{map[string]any{"refId": f.nail, "modifiers": []any{map[string]any{"optionId": uuid.New()}}}}}, map[string]string{"items[0].modifiers[0].optionId": "ENUM"}},
	} {
		require.Equal(t, row.want, f.post(shift, row.body...).Fields(), "%v", row.want)
	}
	f.post(shift, "items", []any{custom(9007199254740991, 2)}).Fault(400, "VALIDATION_ERROR")
	for _, row := range []struct {
		body        []any
		code, field string
	}{
		{[]any{"shiftId", uuid.New()}, "SHIFT_NOT_FOUND", "shiftId"},
		{[]any{"customerId", uuid.New()}, "CLIENT_NOT_FOUND", "customerId"},
		{[]any{"items", []any{map[string]any{"refId": uuid.New()}}}, "PRODUCT_NOT_FOUND", "items[0].refId"},
		{[]any{"items", []any{map[string]any{"kind": "service", "refId": uuid.New()}}}, "SERVICE_NOT_FOUND", "items[0].refId"},
		{[]any{"items", []any{map[string]any{"refId": f.shirt, "variantId": uuid.New()}}}, "PRODUCT_VARIANT_NOT_FOUND", "items[0].variantId"},
	} {
		got := f.post(shift, row.body...).Fault(404, row.code)
		require.Equal(t, row.field, got["meta"].(map[string]any)["field"])
	}
	f.post(shift, "items", []any{map[string]any{"refId": f.shirt}}).Fault(409, "PRODUCT_VARIANT_REQUIRED")
	require.Empty(t, f.Do(t, "GET", "/sales", nil).OK(200)["items"])
	require.Equal(t, 0.0, f.readShift(shift)["salesCount"])
	require.Len(t, f.events(), 1)
	f.noGaps()
}

func TestHiddenItemsAndAnyQuantityCanBeSold(t *testing.T) {
	t.Parallel()
	f := open(t)
	v := f.sale(f.shift(), "items", []any{map[string]any{"refId": f.old}, map[string]any{"refId": f.wood, "qty": 0.001}})
	require.Equal(t, 101.0, v["subtotal"])
}

func TestStateOfASale(t *testing.T) {
	t.Parallel()
	f := open(t)
	shift, client := f.shift(), f.client(0)
	f.Do(t, "POST", "/clients/"+client+"/archive", nil).OK(200)
	got := f.post(shift, "customerId", client).Fault(409, "CLIENT_ARCHIVED")
	require.Equal(t, "customerId", got["meta"].(map[string]any)["field"])
	f.Do(t, "POST", "/shifts/"+shift+"/close", nil).OK(200)
	got = f.post(shift).Fault(409, "SHIFT_CLOSED")
	require.Equal(t, "shiftId", got["meta"].(map[string]any)["field"])
	f.noGaps()
}

func TestStockOfASale(t *testing.T) {
	t.Parallel()
	f := open(t)
	shift := f.shift("branchId", f.n.branch)
	v := f.sale(shift, "items", []any{
		map[string]any{"refId": f.kit, "qty": 2}, map[string]any{"refId": f.wood, "qty": 1}, map[string]any{"refId": f.shirt, "variantId": f.large, "qty": 3},
	})
	require.Equal(t, f.north.String(), v["warehouseId"], "of the branch of the shift")
	require.Equal(t, "-6", f.stock(f.north, f.wood, uuid.Nil), "two bundles and one")
	require.Equal(t, "-2", f.stock(f.north, f.nail, uuid.Nil))
	require.Equal(t, "-3", f.stock(f.north, f.shirt, f.large))
	require.Equal(t, "0", f.stock(f.depot, f.wood, uuid.Nil))
	require.Len(t, f.events().Of("stock.movement.created"), 3, "one per product")

	back := f.refund(v["id"]).OK(200)
	require.Equal(t, f.north.String(), back["warehouseId"])
	require.Equal(t, "0", f.stock(f.north, f.wood, uuid.Nil))
	require.Equal(t, "0", f.stock(f.north, f.shirt, f.large))
	moves := f.events().Of("stock.movement.created")
	require.Len(t, moves, 6)
	require.Equal(t, "refund", moves[5].Data["type"])
	require.Equal(t, back["id"], moves[5].Data["documentId"])
}

func TestSaleBeyondTheStock(t *testing.T) {
	t.Parallel()
	f := open(t, func(p *access.Principal) { p.Settings.StockPolicy = access.StockBlock })
	shift := f.shift()
	f.receive(f.depot, f.wood, 5)
	f.receive(f.depot, f.nail, 1)
	f.sale(shift, "items", []any{map[string]any{"refId": f.wood, "qty": 3}})
	got := f.post(shift, "items", []any{map[string]any{"refId": f.nail}, map[string]any{"refId": f.wood, "qty": 1}, map[string]any{"refId": f.wood, "qty": 2}}).Fault(409, "STOCK_INSUFFICIENT")
	lines := got["meta"].(map[string]any)["lines"].([]any)
	require.Len(t, lines, 1, "lines of one product count together")
	require.Equal(t, f.wood.String(), lines[0].(map[string]any)["productId"])
	require.Equal(t, 3.0, lines[0].(map[string]any)["required"])
	require.Equal(t, "2", f.stock(f.depot, f.wood, uuid.Nil))
	require.Equal(t, "1", f.stock(f.depot, f.nail, uuid.Nil))
	f.sale(shift, "items", []any{map[string]any{"refId": f.wood, "qty": 2}})
	require.Equal(t, 2.0, f.readShift(shift)["salesCount"])
	f.noGaps()
}

func TestSaleWithoutAWarehouse(t *testing.T) {
	t.Parallel()
	f := open(t)
	_, err := f.d.Exec(t.Context(), `DELETE FROM warehouses WHERE company_id = $1`, f.Principal.Company)
	require.NoError(t, err)
	shift := f.shift()
	f.post(shift, "items", []any{map[string]any{"refId": f.wood}}).Fault(404, "WAREHOUSE_NOT_FOUND")
	f.sale(shift)
}

func TestPriceListOfASale(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.n.PriceList = map[trade.ItemRef]money.Amount{{Kind: "product", ID: f.nail}: 7}
	var prices clients.PriceListRecord
	require.NoError(t, f.d.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) (err error) {
		prices, err = f.clients.CreatePriceList(ctx, tx, f.caller(), clients.PriceListFields{Name: "Shops"})
		return err
	}))
	client := f.client(0)
	shift := f.shift()
	items := []any{map[string]any{"refId": f.nail, "qty": 10}, map[string]any{"refId": f.old}}
	require.Equal(t, 200.0, f.sale(shift, "items", items, "customerId", client)["total"])
	f.Do(t, "PATCH", "/clients/"+client, map[string]any{"priceListId": prices.ID}).OK(200)
	require.Equal(t, 170.0, f.sale(shift, "items", items, "customerId", client)["total"])
}

func TestPointsOfASale(t *testing.T) {
	t.Parallel()
	f := open(t, func(p *access.Principal) { p.Settings.AccrualPercentBP = 750 })
	shift, ann := f.shift(), f.client(500)
	v := f.sale(shift, "customerId", ann, "redeemPoints", 400, "discountPercent", 10, "items", []any{custom(1000), custom(333)})
	// 1333 less 133 less 400 points is 800, which earns 7.5 % of it.
	for field, want := range map[string]any{"subtotal": 1333.0, "discountAmount": 133.0, "redeemedPoints": 400.0, "total": 800.0, "earnedPoints": 60.0} {
		require.Equal(t, want, v[field], field)
	}
	shares := 0.0
	for _, l := range v["lines"].([]any) {
		shares += l.(map[string]any)["discountAmount"].(float64)
	}
	require.Equal(t, 533.0, shares, "the lines share the discount and the points")
	require.Equal(t, int64(160), f.points(ann))
	ledger := f.Do(t, "GET", "/clients/"+ann+"/points", nil).OK(200)["items"].([]any)
	require.Len(t, ledger, 3)
	var entries []string
	for _, item := range ledger[:2] {
		e := item.(map[string]any)
		require.Equal(t, v["id"], e["saleId"])
		entries = append(entries, text(e["reason"])+" "+text(e["delta"])+" "+text(e["balance"]))
	}
	require.Equal(t, []string{"earned 60 160", "redeemed -400 100"}, entries)

	f.post(shift, "customerId", ann, "redeemPoints", 161).Fault(409, "LOYALTY_POINTS_INSUFFICIENT")
	got := f.post(shift, "customerId", ann, "redeemPoints", 101, "items", []any{custom(100)}).Fault(409, "LOYALTY_POINTS_EXCEED_TOTAL")
	require.Equal(t, map[string]any{"redeemPoints": 101.0, "total": 100.0}, got["meta"])
	all := f.sale(shift, "customerId", ann, "redeemPoints", 100, "items", []any{custom(100)})
	require.Equal(t, 0.0, all["total"])
	require.Empty(t, all["payments"])
	require.Equal(t, int64(60), f.points(ann))
	require.Equal(t, 0.0, f.sale(shift)["earnedPoints"], "nobody to earn them")
	f.noGaps()
}

func TestReplayedSale(t *testing.T) {
	t.Parallel()
	f := open(t)
	shift := f.shift()
	key := apitest.Header{"X-Idempotency-Key", uuid.NewString()}
	first := f.Do(t, "POST", "/sales", body(shift), key)
	again := f.Do(t, "POST", "/sales", body(shift), key)
	require.Equal(t, 201, again.Status)
	require.Equal(t, first.Body, again.Body)
	require.Equal(t, "true", again.Header.Get("X-Idempotent-Replayed"))
	f.Do(t, "POST", "/sales", body(shift, "channel", "x"), key).Fault(422, "IDEMPOTENCY_KEY_REUSED")
	id := first.OK(201)["id"].(string)
	key = apitest.Header{"X-Idempotency-Key", uuid.NewString()}
	back := f.Do(t, "POST", "/sales/"+id+"/refund", nil, key)
	require.Equal(t, back.Body, f.Do(t, "POST", "/sales/"+id+"/refund", nil, key).Body)
	require.Equal(t, 1.0, f.readShift(shift)["salesCount"])
	require.Equal(t, 1.0, f.readShift(shift)["refundsCount"])
	require.Len(t, f.events().Of("sale.completed", "sale.refunded"), 2)
}
