package sales_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
)

func TestRefund(t *testing.T) {
	t.Parallel()
	f := open(t, func(p *access.Principal) { p.Settings.AccrualPercentBP = 1000 })
	shift, ann := f.shift(), f.client(300)
	sold := f.sale(shift, "customerId", ann, "redeemPoints", 200, "discountPercent", 33.33, "paymentMethod", "mixed",
		"items", []any{custom(1000), custom(7, 0.333), map[string]any{"refId": f.wood, "qty": 2}},
		"payments", []any{pay("cash", 800), pay("card", 1000)}, "receivedAmount", 900)
	id := sold["id"].(string)
	require.Equal(t, 1800.0, sold["total"])
	require.Equal(t, int64(280), f.points(ann), "300 less 200 and 180 earned")
	f.Do(t, "POST", "/sales/"+id+"/refund", nil, apitest.Header{"If-Match", `"2"`}).Fault(412, "PRECONDITION_FAILED")

	got := f.refund(id)
	back := got.OK(200)
	require.Equal(t, `"1"`, got.Header.Get("ETag"), "of the receipt of the refund")
	require.NotEqual(t, id, back["id"])
	for field, want := range sold {
		switch field {
		case "id", "createdAt", "updatedAt", "soldAt", "lines", "payments":
		case "number":
			require.Equal(t, 2.0, back[field], "sales and refunds count together")
		case "kind":
			require.Equal(t, "refund", back[field])
		case "refundOfSaleId":
			require.Equal(t, id, back[field])
		case "receivedAmount", "changeAmount":
			require.Nil(t, back[field])
		default:
			require.Equal(t, want, back[field], field)
		}
	}
	for _, part := range []string{"lines", "payments"} {
		was, is := sold[part].([]any), back[part].([]any)
		require.Len(t, is, len(was))
		for i := range was {
			for field, want := range was[i].(map[string]any) {
				if field == "id" {
					require.NotEqual(t, want, is[i].(map[string]any)[field])
				} else if field == "refundOfLineId" {
					require.Equal(t, was[i].(map[string]any)["id"], is[i].(map[string]any)[field])
				} else if field != "createdAt" {
					require.Equal(t, want, is[i].(map[string]any)[field], "%s[%d].%s", part, i, field)
				}
			}
		}
	}
	require.Equal(t, back, f.Do(t, "GET", "/sales/"+back["id"].(string), nil).OK(200))
	after := f.Do(t, "GET", "/sales/"+id, nil).OK(200)
	require.Equal(t, back["id"], after["refundedBySaleId"])
	require.Equal(t, []any{"full", sold["total"]}, []any{after["refundStatus"], after["refundedTotal"]})
	for _, l := range after["lines"].([]any) {
		require.Equal(t, l.(map[string]any)["qty"], l.(map[string]any)["refundedQty"])
	}
	for _, p := range after["payments"].([]any) {
		require.Equal(t, p.(map[string]any)["amount"], p.(map[string]any)["refundedAmount"])
	}
	require.Equal(t, 2.0, after["version"])
	require.Equal(t, "0", f.stock(f.depot, f.wood, uuid.Nil))
	require.Equal(t, int64(300), f.points(ann))
	events := f.events().Of("sale.completed", "sale.refunded")
	require.Equal(t, []string{"sale.completed", "sale.refunded"}, events.Names())
	require.Equal(t, []any{sold, back}, []any{events[0].Data, events[1].Data})

	v := f.readShift(shift)
	for field, want := range map[string]any{
		"salesCount": 1.0, "refundsCount": 1.0, "salesTotal": 1800.0, "refundsTotal": 1800.0, "expectedCash": 1000.0,
		"totalsByMethod": map[string]any{"cash": 0.0, "card": 0.0, "sbp": 0.0},
	} {
		require.Equal(t, want, v[field], field)
	}

	meta := f.refund(id).Fault(409, "SALE_ALREADY_REFUNDED")["meta"]
	require.Equal(t, map[string]any{"refundSaleId": back["id"]}, meta)
	f.refund(back["id"]).Fault(409, "SALE_IS_REFUND")
	f.refund(uuid.NewString()).Fault(404, "SALE_NOT_FOUND")
	f.server.Company().Do(t, "POST", "/sales/"+id+"/refund", nil).Fault(404, "SALE_NOT_FOUND")
	f.noGaps()
}

// The refund goes to the shift of the sale while it is open, then to the shift of the token, and else nowhere.
func TestShiftOfARefund(t *testing.T) {
	t.Parallel()
	f := open(t)
	shift := f.shift()
	other := f.server.Caller(f.Principal.Company)
	theirs := other.Do(t, "POST", "/shifts/open", `{"openingCash":0}`).OK(201)["id"].(string)
	first, second, third := f.sale(shift)["id"], f.sale(shift)["id"], f.sale(shift)["id"]
	back := other.Do(t, "POST", "/sales/"+first.(string)+"/refund", nil).OK(200)
	require.Equal(t, shift, back["shiftId"], "the shift of the sale, also for another token")
	require.Equal(t, other.Principal.Actor.String(), back["cashierId"])
	f.Do(t, "POST", "/shifts/"+shift+"/close", nil).OK(200)
	f.refund(second).Fault(409, "SHIFT_NOT_OPEN")
	back = other.Do(t, "POST", "/sales/"+second.(string)+"/refund", nil).OK(200)
	require.Equal(t, theirs, back["shiftId"])
	require.Equal(t, -1000.0, other.Do(t, "GET", "/shifts/"+theirs, nil).OK(200)["expectedCash"])
	require.Equal(t, 3000.0, f.readShift(shift)["expectedCash"], "closed shifts do not change: 1000 at the start, three sales, one refund")
	mine := f.shift()
	require.Equal(t, mine, f.refund(third).OK(200)["shiftId"])
	f.noGaps()
}

// The warehouse that sold the goods may be gone when they come back.
func TestRefundToAnotherWarehouse(t *testing.T) {
	t.Parallel()
	f := open(t)
	sale := f.sale(f.shift(), "items", []any{map[string]any{"kind": "product", "refId": f.wood, "qty": 3}})
	require.Equal(t, "-3", f.stock(f.depot, f.wood, uuid.Nil))
	f.refund(sale["id"], "warehouseId", uuid.New()).Fault(404, "WAREHOUSE_NOT_FOUND")
	part := []any{map[string]any{"saleLineId": linesOf(sale)[0]["id"], "qty": 1}}
	require.Equal(t, f.north.String(), f.refund(sale["id"], "warehouseId", f.north, "items", part).OK(200)["warehouseId"])
	f.refund(sale["id"], "items", part).OK(200)
	require.Equal(t, []string{"-2", "1"}, []string{f.stock(f.depot, f.wood, uuid.Nil), f.stock(f.north, f.wood, uuid.Nil)})
	services := f.sale(sale["shiftId"].(string), "items", []any{map[string]any{"kind": "service", "refId": f.fix}})
	require.Nil(t, f.refund(services["id"], "warehouseId", f.north).OK(200)["warehouseId"], "nothing goes back")
}

// Taking back points that were spent leaves the client with negative ones.
func TestRefundOfSpentPoints(t *testing.T) {
	t.Parallel()
	f := open(t, func(p *access.Principal) { p.Settings.AccrualPercentBP = 1000 })
	shift, ann := f.shift(), f.client(0)
	id := f.sale(shift, "customerId", ann)["id"]
	require.Equal(t, int64(100), f.points(ann))
	f.sale(shift, "customerId", ann, "redeemPoints", 90, "items", []any{custom(90)})
	f.Do(t, "POST", "/clients/"+ann+"/archive", nil).OK(200)
	f.refund(id).OK(200)
	require.Equal(t, int64(-90), f.points(ann))
	f.Do(t, "POST", "/clients/"+ann+"/restore", nil).OK(200)
	f.post(shift, "customerId", ann, "redeemPoints", 1).Fault(409, "LOYALTY_POINTS_INSUFFICIENT")
	require.Equal(t, int64(10), func() int64 { f.sale(shift, "customerId", ann); return f.points(ann) }())
}

func TestRefundOfAFreeSale(t *testing.T) {
	t.Parallel()
	f := open(t)
	back := f.refund(f.sale(f.shift(), "discountPercent", 100)["id"]).OK(200)
	require.Equal(t, 0.0, back["total"])
	require.Empty(t, back["payments"])
}

// A refund that is told twice is refused as that, although nothing is left to refund.
func TestRefundsToldTwice(t *testing.T) {
	t.Parallel()
	f := open(t)
	id := f.sale(f.shift())["id"].(string)
	back := f.refund(id, "externalId", "r-1").OK(200)
	require.Equal(t, back["id"], f.refund(id, "externalId", "r-1").Fault(409, "SALE_EXTERNAL_ID_TAKEN")["meta"].(map[string]any)["id"])
	f.refund(id).Fault(409, "SALE_ALREADY_REFUNDED")
}
