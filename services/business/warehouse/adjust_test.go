package warehouse_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

func TestAdjustment(t *testing.T) {
	t.Parallel()
	s := open(t)
	tools := s.category("Tools", nil)
	p := s.product("Hammer", "sku", "H-1", "categoryId", tools)
	res := s.adjust(p, 12)
	st := res.OK(201)
	require.Empty(t, res.Header.Get("Location"), "a stock record has no URL")
	for field, want := range map[string]any{
		"productId": p, "productName": "Hammer", "productSku": "H-1", "variantId": nil, "variantSku": nil, "variantAttributes": nil, "categoryId": tools, "categoryName": "Tools",
		"warehouseId": s.main, "warehouseName": "Centre", "qty": 12.0, "reserved": 0.0, "available": 12.0, "reorderPoint": 0.0, "isLowStock": false,
		"companyId": s.Principal.Company.String(),
	} {
		require.Contains(t, st, field)
		require.Equal(t, want, st[field], field)
	}
	listed := s.list("/warehouse/stocks")[0]
	require.Equal(t, st, listed, "the list shows the same record")

	moved := s.events("stock.movement.created")
	require.Len(t, moved, 1)
	for field, want := range map[string]any{
		"type": "adjustment", "productId": p, "productName": "Hammer", "productSku": "H-1", "variantId": nil, "warehouseId": s.main, "warehouseName": "Centre",
		"delta": 12.0, "qtyBefore": 0.0, "qtyAfter": 12.0, "documentType": nil, "documentId": nil, "documentNumber": nil, "reason": "count", "createdById": s.Principal.Actor.String(),
	} {
		require.Contains(t, moved[0], field)
		require.Equal(t, want, moved[0][field], field)
	}
	set := s.events("stock.adjusted")
	require.Len(t, set, 1)
	for field, want := range map[string]any{"previousQty": 0.0, "delta": 12.0, "reason": "count", "movementId": moved[0]["id"]} {
		require.Equal(t, want, set[0][field], field)
	}
	for field, want := range st {
		require.Equal(t, want, set[0][field], field)
	}
	require.Equal(t, moved[0], s.list("/warehouse/movements")[0])

	again := s.adjust(p, 12).OK(201)
	require.Equal(t, st, again, "no difference, no change")
	require.Len(t, s.events("stock.movement.created"), 1)
	require.Len(t, s.events("stock.adjusted"), 1)
	require.EqualValues(t, -3, s.adjust(p, -3, "reason", "  lost ").OK(201)["qty"])
	last := s.events("stock.adjusted")[1]
	require.Equal(t, []any{12.0, -15.0, "lost"}, []any{last["previousQty"], last["delta"], last["reason"]})
	require.Empty(t, s.events("stock.low"))
}

func TestAdjustmentOfNothingMakesTheRow(t *testing.T) {
	t.Parallel()
	s := open(t)
	st := s.adjust(s.product("Nail"), 0).OK(201)
	require.EqualValues(t, 0, st["qty"])
	require.Empty(t, apitest.Events(t, s.d, s.Principal.Company)[1:], "the product was created, and nothing else")
	require.Len(t, s.list("/warehouse/stocks"), 1)
}

func TestExpectedQty(t *testing.T) {
	t.Parallel()
	s := open(t)
	p := s.product("Nail")
	s.adjust(p, 4, "expectedQty", 0).OK(201)
	require.Equal(t, map[string]any{"qty": 4.0}, s.adjust(p, 9, "expectedQty", 3).Fault(409, "STOCK_CHANGED")["meta"])
	s.adjust(p, 4, "expectedQty", 3).Fault(409, "STOCK_CHANGED")
	s.adjust(p, 9, "expectedQty", 4).OK(201)
	answers := together(t, 10, func(i int) *apitest.Response { return s.adjust(p, 20+i, "expectedQty", 9) })
	require.Equal(t, map[string]int{"ok": 1, "STOCK_CHANGED": 9}, answers)
	require.Len(t, s.events("stock.adjusted"), 3)
}

// A difference is added to what is there when the row is locked, so concurrent ones add up.
func TestAdjustmentByDifference(t *testing.T) {
	t.Parallel()
	s := open(t)
	p := s.product("Nail")
	by := func(s *shop, p string, delta any, pairs ...any) *apitest.Response {
		return s.adjust(p, 0, append([]any{"targetQty", nil, "delta", delta}, pairs...)...)
	}
	require.EqualValues(t, 2.5, by(s, p, 2.5).OK(201)["qty"])
	require.Equal(t, map[string]int{"ok": 10}, together(t, 10, func(int) *apitest.Response { return by(s, p, 1) }))
	require.EqualValues(t, 12.5, by(s, p, 0).OK(201)["qty"])
	require.Len(t, s.events("stock.adjusted"), 11, "a difference of 0 is none")
	by(s, p, -1, "expectedQty", 3).Fault(409, "STOCK_CHANGED")
	last := by(s, p, -13, "expectedQty", 12.5).OK(201)
	require.EqualValues(t, -0.5, last["qty"], "the policy allows it")
	require.Equal(t, map[string]string{"delta": "TYPE"}, by(s, p, "7").Fields())
	require.Contains(t, by(s, p, 0.0001).Fields(), "delta")

	strict := open(t, func(p *access.Principal) { p.Settings.StockPolicy = access.StockBlock })
	p = strict.product("Nail")
	by(strict, p, 3).OK(201)
	fault := by(strict, p, -4).Fault(409, "STOCK_INSUFFICIENT")
	line := map[string]any{"productId": p, "variantId": nil, "warehouseId": strict.main, "required": 4.0, "available": 3.0}
	require.Equal(t, map[string]any{"lines": []any{line}}, fault["meta"])
	require.EqualValues(t, 0, by(strict, p, -3).OK(201)["qty"])
	strict.adjust(p, -2).OK(201)
	require.EqualValues(t, -1, by(strict, p, 1).OK(201)["qty"], "what comes is always taken")
}

func TestWhatCannotBeAdjusted(t *testing.T) {
	t.Parallel()
	s := open(t)
	p, without := s.product("Nail"), s.product("Advice", "hasStock", false)
	missing := uuid.NewString()
	for code, pairs := range map[string][]any{
		"PRODUCT_NOT_FOUND":         {"productId", missing},
		"PRODUCT_VARIANT_NOT_FOUND": {"variantId", missing},
		"WAREHOUSE_NOT_FOUND":       {"warehouseId", missing},
	} {
		fault := s.adjust(p, 1, pairs...).Fault(404, code)
		require.Equal(t, map[string]any{"field": pairs[0], "id": missing}, fault["meta"])
	}
	s.adjust(without, 1).Fault(409, "STOCK_ACCOUNTING_DISABLED")
	other := open(t)
	other.adjust(p, 1).Fault(404, "PRODUCT_NOT_FOUND")
	other.adjust(other.product("Nail"), 1, "warehouseId", s.main).Fault(404, "WAREHOUSE_NOT_FOUND")
	require.Empty(t, s.list("/warehouse/stocks"))

	require.Equal(t, map[string]string{"warehouseId": "REQUIRED", "reason": "REQUIRED"},
		s.Do(t, "POST", "/warehouse/stocks/adjust", `{}`).Fields())
	require.Equal(t, map[string]string{"productId": "REQUIRED"},
		s.Do(t, "POST", "/warehouse/stocks/adjust", map[string]any{"warehouseId": s.main, "targetQty": 1, "reason": "x"}).Fields())
	require.Equal(t, map[string]string{"targetQty": "REQUIRED"},
		s.Do(t, "POST", "/warehouse/stocks/adjust", map[string]any{"warehouseId": s.main, "productId": p, "reason": "x"}).Fields())
	require.Equal(t, map[string]string{"delta": "CONFLICT"}, s.adjust(p, 1, "delta", 2).Fields())
	for field, bad := range map[string]any{
		"targetQty": 1.5, "targetQty ": 1_000_000_001, "targetQty  ": -1_000_000_001, "targetQty   ": "7", "reason": " ", "expectedQty": "x", "reorderPoint": -1, "variantId": "x",
	} {
		name := field
		for name[len(name)-1] == ' ' {
			name = name[:len(name)-1]
		}
		require.Contains(t, s.adjust(p, 1, name, bad).Fields(), name)
	}
}

func TestVariantIsRequired(t *testing.T) {
	t.Parallel()
	w := setup(t, open(t).d, access.StockAllowNegative)
	k := w.keys[0]
	large := trade.StockKey{Product: k.Product, Variant: uuid.New()}
	w.p[k] = trade.StockProduct{Name: "Shirt", SKU: "S", HasStock: true, HasVariants: true}
	w.p[large] = trade.StockProduct{Name: "Shirt", SKU: "S", VariantSKU: new("S-L"), VariantAttributes: map[string]string{"Size": "L"}, HasStock: true, HasVariants: true}
	err := w.set(k, 3)
	require.True(t, apierr.Is(err, "PRODUCT_VARIANT_REQUIRED"), "%v", err)
	require.NoError(t, w.set(large, 3))
	moved := events(t, w.d, w.by.Company, "stock.movement.created")
	require.Equal(t, []any{large.Variant.String(), "S-L"}, []any{moved[0]["variantId"], moved[0]["variantSku"]})
	set := events(t, w.d, w.by.Company, "stock.adjusted")
	require.Equal(t, map[string]any{"Size": "L"}, set[0]["variantAttributes"])
}

// move takes out or puts in pieces of products as a document does.
func (s *shop) move(movement string, pieces int64, products ...string) error {
	s.t.Helper()
	var deltas []trade.StockDelta
	for _, p := range products {
		deltas = append(deltas, trade.StockDelta{Warehouse: uuid.MustParse(s.main), StockKey: trade.StockKey{Product: uuid.MustParse(p)}, Qty: units(pieces)})
	}
	return s.d.RunTx(s.t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		return s.s.Move(ctx, tx, s.caller(), trade.StockDocument{Movement: movement, Type: trade.DocumentSale, ID: uuid.New(), Number: 7}, deltas)
	}, db.ReadCommitted())
}

func TestStockBecomesLow(t *testing.T) {
	t.Parallel()
	s := open(t)
	p := s.product("Nail")
	low := func() (all []any) { return column(s.events("stock.low"), "qty") }
	require.Equal(t, true, s.adjust(p, 4, "reorderPoint", 5).OK(201)["isLowStock"])
	require.Equal(t, []any{4.0}, low(), "an adjustment to a low quantity")
	s.adjust(p, 3).OK(201)
	require.Len(t, low(), 1, "it was low before")
	s.adjust(p, 6).OK(201)
	require.NoError(t, s.move(trade.MovementSale, -1, p))
	require.Equal(t, []any{4.0, 5.0}, low(), "a sale down to the reorder point")
	require.NoError(t, s.move(trade.MovementSale, -1, p))
	require.NoError(t, s.move(trade.MovementRefund, 4, p))
	require.Len(t, low(), 2)
	require.Equal(t, true, s.adjust(p, 8, "reorderPoint", 8).OK(201)["isLowStock"])
	require.Equal(t, []any{4.0, 5.0, 8.0}, low(), "a higher reorder point")
	require.Equal(t, false, s.adjust(p, 8, "reorderPoint", 0).OK(201)["isLowStock"])
	require.NoError(t, s.move(trade.MovementSale, -9, p))
	require.Len(t, low(), 3, "without a reorder point nothing is low")
	last := s.events("stock.low")[2]
	require.Equal(t, []any{p, "Nail", s.main, "Centre", true}, []any{last["productId"], last["productName"], last["warehouseId"], last["warehouseName"], last["isLowStock"]})
	require.Len(t, s.events("stock.adjusted"), 3, "reorder points alone adjust nothing")
}

// The positions of the events of one stock row grow, so that they are published in order.
func TestPositionsOfStockEvents(t *testing.T) {
	t.Parallel()
	s := open(t)
	p := s.product("Nail")
	for i := range 5 {
		s.adjust(p, 10, "reorderPoint", 5).OK(201)
		s.adjust(p, i, "reorderPoint", 5).OK(201)
	}
	rows, err := s.d.Query(t.Context(), `SELECT pos FROM outbox WHERE company_id = $1 AND agg_type = 'stock' ORDER BY pos`, s.Principal.Company)
	require.NoError(t, err)
	defer rows.Close()
	var last int64
	n := 0
	for ; rows.Next(); n++ {
		var pos int64
		require.NoError(t, rows.Scan(&pos))
		require.Greater(t, pos, last)
		last = pos
	}
	require.NoError(t, rows.Err())
	require.Equal(t, 15, n)
}

func TestPolicyOfWhatLeaves(t *testing.T) {
	t.Parallel()
	s := open(t, func(p *access.Principal) { p.Settings.StockPolicy = access.StockBlock })
	nail, screw := s.product("Nail"), s.product("Screw")
	s.adjust(nail, 5).OK(201)
	s.adjust(screw, 5).OK(201)
	reserve := func(qty, reserved int64) error {
		d := trade.StockDelta{Warehouse: uuid.MustParse(s.main), StockKey: trade.StockKey{Product: uuid.MustParse(nail)}, Qty: units(qty), Reserved: units(reserved)}
		return s.d.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			return s.s.Move(ctx, tx, s.caller(), trade.StockDocument{Movement: trade.MovementShipment}, []trade.StockDelta{d})
		})
	}
	require.NoError(t, reserve(0, 3))
	err := s.move(trade.MovementSale, -3, nail, screw)
	require.True(t, apierr.Is(err, "STOCK_INSUFFICIENT"), "a sale leaves what is reserved: %v", err)
	f, _ := apierr.As(err)
	require.Equal(t, []map[string]any{{
		"productId": uuid.MustParse(nail), "variantId": (*uuid.UUID)(nil), "warehouseId": uuid.MustParse(s.main), "required": units(3), "available": units(2),
	}}, f.Meta["lines"])
	require.NoError(t, s.move(trade.MovementSale, -1, nail, nail), "two lines of one product count together")
	require.True(t, apierr.Is(s.move(trade.MovementSale, -1, nail), "STOCK_INSUFFICIENT"))
	require.NoError(t, reserve(-3, -3), "a shipment takes what is reserved")
	require.True(t, apierr.Is(reserve(-1, 0), "STOCK_INSUFFICIENT"))
	s.adjust(nail, -4).OK(201)
	require.NoError(t, s.move(trade.MovementRefund, 1, nail), "what comes back is always taken")
	require.Len(t, s.events("stock.movement.created"), 6, "refused documents leave no movement")
}

// Of 30 sales at once of the last 10 pieces, 10 succeed.
func TestLastPieces(t *testing.T) {
	t.Parallel()
	s := open(t, func(p *access.Principal) { p.Settings.StockPolicy = access.StockBlock })
	p, q := s.product("Nail"), s.product("Screw")
	s.adjust(p, 10).OK(201)
	s.adjust(q, 100).OK(201)
	done := make(chan error, 30)
	for i := range cap(done) {
		products := []string{p, q}
		if i%2 == 0 {
			products = []string{q, p}
		}
		go func() { done <- s.move(trade.MovementSale, -1, products...) }()
	}
	ok := 0
	for range cap(done) {
		err := <-done
		if err == nil {
			ok++
			continue
		}
		require.True(t, apierr.Is(err, "STOCK_INSUFFICIENT"), "%v", err)
	}
	require.Equal(t, 10, ok)
	require.Equal(t, []any{90.0, 0.0}, column(s.list("/warehouse/stocks", "sort", "productName", "order", "desc"), "qty")[:2])
	s.checkChain()
}

// checkChain requires that the movements of each row form a chain without a hole that ends in its quantity.
func (s *shop) checkChain() {
	s.t.Helper()
	for _, st := range s.list("/warehouse/stocks", "pageSize", "200") {
		at := map[float64][]float64{} // by quantity before: quantities after
		var sum float64
		for _, m := range s.events("stock.movement.created") {
			if m["productId"] == st["productId"] && m["warehouseId"] == st["warehouseId"] {
				require.InDelta(s.t, m["qtyBefore"].(float64)+m["delta"].(float64), m["qtyAfter"], 1e-9)
				at[m["qtyBefore"].(float64)] = append(at[m["qtyBefore"].(float64)], m["qtyAfter"].(float64))
				sum += m["delta"].(float64)
			}
		}
		require.InDelta(s.t, st["qty"], sum, 1e-9, "the quantity is the sum of the movements")
		// Each quantity but the first and the last is left as often as it is reached.
		degree := map[float64]int{}
		for before, afters := range at {
			degree[before] -= len(afters)
			for _, after := range afters {
				degree[after]++
			}
		}
		degree[0]++
		degree[st["qty"].(float64)]--
		for qty, n := range degree {
			require.Zero(s.t, n, "the chain of %s has a hole at %v", st["productName"], qty)
		}
	}
}

func TestBatchOfAdjustments(t *testing.T) {
	t.Parallel()
	s := open(t)
	p, q := s.product("Nail"), s.product("Screw")
	item := func(product string, target any) map[string]any {
		return map[string]any{"op": "create", "body": map[string]any{"productId": product, "warehouseId": s.main, "targetQty": target, "reason": "count"}}
	}
	res := s.Do(t, "POST", "/warehouse/stocks/adjust/batch", map[string]any{"items": []any{item(p, 3), item(uuid.NewString(), 1), item(q, "x"), item(q, 5), item(p, 4)}}).OK(200)
	var statuses, codes []any
	for _, r := range res["results"].([]any) {
		statuses, codes = append(statuses, r.(map[string]any)["status"]), append(codes, r.(map[string]any)["code"])
	}
	require.Equal(t, []any{201.0, 404.0, 400.0, 201.0, 201.0}, statuses)
	require.Equal(t, []any{nil, "PRODUCT_NOT_FOUND", "VALIDATION_ERROR", nil, nil}, codes)
	require.Equal(t, []any{4.0, 5.0}, column(s.list("/warehouse/stocks", "sort", "productName"), "qty"))
	require.Len(t, s.events("stock.adjusted"), 3)
}
