package orders

import (
	"slices"

	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/trade"
)

// needsWarehouse reports whether the order has items with stock but no warehouse.
func (o *Order) needsWarehouse() bool {
	return o.WarehouseID == nil && slices.ContainsFunc(o.Lines, func(l Line) bool { return len(l.Stock) > 0 })
}

// reserve sets the reserved quantity of each line: its full quantity while the order is open and has a warehouse.
func (o *Order) reserve() {
	for i := range o.Lines {
		l := &o.Lines[i]
		l.ReservedQty = 0
		if len(l.Stock) > 0 && o.WarehouseID != nil && !o.isFinal() {
			l.ReservedQty = l.Qty - l.ShippedQty
		}
	}
}

// reserved returns the reservations of the order multiplied by sign.
func (o *Order) reserved(sign money.Qty) []trade.StockDelta {
	return o.deltas(func(l *Line, d *trade.StockDelta, q money.Qty) { d.Reserved = sign * share(q, l.ReservedQty, l.Qty) })
}

// leaving returns the stock changes on completion: the removed items and their released reservations.
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
		for _, s := range o.Lines[i].Stock {
			d := trade.StockDelta{Warehouse: *o.WarehouseID, StockKey: trade.StockKey{Product: s.Product, Variant: s.Variant}}
			fill(&o.Lines[i], &d, s.Qty)
			all = append(all, d)
		}
	}
	return all
}

// share returns q·some/of: the part of q that corresponds to some of the line's quantity.
func share(q, some, of money.Qty) money.Qty {
	n, err := money.MulDiv(money.Amount(q), int64(some), int64(of))
	if err != nil {
		panic(err) // some is at most of, so the share is at most q
	}
	return money.Qty(n)
}
