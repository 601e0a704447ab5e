package orders

import (
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Statuses of a shipment; see docs/reference/states.md#shipment.
const (
	shipmentPosted    = "posted"
	shipmentCancelled = "cancelled"
)

// Shipment is a note of goods of an order that left a warehouse; see docs/reference/rules.md#shipments.
type Shipment struct {
	record.Key
	OrderID        uuid.UUID      `json:"orderId" format:"uuid" db:",insert"`
	Number         int64          `json:"number" db:",insert" doc:"sequential number per company, from 1, without gaps"`
	Status         string         `json:"status" enum:"posted,cancelled"`
	WarehouseID    uuid.UUID      `json:"warehouseId" format:"uuid" db:",insert"`
	WarehouseName  string         `json:"warehouseName" db:",insert"`
	DeliveryMethod *string        `json:"deliveryMethod" db:",insert" doc:"code of a method of delivery"`
	Carrier        *string        `json:"carrier" search:"text"`
	TrackingNumber *string        `json:"trackingNumber" search:"text"`
	ShippedAt      jsontype.Time  `json:"shippedAt" db:",insert"`
	Note           *string        `json:"note"`
	TotalQty       money.Qty      `json:"totalQty" db:",insert" doc:"sum of the quantities"`
	CreatedByID    *uuid.UUID     `json:"createdById" format:"uuid" db:",insert"`
	Lines          []ShipmentLine `json:"lines" db:",insert"`
	Taken          []taken        `json:"-" db:",insert"`
	record.Meta
}

// ShipmentLine is the shipped part of an order line.
type ShipmentLine struct {
	ID          uuid.UUID  `json:"id" format:"uuid"`
	OrderLineID uuid.UUID  `json:"orderLineId" format:"uuid"`
	ProductID   *uuid.UUID `json:"productId" format:"uuid"`
	VariantID   *uuid.UUID `json:"variantId" format:"uuid"`
	SKU         *string    `json:"sku"`
	Name        string     `json:"name"`
	Qty         money.Qty  `json:"qty"`
}

// taken is what a shipment took from stock for a line of the order: its product, or a component of a bundle.
type taken struct {
	Line    uuid.UUID `json:"lineId"`
	Item    int       `json:"item"` // index of the stock item of the line
	Product uuid.UUID `json:"productId"`
	Variant uuid.UUID `json:"variantId"`
	Qty     money.Qty `json:"qty"`
}

// ShipmentFields are the fields of a new shipment.
type ShipmentFields struct {
	Items               []ShipmentItem `json:"items" minItems:"1" maxItems:"500" doc:"default: everything that is not shipped yet"`
	WarehouseID         *uuid.UUID     `json:"warehouseId" format:"uuid" doc:"default: the warehouse of the order"`
	DeliveryMethod      *string        `json:"deliveryMethod" maxLength:"64" doc:"code of a method of delivery; default: that of the order; sets that of the order"`
	Carrier             *string        `json:"carrier" maxLength:"255"`
	TrackingNumber      *string        `json:"trackingNumber" maxLength:"255"`
	ShippedAt           *jsontype.Time `json:"shippedAt" doc:"when the goods left, if that is told later; default: now"`
	DeliveryCost        *money.Amount  `json:"deliveryCost" minimum:"0" doc:"sets that of the order"`
	DeliveryAddressText *string        `json:"deliveryAddressText" maxLength:"1000" doc:"sets that of the order"`
	Note                *string        `json:"note" maxLength:"4000"`
}

// ShipmentItem is a quantity of an order line in a new shipment.
type ShipmentItem struct {
	OrderLineID uuid.UUID `json:"orderLineId" required:"true" format:"uuid"`
	Qty         money.Qty `json:"qty" required:"true" exclusiveMinimum:"0" maximum:"1000000"`
}

var shipments = resource.Of[Shipment]("shipments", "SHIPMENT")

// part is a quantity of the line of an order at an index.
type part struct {
	line int
	qty  money.Qty
}

// checkShippable returns a 409 if the state of the order does not allow a shipment.
func (o *Order) checkShippable() error {
	if o.Status == statusCancelled {
		return errOrderCancelled
	}
	if s := o.DeliveryStatus; s != nil && (*s == deliveryDelivered || *s == deliveryReturned) {
		return deliveryConflict(s, deliveryShipped)
	}
	return nil
}

var errOrderCancelled = apierr.StateConflict("ORDER_CANCELLED", "the order is cancelled; make a new order")

// shippable returns the quantity of a line that can still be shipped. Services are not shipped, and a completed order has
// nothing left, because completing it took all of it from stock.
func (o *Order) shippable(l *Line) money.Qty {
	if l.Kind == trade.KindService || o.Status == statusCompleted {
		return 0
	}
	return l.Qty - l.ShippedQty
}

// left returns everything that can still be shipped.
func (o *Order) left() ([]part, error) {
	var left []part
	for i := range o.Lines {
		if n := o.shippable(&o.Lines[i]); n > 0 {
			left = append(left, part{i, n})
		}
	}
	if len(left) == 0 {
		return nil, apierr.StateConflict("SHIPMENT_NOTHING_TO_SHIP", "nothing of the order is left to ship")
	}
	return left, nil
}

// partsOf finds the lines of the items.
func (o *Order) partsOf(items []ShipmentItem) ([]part, error) {
	at, err := o.linesOf(len(items), func(i int) uuid.UUID { return items[i].OrderLineID })
	if err != nil {
		return nil, err
	}
	var faults apierr.Fields
	parts := make([]part, len(items))
	for i, it := range items {
		if o.Lines[at[i]].Kind == trade.KindService {
			faults.Add(lineitem.At(i, "orderLineId"), apierr.Conflict, "is a line of a service, which is not shipped; omit it")
		}
		parts[i] = part{at[i], it.Qty}
	}
	return parts, faults.Err()
}

// checkParts returns a 409 that lists the parts that exceed what is left of their lines.
func (o *Order) checkParts(parts []part, leftOf func(l *Line) money.Qty) error {
	var lines []map[string]any
	for _, p := range parts {
		l := &o.Lines[p.line]
		if left := leftOf(l); p.qty > left {
			lines = append(lines, map[string]any{"orderLineId": l.ID, "name": l.Name, "qty": p.qty, "left": left})
		}
	}
	if lines == nil {
		return nil
	}
	return apierr.StateConflict("SHIPMENT_QTY_EXCEEDED", "more is named than is left of the lines in meta.lines; reduce the quantities").With("lines", lines)
}

// ship adds the parts to the shipped quantities of the order's lines and returns the lines of the shipment, and what it
// takes from stock. Of a bundle, each shipment takes what its components need for all that is shipped then, less what is
// out already: so rounding leaves nothing behind and takes nothing twice.
func (o *Order) ship(parts []part) (lines []ShipmentLine, out []taken) {
	for _, p := range parts {
		l := &o.Lines[p.line]
		l.ShippedQty += p.qty
		lines = append(lines, ShipmentLine{
			ID: record.NewID(), OrderLineID: l.ID, ProductID: l.RefID, VariantID: l.VariantID, SKU: l.SKU, Name: l.Name, Qty: p.qty,
		})
		l.Stock = slices.Clone(l.Stock)
		for i := range l.Stock {
			it := &l.Stock[i]
			if n := share(it.Qty, l.ShippedQty, l.Qty) - it.Out; n > 0 {
				it.Out += n
				out = append(out, taken{Line: l.ID, Item: i, Product: it.Product, Variant: it.Variant, Qty: n})
			}
		}
	}
	return lines, out
}

// unship takes the lines of a cancelled shipment back.
func (o *Order) unship(sh *Shipment) {
	for i := range o.Lines {
		l := &o.Lines[i]
		l.Stock = slices.Clone(l.Stock)
		for _, p := range sh.Lines {
			if p.OrderLineID == l.ID {
				l.ShippedQty -= p.Qty
			}
		}
		for _, t := range sh.Taken {
			if t.Line == l.ID {
				l.Stock[t.Item].Out -= t.Qty
			}
		}
	}
}

// shipped returns the quantity of the order that is shipped.
func (o *Order) shipped() (n money.Qty) {
	for i := range o.Lines {
		n += o.Lines[i].ShippedQty
	}
	return n
}

// deltas returns the change of stock by the shipment, multiplied by sign.
func (sh *Shipment) deltas(sign money.Qty) []trade.StockDelta {
	all := make([]trade.StockDelta, len(sh.Taken))
	for i, t := range sh.Taken {
		all[i] = trade.StockDelta{Warehouse: sh.WarehouseID, StockKey: trade.StockKey{Product: t.Product, Variant: t.Variant}, Qty: sign * t.Qty}
	}
	return all
}
