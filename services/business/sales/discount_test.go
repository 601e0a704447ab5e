package sales_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
)

// A sale with discounts of all kinds and added taxes, refunded in parts: the parts have its amounts.
func TestRefundsOfDiscountsAndTaxes(t *testing.T) {
	t.Parallel()
	f := open(t, func(p *access.Principal) {
		p.Settings.TaxMode, p.Settings.TaxRounding = access.TaxAdded, access.TaxPerDocument
	})
	rate := uuid.New()
	f.n.Rates = map[uuid.UUID]money.Percent{rate: 1900}
	shift, ann := f.shift(), f.client(100)
	thing := custom(333, 3)
	thing["taxRateId"], thing["discountPercent"] = rate, 10
	// 999 - 100 and 1000, less 10 % of 1899 = 190, 9 and 100 points: 1600, of which 757 are taxed with 144.
	pairs := []any{"items", []any{thing, custom(1000)}, "discountPercent", 10, "fixedDiscount", 9, "couponCode", "SPRING", "redeemPoints", 100, "customerId", ann}
	preview := f.Do(t, "POST", "/sales/preview", body(shift, pairs...)).OK(200)
	v := f.sale(shift, pairs...)
	for field, want := range map[string]any{
		"subtotal": 1999.0, "discountAmount": 299.0, "redeemedPoints": 100.0, "taxAmount": 144.0, "total": 1744.0, "couponCode": "SPRING", "fixedDiscount": 9.0,
		"taxes": []any{map[string]any{"taxRateId": rate.String(), "rate": 19.0, "base": 757.0, "amount": 144.0}},
	} {
		require.Equal(t, want, v[field], field)
		require.Equal(t, want, preview[field], field)
	}
	lines := v["lines"].([]any)
	first := lines[0].(map[string]any)
	sums := map[string]float64{}
	for range 3 {
		part := f.refund(v["id"], "items", []any{map[string]any{"saleLineId": first["id"], "qty": 1}}).OK(200)
		tax := part["taxes"].([]any)[0].(map[string]any)
		require.Equal(t, part["taxAmount"], tax["amount"])
		for _, field := range []string{"subtotal", "discountAmount", "redeemedPoints", "taxAmount", "total"} {
			sums[field] += part[field].(float64)
		}
	}
	rest := f.refund(v["id"]).OK(200)
	require.Equal(t, []any{}, rest["taxes"])
	for _, field := range []string{"subtotal", "discountAmount", "redeemedPoints", "taxAmount", "total"} {
		require.Equal(t, v[field], sums[field]+rest[field].(float64), field)
	}
	f.post(shift, "items", []any{custom(100)}, "redeemPoints", 101, "customerId", ann).Fault(409, "LOYALTY_POINTS_EXCEED_TOTAL")
}
