package orders

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/trade"
)

func TestWhatLinesTakeFromTheWarehouse(t *testing.T) {
	t.Parallel()
	s := newShelf()
	plain, shirt := s.plain.ID, s.shirt.ID
	for name, row := range map[string]struct {
		ref  trade.ItemRef
		qty  money.Qty
		want []stockItem
	}{
		"product":          {s.plain, 1500, []stockItem{{Product: plain, Qty: 1500}}},
		"variant":          {s.large, 1000, []stockItem{{Product: shirt, Variant: s.large.Variant, Qty: 1000}}},
		"service":          {s.service, 1000, nil},
		"bundle":           {s.bundle, 2000, []stockItem{{Product: plain, Qty: 5000}, {Product: shirt, Qty: 666}}},
		"half of a bundle": {s.bundle, 500, []stockItem{{Product: plain, Qty: 1250}, {Product: shirt, Qty: 167}}}, // 166.5
	} {
		got, err := components(row.ref, s.items[row.ref], row.qty)
		require.NoError(t, err, name)
		require.Equal(t, row.want, got, name)
	}
	_, err := components(s.bundle, s.items[s.bundle], money.MaxQty)
	requireFault(t, "VALIDATION_ERROR", err)
}

func TestReserves(t *testing.T) {
	t.Parallel()
	warehouse, product, part := uuid.New(), uuid.New(), uuid.New()
	delta := func(of uuid.UUID, qty, reserved money.Qty) trade.StockDelta {
		return trade.StockDelta{Warehouse: warehouse, StockKey: trade.StockKey{Product: of}, Qty: qty, Reserved: reserved}
	}
	for name, row := range map[string]struct {
		status    string
		warehouse *uuid.UUID
		shipped   money.Qty
		held      money.Qty          // of the line with stock
		reserved  []trade.StockDelta // of that line and of a bundle of 2.5 parts
		leaving   []trade.StockDelta
	}{
		"new":               {statusNew, &warehouse, 0, 3000, []trade.StockDelta{delta(product, 0, 3000), delta(part, 0, 2500)}, []trade.StockDelta{delta(product, -3000, -3000), delta(part, -2500, -2500)}},
		"partly shipped":    {statusReady, &warehouse, 1000, 2000, []trade.StockDelta{delta(product, 0, 2000), delta(part, 0, 2500)}, []trade.StockDelta{delta(product, -2000, -2000), delta(part, -2500, -2500)}},
		"completed":         {statusCompleted, &warehouse, 0, 0, []trade.StockDelta{delta(product, 0, 0), delta(part, 0, 0)}, []trade.StockDelta{delta(product, -3000, 0), delta(part, -2500, 0)}},
		"cancelled":         {statusCancelled, &warehouse, 0, 0, []trade.StockDelta{delta(product, 0, 0), delta(part, 0, 0)}, []trade.StockDelta{delta(product, -3000, 0), delta(part, -2500, 0)}},
		"without warehouse": {statusNew, nil, 0, 0, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := Order{Header: Header{Status: row.status, WarehouseID: row.warehouse}, Lines: []Line{
				{Qty: 3000, ShippedQty: row.shipped, stock: []stockItem{{Product: product, Qty: 3000}}},
				{Qty: 1000, stock: []stockItem{{Product: part, Qty: 2500}}},
				{Qty: 1000},
			}}
			require.Equal(t, row.warehouse == nil, o.needsWarehouse())
			o.reserve()
			require.Equal(t, row.held, o.Lines[0].ReservedQty)
			require.Zero(t, o.Lines[2].ReservedQty, "no stock is kept of it")
			require.Equal(t, row.reserved, o.reserved(1))
			require.Equal(t, row.leaving, o.leaving())
			back := o.reserved(-1)
			for i, d := range o.reserved(1) {
				require.Equal(t, -d.Reserved, back[i].Reserved)
			}
		})
	}
	require.False(t, (&Order{Lines: []Line{{Qty: 1}}}).needsWarehouse(), "nothing in it has stock")
}
