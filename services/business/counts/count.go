package counts

import (
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
	"github.com/tradegrid/tradegrid/services/business/stockdoc"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Count is a list of goods of a warehouse that people count; see docs/reference/rules.md#counts.
type Count struct {
	ListItem
	Lines []Line `json:"lines" db:"-"`
}

// ListItem is a count without its lines.
type ListItem struct {
	stockdoc.Header
	Status       string         `json:"status" enum:"counting,posted,cancelled"`
	CountedLines int32          `json:"countedLines"`
	PostedAt     *jsontype.Time `json:"postedAt" nullable:"true"`
	CancelledAt  *jsontype.Time `json:"cancelledAt" nullable:"true"`
}

// Line is one line of a count.
type Line struct {
	stockdoc.Item
	ExpectedQty   money.Qty      `json:"expectedQty" doc:"on stock when the line was counted; until then, when it was put on the list"`
	CountedQty    *money.Qty     `json:"countedQty" nullable:"true" doc:"null until the line is counted"`
	DifferenceQty *money.Qty     `json:"differenceQty" db:"-" nullable:"true" doc:"countedQty - expectedQty"`
	CountedAt     *jsontype.Time `json:"countedAt" nullable:"true"`

	OpenIn *uuid.UUID `json:"-"` // the warehouse, until the count ends: no other open count has the goods
}

// Input is the body of a new count.
type Input struct {
	WarehouseID uuid.UUID            `json:"warehouseId" format:"uuid" doc:"default: the default warehouse"`
	Items       []stockdoc.ItemInput `json:"items" minItems:"1" maxItems:"500" doc:"what is to be counted; default: all goods with a stock record in the warehouse that no open count has, if they are not more than 500"`
	Note        *string              `json:"note" maxLength:"4000"`
	record.External
}

// ChangeFields are the fields of a count that API clients can change.
type ChangeFields struct {
	Note *string `json:"note" maxLength:"4000"`
	record.External
}

// Lines are goods that are put on the list.
type Lines struct {
	Items []stockdoc.ItemInput `json:"items" required:"true" minItems:"1" maxItems:"500"`
}

// Quantities are what was counted.
type Quantities struct {
	Items []Counted `json:"items" required:"true" minItems:"1" maxItems:"500"`
}

// Counted is what was counted of a line.
type Counted struct {
	LineID uuid.UUID  `json:"lineId" required:"true" format:"uuid"`
	Qty    *money.Qty `json:"qty" required:"true" nullable:"true" minimum:"0" maximum:"1000000000" doc:"null takes back what was counted: the line is not counted then"`
}

// Filter filters and sorts counts.
type Filter struct {
	list.Params
	list.ByExternal
	Number      *int64     `query:"number" minimum:"1" where:"number = ?"`
	Sort        string     `query:"sort" enum:"createdAt,number"`
	Status      []string   `query:"status" enum:"counting,posted,cancelled" where:"status = ANY(?::TEXT[])" doc:"comma-separated"`
	WarehouseID *uuid.UUID `query:"warehouseId" format:"uuid" where:"warehouse_id = ?"`
}

const (
	entity   = "STOCK_COUNT"
	maxLines = 500
)

// States of a count; see docs/reference/states.md#count.
const (
	statusCounting  = "counting"
	statusPosted    = "posted"
	statusCancelled = "cancelled"
)

var (
	// Goods that another count got at the same time: look again, and see it.
	lines = resource.LinesOf[Line]("stock_count_lines", "count_id").OnConstraint("stock_count_lines_open_key", db.ErrStale)
	table = resource.Of[Count]("stock_counts", entity, lines)
	items = list.Of[ListItem, Filter]("stock_counts", list.Spec{Permanent: true})

	states = stockdoc.States{statusCounting: {statusPosted, statusCancelled}, statusPosted: {}, statusCancelled: {}}
)

// Derive implements [record.Deriver].
func (c *Count) Derive() {
	c.Count(len(c.Lines))
	c.CountedLines = 0
	for i := range c.Lines {
		l := &c.Lines[i]
		l.Derive()
		if l.CountedQty != nil {
			c.CountedLines++
		}
	}
}

// Derive implements [record.Deriver].
func (l *Line) Derive() {
	l.DifferenceQty = nil
	if l.CountedQty != nil {
		l.DifferenceQty = new(*l.CountedQty - l.ExpectedQty)
	}
}

// checkOpen returns a 409 if the count has ended.
func (c *Count) checkOpen() error {
	if c.Status == statusCounting {
		return nil
	}
	return apierr.StateConflict("STOCK_COUNT_NOT_OPEN", "the count is %s; begin another one", c.Status).With("status", c.Status)
}

// end ends the count: its goods can be counted elsewhere.
func (c *Count) end(status string) {
	c.Status = status
	for i := range c.Lines {
		c.Lines[i].OpenIn = nil
	}
}

// linesOf returns the lines that quantities are of.
func (c *Count) linesOf(counted []Counted) ([]*Line, error) {
	found := make([]*Line, len(counted))
	for i, in := range counted {
		at := slices.IndexFunc(c.Lines, func(l Line) bool { return l.ID == in.LineID })
		if at < 0 {
			return nil, apierr.ReferenceNotFound("STOCK_COUNT_LINE", lineitem.At(i, "lineId"), in.LineID.String())
		}
		if slices.Contains(found[:i], &c.Lines[at]) {
			return nil, apierr.InvalidField(lineitem.At(i, "lineId"), apierr.Conflict, "the line is there twice; send the sum")
		}
		found[i] = &c.Lines[at]
	}
	return found, nil
}

// deltas are the differences of the lines that were counted.
func (c *Count) deltas() (all []trade.StockDelta) {
	for i := range c.Lines {
		if l := &c.Lines[i]; l.CountedQty != nil {
			all = append(all, trade.StockDelta{Warehouse: c.WarehouseID, StockKey: l.Key(), Qty: *l.CountedQty - l.ExpectedQty})
		}
	}
	return all
}
