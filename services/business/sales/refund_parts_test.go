package sales_test

import (
	"net/http"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
)

func linesOf(v map[string]any) (lines []map[string]any) {
	for _, l := range v["lines"].([]any) {
		lines = append(lines, l.(map[string]any))
	}
	return lines
}

func paymentsOf(v map[string]any) (payments []map[string]any) {
	for _, p := range v["payments"].([]any) {
		payments = append(payments, p.(map[string]any))
	}
	return payments
}

// item is a quantity of the i-th line of a sale.
func item(sale map[string]any, i int, qty float64) map[string]any {
	return map[string]any{"saleLineId": linesOf(sale)[i]["id"], "qty": qty}
}

func (f *kit) readSale(id any) map[string]any {
	f.t.Helper()
	return f.Do(f.t, "GET", "/sales/"+id.(string), nil).OK(200)
}

func TestRefundOfParts(t *testing.T) {
	t.Parallel()
	f := open(t, func(p *access.Principal) { p.Settings.AccrualPercentBP = 1000 })
	shift, ann := f.shift(), f.client(300)
	// 2997 and 1000: 3997, less 10 % and 100 points: 3497. The lines share 500: 375 and 125.
	sold := f.sale(shift, "customerId", ann, "redeemPoints", 100, "discountPercent", 10, "paymentMethod", "mixed",
		"items", []any{map[string]any{"refId": f.wood, "qty": 3}, custom(1000)},
		"payments", []any{pay("cash", 1497), pay("card", 2000)})
	require.Equal(t, 3497.0, sold["total"])
	require.Equal(t, int64(300-100+349), f.points(ann))

	first := f.refund(sold["id"], "items", []any{item(sold, 0, 1)}, "reason", "torn", "externalId", "r-1", "cashierId", f.n.ben).OK(200)
	for field, want := range map[string]any{
		"kind": "refund", "refundOfSaleId": sold["id"], "reason": "torn", "externalId": "r-1", "subtotal": 999.0, "total": 874.0, "discountAmount": 100.0,
		"redeemedPoints": 25.0, "earnedPoints": 87.0, "paymentMethod": "mixed", "refundStatus": "none", "refundedTotal": 0.0,
		"cashierId": f.n.ben.String(), "cashierName": "Ben", "createdById": f.Principal.Actor.String(), "warehouseId": f.depot.String(),
	} {
		require.Equal(t, want, first[field], field)
	}
	line := linesOf(first)[0]
	for field, want := range map[string]any{
		"qty": 1.0, "unitPrice": 999.0, "amount": 999.0, "discountAmount": 125.0, "total": 874.0, "sortOrder": 0.0, "refundOfLineId": linesOf(sold)[0]["id"], "refundedQty": 0.0,
	} {
		require.Equal(t, want, line[field], field)
	}
	require.Equal(t, []any{374.0, 500.0}, []any{paymentsOf(first)[0]["amount"], paymentsOf(first)[1]["amount"]}, "in proportion to what was paid")
	require.Equal(t, "-2", f.stock(f.depot, f.wood, uuid.Nil))
	require.Equal(t, int64(549+25-87), f.points(ann))
	partly := f.readSale(sold["id"])
	require.Equal(t, []any{"partial", 874.0, nil, 2.0}, []any{partly["refundStatus"], partly["refundedTotal"], partly["refundedBySaleId"], partly["version"]})
	require.Equal(t, []any{1.0, 0.0}, []any{linesOf(partly)[0]["refundedQty"], linesOf(partly)[1]["refundedQty"]})
	require.Equal(t, 374.0, paymentsOf(partly)[0]["refundedAmount"])

	got := f.refund(sold["id"], "items", []any{item(sold, 0, 2.001), item(sold, 1, 1)}).Fault(409, "REFUND_QTY_EXCEEDED")
	require.Equal(t, map[string]any{"lines": []any{map[string]any{"name": "Wood", "saleLineId": linesOf(sold)[0]["id"], "qty": 3.0, "refundedQty": 1.0, "left": 2.0}}}, got["meta"])

	// By card as far as it goes; the line without stock changes none.
	second := f.refund(sold["id"], "items", []any{item(sold, 1, 1)}, "payments", []any{pay("card", 875)}).OK(200)
	require.Equal(t, []any{875.0, "card", nil}, []any{second["total"], second["paymentMethod"], second["warehouseId"]})
	got = f.refund(sold["id"], "payments", []any{pay("card", 1748)}).Fault(409, "REFUND_PAYMENT_EXCEEDED")
	require.Equal(t, map[string]any{"left": map[string]any{"cash": 1123.0, "card": 625.0, "sbp": 0.0}}, got["meta"])
	last := f.refund(sold["id"]).OK(200)
	require.Equal(t, []any{1748.0, 2.0}, []any{last["total"], linesOf(last)[0]["qty"]})
	require.Equal(t, []any{1123.0, 625.0}, []any{paymentsOf(last)[0]["amount"], paymentsOf(last)[1]["amount"]})

	after := f.readSale(sold["id"])
	require.Equal(t, []any{"full", 3497.0, last["id"]}, []any{after["refundStatus"], after["refundedTotal"], after["refundedBySaleId"]})
	require.Equal(t, map[string]any{"refundSaleId": last["id"]}, f.refund(sold["id"], "items", []any{item(sold, 1, 1)}).Fault(409, "SALE_ALREADY_REFUNDED")["meta"])
	require.Equal(t, int64(300), f.points(ann))
	require.Equal(t, "0", f.stock(f.depot, f.wood, uuid.Nil))
	v := f.readShift(shift)
	require.Equal(t, []any{1.0, 3.0, 3497.0, 3497.0, 1000.0}, []any{v["salesCount"], v["refundsCount"], v["salesTotal"], v["refundsTotal"], v["expectedCash"]})
	refunds := f.events().Of("sale.refunded")
	require.Equal(t, []any{first, second, last}, []any{refunds[0].Data, refunds[1].Data, refunds[2].Data})
	require.Equal(t, []string{first["id"].(string), second["id"].(string), last["id"].(string)}, idsOf(f.Do(t, "GET", "/sales?sort=number&refundOfSaleId="+sold["id"].(string), nil).OK(200)))
	require.Equal(t, []string{first["id"].(string)}, idsOf(f.Do(t, "GET", "/sales?search=torn", nil).OK(200)))
	f.noGaps()
}

func TestBadRefunds(t *testing.T) {
	t.Parallel()
	f := open(t)
	shift := f.shift()
	sold := f.sale(shift, "items", []any{custom(1000), custom(500)}, "paymentMethod", "card")
	other := f.sale(shift)
	for name, row := range map[string]struct {
		pairs []any
		want  map[string]string
	}{
		"no items":            {[]any{"items", []any{}}, map[string]string{"items": "MIN"}},
		"no quantity":         {[]any{"items", []any{map[string]any{"saleLineId": linesOf(sold)[0]["id"]}}}, map[string]string{"items[0].qty": "REQUIRED"}},
		"zero":                {[]any{"items", []any{item(sold, 0, 0)}}, map[string]string{"items[0].qty": "MIN"}},
		"too fine":            {[]any{"items", []any{item(sold, 0, 0.0001)}}, map[string]string{"items[0].qty": "STEP"}},
		"a line twice":        {[]any{"items", []any{item(sold, 0, 0.5), item(sold, 0, 0.5)}}, map[string]string{"items[1].saleLineId": "CONFLICT"}},
		"no method":           {[]any{"payments", []any{map[string]any{"amount": 1500}}}, map[string]string{"payments[0].paymentMethod": "REQUIRED"}},
		"too little money":    {[]any{"payments", []any{pay("card", 1499)}}, map[string]string{"payments": "CONFLICT"}},
		"more than the parts": {[]any{"items", []any{item(sold, 1, 1)}, "payments", []any{pay("card", 501)}}, map[string]string{"payments": "CONFLICT"}},
	} {
		require.Equal(t, row.want, f.refund(sold["id"], row.pairs...).Fields(), name)
	}
	meta := f.refund(sold["id"], "items", []any{item(sold, 0, 1), item(other, 0, 1)}).Fault(404, "SALE_LINE_NOT_FOUND")["meta"].(map[string]any)
	require.Equal(t, map[string]any{"field": "items[1].saleLineId", "id": linesOf(other)[0]["id"]}, meta)
	f.refund(sold["id"], "payments", []any{pay("cash", 1500)}).Fault(409, "REFUND_PAYMENT_EXCEEDED")
	f.refund(sold["id"], "cashierId", uuid.New()).Fault(404, "USER_NOT_FOUND")
	f.refund(sold["id"], "cashierId", f.n.blocked).Fault(409, "CASHIER_INACTIVE")
	require.Equal(t, "none", f.readSale(sold["id"])["refundStatus"])
	f.noGaps()
}

func TestFilterByRefunds(t *testing.T) {
	t.Parallel()
	f := open(t)
	shift := f.shift()
	ids := func(query string) []string { return idsOf(f.Do(t, "GET", "/sales?sort=number&"+query, nil).OK(200)) }
	none, partly, full := f.sale(shift), f.sale(shift, "items", []any{custom(10, 2)}), f.sale(shift)
	f.refund(partly["id"], "items", []any{item(partly, 0, 1)}).OK(200)
	f.refund(full["id"]).OK(200)
	require.Equal(t, []string{none["id"].(string)}, ids("refundStatus=none"))
	require.Equal(t, []string{partly["id"].(string)}, ids("refundStatus=partial"))
	require.Equal(t, []string{full["id"].(string)}, ids("refundStatus=full"))
	require.Contains(t, f.Do(t, "GET", "/sales?refundStatus=half", nil).Fields(), "refundStatus")
	for _, v := range f.Do(t, "GET", "/sales?include=lines,payments", nil).OK(200)["items"].([]any) {
		v := v.(map[string]any)
		one := f.readSale(v["id"])
		delete(v, "linesCount")
		require.Equal(t, one, v)
	}
}

// Refunds of parts in two processes take each piece once.
func TestPartsInParallel(t *testing.T) {
	t.Parallel()
	f := open(t, func(p *access.Principal) { p.Settings.AccrualPercentBP = 333 })
	shift, ann := f.shift(), f.client(100)
	sold := f.sale(shift, "customerId", ann, "redeemPoints", 77, "discountPercent", 33.33, "items", []any{map[string]any{"refId": f.kit, "qty": 7}, custom(333, 3)})
	nodes := []*kit{f, f.another()}
	const n = 24
	answers := make([]*apitest.Response, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			for answers[i] == nil || answers[i].Status == http.StatusServiceUnavailable { // nothing was stored, the client asks again
				answers[i] = nodes[i%2].refund(sold["id"], "items", []any{item(sold, i%3%2, 1)})
			}
		})
	}
	wg.Wait()
	done, total := 0, 0.0
	for _, a := range answers {
		if a.Status == http.StatusOK {
			done, total = done+1, total+a.OK(200)["total"].(float64)
			continue
		}
		code := a.OK(409)["code"]
		require.Contains(t, []any{"REFUND_QTY_EXCEEDED", "SALE_ALREADY_REFUNDED"}, code)
	}
	require.Equal(t, 10, done)
	after := f.readSale(sold["id"])
	require.Equal(t, []any{"full", sold["total"], sold["total"]}, []any{after["refundStatus"], after["refundedTotal"], total})
	require.Equal(t, int64(100), f.points(ann))
	require.Equal(t, []string{"0", "0"}, []string{f.stock(f.depot, f.wood, uuid.Nil), f.stock(f.depot, f.nail, uuid.Nil)})
	v := f.readShift(shift)
	require.Equal(t, []any{10.0, sold["total"], 1000.0}, []any{v["refundsCount"], v["refundsTotal"], v["expectedCash"]})
	require.Len(t, f.events().Of("sale.refunded"), 10)
	f.noGaps()
}

// sum adds up a number of each record.
func sum(records []map[string]any, field string) (n int64) {
	for _, r := range records {
		n += number(r[field])
	}
	return n
}

// thousandths of a quantity.
func thousandths(v any) int64 { return int64(v.(float64)*1000 + 0.5) }

// Whatever the order and the parts in which a sale is refunded, no amount is ever negative, no more is refunded than was sold, and
// in the end all of it is refunded to the minor unit: per line, per method, in points and in stock.
func TestRefundsAddUp(t *testing.T) {
	t.Parallel()
	f := open(t, func(p *access.Principal) { p.Settings.AccrualPercentBP = 777 })
	rapid.Check(t, func(rt *rapid.T) {
		c := *f
		c.Client = f.server.Company(func(p *access.Principal) { p.Settings.AccrualPercentBP = 777 })
		c.addWarehouses()
		shift, ann := c.shift(), c.client(500)
		var items []any
		for range rapid.IntRange(1, 4).Draw(rt, "lines") {
			qty := float64(rapid.SampledFrom([]int64{1, 7, 333, 1000, 2000, 2500, 3000, 7000}).Draw(rt, "qty")) / 1000
			price := rapid.SampledFrom([]int64{0, 1, 3, 99, 1000, 33333}).Draw(rt, "price")
			switch rapid.IntRange(0, 2).Draw(rt, "kind") {
			case 0:
				items = append(items, custom(price, qty))
			case 1:
				items = append(items, map[string]any{"refId": c.wood, "qty": qty, "unitPrice": price})
			default:
				items = append(items, map[string]any{"refId": c.kit, "qty": qty, "unitPrice": price})
			}
		}
		pairs := []any{"items", items, "discountPercent", rapid.SampledFrom([]float64{0, 0.01, 12.5, 33.33, 99.99, 100}).Draw(rt, "discount"), "customerId", ann}
		plain := c.Do(t, "POST", "/sales/preview", body(shift, pairs...)).OK(200)
		redeem := rapid.Int64Range(0, min(500, number(plain["total"]))).Draw(rt, "redeem")
		pairs = append(pairs, "redeemPoints", redeem)
		if total := number(plain["total"]) - redeem; total > 1 {
			cash := rapid.Int64Range(1, total-1).Draw(rt, "cash")
			pairs = append(pairs, "paymentMethod", "mixed", "payments", []any{pay("cash", cash), pay("card", total-cash)})
		}
		sold := c.sale(shift, pairs...)
		lines, back := linesOf(sold), []map[string]any{}
		left := make([]int64, len(lines))
		for i, l := range lines {
			left[i] = thousandths(l["qty"])
		}
		paid := map[any]int64{}
		for _, p := range paymentsOf(sold) {
			paid[p["paymentMethod"]] += number(p["amount"])
		}
		perLine := map[any]map[string]int64{}
		for open := true; open; {
			var parts []any
			for i := range lines {
				if left[i] == 0 || rapid.Bool().Draw(rt, "skip") {
					continue
				}
				n := rapid.Int64Range(1, left[i]).Draw(rt, "part")
				if rapid.Bool().Draw(rt, "rest") {
					n = left[i]
				}
				left[i] -= n
				parts = append(parts, item(sold, i, float64(n)/1000))
			}
			of := []any{"items", parts}
			if len(parts) == 0 {
				of, left = nil, make([]int64, len(lines)) // the rest at once
			}
			v := c.refund(sold["id"], of...).OK(200)
			back = append(back, v)
			for _, field := range []string{"subtotal", "discountAmount", "total", "redeemedPoints", "earnedPoints"} {
				require.GreaterOrEqual(rt, number(v[field]), int64(0), field)
			}
			for _, l := range linesOf(v) {
				of := l["refundOfLineId"]
				if perLine[of] == nil {
					perLine[of] = map[string]int64{}
				}
				for _, field := range []string{"amount", "discountAmount", "total"} {
					require.GreaterOrEqual(rt, number(l[field]), int64(0), field)
					perLine[of][field] += number(l[field])
				}
				perLine[of]["qty"] += thousandths(l["qty"])
			}
			require.Equal(rt, number(v["total"]), sum(linesOf(v), "total"))
			require.Equal(rt, number(v["subtotal"]), sum(linesOf(v), "amount"))
			require.Equal(rt, number(v["total"]), sum(paymentsOf(v), "amount"))
			for _, p := range paymentsOf(v) {
				paid[p["paymentMethod"]] -= number(p["amount"])
				require.GreaterOrEqual(rt, paid[p["paymentMethod"]], int64(0))
			}
			open = false
			for _, n := range left {
				open = open || n > 0
			}
			now := c.readSale(sold["id"])
			require.Equal(rt, map[bool]any{true: "partial", false: "full"}[open], now["refundStatus"])
			require.Equal(rt, sum(back, "total"), number(now["refundedTotal"]))
		}
		for _, field := range []string{"subtotal", "discountAmount", "total", "redeemedPoints", "earnedPoints"} {
			require.Equal(rt, number(sold[field]), sum(back, field), field)
		}
		for _, l := range lines {
			want := map[string]int64{"amount": number(l["amount"]), "discountAmount": number(l["discountAmount"]), "total": number(l["total"]), "qty": thousandths(l["qty"])}
			require.Equal(rt, want, perLine[l["id"]])
		}
		for method, left := range paid {
			require.Zero(rt, left, method)
		}
		require.Equal(rt, int64(500), c.points(ann))
		require.Equal(rt, []string{"0", "0"}, []string{c.stock(c.depot, c.wood, uuid.Nil), c.stock(c.depot, c.nail, uuid.Nil)})
		v := c.readShift(shift)
		require.Equal(rt, []any{sold["total"], sold["total"], 1000.0}, []any{v["salesTotal"], v["refundsTotal"], v["expectedCash"]})
	})
}
