package deals_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
)

// Discounts and taxes of a deal follow the number of guests.
func TestDiscountsAndTaxesOfDeals(t *testing.T) {
	t.Parallel()
	k, s := setup(t)
	rate := uuid.New()
	k.Rates = map[uuid.UUID]money.Percent{rate: 2500}
	d := k.post(object{"headcount": 3, "fixedDiscount": 100, "couponCode": "GUESTS", "items": []object{
		{"refId": s.tea, "qty": 1, "perGuest": true, "discountPercent": 10, "taxRateId": rate, "unitPrice": 500},
	}})
	amounts := func(d object) []any { return []any{d["subtotal"], d["discountAmount"], d["total"], d["taxAmount"]} }
	require.Equal(t, []any{1500.0, 250.0, 1250.0, 250.0}, amounts(d))
	require.Equal(t, []any{object{"taxRateId": rate.String(), "rate": 25.0, "base": 1000.0, "amount": 250.0}}, d["taxes"])
	d = k.Do(t, "PATCH", "/deals/"+d["id"].(string), object{"headcount": 1}).OK(200)
	require.Equal(t, []any{500.0, 150.0, 350.0, 70.0}, amounts(d))
	require.Equal(t, d, k.read(d["id"]))
	require.Equal(t, d, k.Do(t, "PATCH", "/deals/"+d["id"].(string), object{"items": []object{{"refId": s.tea, "perGuest": true}}}).OK(200))
}
