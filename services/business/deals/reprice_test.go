package deals_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
)

// A deal that is sent again after a change in the catalog, or for another client, keeps its prices and costs.
func TestLinesKeepTheirPricesAndCosts(t *testing.T) {
	t.Parallel()
	k, s := setup(t)
	body := object{"typeId": k.typeOf("sales").ID, "items": []any{object{"refId": s.tea, "qty": 2}, object{"kind": "service", "refId": s.guide, "unitCost": 7}}}
	at := "/deals/by-external-id/shop/1"
	d := k.Do(t, "PUT", at, body).OK(201)
	require.Equal(t, []any{500.0*2 + 9000, 200.0*2 + 7}, []any{d["total"], d["cost"]})
	for ref, item := range k.Items {
		item.Price, item.Cost = 1, money.Amount(2)
		k.Items[ref] = item
	}
	require.Equal(t, d, k.Do(t, "PUT", at, body).OK(200), "nothing changed")
	body["clientId"] = s.client
	d = k.Do(t, "PUT", at, body).OK(200)
	require.Equal(t, []any{500.0*2 + 9000, 200.0*2 + 7}, []any{d["total"], d["cost"]}, "also for a client with a price list")
	body["reprice"] = true
	d = k.Do(t, "PUT", at, body).OK(200)
	require.Equal(t, []any{450.0*2 + 1, 2.0*2 + 7}, []any{d["total"], d["cost"]})
}
