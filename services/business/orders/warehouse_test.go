package orders_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// Goods that are kept in stock are never sold past it: without a warehouse there is no order of them.
func TestGoodsWithStockNeedAWarehouse(t *testing.T) {
	t.Parallel()
	s := *open(t, nil)
	s.Client = s.server.Company() // has no warehouse
	for name, item := range map[string]uuid.UUID{"product": s.wood, "bundle": s.kit} {
		body := map[string]any{"items": []any{map[string]any{"refId": item}}}
		for _, path := range []string{"/orders", "/orders/preview"} {
			fault := s.Do(t, "POST", path, body).Fault(404, "WAREHOUSE_NOT_FOUND")
			require.Equal(t, map[string]any{"field": "warehouseId"}, fault["meta"], name)
		}
	}
	require.Zero(t, s.counts(), "no number is taken")
	work := s.create("items", []any{map[string]any{"refId": s.fix, "kind": "service"}})
	require.Nil(t, work["warehouseId"])
	s.patch(work["id"], s.body()).Fault(404, "WAREHOUSE_NOT_FOUND")
	s.addDepot()
	o := s.patch(work["id"], s.body()).OK(200)
	require.Equal(t, s.warehouse.String(), o["warehouseId"])
	require.Equal(t, "0/3", s.stock(s.wood))
}

// Orders that were stored without a warehouse, while their company had none, take stock from where their status changes.
func TestOldOrdersWithoutAWarehouse(t *testing.T) {
	t.Parallel()
	s := open(t, nil)

	id := s.oldOrder()
	require.Nil(t, s.patch(id, map[string]any{}).OK(200)["warehouseId"], "what does not concern stock leaves the order as it is")
	require.Nil(t, s.patch(id, map[string]any{"note": "x"}).OK(200)["warehouseId"])
	o := s.move(id, "confirmed").OK(200)
	require.Equal(t, s.warehouse.String(), o["warehouseId"])
	require.Equal(t, 3.0, o["lines"].([]any)[0].(map[string]any)["reservedQty"])
	require.Equal(t, o, s.Do(t, "GET", "/orders/"+id, nil).OK(200))
	require.Equal(t, "0/3", s.stock(s.wood))
	s.move(id, "in_progress").OK(200)
	require.Equal(t, "0/3", s.stock(s.wood), "it is reserved once")
	s.move(id, "cancelled").OK(200)
	require.Equal(t, "0/0", s.stock(s.wood))

	id = s.oldOrder()
	require.Equal(t, s.warehouse.String(), s.patch(id, s.body()).OK(200)["warehouseId"])
	require.Equal(t, "0/3", s.stock(s.wood))
	s.move(id, "cancelled").OK(200)

	id = s.oldOrder()
	s.move(id, "cancelled").OK(200)
	require.Equal(t, "0/0", s.stock(s.wood), "nothing was reserved")

	id = s.oldOrder("confirmed", "ready")
	s.move(id, "completed").OK(200)
	require.Equal(t, "-3/0", s.stock(s.wood))

	s.Client = s.server.Caller(s.Principal.Company, func(p *access.Principal) { p.Settings.StockPolicy = access.StockBlock })
	s.receive(s.wood, 3)
	id = s.oldOrder("in_progress", "ready")
	s.receive(s.wood, 2)
	s.move(id, "completed").Fault(409, "STOCK_INSUFFICIENT")
	s.receive(s.wood, 3)
	s.move(id, "completed").OK(200)
	require.Equal(t, "0/0", s.stock(s.wood))
}

const (
	sqlForgetWarehouse = `UPDATE orders SET warehouse_id = NULL WHERE company_id = $1 AND id = $2`
	sqlForgetLines     = `UPDATE order_lines SET reserved_qty = 0 WHERE company_id = $1 AND order_id = $2`
	sqlForgetReserve   = `UPDATE stocks SET reserved = 0 WHERE company_id = $1`
)

// oldOrder is an order of 3 wood, after the moves, as it was stored while its company had no warehouse.
func (s *kit) oldOrder(moves ...string) string {
	s.t.Helper()
	id := s.create()["id"].(string)
	for _, next := range moves {
		s.move(id, next).OK(200)
	}
	d := dbtest.Open(s.t)
	for sql, args := range map[string][]any{
		sqlForgetWarehouse: {s.Principal.Company, id}, sqlForgetLines: {s.Principal.Company, id}, sqlForgetReserve: {s.Principal.Company},
	} {
		_, err := d.Exec(context.Background(), sql, args...)
		require.NoError(s.t, err)
	}
	return id
}
