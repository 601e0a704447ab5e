package orders_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/compress"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/services/business/codes"
	"github.com/tradegrid/tradegrid/services/business/trade"
	"github.com/tradegrid/tradegrid/services/business/trade/tradetest"
)

func TestLifeOfAnOrder(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	s.receive(s.wood, 100)
	res := s.Do(t, "POST", "/orders", s.body("customerId", s.ann, "assignedToId", s.bob, "dealId", s.deal, "discountPercent", 10,
		"prepaidAmount", 500, "deliveryMethod", "courier", "deliveryCost", 300, "source", "shop", "externalId", "X-1",
		"items", []any{
			map[string]any{"refId": s.wood, "qty": 1.5, "modifiers": []any{map[string]any{"optionId": s.gift, "qty": 2}}},
			map[string]any{"kind": "custom", "name": "Advice", "unitPrice": 1},
		}))
	o := res.OK(201)
	require.Equal(t, `"1"`, res.Header.Get("ETag"))
	require.Contains(t, res.Header.Get("Location"), "/orders/"+o["id"].(string))
	for field, want := range map[string]any{
		"number": 1.0, "status": "new", "paymentStatus": "partial", "customerName": "Ann Lee", "customerPhone": "+49 151 2345678", "customerEmail": nil,
		"channel": "manual", "source": "shop", "externalId": "X-1", "deliveryStatus": "pending", "subtotal": 1950.0, "discountAmount": 195.0,
		"total": 1755.0, "amountDue": 1555.0, "warehouseId": s.warehouse.String(), "createdById": s.Principal.Actor.String(),
		"allowedTransitions": []any{"confirmed", "in_progress", "cancelled"}, "completedAt": nil, "dealId": s.deal.String(),
	} {
		require.Equal(t, want, o[field], field)
	}
	require.NotNil(t, o["payDueAt"])
	line := o["lines"].([]any)[0].(map[string]any)
	require.Equal(t, 1299.0, line["unitPrice"])
	require.Equal(t, 1949.0, line["amount"]) // 1948.5, half away from zero
	require.Equal(t, 1.5, line["reservedQty"])
	require.Equal(t, "100/1.5", s.stock(s.wood))
	require.EqualValues(t, 500, s.balance(s.ann))

	id := o["id"].(string)
	require.Equal(t, o, s.Do(t, "GET", "/orders/"+id, nil).OK(200), "what was answered is what is stored")

	o = s.patch(id, map[string]any{"prepaidAmount": 2055, "note": " call first ", "items": []any{map[string]any{"refId": s.kit, "qty": 2, "unitPrice": 975}, map[string]any{"refId": s.fix, "kind": "service", "unitPrice": 0}}}).OK(200)
	require.Equal(t, "call first", o["note"])
	require.Equal(t, "paid", o["paymentStatus"])
	require.Equal(t, 2.0, o["version"])
	require.Equal(t, "100/5", s.stock(s.wood), "two kits of 2.5")
	require.Equal(t, "0/8", s.stock(s.bolt))
	require.EqualValues(t, 2055, s.balance(s.ann))

	for _, next := range []string{"confirmed", "ready", "completed"} {
		o = s.move(id, next).OK(200)
		require.Equal(t, next, o["status"])
	}
	require.NotNil(t, o["completedAt"])
	require.Equal(t, "95/0", s.stock(s.wood))
	require.Equal(t, "-8/0", s.stock(s.bolt))
	require.EqualValues(t, 0, s.balance(s.ann))
	s.patch(id, `{"customerNote":"x"}`).Fault(409, "ORDER_FINALIZED")
	o = s.patch(id, map[string]any{"prepaidAmount": 0, "note": nil, "assignedToId": nil}).OK(200)
	require.Equal(t, "refunded", o["paymentStatus"])
	require.Nil(t, o["note"])
	require.EqualValues(t, -2055, s.balance(s.ann))

	require.ElementsMatch(t, []string{
		"stock.movement.created", "stock.adjusted", "order.created", "order.updated", "order.status_changed", "order.status_changed",
		"order.status_changed", "stock.movement.created", "stock.movement.created", "order.updated",
		"order.payment.created", "order.payment.created", "order.payment.refunded",
	}, s.events())
	var history []map[string]any
	s.Do(t, "GET", "/orders/"+id+"/history", nil).Decode(&history)
	var moves []any
	for _, e := range history {
		if e["field"] == "status" {
			moves = append(moves, e["from"], e["to"])
		}
	}
	require.Equal(t, []any{"new", "confirmed", "confirmed", "ready", "ready", "completed"}, moves)
	s.Do(t, "GET", "/orders/"+uuid.NewString()+"/history", nil).Fault(404, "ORDER_NOT_FOUND")
}

func TestEventsCarryTheOrder(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	o := s.create()
	s.patch(o["id"], `{"note":"n","prepaidAmount":1}`).OK(200)
	s.move(o["id"], "cancelled").OK(200)
	var got []map[string]any
	rows, err := s.d.Query(t.Context(), `SELECT payload FROM outbox WHERE company_id = $1 ORDER BY pos, id`, s.Principal.Company)
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var raw []byte
		require.NoError(t, rows.Scan(&raw))
		raw, err := compress.Open(raw)
		require.NoError(t, err)
		var e map[string]any
		require.NoError(t, json.Unmarshal(raw, &e))
		got = append(got, e)
	}
	require.NoError(t, rows.Err())
	require.Len(t, got, 5)
	require.Equal(t, o, got[0]["data"])
	updated := got[1]["data"].(map[string]any)
	require.Equal(t, []any{"paymentStatus", "note", "prepaidAmount", "amountDue"}, updated["changedFields"])
	require.Equal(t, "n", updated["note"])
	require.Equal(t, "order.payment.created", got[2]["event"])
	for i, name := range []string{"order.status_changed", "order.cancelled"} {
		require.Equal(t, name, got[3+i]["event"])
		data := got[3+i]["data"].(map[string]any)
		require.Equal(t, "new", data["previousStatus"])
		require.Equal(t, "cancelled", data["status"])
		require.NotNil(t, data["cancelledAt"])
		require.Equal(t, 0.0, data["lines"].([]any)[0].(map[string]any)["reservedQty"])
	}
	require.Equal(t, s.Principal.Actor.String(), got[0]["actorId"])
}

func TestEveryMoveOfTheStatusTable(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	all := []string{"new", "confirmed", "in_progress", "ready", "completed", "cancelled"}
	allowed := map[string][]string{
		"new": {"confirmed", "in_progress", "cancelled"}, "confirmed": {"in_progress", "ready", "cancelled"},
		"in_progress": {"ready", "completed", "cancelled"}, "ready": {"in_progress", "completed", "cancelled"}, "completed": {}, "cancelled": {},
	}
	way := map[string][]string{"new": nil, "confirmed": {"confirmed"}, "in_progress": {"in_progress"}, "ready": {"confirmed", "ready"}, "completed": {"in_progress", "completed"}, "cancelled": {"cancelled"}}
	for _, from := range all {
		for _, to := range all {
			id := s.create()["id"]
			for _, step := range way[from] {
				s.move(id, step).OK(200)
			}
			res := s.move(id, to)
			if slices.Contains(allowed[from], to) {
				require.Equal(t, to, res.OK(200)["status"])
				continue
			}
			meta := res.Fault(409, "ORDER_STATUS_TRANSITION_INVALID")["meta"].(map[string]any)
			require.Equal(t, from, meta["from"])
			require.Equal(t, to, meta["to"])
			require.Len(t, meta["allowed"], len(allowed[from]))
		}
	}
	s.move(s.create()["id"], "lost").Fault(400, "VALIDATION_ERROR")
	s.move(uuid.NewString(), "confirmed").Fault(404, "ORDER_NOT_FOUND")
}

func TestFaultsOfEveryField(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	long := strings.Repeat("abcdefghij", 500)
	item := func(pairs ...any) []any {
		m := map[string]any{"refId": s.wood}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i].(string)] = pairs[i+1]
		}
		return []any{m}
	}
	id := s.create()["id"].(string)
	before, events := s.counts(), len(s.events())
	for _, c := range []struct {
		field string
		value any
		at    string
		code  string
	}{
		{"items", nil, "items", "TYPE"},
		{"items", []any{}, "items", "MIN"},
		{"items", "x", "items", "TYPE"},
		{"items", slices.Repeat(item(), 501), "items", "MAX"},
		{"items", []any{"x"}, "items[0]", "TYPE"},
		{"items", item("kind", "gift"), "items[0].kind", "ENUM"},
		{"items", item("refId", "x"), "items[0].refId", "FORMAT"},
		{"items", item("refId", nil), "items[0].refId", "REQUIRED"},
		{"items", item("variantId", 1), "items[0].variantId", "TYPE"},
		{"items", item("name", ""), "items[0].name", "LENGTH"},
		{"items", item("name", long), "items[0].name", "LENGTH"},
		{"items", item("qty", 0), "items[0].qty", "MIN"},
		{"items", item("qty", -1), "items[0].qty", "MIN"},
		{"items", item("qty", 1000001), "items[0].qty", "MAX"},
		{"items", item("qty", 0.0001), "items[0].qty", "STEP"},
		{"items", item("qty", "1"), "items[0].qty", "TYPE"},
		{"items", item("refId", s.bolt, "qty", 1), "items[0].qty", "MIN"},
		{"items", item("refId", s.bolt, "qty", 3), "items[0].qty", "STEP"},
		{"items", item("unitPrice", -1), "items[0].unitPrice", "MIN"},
		{"items", item("unitPrice", 1.5), "items[0].unitPrice", "STEP"},
		{"items", item("unitPrice", 9007199254740992), "items[0].unitPrice", "MAX"},
		{"items", item("note", 1), "items[0].note", "TYPE"},
		{"items", item("note", long), "items[0].note", "LENGTH"},
		{"items", item("modifiers", []any{map[string]any{}}), "items[0].modifiers[0].optionId", "REQUIRED"},
		{"items", item("modifiers", []any{map[string]any{"optionId": uuid.New()}}), "items[0].modifiers[0].optionId", "ENUM"},
		{"items", item("modifiers", []any{map[string]any{"optionId": s.gift}, map[string]any{"optionId": s.gift}}), "items[0].modifiers[1].optionId", "CONFLICT"},
		{"items", item("modifiers", []any{map[string]any{"optionId": s.gift, "qty": 0}}), "items[0].modifiers[0].qty", "MIN"},
		{"items", item("kind", "service", "variantId", uuid.New()), "items[0].variantId", "CONFLICT"},
		{"items", item("kind", "custom", "name", "x", "unitPrice", 1), "items[0].refId", "CONFLICT"},
		{"items", []any{map[string]any{"kind": "custom", "unitPrice": 1}}, "items[0].name", "REQUIRED"},
		{"items", []any{map[string]any{"kind": "custom", "name": "x"}}, "items[0].unitPrice", "REQUIRED"},
		{"customerId", "x", "customerId", "FORMAT"},
		{"assetId", 1, "assetId", "TYPE"},
		{"addressId", "x", "addressId", "FORMAT"},
		{"dealId", true, "dealId", "TYPE"},
		{"customerName", long, "customerName", "LENGTH"},
		{"customerPhone", long, "customerPhone", "LENGTH"},
		{"customerEmail", "nobody", "customerEmail", "FORMAT"},
		{"customerNote", long, "customerNote", "LENGTH"},
		{"channel", "pigeon", "channel", "ENUM"},
		{"source", long, "source", "LENGTH"},
		{"externalId", long, "externalId", "LENGTH"},
		{"warehouseId", "x", "warehouseId", "FORMAT"},
		{"deliveryMethod", "drone", "deliveryMethod", "ENUM"},
		{"deliveryCost", -1, "deliveryCost", "MIN"},
		{"deliveryCost", nil, "deliveryCost", "TYPE"},
		{"deliveryAddressText", long, "deliveryAddressText", "LENGTH"},
		{"dueAt", "tomorrow", "dueAt", "FORMAT"},
		{"readyBy", 5, "readyBy", "TYPE"},
		{"payDueAt", "2026-11-20", "payDueAt", "FORMAT"},
		{"note", long, "note", "LENGTH"},
		{"discountPercent", 101, "discountPercent", "MAX"},
		{"discountPercent", -1, "discountPercent", "MIN"},
		{"discountPercent", 0.001, "discountPercent", "STEP"},
		{"discountPercent", nil, "discountPercent", "TYPE"},
		{"prepaidAmount", -1, "prepaidAmount", "MIN"},
		{"prepaidAmount", "1", "prepaidAmount", "TYPE"},
		{"assignedToId", "bob", "assignedToId", "FORMAT"},
	} {
		name := fmt.Sprintf("%s=%.60v", c.field, c.value)
		require.Equal(t, map[string]string{c.at: c.code}, s.Do(t, "POST", "/orders", s.body(c.field, c.value)).Fields(), name)
		require.Equal(t, map[string]string{c.at: c.code}, s.Do(t, "POST", "/orders/preview", s.body(c.field, c.value)).Fields(), name)
		if c.field != "dealId" {
			require.Equal(t, map[string]string{c.at: c.code}, s.patch(id, map[string]any{c.field: c.value}).Fields(), "PATCH "+name)
		}
	}
	require.Equal(t, map[string]string{"items": "REQUIRED"}, s.Do(t, "POST", "/orders", `{}`).Fields())
	require.Equal(t, map[string]string{"body": "FORMAT"}, s.Do(t, "POST", "/orders", `{"items":`).Fields())
	all := s.Do(t, "POST", "/orders", s.body("note", 1, "deliveryCost", -1, "discountPercent", 200)).Fields()
	require.Equal(t, map[string]string{"note": "TYPE", "deliveryCost": "MIN", "discountPercent": "MAX"}, all, "all faults at once")
	require.Equal(t, before, s.counts(), "nothing is stored and no number is taken")
	require.Len(t, s.events(), events)
}

func TestUnknownReferencesAndStates(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	no := uuid.New()
	ref := func(kind string, id uuid.UUID, variant any) []any {
		return []any{map[string]any{"kind": kind, "refId": id, "variantId": variant, "qty": 2}}
	}
	before := s.counts()
	for _, c := range []struct {
		field  string
		value  any
		status int
		code   string
	}{
		{"items", ref("product", no, nil), 404, "PRODUCT_NOT_FOUND"},
		{"items", ref("service", s.wood, nil), 404, "SERVICE_NOT_FOUND"},
		{"items", ref("product", s.shirt, no), 404, "PRODUCT_VARIANT_NOT_FOUND"},
		{"items", ref("product", s.wood, s.large), 404, "PRODUCT_VARIANT_NOT_FOUND"},
		{"items", ref("product", s.shirt, nil), 409, "PRODUCT_VARIANT_REQUIRED"},
		{"items", ref("product", s.old, nil), 409, "CATALOG_ITEM_HIDDEN"},
		{"customerId", no, 404, "CLIENT_NOT_FOUND"},
		{"customerId", s.gone, 409, "CLIENT_ARCHIVED"},
		{"assetId", no, 404, "ASSET_NOT_FOUND"},
		{"addressId", no, 404, "ADDRESS_NOT_FOUND"},
		{"dealId", no, 404, "DEAL_NOT_FOUND"},
		{"assignedToId", no, 404, "USER_NOT_FOUND"},
		{"warehouseId", no, 404, "WAREHOUSE_NOT_FOUND"},
		{"prepaidAmount", 2998, 409, "ORDER_OVERPAID"},
	} {
		s.Do(t, "POST", "/orders", s.body(c.field, c.value)).Fault(c.status, c.code)
	}
	require.Equal(t, before, s.counts())
	require.Empty(t, s.events())
	meta := s.Do(t, "POST", "/orders", s.body("assignedToId", no)).Fault(404, "USER_NOT_FOUND")["meta"]
	require.Equal(t, map[string]any{"field": "assignedToId", "id": no.String()}, meta)
	s.Do(t, "POST", "/orders", s.body("items", ref("product", s.shirt, s.large))).OK(201)
}

func TestAmountsBeyondTheRange(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	line := map[string]any{"kind": "custom", "name": "x", "qty": 2, "unitPrice": int64(money.MaxAmount)}
	s.Do(t, "POST", "/orders", s.body("items", []any{line})).Fault(400, "VALIDATION_ERROR")
	require.Zero(t, s.counts())
}

func TestPatchRules(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	o := s.create("customerId", s.ann, "deliveryMethod", "pickup")
	id := o["id"]
	require.Equal(t, 1.0, s.patch(id, `{}`).OK(200)["version"])
	require.Equal(t, 1.0, s.patch(id, `{"note":null,"discountPercent":0}`).OK(200)["version"], "nothing changed")
	require.Len(t, s.events(), 1)
	s.Do(t, "PATCH", "/orders/"+id.(string), `{"note":"x"}`, apitest.Header{"If-Match", `"7"`}).Fault(412, "PRECONDITION_FAILED")
	s.patch(id, `{"prepaidAmount":2998}`).Fault(409, "ORDER_OVERPAID")
	s.patch(id, `{"prepaidAmount":2997}`).OK(200)
	s.patch(id, `{"discountPercent":50}`).Fault(409, "ORDER_OVERPAID")
	got := s.patch(id, map[string]any{"customerId": nil, "deliveryMethod": nil}).OK(200)
	require.Nil(t, got["customerId"])
	require.Nil(t, got["deliveryStatus"])
	require.Equal(t, "Ann Lee", got["customerName"])
	require.EqualValues(t, 0, s.balance(s.ann), "the payments went with the customer")
	item := s.n.Items[tradetest.Product(s.wood)]
	item.Hidden = true
	s.n.Items[tradetest.Product(s.wood)] = item
	s.patch(id, map[string]any{"items": []any{map[string]any{"refId": s.wood, "qty": 4}}}).OK(200)
	require.Equal(t, "0/4", s.stock(s.wood), "a hidden item stays in the order that has it")
	s.move(id, "in_progress").OK(200)
	s.patch(id, map[string]any{"items": []any{map[string]any{"refId": s.wood}}}).Fault(409, "ORDER_ITEMS_LOCKED")
	s.patch(uuid.NewString(), `{}`).Fault(404, "ORDER_NOT_FOUND")
}

func TestExternalIDIsUniquePerSource(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	o := s.create("externalId", "7")
	meta := s.Do(t, "POST", "/orders", s.body("externalId", "7")).Fault(409, "ORDER_EXTERNAL_ID_TAKEN")["meta"]
	require.Equal(t, map[string]any{"id": o["id"], "orderId": o["id"]}, meta)
	other := s.create("externalId", "7", "source", "shop")
	s.patch(other["id"], `{"source":null}`).Fault(409, "ORDER_EXTERNAL_ID_TAKEN")
	done := make(chan *apitest.Response, 8)
	for range cap(done) {
		go func() { done <- s.Do(t, "POST", "/orders", s.body("externalId", "8")) }()
	}
	made := 0
	for range cap(done) {
		if res := <-done; res.Status == 201 {
			made++
		} else {
			require.NotNil(t, res.Fault(409, "ORDER_EXTERNAL_ID_TAKEN")["meta"].(map[string]any)["orderId"])
		}
	}
	require.Equal(t, 1, made)
	require.Equal(t, [2]int64{3, 3}, s.counts())
}

func TestCreditLimit(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	worth := func(price int) map[string]any {
		return s.create("customerId", s.ann, "items", []any{map[string]any{"kind": "custom", "name": "x", "unitPrice": price}})
	}
	first, second := worth(6000)["id"], worth(4001)["id"]
	s.move(first, "confirmed").OK(200)
	meta := s.move(second, "in_progress").Fault(409, "CREDIT_LIMIT_EXCEEDED")["meta"]
	require.Equal(t, map[string]any{"creditLimit": 10000.0, "used": 6000.0, "required": 4001.0}, meta)
	s.patch(second, `{"prepaidAmount":1}`).OK(200)
	s.move(second, "in_progress").OK(200)
}

// Several orders want the last of a credit limit at once: exactly one gets it, and nobody is answered a 503.
func TestTheLastCreditAtOnce(t *testing.T) {
	t.Parallel()
	for _, paid := range []int{0, 10} { // without and with a balance to lock
		s := open(t, nil)
		ids := make([]any, 8)
		for i := range ids {
			ids[i] = s.create("customerId", s.ann, "prepaidAmount", paid, "items", []any{map[string]any{"kind": "custom", "name": "x", "unitPrice": 6000 + paid}})["id"]
		}
		codes := make([]string, len(ids))
		var wg sync.WaitGroup
		for i, id := range ids {
			wg.Go(func() {
				res := s.move(id, []string{"confirmed", "in_progress"}[i%2])
				codes[i] = fmt.Sprint(res.Status)
				if res.Status == 409 {
					res.Fault(409, "CREDIT_LIMIT_EXCEEDED")
				}
			})
		}
		wg.Wait()
		slices.Sort(codes)
		require.Equal(t, []string{"200", "409", "409", "409", "409", "409", "409", "409"}, codes)
	}
}

// What counts against a limit: debts, and what is due for orders that are confirmed and not completed.
func TestWhatCountsAgainstTheCreditLimit(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	worth := func(price, prepaid int) any {
		return s.create("customerId", s.ann, "prepaidAmount", prepaid, "items", []any{map[string]any{"kind": "custom", "name": "x", "unitPrice": price}})["id"]
	}
	used := func() float64 {
		return s.move(worth(100_000, 0), "confirmed").Fault(409, "CREDIT_LIMIT_EXCEEDED")["meta"].(map[string]any)["used"].(float64)
	}
	require.Zero(t, used())
	first := worth(5000, 1000)
	require.Zero(t, used(), "new orders do not count")
	s.move(first, "confirmed").OK(200)
	require.Equal(t, 4000.0, used())
	s.patch(first, `{"deliveryCost":500}`).OK(200)
	require.Equal(t, 4500.0, used())
	s.move(first, "ready").OK(200)
	s.move(first, "completed").OK(200)
	require.EqualValues(t, -4500, s.balance(s.ann))
	require.Equal(t, 4500.0, used(), "what is due becomes a debt")
	s.patch(first, `{"prepaidAmount":5500}`).OK(200)
	require.Zero(t, used())
	gone := worth(3000, 200)
	s.move(gone, "in_progress").OK(200)
	require.Equal(t, 2800.0, used())
	s.move(gone, "cancelled").OK(200)
	require.Zero(t, used())
	require.EqualValues(t, 200, s.balance(s.ann), "payments stay recorded")
	s.patch(gone, `{"prepaidAmount":0}`).OK(200)
	require.EqualValues(t, 0, s.balance(s.ann))
	require.Equal(t, "refunded", s.read(gone)["paymentStatus"])
}

func TestStockPolicyBlock(t *testing.T) {
	t.Parallel()
	s := open(t, nil, func(p *access.Principal) { p.Settings.StockPolicy = access.StockBlock })
	s.receive(s.wood, 5)
	a := s.create()
	before := s.counts()
	meta := s.Do(t, "POST", "/orders", s.body()).Fault(409, "STOCK_INSUFFICIENT")["meta"].(map[string]any)
	require.Len(t, meta["lines"], 1)
	require.Equal(t, before, s.counts(), "no number is taken")
	require.Equal(t, "5/3", s.stock(s.wood))
	s.patch(a["id"], map[string]any{"items": []any{map[string]any{"refId": s.wood, "qty": 6}}}).Fault(409, "STOCK_INSUFFICIENT")
	s.move(a["id"], "cancelled").OK(200)
	require.Equal(t, "5/0", s.stock(s.wood))
	done := make(chan int, 12)
	for range cap(done) {
		go func() {
			done <- s.Do(t, "POST", "/orders", s.body("items", []any{map[string]any{"refId": s.wood}})).Status
		}()
	}
	made := 0
	for range cap(done) {
		if <-done == 201 {
			made++
		}
	}
	require.Equal(t, 5, made, "as many as there are")
	require.Equal(t, [2]int64{6, 6}, s.counts())
}

func TestPricesOfTheClientsList(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	priceList := uuid.New()
	ann := s.n.clients[s.ann]
	ann.PriceListID = &priceList
	s.n.clients[s.ann] = ann
	s.n.PriceList = map[trade.ItemRef]money.Amount{
		{Kind: "product", ID: s.wood}: 900, {Kind: "product", ID: s.shirt, Variant: s.large}: 1400, {Kind: "service", ID: s.fix}: 0,
	}
	body := s.body("customerId", s.ann, "items", []any{
		map[string]any{"refId": s.wood, "modifiers": []any{map[string]any{"optionId": s.gift}}},
		map[string]any{"refId": s.shirt, "variantId": s.large},
		map[string]any{"refId": s.fix, "kind": "service"},
		map[string]any{"refId": s.bolt, "qty": 2},
		map[string]any{"refId": s.wood, "unitPrice": 1},
	})
	prices := func(o map[string]any) (all []any) {
		for i := range o["lines"].([]any) {
			all = append(all, line(o, i)["unitPrice"])
		}
		return all
	}
	want := []any{1050.0, 1400.0, 0.0, 250.0, 1.0}
	require.Equal(t, want, prices(s.Do(t, "POST", "/orders/preview", body).OK(200)))
	o := s.Do(t, "POST", "/orders", body).OK(201)
	require.Equal(t, want, prices(o))
	require.Equal(t, s.large.String(), line(o, 1)["variantId"])
	require.Equal(t, 1.0, line(o, 1)["reservedQty"])
	s.n.PriceList = map[trade.ItemRef]money.Amount{{Kind: "product", ID: s.wood}: 800}
	require.Equal(t, want, prices(s.patch(o["id"], `{"note":"x"}`).OK(200)), "an order keeps its prices")
	require.Equal(t, []any{1.0}, prices(s.patch(o["id"], map[string]any{"items": []any{map[string]any{"refId": s.wood}}}).OK(200)), "and so does a line of the same item")
	require.Equal(t, []any{800.0}, prices(s.patch(o["id"], map[string]any{"items": []any{map[string]any{"refId": s.wood}}, "reprice": true}).OK(200)))
	require.Equal(t, []any{999.0}, prices(s.create()), "others pay the price of the catalog")
}

// Documents name channels and methods of delivery of the company by their codes, which stay on them.
func TestCodesOfTheCompany(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	directories := apitest.New(t, s.d, codes.New(s.d).Register).Caller(s.Principal.Company)
	ids := map[string]string{}
	for at, code := range map[string]string{"/channels": "instagram", "/delivery-methods": "locker"} {
		ids[at] = directories.Do(t, "POST", at, `{"code":"`+code+`","name":"`+code+`"}`).OK(201)["id"].(string)
	}
	o := s.create("channel", "instagram", "deliveryMethod", "locker")
	require.Equal(t, []any{"instagram", "locker"}, []any{o["channel"], o["deliveryMethod"]})
	fault := s.Do(t, "POST", "/orders", s.body("channel", "instagran"))
	require.Equal(t, map[string]string{"channel": "ENUM"}, fault.Fields())
	require.Contains(t, fmt.Sprint(fault.Fault(400, "VALIDATION_ERROR")["message"]), `did you mean "instagram"?`)
	require.Equal(t, map[string]string{"deliveryMethod": "ENUM"}, s.patch(o["id"], `{"deliveryMethod":"lockers"}`).Fields())
	for at, id := range ids {
		directories.Do(t, "PATCH", at+"/"+id, `{"isActive":false}`).OK(200)
	}
	kept := s.patch(o["id"], `{"note":"x","channel":"instagram","deliveryMethod":"locker"}`).OK(200)
	require.Equal(t, []any{"instagram", "locker"}, []any{kept["channel"], kept["deliveryMethod"]}, "what it had before")
	require.Equal(t, map[string]string{"channel": "ENUM"}, s.Do(t, "POST", "/orders", s.body("channel", "instagram")).Fields())
	other := s.create()
	at := "/orders/" + other["id"].(string) + "/shipments"
	require.Equal(t, map[string]string{"deliveryMethod": "ENUM"}, s.Do(t, "POST", at, `{"deliveryMethod":"locker"}`).Fields())
	directories.Do(t, "PATCH", "/delivery-methods/"+ids["/delivery-methods"], `{"isActive":true}`).OK(200)
	require.Equal(t, "locker", s.Do(t, "POST", at, `{"deliveryMethod":"locker"}`).OK(201)["deliveryMethod"])
}
