package sales

import (
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// States of a shift.
const (
	statusOpen   = "open"
	statusClosed = "closed"
)

// Shift is the time in which one token sells: it collects sales and refunds, and knows what the drawer must hold. See
// docs/reference/rules.md#shifts.
type Shift struct {
	record.Key
	Number int64  `json:"number" db:",insert" doc:"sequential number per company, from 1, without gaps"`
	Status string `json:"status" enum:"open,closed"`
	ShiftFields
	OpenedAt       jsontype.Time  `json:"openedAt" db:",insert"`
	ClosedAt       *jsontype.Time `json:"closedAt" doc:"null = open"`
	OpenedByID     uuid.UUID      `json:"openedById" format:"uuid" db:",insert"`
	CashierName    *string        `json:"cashierName" db:"-" doc:"null for the user of a token"`
	ClosedByID     *uuid.UUID     `json:"closedById" format:"uuid"`
	ClosingCash    *money.Amount  `json:"closingCash" doc:"cash that was counted at the end; null = not counted"`
	ExpectedCash   money.Amount   `json:"expectedCash" db:"-" doc:"openingCash plus the cash sales minus the cash refunds, plus cashIn minus cashOut"`
	CashIn         money.Amount   `json:"cashIn" doc:"sum of the cash movements into the drawer"`
	CashOut        money.Amount   `json:"cashOut" doc:"sum of the cash movements out of the drawer"`
	CashDifference *money.Amount  `json:"cashDifference" db:"-" doc:"closingCash - expectedCash"`
	TotalsByMethod totalsByMethod `json:"totalsByMethod" db:"-" doc:"sales minus refunds"`
	Totals                        // maintained by the sales
	record.Meta
}

// SchemaName implements [jsontype.Named].
func (Shift) SchemaName() string { return "Shift" }

// ShiftFields are the fields that API clients set.
type ShiftFields struct {
	OpeningCash money.Amount `json:"openingCash" required:"true" minimum:"0" db:",insert" doc:"cash in the drawer at the start"`
	BranchID    *uuid.UUID   `json:"branchId" format:"uuid" db:",insert" doc:"sales take stock from the warehouse of this branch; null = from the default warehouse"`
	CashierID   *uuid.UUID   `json:"cashierId" format:"uuid" db:",insert" doc:"active user who is responsible for the drawer; default: the user of the token"`
}

// OpenInput is the body of a new shift.
type OpenInput struct {
	ShiftFields
	OpenedAt *jsontype.Time `json:"openedAt" doc:"when it was opened, if that is told later; default: now"`
}

// SchemaName implements [jsontype.Named].
func (OpenInput) SchemaName() string { return "ShiftFields" }

// Totals are what the sales of a shift add up to.
type Totals struct {
	SalesCount   int64        `json:"salesCount" db:",insert"`
	RefundsCount int64        `json:"refundsCount" db:",insert"`
	SalesTotal   money.Amount `json:"salesTotal" db:",insert"`
	RefundsTotal money.Amount `json:"refundsTotal" db:",insert"`
	CashTotal    money.Amount `json:"-" db:",insert"`
	CardTotal    money.Amount `json:"-" db:",insert"`
	SBPTotal     money.Amount `json:"-" db:"sbp_total,insert"`
}

type totalsByMethod struct {
	Cash money.Amount `json:"cash"`
	Card money.Amount `json:"card"`
	SBP  money.Amount `json:"sbp"`
}

// CloseInput is the body of the end of a shift.
type CloseInput struct {
	ClosingCash *money.Amount  `json:"closingCash" minimum:"0" doc:"cash that was counted"`
	ClosedAt    *jsontype.Time `json:"closedAt" doc:"when it was closed, if that is told later; default: now"`
}

// SchemaName implements [jsontype.Named].
func (CloseInput) SchemaName() string { return "ShiftCloseInput" }

// ShiftFilter filters and sorts shifts.
type ShiftFilter struct {
	list.Params
	Sort       string     `query:"sort" enum:"createdAt,number"`
	Number     *int64     `query:"number" minimum:"1" where:"number = ?"`
	Status     []string   `query:"status" enum:"open,closed" where:"status = ANY(?::TEXT[])" doc:"comma-separated"`
	OpenedByID *uuid.UUID `query:"openedById" format:"uuid" where:"opened_by_id = ?"`
	CashierID  *uuid.UUID `query:"cashierId" format:"uuid" where:"COALESCE(cashier_id, opened_by_id) = ?"`
	DateFrom   *list.From `query:"dateFrom" where:"opened_at >= ?" doc:"opened at or after"`
	DateTo     *list.To   `query:"dateTo" where:"opened_at <= ?" doc:"opened at or before"`
}

var (
	shifts = resource.Of[Shift](shiftsTable, "SHIFT").OnConstraint("shifts_open_key", errAlreadyOpen).
		OnConstraint("shifts_cash_in_chk", errTotals).OnConstraint("shifts_cash_out_chk", errTotals)
	shiftItems = list.Of[Shift, ShiftFilter](shiftsTable)
)

// Derive implements [record.Deriver].
func (s *Shift) Derive() {
	s.TotalsByMethod = totalsByMethod{Cash: s.CashTotal, Card: s.CardTotal, SBP: s.SBPTotal}
	s.ExpectedCash = s.OpeningCash + s.CashTotal + s.CashIn - s.CashOut
	if s.CashierID == nil {
		s.CashierID = &s.OpenedByID
	}
	s.CashDifference = nil
	if s.ClosingCash != nil {
		s.CashDifference = new(*s.ClosingCash - s.ExpectedCash)
	}
}

func (s *Shift) cashier() cashierField {
	return cashierField{s.CashierID, &s.CashierName}
}

// closed is the 409 of a sale into a closed shift.
func closed(shift uuid.UUID) error {
	return apierr.StateConflict("SHIFT_CLOSED", "shiftId: the shift is closed; open another one").With("field", "shiftId").With("id", shift)
}

// totalsOf returns what a document adds to the totals of its shift.
func totalsOf(s *Sale) (t Totals) {
	sign := money.Amount(1)
	if s.Kind == kindRefund {
		sign, t.RefundsCount, t.RefundsTotal = -1, 1, s.Total
	} else {
		t.SalesCount, t.SalesTotal = 1, s.Total
	}
	for _, p := range s.Payments {
		switch p.Method {
		case methodCash:
			t.CashTotal += sign * p.Amount
		case methodCard:
			t.CardTotal += sign * p.Amount
		case methodSBP:
			t.SBPTotal += sign * p.Amount
		}
	}
	return t
}

const shiftsTable = db.Table("shifts")

// A sale and the end of its shift wait for each other at the shift's row: the sale is in the totals, or the shift is closed.
var sqlAddTotals = shiftsTable.Update(`SET sales_count = sales_count + $3, refunds_count = refunds_count + $4, sales_total = sales_total + $5,
refunds_total = refunds_total + $6, cash_total = cash_total + $7, card_total = card_total + $8, sbp_total = sbp_total + $9,
version = version + 1, ev_pos = GREATEST(ev_pos + 1, $10), updated_at = GREATEST(updated_at, $11)
WHERE company_id = $1 AND id = $2 AND CASE WHEN $12::BOOL THEN closed_at >= $13::TIMESTAMPTZ ELSE status = 'open' END`)

// addTotals queues the document's part in the totals of its shift. If the shift was closed in the meantime, or ended before
// a document that comes late, the transaction fails with errClosed.
func addTotals(tx *db.Tx, company tenant.ID, s *Sale) {
	t, m := totalsOf(s), record.New(tx.Now())
	tx.Queue(sqlAddTotals, company, s.ShiftID, t.SalesCount, t.RefundsCount, t.SalesTotal, t.RefundsTotal, t.CashTotal, t.CardTotal, t.SBPTotal, m.EvPos, m.UpdatedAt, s.Late, s.SoldAt).
		Expect(1, errClosed).OnConstraint("shifts_totals_chk", errTotals)
}

var (
	errAlreadyOpen = apierr.StateConflict("SHIFT_ALREADY_OPEN", "this token has an open shift; use it, or close it first")
	errTotals      = apierr.StateConflict("SHIFT_TOTAL_OUT_OF_RANGE", "the total of the shift would exceed %d minor units; open another shift", money.MaxAmount)
)
