package invoices_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
)

// An invoice charges what the order does, also after returns, and its lines, taxes and totals add up to that.
func TestInvoicesAddUp(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{access.TaxIncluded, access.TaxAdded} {
		for _, rounding := range []string{access.TaxPerLine, access.TaxPerDocument} {
			t.Run(mode+" "+rounding, func(t *testing.T) {
				t.Parallel()
				s := open(t, func(p *access.Principal) { p.Settings.TaxMode, p.Settings.TaxRounding = mode, rounding })
				rapid.Check(t, s.invoiceAnOrder)
			})
		}
	}
}

func (s *kit) invoiceAnOrder(rt *rapid.T) {
	items := make([]any, rapid.IntRange(1, 4).Draw(rt, "lines"))
	for i := range items {
		items[i] = object{
			"refId": rapid.SampledFrom([]any{s.wood, s.bolt}).Draw(rt, "product"), "qty": float64(rapid.IntRange(1, 9000).Draw(rt, "qty")) / 1000,
			"unitPrice": rapid.IntRange(0, 5000).Draw(rt, "price"), "discountPercent": rapid.IntRange(0, 100).Draw(rt, "percent"), "fixedDiscount": rapid.IntRange(0, 300).Draw(rt, "off"),
		}
	}
	o := s.order("items", items, "discountPercent", rapid.IntRange(0, 30).Draw(rt, "all"), "fixedDiscount", rapid.IntRange(0, 500).Draw(rt, "fixed"), "deliveryCost", rapid.IntRange(0, 900).Draw(rt, "delivery"))
	path := "/orders/" + o["id"].(string)
	returned := rapid.IntRange(0, 2).Draw(rt, "returns")
	if returned > 0 {
		s.complete(o)
	}
	for range returned {
		s.giveBack(rt, path)
	}
	o = s.get(path)
	res := s.issue(o)
	if res.Status == 409 {
		res.Fault(409, "INVOICE_NOTHING_TO_CHARGE")
		for _, l := range o["lines"].([]any) {
			require.Equal(rt, l.(object)["qty"], l.(object)["returnedQty"])
		}
		return
	}
	i := res.OK(201)
	require.Equal(rt, o["payable"], i["payable"], "it charges what the order does")
	require.Equal(rt, amount(i, "payable"), amount(i, "total")+amount(i, "deliveryCost")+amount(i, "returnFees"))
	addsUp(rt, i)
}

// giveBack returns a part of a line, with a fee and for less than it cost at times.
func (s *kit) giveBack(rt *rapid.T, path string) {
	lines := s.get(path)["lines"].([]any)
	l := lines[rapid.IntRange(0, len(lines)-1).Draw(rt, "line")].(object)
	left := int(l["qty"].(float64)*1000+0.5) - int(l["returnedQty"].(float64)*1000+0.5)
	if left == 0 {
		return
	}
	item := object{"orderLineId": l["id"], "qty": float64(rapid.IntRange(1, left).Draw(rt, "back")) / 1000}
	if rapid.Bool().Draw(rt, "for less") {
		item["amount"] = rapid.IntRange(0, 50).Draw(rt, "credited")
	}
	body := object{"items": []any{item}, "restock": false}
	if rapid.Bool().Draw(rt, "fee?") {
		body["fee"] = 1
	}
	if rapid.Bool().Draw(rt, "delivery back?") {
		body["deliveryAmount"] = 1
	}
	if r := s.Do(s.t, "POST", path+"/returns", body); r.Status != 201 {
		r.Fault(409, "RETURN_AMOUNT_EXCEEDED")
	}
}

// addsUp checks an invoice in itself: lines, taxes by rate, totals.
func addsUp(rt *rapid.T, i object) {
	var subtotal, discount, tax, total money.Amount
	byRate := map[string]money.Amount{}
	for _, each := range i["lines"].([]any) {
		l := each.(object)
		net := amount(l, "amount") - amount(l, "discountAmount")
		if i["taxMode"] == access.TaxAdded {
			net += amount(l, "taxAmount")
		}
		require.Equal(rt, amount(l, "total"), net)
		for _, field := range []string{"amount", "discountAmount", "taxAmount", "total"} {
			require.GreaterOrEqual(rt, amount(l, field), money.Amount(0), field)
		}
		subtotal, discount, tax, total = subtotal+amount(l, "amount"), discount+amount(l, "discountAmount"), tax+amount(l, "taxAmount"), total+amount(l, "total")
		byRate[fmt.Sprint(l["taxRateId"])] += amount(l, "total")
	}
	require.Equal(rt, []money.Amount{amount(i, "subtotal"), amount(i, "discountAmount"), amount(i, "taxAmount"), amount(i, "total")}, []money.Amount{subtotal, discount, tax, total})
	for _, each := range i["taxes"].([]any) {
		t := each.(object)
		require.Equal(rt, byRate[fmt.Sprint(t["taxRateId"])], amount(t, "base")+amount(t, "amount"))
		tax -= amount(t, "amount")
	}
	require.Zero(rt, tax, "the taxes by rate are all of it")
}
