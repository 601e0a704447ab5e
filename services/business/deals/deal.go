package deals

import (
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
)

// Deal is a possible sale with its lines. Money is in minor units. See docs/reference/rules.md#deals.
type Deal struct {
	Header
	ChecklistDone []string         `json:"checklistDone" doc:"done entries of stage checklists: <stageId>:<index>"`
	Intake        *jsontype.Object `json:"intake" db:",text" doc:"answers that came with the deal"`
	Lines         []Line           `json:"lines" db:"-"`

	BoardOrder int64  `json:"-"` // when the deal entered its stage, in microseconds
	LinesCount int32  `json:"-"`
	Words      string `json:"-" db:"-" search:"text"` // number, for searches
}

// Header is a deal as lists show it.
type Header struct {
	record.Key
	Number  int64     `json:"number" db:",insert" doc:"sequential number per company, from 1, without gaps"`
	TypeID  uuid.UUID `json:"typeId" format:"uuid" db:",insert"`
	StageID uuid.UUID `json:"stageId" format:"uuid"`
	Outcome *string   `json:"outcome" doc:"won, lost, done or cancelled on a terminal stage; null on other stages"`
	Details
	AddressLabel *string `json:"addressLabel"`
	lineitem.Totals
	Cost             money.Amount   `json:"cost" doc:"sum of the costs of the lines"`
	BudgetExceededAt *jsontype.Time `json:"budgetExceededAt" doc:"since when cost has exceeded budget"`
	LostReasonID     *uuid.UUID     `json:"lostReasonId" format:"uuid"`
	NextActionAt     *jsontype.Time `json:"nextActionAt" doc:"null = no task"`
	StageEnteredAt   *jsontype.Time `json:"stageEnteredAt"`
	BranchID         *uuid.UUID     `json:"branchId" format:"uuid" db:",insert" doc:"default branch of the company, for the deal of a converted lead; null for others"`
	CreatedByID      uuid.UUID      `json:"createdById" format:"uuid" db:",insert"`
	record.Meta
}

// Details are the fields that API clients can set at any time.
type Details struct {
	ClientID        *uuid.UUID `json:"clientId" format:"uuid"`
	AssetID         *uuid.UUID `json:"assetId" format:"uuid"`
	AddressID       *uuid.UUID `json:"addressId" format:"uuid"`
	VenueResourceID *uuid.UUID `json:"venueResourceId" format:"uuid" doc:"scheduling resource that the deal takes from scheduledAt to dueAt"`
	CustomerName    *string    `json:"customerName" maxLength:"255" search:"text" doc:"default: from the client"`
	CustomerPhone   *string    `json:"customerPhone" maxLength:"32" search:"phone" doc:"default: from the client"`
	CustomerEmail   *string    `json:"customerEmail" format:"email" maxLength:"254" doc:"default: from the client"`
	CustomerNote    *string    `json:"customerNote" maxLength:"4000"`
	Channel         *string    `json:"channel" maxLength:"64" doc:"code of a channel: manual, public_link, phone, or one of the company; default manual"`
	record.External
	lineitem.Discounts
	SourceID     *uuid.UUID     `json:"sourceId" format:"uuid"`
	Address      *string        `json:"address" maxLength:"1000" search:"text"`
	ScheduledAt  *jsontype.Time `json:"scheduledAt"`
	DueAt        *jsontype.Time `json:"dueAt"`
	Note         *string        `json:"note" maxLength:"4000"`
	Budget       *money.Amount  `json:"budget" minimum:"0"`
	Headcount    *int32         `json:"headcount" minimum:"1" maximum:"1000000" doc:"multiplies lines per guest"`
	AssignedToID *uuid.UUID     `json:"assignedToId" format:"uuid"`
}

// Input is the body of a new deal.
type Input struct {
	TypeID uuid.UUID   `json:"typeId" format:"uuid" required:"true"`
	Items  []LineInput `json:"items" maxItems:"500"`
	lineitem.Pricing
	Details
	Intake *Answers `json:"intake" maxProperties:"50" doc:"answers that came with the deal: strings, numbers, booleans, null or lists of strings"`
}

// Fields are the fields of a deal that API clients can change.
type Fields struct {
	Items []LineInput `json:"items" maxItems:"500" doc:"replaces all items"`
	lineitem.Pricing
	Details
	Intake        *Answers       `json:"intake" maxProperties:"50"`
	ChecklistDone []string       `json:"checklistDone" maxItems:"500" maxLength:"64"`
	NextActionAt  *jsontype.Time `json:"nextActionAt" doc:"null = no task"`
}

// LineInput is one line in a request.
type LineInput struct {
	lineitem.Input
	UnitCost *money.Amount `json:"unitCost,omitempty" minimum:"0" doc:"default: cost of the product or service"`
	LineFields
}

// LineFields are the fields of a line that clients set and that only lines of deals have.
type LineFields struct {
	PerGuest bool    `json:"perGuest" doc:"qty is per guest"`
	Note     *string `json:"note" maxLength:"4000"`
}

// Line is one line of a deal; see docs/reference/rules.md#deal-lines.
type Line struct {
	lineitem.Line
	LineFields
	EffectiveQty money.Qty    `json:"effectiveQty" doc:"qty, multiplied by headcount if the line is per guest"`
	UnitCost     money.Amount `json:"unitCost"`
	Cost         money.Amount `json:"cost" doc:"effectiveQty × unitCost"`
}

// MoveInput is the body of a move to another stage.
type MoveInput struct {
	StageID      uuid.UUID  `json:"stageId" format:"uuid" required:"true" doc:"stage of the same type"`
	LostReasonID *uuid.UUID `json:"lostReasonId" format:"uuid" doc:"required for a stage with outcome lost; ignored for others"`
}

// TransformSchema implements [huma.SchemaTransformer]. Requests accept only bounded amounts, but responses
// and events do not guarantee these limits, so that they can change compatibly.
func (h Header) TransformSchema(reg huma.Registry, s *huma.Schema) *huma.Schema {
	for _, name := range []string{"budget", "headcount", "fixedDiscount"} {
		s.Properties[name].Minimum, s.Properties[name].Maximum = s.Properties["number"].Minimum, s.Properties["number"].Maximum
	}
	return h.Key.TransformSchema(reg, s)
}

// plan is the plan of a deal's fields.
var plan = record.PlanOf[Deal]()

// Deals take nothing from stock.
var (
	dealLines = resource.LinesOf[Line]("deal_lines", "deal_id", "stock")
	table     = resource.Of[Deal]("deals", "DEAL", dealLines).OnChange(insertHistory)
)

// Derive implements [record.Deriver].
func (d *Deal) Derive() {
	d.BoardOrder, d.LinesCount, d.Words = d.StageEnteredAt.Std().UnixMicro(), int32(len(d.Lines)), strconv.FormatInt(d.Number, 10)
}

// settle computes the fields that depend on lines, discount, headcount and budget; see docs/reference/rules.md#deals.
func (d *Deal) settle(now jsontype.Time) error {
	d.Cost = 0
	for i := range d.Lines {
		if err := d.Lines[i].charge(d.Headcount); err != nil {
			return err
		}
		var err error
		if d.Cost, err = money.Sum(d.Cost, d.Lines[i].Cost); err != nil {
			return err
		}
	}
	totals, err := lineitem.Sum(d.Lines, d.Discounts, d.Taxation)
	if err != nil {
		return err
	}
	if d.Totals, err = lineitem.Settle(d.Lines, totals, 0); err != nil {
		return err
	}
	switch exceeded := d.Budget != nil && d.Cost > *d.Budget; {
	case !exceeded:
		d.BudgetExceededAt = nil
	case d.BudgetExceededAt == nil:
		d.BudgetExceededAt = &now
	}
	return nil
}

// charge computes the amounts of a line for a number of guests.
func (l *Line) charge(guests *int32) (err error) {
	if l.EffectiveQty, err = lineitem.Effective(l.Qty, l.PerGuest, guests); err != nil {
		return err
	}
	if err = l.Charge(l.EffectiveQty); err != nil {
		return err
	}
	l.Cost, err = money.LineAmount(l.EffectiveQty, l.UnitCost)
	return err
}
