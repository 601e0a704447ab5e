package receipts

import (
	"time"

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

// Receipt is a stock receipt with its lines; see docs/reference/rules.md#receipts. Money is in minor units.
type Receipt struct {
	ListItem
	Lines []Line `json:"lines" db:"-"`
}

// ListItem is a receipt without its lines. Names are those at the time of the receipt.
type ListItem struct {
	stockdoc.Header
	Status          string        `json:"status" enum:"posted,cancelled"`
	Date            jsontype.Time `json:"date"`
	SupplierID      *uuid.UUID    `json:"supplierId" format:"uuid"`
	SupplierName    *string       `json:"supplierName" search:"text"`
	PurchaseOrderID *uuid.UUID    `json:"purchaseOrderId" format:"uuid"`
	PurchaseOrderNo *int64        `json:"purchaseOrderNumber" db:"purchase_order_number" doc:"of the purchase order that the receipt counts towards; null if purchaseOrderId names none"`
	stockdoc.Totals
	CancelledAt *jsontype.Time `json:"cancelledAt"`
}

// Line is one line of a receipt. Names are those at the time of the receipt.
type Line struct{ stockdoc.Posted }

// LineInput is one line in a request.
type LineInput struct{ stockdoc.CostInput }

// Input is the body of a new receipt.
type Input struct {
	WarehouseID     uuid.UUID      `json:"warehouseId" required:"true" format:"uuid"`
	Items           []LineInput    `json:"items" required:"true" minItems:"1" maxItems:"500"`
	SupplierID      *uuid.UUID     `json:"supplierId" format:"uuid"`
	PurchaseOrderID *uuid.UUID     `json:"purchaseOrderId" format:"uuid" doc:"a purchase order that was sent, which the receipt counts towards; any other id is stored as it is"`
	Date            *jsontype.Time `json:"date" doc:"default now; at most 24 hours in the future"`
	Note            *string        `json:"note" maxLength:"4000"`
	record.External
}

// ChangeFields are the fields of a receipt that API clients can change: what is on stock stays as it was posted.
type ChangeFields struct{ record.External }

// Filter filters and sorts receipts.
type Filter struct {
	list.Params
	list.ByExternal
	Number          *int64     `query:"number" minimum:"1" where:"number = ?"`
	Sort            string     `query:"sort" enum:"createdAt,date,number,totalQty,totalAmount"`
	Status          []string   `query:"status" enum:"posted,cancelled" where:"status = ANY(?::TEXT[])" doc:"comma-separated"`
	WarehouseID     *uuid.UUID `query:"warehouseId" format:"uuid" where:"warehouse_id = ?"`
	SupplierID      *uuid.UUID `query:"supplierId" format:"uuid" where:"supplier_id = ?"`
	PurchaseOrderID *uuid.UUID `query:"purchaseOrderId" format:"uuid" where:"purchase_order_id = ?"`
	DateFrom        *list.From `query:"dateFrom" where:"date >= ?" doc:"date at or after"`
	DateTo          *list.To   `query:"dateTo" where:"date <= ?" doc:"date at or before"`
}

// States of a receipt; see docs/reference/states.md#receipt.
const (
	statusPosted    = "posted"
	statusCancelled = "cancelled"
)

var (
	ofLines = resource.LinesOf[Line]("receipt_lines", "receipt_id")
	table   = resource.Of[Receipt]("receipts", "RECEIPT", ofLines)
	items   = list.Of[ListItem, Filter]("receipts", list.Spec{Permanent: true})
)

// Known returns those ids that are receipts of the company.
var Known = table.Known

// Derive implements [record.Deriver].
func (r *Receipt) Derive() { r.Count(len(r.Lines)) }

// goods are the quantities of the receipt multiplied by sign.
func (r *Receipt) goods(sign money.Qty) map[trade.StockKey]money.Qty {
	all := make(map[trade.StockKey]money.Qty, len(r.Lines))
	for i := range r.Lines {
		all[r.Lines[i].Key()] += sign * r.Lines[i].Qty
	}
	return all
}

// deltas are the stock changes of the receipt multiplied by sign.
func (r *Receipt) deltas(sign money.Qty) (all []trade.StockDelta) {
	for i := range r.Lines {
		all = append(all, r.Lines[i].Deltas(r.WarehouseID, sign)...)
	}
	return all
}

// maxAhead is how far in the future the date of a receipt may be.
const maxAhead = 24 * time.Hour

// dateOf returns the date of a new receipt.
func dateOf(in *jsontype.Time, now time.Time) (jsontype.Time, error) {
	if in == nil {
		return jsontype.At(now), nil
	}
	if in.Std().After(now.Add(maxAhead)) {
		return *in, apierr.InvalidField("date", apierr.Max, "must be at most 24 hours in the future")
	}
	return *in, nil
}

var (
	errCancelled = apierr.StateConflict("RECEIPT_ALREADY_CANCELLED", "the receipt is cancelled already; nothing was changed")

	// consumed is the 409 for goods that are no longer there.
	consumed = stockdoc.Short("RECEIPT_STOCK_CONSUMED", "part of the goods is no longer in the warehouse; adjust the stock of meta.lines first")
)
