package orders

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

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
				{Line: lineitem.Line{Qty: 3000, Stock: []lineitem.StockItem{{Product: product, Qty: 3000, Out: row.shipped}}}, ShippedQty: row.shipped},
				{Line: lineitem.Line{Qty: 1000, Stock: []lineitem.StockItem{{Product: part, Qty: 2500}}}},
				{Line: lineitem.Line{Qty: 1000}},
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
	require.False(t, (&Order{Lines: []Line{{Line: lineitem.Line{Qty: 1}}}}).needsWarehouse(), "nothing in it has stock")
}
