package purchases

import (
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/stockdoc"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Order asks a supplier for goods; see docs/reference/rules.md#purchase-orders. Money is in minor units.
type Order struct {
	ListItem
	Lines []Line `json:"lines" db:"-"`
}

// ListItem is a purchase order without its lines.
type ListItem struct {
	stockdoc.Header
	Status       string         `json:"status" enum:"draft,sent,partly_received,received,cancelled"`
	SupplierID   uuid.UUID      `json:"supplierId" format:"uuid"`
	SupplierName string         `json:"supplierName" search:"text"`
	ExpectedAt   *jsontype.Time `json:"expectedAt" nullable:"true"`
	stockdoc.Totals
	ReceivedQty money.Qty      `json:"receivedQty" doc:"sum of what posted receipts brought"`
	SentAt      *jsontype.Time `json:"sentAt" nullable:"true"`
	ClosedAt    *jsontype.Time `json:"closedAt" nullable:"true" doc:"the rest is no longer expected since then"`
	CancelledAt *jsontype.Time `json:"cancelledAt" nullable:"true"`
}

// Line is one line of a purchase order.
type Line struct {
	stockdoc.Costed
	ReceivedQty money.Qty `json:"receivedQty" doc:"what posted receipts brought; may be more than qty"`
}

// Input is the body of a purchase order.
type Input struct {
	SupplierID  uuid.UUID            `json:"supplierId" required:"true" format:"uuid"`
	WarehouseID uuid.UUID            `json:"warehouseId" format:"uuid" doc:"where the goods are expected; default: the default warehouse"`
	Items       []stockdoc.CostInput `json:"items" required:"true" minItems:"1" maxItems:"500"`
	ExpectedAt  *jsontype.Time       `json:"expectedAt"`
	Note        *string              `json:"note" maxLength:"4000"`
	record.External
}

// Filter filters and sorts purchase orders.
type Filter struct {
	list.Params
	list.ByExternal
	Number      *int64     `query:"number" minimum:"1" where:"number = ?"`
	Sort        string     `query:"sort" enum:"createdAt,number,totalQty,totalAmount"`
	Status      []string   `query:"status" enum:"draft,sent,partly_received,received,cancelled" where:"status = ANY(?::TEXT[])" doc:"comma-separated"`
	SupplierID  *uuid.UUID `query:"supplierId" format:"uuid" where:"supplier_id = ?"`
	WarehouseID *uuid.UUID `query:"warehouseId" format:"uuid" where:"warehouse_id = ?"`
}

const entity = "PURCHASE_ORDER"

// States of a purchase order; see docs/reference/states.md#purchase-order.
const (
	statusDraft     = "draft"
	statusSent      = "sent"
	statusPartly    = "partly_received"
	statusReceived  = "received"
	statusCancelled = "cancelled"
)

var (
	ofLines = resource.LinesOf[Line]("purchase_order_lines", "purchase_order_id")
	table   = resource.Of[Order]("purchase_orders", entity, ofLines)
	items   = list.Of[ListItem, Filter]("purchase_orders", list.Spec{Permanent: true})

	// What receipts bring moves an order between sent, partly_received and received.
	states = stockdoc.States{
		statusDraft: {statusSent, statusCancelled}, statusSent: {statusCancelled}, statusPartly: {statusReceived}, statusReceived: {}, statusCancelled: {},
	}
)

// Derive implements [record.Deriver].
func (o *Order) Derive() { o.Count(len(o.Lines)) }

// described reports whether the items are the lines of the order as they are.
func (o *Order) described(items []stockdoc.CostInput) bool {
	return slices.EqualFunc(o.Lines, items, func(l Line, in stockdoc.CostInput) bool {
		return in.Describes(l.Item) && in.Qty == l.Qty && (in.UnitCost == nil || *in.UnitCost == l.UnitCost)
	})
}

// receive counts goods that a receipt brought; a negative quantity takes back what it did. Several lines of the same goods are filled one
// after the other, and the last has what is too much. Goods that were not ordered do not count.
func (o *Order) receive(goods map[trade.StockKey]money.Qty) {
	for k, qty := range goods {
		var of []*Line
		for i := range o.Lines {
			if l := &o.Lines[i]; l.Key() == k {
				of = append(of, l)
				qty += l.ReceivedQty
			}
		}
		for i, l := range of {
			l.ReceivedQty = qty
			if i < len(of)-1 {
				l.ReceivedQty = min(qty, l.Qty)
			}
			qty -= l.ReceivedQty
		}
	}
	o.settle()
}

// settle sets what follows from what was received.
func (o *Order) settle() {
	o.ReceivedQty = 0
	all := true
	for _, l := range o.Lines {
		o.ReceivedQty += l.ReceivedQty
		all = all && l.ReceivedQty >= l.Qty
	}
	switch {
	case o.ReceivedQty == 0:
		o.Status, o.ClosedAt = statusSent, nil
	case all || o.ClosedAt != nil:
		o.Status = statusReceived
	default:
		o.Status = statusPartly
	}
}

// checkSent returns a 409 if the order was not sent or is cancelled, so that no goods can arrive for it.
func (o *Order) checkSent() error {
	if o.Status != statusDraft && o.Status != statusCancelled {
		return nil
	}
	return apierr.StateConflict("PURCHASE_ORDER_NOT_SENT", "purchaseOrderId: the purchase order is %s; send it first, or choose another", o.Status).
		With("field", "purchaseOrderId").With("status", o.Status)
}
