package orders_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// amounts are the fields of an order or line that are money.
func amounts(v map[string]any, fields ...string) (all []float64) {
	for _, f := range fields {
		all = append(all, v[f].(float64))
	}
	return all
}

func TestDiscountsOfLines(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	// 3 × 999 less 10 % (300) and 97: 2600; 3000 less at most 3000; of the 2600 that are left 50 % and 1.
	body := s.body("discountPercent", 50, "fixedDiscount", 1, "couponCode", " WELCOME ", "items", []any{
		map[string]any{"refId": s.wood, "qty": 3, "discountPercent": 10, "fixedDiscount": 97}, map[string]any{"kind": "service", "refId": s.fix, "fixedDiscount": 5000},
	})
	o := s.Do(t, "POST", "/orders", body).OK(201)
	require.Equal(t, []float64{5997, 4698, 1299, 1, 50}, amounts(o, "subtotal", "discountAmount", "total", "fixedDiscount", "discountPercent"))
	require.Equal(t, "WELCOME", o["couponCode"])
	require.Equal(t, []float64{2997, 1698, 1299, 10, 97}, amounts(line(o, 0), "amount", "discountAmount", "total", "discountPercent", "fixedDiscount"))
	require.Equal(t, []float64{3000, 3000, 0, 0, 5000}, amounts(line(o, 1), "amount", "discountAmount", "total", "discountPercent", "fixedDiscount"))
	preview := s.Do(t, "POST", "/orders/preview", body).OK(200)
	for _, field := range []string{"subtotal", "discountAmount", "total", "fixedDiscount", "couponCode", "taxAmount", "taxes", "taxMode"} {
		require.Equal(t, o[field], preview[field], field)
	}

	id := o["id"]
	same := s.patch(id, map[string]any{"items": []any{map[string]any{"refId": s.wood, "qty": 3}, map[string]any{"kind": "service", "refId": s.fix}}}).OK(200)
	require.Equal(t, o, same, "lines keep their discounts")
	o = s.patch(id, map[string]any{"fixedDiscount": 0, "couponCode": nil, "discountPercent": 0, "items": []any{map[string]any{"refId": s.wood, "qty": 1, "discountPercent": 0}}}).OK(200)
	require.Equal(t, []float64{999, 97, 902}, amounts(o, "subtotal", "discountAmount", "total"))
	require.Nil(t, o["couponCode"])
	require.Equal(t, map[string]string{"fixedDiscount": "MIN", "items[0].discountPercent": "MAX", "items[0].fixedDiscount": "MIN"}, s.Do(t, "POST", "/orders", s.body(
		"fixedDiscount", -1, "items", []any{map[string]any{"refId": s.wood, "discountPercent": 101, "fixedDiscount": -1}})).Fields())
}

// taxed gives an item of the shop a tax rate.
func (s *kit) taxed(r trade.ItemRef, id uuid.UUID, percent money.Percent) {
	item := s.n.Items[r]
	item.Tax = &trade.TaxRate{ID: id, Percent: percent}
	s.n.Items[r] = item
}

func TestTaxesOfOrders(t *testing.T) {
	t.Parallel()
	standard, reduced := uuid.New(), uuid.New()
	for mode, want := range map[string]struct {
		total, tax float64
		lines      []float64
		taxes      []any
	}{
		"included": {6057, 986, []float64{500, 486, 0}, []any{
			map[string]any{"taxRateId": standard.String(), "rate": 20.0, "base": 2497.0, "amount": 500.0},
			map[string]any{"taxRateId": reduced.String(), "rate": 19.35, "base": 2514.0, "amount": 486.0},
		}},
		"added": {7237, 1180, []float64{599, 581, 0}, []any{
			map[string]any{"taxRateId": standard.String(), "rate": 20.0, "base": 2997.0, "amount": 599.0},
			map[string]any{"taxRateId": reduced.String(), "rate": 19.35, "base": 3000.0, "amount": 581.0},
		}},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := open(t, nil, func(p *access.Principal) { p.Settings.TaxMode, p.Settings.TaxRounding = mode, access.TaxPerDocument })
			s.n.Rates = map[uuid.UUID]money.Percent{standard: 2000, reduced: 1935}
			s.taxed(trade.ItemRef{Kind: "product", ID: s.wood}, standard, 2000)
			items := []any{
				map[string]any{"refId": s.wood, "qty": 3},
				map[string]any{"kind": "service", "refId": s.fix, "taxRateId": reduced},
				map[string]any{"kind": "custom", "name": "Bag", "unitPrice": 60},
			}
			o := s.create("items", items, "deliveryCost", 500)
			require.Equal(t, []float64{want.total, want.tax, want.total + 500}, amounts(o, "total", "taxAmount", "amountDue"))
			require.Equal(t, []any{mode, "document"}, []any{o["taxMode"], o["taxRounding"]})
			require.Equal(t, want.taxes, o["taxes"])
			require.Equal(t, want.lines, []float64{line(o, 0)["taxAmount"].(float64), line(o, 1)["taxAmount"].(float64), line(o, 2)["taxAmount"].(float64)})
			require.Equal(t, []any{20.0, 19.35, nil, nil}, []any{line(o, 0)["taxRate"], line(o, 1)["taxRate"], line(o, 2)["taxRate"], line(o, 2)["taxRateId"]})
			require.Equal(t, o, s.read(o["id"].(string)))
			listed := s.Do(t, "GET", "/orders", nil).OK(200)["items"].([]any)[0].(map[string]any)
			require.Equal(t, []any{o["taxes"], o["taxAmount"]}, []any{listed["taxes"], listed["taxAmount"]})

			s.taxed(trade.ItemRef{Kind: "product", ID: s.wood}, standard, 2200)
			s.n.Rates[standard] = 2200
			require.Equal(t, o, s.patch(o["id"], map[string]any{"items": items}).OK(200), "lines keep the percentage")
			s.patch(o["id"], map[string]any{"items": []any{map[string]any{"refId": s.wood, "taxRateId": uuid.New()}}}).Fault(404, "TAX_RATE_NOT_FOUND")
			o = s.patch(o["id"], map[string]any{"items": []any{map[string]any{"refId": s.wood}}, "reprice": true}).OK(200)
			require.Equal(t, []any{22.0, mode}, []any{line(o, 0)["taxRate"], o["taxMode"]})
			o = s.patch(o["id"], map[string]any{"discountPercent": 100}).OK(200)
			require.Equal(t, []float64{0, 0}, amounts(o, "total", "taxAmount"))
		})
	}
}
