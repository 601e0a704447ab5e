package transfers

import (
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
	"github.com/tradegrid/tradegrid/services/business/stockdoc"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Transfer brings goods from one warehouse to another; see docs/reference/rules.md#transfers.
type Transfer struct {
	ListItem
	Lines []Line `json:"lines" db:"-"`
}

// ListItem is a transfer without its lines. Its warehouse is the one that sends.
type ListItem struct {
	stockdoc.Header
	Status          string         `json:"status" enum:"draft,sent,received,cancelled"`
	ToWarehouseID   uuid.UUID      `json:"toWarehouseId" format:"uuid"`
	ToWarehouseName string         `json:"toWarehouseName"`
	TotalQty        money.Qty      `json:"totalQty" doc:"sum of the quantities"`
	ReceivedQty     *money.Qty     `json:"receivedQty" nullable:"true" doc:"sum of what arrived; null until then"`
	SentAt          *jsontype.Time `json:"sentAt" nullable:"true"`
	ReceivedAt      *jsontype.Time `json:"receivedAt" nullable:"true"`
	CancelledAt     *jsontype.Time `json:"cancelledAt" nullable:"true"`
}

// Line is one line of a transfer.
type Line struct {
	stockdoc.Item
	Qty         money.Qty  `json:"qty" doc:"what is sent"`
	ReceivedQty *money.Qty `json:"receivedQty" nullable:"true" doc:"what arrived; null until then"`
}

// Input is the body of a transfer.
type Input struct {
	WarehouseID   uuid.UUID           `json:"warehouseId" format:"uuid" doc:"sends the goods; default: the default warehouse"`
	ToWarehouseID uuid.UUID           `json:"toWarehouseId" required:"true" format:"uuid" doc:"receives them"`
	Items         []stockdoc.QtyInput `json:"items" required:"true" minItems:"1" maxItems:"500"`
	Note          *string             `json:"note" maxLength:"4000"`
	record.External
}

// Arrival says what arrived.
type Arrival struct {
	Items []Arrived `json:"items" minItems:"1" maxItems:"500" doc:"lines of which another quantity arrived than was sent; of all others, all of it did"`
}

// Arrived is what arrived of a line.
type Arrived struct {
	LineID uuid.UUID `json:"lineId" required:"true" format:"uuid"`
	Qty    money.Qty `json:"qty" required:"true" minimum:"0" maximum:"1000000" doc:"0 = nothing; may be more than was sent"`
}

// Filter filters and sorts transfers.
type Filter struct {
	list.Params
	list.ByExternal
	Number        *int64     `query:"number" minimum:"1" where:"number = ?"`
	Sort          string     `query:"sort" enum:"createdAt,number,totalQty"`
	Status        []string   `query:"status" enum:"draft,sent,received,cancelled" where:"status = ANY(?::TEXT[])" doc:"comma-separated; goods of sent ones are on the way"`
	WarehouseID   *uuid.UUID `query:"warehouseId" format:"uuid" where:"warehouse_id = ?" doc:"that sends"`
	ToWarehouseID *uuid.UUID `query:"toWarehouseId" format:"uuid" where:"to_warehouse_id = ?" doc:"that receives"`
}

const entity = "TRANSFER"

// States of a transfer; see docs/reference/states.md#transfer.
const (
	statusDraft     = "draft"
	statusSent      = "sent"
	statusReceived  = "received"
	statusCancelled = "cancelled"
)

var (
	ofLines = resource.LinesOf[Line]("transfer_lines", "transfer_id")
	table   = resource.Of[Transfer]("transfers", entity, ofLines)
	items   = list.Of[ListItem, Filter]("transfers", list.Spec{Permanent: true})

	states = stockdoc.States{statusDraft: {statusSent, statusCancelled}, statusSent: {statusReceived, statusCancelled}, statusReceived: {}, statusCancelled: {}}

	errSameWarehouse = apierr.InvalidField("toWarehouseId", apierr.Conflict, "must be another warehouse than warehouseId")
)

// Derive implements [record.Deriver].
func (t *Transfer) Derive() { t.Count(len(t.Lines)) }

// described reports whether the items are the lines of the transfer as they are.
func (t *Transfer) described(items []stockdoc.QtyInput) bool {
	return slices.EqualFunc(t.Lines, items, func(l Line, in stockdoc.QtyInput) bool { return in.Describes(l.Item) && in.Qty == l.Qty })
}

// total adds up what is sent.
func (t *Transfer) total() {
	t.TotalQty = 0
	for _, l := range t.Lines {
		t.TotalQty += l.Qty
	}
}

// receive sets what arrived: of each line all of it, unless the request has another quantity.
func (t *Transfer) receive(arrived []Arrived) error {
	qty := map[uuid.UUID]money.Qty{}
	for i, a := range arrived {
		if _, twice := qty[a.LineID]; twice {
			return apierr.InvalidField(lineitem.At(i, "lineId"), apierr.Conflict, "the line is there twice; send the sum")
		}
		if !slices.ContainsFunc(t.Lines, func(l Line) bool { return l.ID == a.LineID }) {
			return apierr.ReferenceNotFound("TRANSFER_LINE", lineitem.At(i, "lineId"), a.LineID.String())
		}
		qty[a.LineID] = a.Qty
	}
	var sum money.Qty
	for i := range t.Lines {
		l := &t.Lines[i]
		n, differs := qty[l.ID]
		if !differs {
			n = l.Qty
		}
		l.ReceivedQty = &n
		sum += n
	}
	t.ReceivedQty = &sum
	return nil
}

// sent is what leaves the warehouse that sends, multiplied by sign.
func (t *Transfer) sent(sign money.Qty) []trade.StockDelta {
	deltas := make([]trade.StockDelta, len(t.Lines))
	for i, l := range t.Lines {
		deltas[i] = trade.StockDelta{Warehouse: t.WarehouseID, StockKey: l.Key(), Qty: sign * l.Qty}
	}
	return deltas
}

// arrived is what the warehouse that receives gets.
func (t *Transfer) arrived() []trade.StockDelta {
	deltas := make([]trade.StockDelta, len(t.Lines))
	for i, l := range t.Lines {
		deltas[i] = trade.StockDelta{Warehouse: t.ToWarehouseID, StockKey: l.Key(), Qty: *l.ReceivedQty}
	}
	return deltas
}
