package writeoffs

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

// Writeoff takes goods off stock that nobody bought; see docs/reference/rules.md#write-offs. Money is in minor units.
type Writeoff struct {
	ListItem
	Lines []Line `json:"lines" db:"-"`
}

// ListItem is a write-off without its lines.
type ListItem struct {
	stockdoc.Header
	Status string `json:"status" enum:"posted,cancelled"`
	Reason string `json:"reason" enum:"damaged,expired,lost,stolen,own_use,sample,other"`
	stockdoc.Totals
	CancelledAt *jsontype.Time `json:"cancelledAt" nullable:"true"`
}

// Line is one line of a write-off.
type Line struct{ stockdoc.Costed }

// Input is the body of a new write-off.
type Input struct {
	WarehouseID uuid.UUID            `json:"warehouseId" format:"uuid" doc:"default: the default warehouse"`
	Items       []stockdoc.CostInput `json:"items" required:"true" minItems:"1" maxItems:"500"`
	Reason      string               `json:"reason" required:"true" enum:"damaged,expired,lost,stolen,own_use,sample,other"`
	Note        *string              `json:"note" maxLength:"4000"`
	record.External
}

// ChangeFields are the fields of a write-off that API clients can change: what left stock stays as it was posted.
type ChangeFields struct{ record.External }

// Filter filters and sorts write-offs.
type Filter struct {
	list.Params
	list.ByExternal
	Number      *int64     `query:"number" minimum:"1" where:"number = ?"`
	Sort        string     `query:"sort" enum:"createdAt,number,totalQty,totalAmount"`
	Status      []string   `query:"status" enum:"posted,cancelled" where:"status = ANY(?::TEXT[])" doc:"comma-separated"`
	Reason      []string   `query:"reason" enum:"damaged,expired,lost,stolen,own_use,sample,other" where:"reason = ANY(?::TEXT[])" doc:"comma-separated"`
	WarehouseID *uuid.UUID `query:"warehouseId" format:"uuid" where:"warehouse_id = ?"`
	DateFrom    *list.From `query:"dateFrom" where:"created_at >= ?" doc:"created at or after"`
	DateTo      *list.To   `query:"dateTo" where:"created_at <= ?" doc:"created at or before"`
}

const entity = "WRITE_OFF"

// States of a write-off; see docs/reference/states.md#write-off.
const (
	statusPosted    = "posted"
	statusCancelled = "cancelled"
)

var (
	ofLines = resource.LinesOf[Line]("write_off_lines", "write_off_id")
	table   = resource.Of[Writeoff]("write_offs", entity, ofLines)
	items   = list.Of[ListItem, Filter]("write_offs", list.Spec{Permanent: true})

	states = stockdoc.States{statusPosted: {statusCancelled}, statusCancelled: {}}
)

// Derive implements [record.Deriver].
func (w *Writeoff) Derive() { w.Count(len(w.Lines)) }

// deltas are the stock changes of the write-off multiplied by sign.
func (w *Writeoff) deltas(sign money.Qty) []trade.StockDelta {
	all := make([]trade.StockDelta, len(w.Lines))
	for i := range w.Lines {
		all[i] = w.Lines[i].Delta(w.WarehouseID, sign)
	}
	return all
}

// document is the write-off as the cause of movements.
func (w *Writeoff) document(movement string) trade.StockDocument {
	doc := w.Moves(trade.DocumentWriteOff, movement)
	doc.Reason = w.Reason
	return doc
}
