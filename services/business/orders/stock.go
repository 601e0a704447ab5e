package orders

import (
	"slices"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
	"github.com/tradegrid/tradegrid/services/business/trade"
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

// reserved returns the reservations of the order multiplied by sign: of a line that reserves, all that is not shipped.
func (o *Order) reserved(sign money.Qty) []trade.StockDelta {
	return o.deltas(func(l *Line, it *lineitem.StockItem, d *trade.StockDelta) {
		if l.ReservedQty > 0 {
			d.Reserved = sign * (it.Qty - it.Out)
		}
	})
}

// leaving returns the stock changes on completion: the removed items and their released reservations.
func (o *Order) leaving() []trade.StockDelta {
	return o.deltas(func(l *Line, it *lineitem.StockItem, d *trade.StockDelta) {
		d.Qty = it.Out - it.Qty
		if l.ReservedQty > 0 {
			d.Reserved = it.Out - it.Qty
		}
	})
}

func (o *Order) deltas(fill func(l *Line, it *lineitem.StockItem, d *trade.StockDelta)) []trade.StockDelta {
	if o.WarehouseID == nil {
		return nil
	}
	var all []trade.StockDelta
	for i := range o.Lines {
		l := &o.Lines[i]
		for j := range l.Stock {
			it := &l.Stock[j]
			d := trade.StockDelta{Warehouse: *o.WarehouseID, StockKey: trade.StockKey{Product: it.Product, Variant: it.Variant}}
			fill(l, it, &d)
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
