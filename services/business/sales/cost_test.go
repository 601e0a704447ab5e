package sales_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/services/business/trade/tradetest"
)

// priced sets what an item costs.
func (f *kit) priced(id uuid.UUID, cost money.Amount) {
	ref := tradetest.Product(id, uuid.Nil)
	item := f.n.Items[ref]
	item.Cost = cost
	f.n.Items[ref] = item
}

func (f *kit) costs(id string) map[string]any {
	f.t.Helper()
	return f.Do(f.t, "GET", "/sales/"+id+"?include=costs", nil).OK(200)
}

// A sale keeps what its goods cost when they were sold, refunds take their parts of that, and only who may read the catalog sees it.
func TestCostsOfASale(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.priced(f.wood, 333)
	shift := f.shift()
	made := f.sale(shift, "items", []any{map[string]any{"refId": f.wood, "qty": 3}, map[string]any{"refId": f.nail, "qty": 2}, custom(100)}, "fixedDiscount", 17)
	require.NotContains(t, made, "costs")
	id := made["id"].(string)
	f.priced(f.wood, 9000)

	v := f.costs(id)
	require.Equal(t, made["version"], v["version"])
	// 3 × 999 = 2997 of 3117; of the discount of 17 it has 16.
	line := v["lines"].([]any)[0].(map[string]any)
	require.Equal(t, map[string]any{"unitCost": 333.0, "cost": 999.0, "margin": 1982.0, "marginPercent": 66.49}, line["costs"])
	for _, unknown := range v["lines"].([]any)[1:] {
		require.Equal(t, map[string]any{"unitCost": nil, "cost": nil, "margin": nil, "marginPercent": nil}, unknown.(map[string]any)["costs"], "an item without a cost, and a custom line")
	}
	require.Equal(t, map[string]any{"cost": 999.0, "margin": 1982.0, "marginPercent": 66.49, "costedAmount": 2981.0}, v["costs"])

	var back float64
	for range 3 {
		r := f.costs(f.refund(id, "items", []any{item(v, 0, 1)}).OK(200)["id"].(string))
		back += r["costs"].(map[string]any)["cost"].(float64)
	}
	require.InDelta(t, 999, back, 0, "refunds have the whole cost")
	last := f.costs(f.refund(id).OK(200)["id"].(string))
	require.Equal(t, map[string]any{"cost": nil, "margin": nil, "marginPercent": nil, "costedAmount": 0.0}, last["costs"])

	list := f.Do(t, "GET", "/sales?include=lines,costs&kind=sale", nil).OK(200)["items"].([]any)[0].(map[string]any)
	require.Equal(t, v["costs"], list["costs"])
	require.Equal(t, line["costs"], list["lines"].([]any)[0].(map[string]any)["costs"])
	require.NotContains(t, f.Do(t, "GET", "/sales?include=lines", nil).OK(200)["items"].([]any)[0], "costs")

	till := f.server.Company(func(p *access.Principal) { p.Company, p.Scopes = f.Principal.Company, apitest.Scopes("sales:write") })
	require.NotContains(t, till.Do(t, "GET", "/sales/"+id, nil).OK(200), "costs")
	till.Do(t, "GET", "/sales/"+id+"?include=costs", nil).Fault(403, "AUTH_API_SCOPE_INSUFFICIENT")
	till.Do(t, "GET", "/sales?include=costs", nil).Fault(403, "AUTH_API_SCOPE_INSUFFICIENT")
	for _, e := range f.events() {
		require.NotContains(t, e.Data, "costs", e.Name)
	}
}
