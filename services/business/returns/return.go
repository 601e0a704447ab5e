package returns

import (
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/stockdoc"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Return takes goods off stock that go back to a supplier; see docs/reference/rules.md#returns-to-suppliers. Money is in minor units.
type Return struct {
	ListItem
	Lines []Line `json:"lines" db:"-"`
}

// ListItem is a return to a supplier without its lines.
type ListItem struct {
	stockdoc.Header
	Status       string     `json:"status" enum:"posted,cancelled"`
	SupplierID   uuid.UUID  `json:"supplierId" format:"uuid"`
	SupplierName string     `json:"supplierName" search:"text"`
	ReceiptID    *uuid.UUID `json:"receiptId" format:"uuid" nullable:"true" doc:"that the goods came with"`
	Reason       *string    `json:"reason" nullable:"true"`
	stockdoc.Totals
	CancelledAt *jsontype.Time `json:"cancelledAt" nullable:"true"`
}

// Line is one line of a return to a supplier.
type Line struct{ stockdoc.Costed }

// Input is the body of a new return to a supplier.
type Input struct {
	WarehouseID uuid.UUID            `json:"warehouseId" format:"uuid" doc:"default: the default warehouse"`
	Items       []stockdoc.CostInput `json:"items" required:"true" minItems:"1" maxItems:"500"`
	SupplierID  uuid.UUID            `json:"supplierId" required:"true" format:"uuid"`
	ReceiptID   *uuid.UUID           `json:"receiptId" format:"uuid" doc:"that the goods came with; quantities are not compared"`
	Reason      *string              `json:"reason" maxLength:"500"`
	Note        *string              `json:"note" maxLength:"4000"`
	record.External
}

// ChangeFields are the fields of a return to a supplier that API clients can change: what left stock stays as it was posted.
type ChangeFields struct{ record.External }

// Filter filters and sorts returns to suppliers.
type Filter struct {
	list.Params
	list.ByExternal
	Number      *int64     `query:"number" minimum:"1" where:"number = ?"`
	Sort        string     `query:"sort" enum:"createdAt,number,totalQty,totalAmount"`
	Status      []string   `query:"status" enum:"posted,cancelled" where:"status = ANY(?::TEXT[])" doc:"comma-separated"`
	SupplierID  *uuid.UUID `query:"supplierId" format:"uuid" where:"supplier_id = ?"`
	WarehouseID *uuid.UUID `query:"warehouseId" format:"uuid" where:"warehouse_id = ?"`
	DateFrom    *list.From `query:"dateFrom" where:"created_at >= ?" doc:"created at or after"`
	DateTo      *list.To   `query:"dateTo" where:"created_at <= ?" doc:"created at or before"`
}

const entity = "SUPPLIER_RETURN"

// States of a return to a supplier; see docs/reference/states.md#return-to-a-supplier.
const (
	statusPosted    = "posted"
	statusCancelled = "cancelled"
)

var (
	ofLines = resource.LinesOf[Line]("supplier_return_lines", "supplier_return_id")
	table   = resource.Of[Return]("supplier_returns", entity, ofLines)
	items   = list.Of[ListItem, Filter]("supplier_returns", list.Spec{Permanent: true})

	states = stockdoc.States{statusPosted: {statusCancelled}, statusCancelled: {}}
)

// Derive implements [record.Deriver].
func (r *Return) Derive() { r.Count(len(r.Lines)) }

// deltas are the stock changes of the return multiplied by sign.
func (r *Return) deltas(sign money.Qty) []trade.StockDelta {
	all := make([]trade.StockDelta, len(r.Lines))
	for i := range r.Lines {
		all[i] = r.Lines[i].Delta(r.WarehouseID, sign)
	}
	return all
}

// document is the return as the cause of movements.
func (r *Return) document(movement string) trade.StockDocument {
	doc := r.Moves(trade.DocumentSupplierReturn, movement)
	if r.Reason != nil {
		doc.Reason = *r.Reason
	}
	return doc
}

// SchemaName implements [jsontype.Named]; clients have returns of orders, too.
func (Return) SchemaName() string { return "SupplierReturn" }

// SchemaName implements [jsontype.Named].
func (ListItem) SchemaName() string { return "SupplierReturnListItem" }

// SchemaName implements [jsontype.Named].
func (Line) SchemaName() string { return "SupplierReturnLine" }

// SchemaName implements [jsontype.Named].
func (Input) SchemaName() string { return "SupplierReturnInput" }

// SchemaName implements [jsontype.Named].
func (ChangeFields) SchemaName() string { return "SupplierReturnChange" }
