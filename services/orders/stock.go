package orders

import (
	"slices"

	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/trade"
)

// needsWarehouse reports whether the order has items with stock and does not say where they are taken from.
func (o *Order) needsWarehouse() bool {
	return o.WarehouseID == nil && slices.ContainsFunc(o.Lines, func(l Line) bool { return len(l.stock) > 0 })
}

// reserve sets what each line reserves: all of it, while the order is unfinished and has a warehouse.
func (o *Order) reserve() {
	for i := range o.Lines {
		l := &o.Lines[i]
		l.ReservedQty = 0
		if len(l.stock) > 0 && o.WarehouseID != nil && !o.isFinal() {
			l.ReservedQty = l.Qty - l.ShippedQty
		}
	}
}

// reserved is what the order holds in the warehouse, times sign.
func (o *Order) reserved(sign money.Qty) []trade.StockDelta {
	return o.deltas(func(l *Line, d *trade.StockDelta, q money.Qty) { d.Reserved = sign * share(q, l.ReservedQty, l.Qty) })
}

// leaving is what goes out of the warehouse when the order is completed, with its reserve.
func (o *Order) leaving() []trade.StockDelta {
	return o.deltas(func(l *Line, d *trade.StockDelta, q money.Qty) {
		d.Qty, d.Reserved = -share(q, l.Qty-l.ShippedQty, l.Qty), -share(q, l.ReservedQty, l.Qty)
	})
}

func (o *Order) deltas(fill func(l *Line, d *trade.StockDelta, q money.Qty)) []trade.StockDelta {
	var all []trade.StockDelta
	if o.WarehouseID == nil {
		return nil
	}
	for i := range o.Lines {
		for _, s := range o.Lines[i].stock {
			d := trade.StockDelta{Warehouse: *o.WarehouseID, StockKey: trade.StockKey{Product: s.Product, Variant: s.Variant}}
			fill(&o.Lines[i], &d, s.Qty)
			all = append(all, d)
		}
	}
	return all
}

// share is the part of q that some of the line stands for.
func share(q, some, of money.Qty) money.Qty {
	n, err := money.MulDiv(money.Amount(q), int64(some), int64(of))
	if err != nil {
		panic(err) // some is at most of, so the share is at most q
	}
	return money.Qty(n)
}
