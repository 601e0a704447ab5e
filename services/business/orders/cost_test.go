package orders_test

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
func (s *kit) priced(id uuid.UUID, cost money.Amount) {
	ref := tradetest.Product(id, uuid.Nil)
	item := s.n.Items[ref]
	item.Cost = cost
	s.n.Items[ref] = item
}

func (s *kit) costs(id any) map[string]any {
	s.t.Helper()
	return s.Do(s.t, "GET", "/orders/"+id.(string)+"?include=costs", nil).OK(200)
}

// An order keeps what its goods cost when their lines were made, less what returns have taken back, and only who may read the catalog
// sees it.
func TestCostsOfAnOrder(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	s.priced(s.wood, 333)
	items := []any{map[string]any{"refId": s.wood, "qty": 3}, map[string]any{"refId": s.bolt, "qty": 2}}
	o := s.create("items", items, "discountPercent", 10)
	require.NotContains(t, o, "costs")
	s.priced(s.wood, 9000)
	s.priced(s.bolt, 100)

	// 3 × 999 = 2997, less a discount of 300 (of 349.7, spread over 2997 and 500).
	unknown := map[string]any{"unitCost": nil, "cost": nil, "margin": nil, "marginPercent": nil}
	check := func(line, sum map[string]any) {
		t.Helper()
		v := s.costs(o["id"])
		require.Equal(t, line, v["lines"].([]any)[0].(map[string]any)["costs"])
		require.Equal(t, unknown, v["lines"].([]any)[1].(map[string]any)["costs"])
		require.Equal(t, sum, v["costs"])
	}
	check(map[string]any{"unitCost": 333.0, "cost": 999.0, "margin": 1698.0, "marginPercent": 62.96},
		map[string]any{"cost": 999.0, "margin": 1698.0, "marginPercent": 62.96, "costedAmount": 2697.0})

	// Other lines of the same items go on with their costs.
	items[0].(map[string]any)["qty"] = 6
	s.patch(o["id"], map[string]any{"items": items}).OK(200)
	check(map[string]any{"unitCost": 333.0, "cost": 1998.0, "margin": 3397.0, "marginPercent": 62.97},
		map[string]any{"cost": 1998.0, "margin": 3397.0, "marginPercent": 62.97, "costedAmount": 5395.0})

	for _, next := range []string{"confirmed", "in_progress", "ready", "completed"} {
		s.move(o["id"], next).OK(200)
	}
	first := s.costs(o["id"])["lines"].([]any)[0].(map[string]any)
	back := s.Do(t, "POST", "/orders/"+o["id"].(string)+"/returns", map[string]any{"items": []any{map[string]any{"orderLineId": first["id"], "qty": 2}}, "fee": 50}).OK(201)
	v := s.costs(o["id"])
	credited := back["amount"].(float64)
	require.Equal(t, map[string]any{"cost": 1332.0, "margin": 5395 - credited - 1332, "marginPercent": 62.97, "costedAmount": 5395 - credited}, v["costs"])
	s.Do(t, "POST", "/orders/"+o["id"].(string)+"/returns", nil).OK(201)
	require.Equal(t, map[string]any{"cost": nil, "margin": nil, "marginPercent": nil, "costedAmount": 0.0}, s.costs(o["id"])["costs"], "all came back")

	repriced := s.create("items", items)
	require.Equal(t, 100.0, s.costs(repriced["id"])["lines"].([]any)[1].(map[string]any)["costs"].(map[string]any)["unitCost"])
	list := s.Do(t, "GET", "/orders?include=costs,lines", nil).OK(200)["items"].([]any)
	require.Equal(t, s.costs(repriced["id"])["costs"], list[0].(map[string]any)["costs"])

	clerk := s.server.Company(func(p *access.Principal) { p.Company, p.Scopes = s.Principal.Company, apitest.Scopes("orders:write") })
	clerk.Do(t, "GET", "/orders/"+o["id"].(string)+"?include=costs", nil).Fault(403, "AUTH_API_SCOPE_INSUFFICIENT")
	clerk.Do(t, "GET", "/orders?include=costs", nil).Fault(403, "AUTH_API_SCOPE_INSUFFICIENT")
	for _, e := range apitest.RaisedBy(t, s.d, s.Principal.Company) {
		require.NotContains(t, e.Data, "costs", e.Name)
	}
}
