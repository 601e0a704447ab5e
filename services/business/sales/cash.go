package sales

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Types of cash movements.
const (
	cashIn  = "in"
	cashOut = "out"
)

// CashMovement is cash that was put into the drawer of a shift or taken out of it, other than by sales and refunds. It does not
// change. See docs/reference/rules.md#cash-movements.
type CashMovement struct {
	record.Key
	ShiftID uuid.UUID `json:"shiftId" format:"uuid"`
	CashFields
	OccurredAt  jsontype.Time `json:"occurredAt" doc:"when it happened; createdAt, unless the request says otherwise"`
	Late        bool          `json:"late" doc:"sent after its shift was closed, whose totals it has changed"`
	CashierID   uuid.UUID     `json:"cashierId" format:"uuid" doc:"who moved the cash"`
	CashierName *string       `json:"cashierName" db:"-" doc:"null for the user of a token"`
	CreatedByID uuid.UUID     `json:"createdById" format:"uuid" doc:"user of the token that sent the request"`
	record.Meta
}

// CashFields are the fields that API clients set.
type CashFields struct {
	Type   string       `json:"type" required:"true" enum:"in,out"`
	Amount money.Amount `json:"amount" required:"true" exclusiveMinimum:"0"`
	Reason string       `json:"reason" required:"true" minLength:"1" maxLength:"500" search:"text" doc:"such as change or bank deposit"`
	record.External
}

// CashInput is the body of a new cash movement.
type CashInput struct {
	CashFields
	CashierID  *uuid.UUID     `json:"cashierId" format:"uuid" doc:"active user who moved the cash; default: the user of the token"`
	OccurredAt *jsontype.Time `json:"occurredAt" doc:"when it happened, if that is told later, also of a shift that was closed since; default: now"`
}

// CashFilter filters and sorts the cash movements of a shift.
type CashFilter struct {
	list.Params
	list.ByExternal
	Sort string `query:"sort" enum:"createdAt"`
	Type string `query:"type" enum:"in,out" where:"type = ?"`
}

var (
	cashMovements = resource.Of[CashMovement]("cash_movements", "CASH_MOVEMENT")
	cashItems     = list.Of[CashMovement, CashFilter]("cash_movements", list.Spec{Permanent: true})
)

func (m *CashMovement) cashier() cashierField {
	return cashierField{&m.CashierID, &m.CashierName}
}

// CashMovements returns a page of the cash movements of a shift.
func (s *Service) CashMovements(ctx context.Context, by access.Caller, shift uuid.UUID, f CashFilter) (*list.Page[CashMovement], error) {
	q, err := cashItems.Query(by.Company, f)
	if err != nil {
		return nil, err
	}
	if err := s.orNoShift(ctx, by.Company, shift, nil); err != nil {
		return nil, err
	}
	q.Where("shift_id = ?", shift)
	page, err := cashItems.Fetch(ctx, s.cfg.DB, q)
	if err != nil {
		return nil, err
	}
	return page, s.nameCashiers(by, len(page.Items), func(i int) cashierField { return page.Items[i].cashier() })(ctx, s.cfg.DB)
}

// CashMovement reads one cash movement of a shift.
func (s *Service) CashMovement(ctx context.Context, by access.Caller, shift, id uuid.UUID) (CashMovement, error) {
	v, err := cashMovements.Get(ctx, s.cfg.DB, by.Company, id)
	if err == nil && v.ShiftID != shift {
		err = apierr.NotFound("CASH_MOVEMENT", id.String())
	}
	if err != nil {
		return CashMovement{}, s.orNoShift(ctx, by.Company, shift, err)
	}
	return v, s.nameCashier(ctx, s.cfg.DB, by, v.cashier())
}

// orNoShift returns a 404 if there is no such shift, and else err.
func (s *Service) orNoShift(ctx context.Context, company tenant.ID, shift uuid.UUID, err error) error {
	known, failed := shifts.Known(ctx, s.cfg.DB, company, []uuid.UUID{shift})
	if failed != nil {
		return failed
	}
	if len(known) == 0 {
		return apierr.NotFound("SHIFT", shift.String())
	}
	return err
}

// MoveCash puts cash into the drawer of an open shift, or takes it out. A precondition is about the shift.
//
// Errors: 404 SHIFT_NOT_FOUND, USER_NOT_FOUND; 412; 409 SHIFT_CLOSED, CASH_INSUFFICIENT, CASHIER_INACTIVE,
// CASH_MOVEMENT_EXTERNAL_ID_TAKEN.
func (s *Service) MoveCash(ctx context.Context, tx *db.Tx, by access.Caller, shift uuid.UUID, in CashInput) (CashMovement, error) {
	v, err := shifts.Lock(ctx, tx, by, shift)
	if err != nil {
		return CashMovement{}, err
	}
	snapshot := shifts.Snapshot(v)
	var who cashier
	m := CashMovement{Key: record.Key{CompanyID: by.Company}, ShiftID: shift, CashFields: in.CashFields, CreatedByID: by.Actor}
	record.PlanOf[CashMovement]().Normalise(&m)
	reads := append(s.readCashier(by, in.CashierID, &who), s.nameCashiers(by, 1, func(int) cashierField { return v.cashier() }), cashMovements.NotTaken(nil, &m))
	if err := batchloader.Load(ctx, tx, reads...); err != nil {
		return CashMovement{}, err
	}
	at, err := trade.Happened(by, "occurredAt", in.OccurredAt, tx.Now())
	if err != nil {
		return CashMovement{}, err
	}
	late, err := v.takes("occurredAt", at)
	if apierr.Is(err, "SHIFT_CLOSED") {
		err = apierr.StateConflict("SHIFT_CLOSED", "the shift is closed, so its cash does not change any more; open another shift").With("id", v.ID)
	}
	if err != nil {
		return CashMovement{}, err
	}
	if err := v.moveCash(in.Type, in.Amount); err != nil {
		return CashMovement{}, err
	}
	if at == nil {
		at = new(v.now(tx))
	}
	m.OccurredAt, m.Late, m.CashierID, m.CashierName = *at, late, who.id, who.name()
	if m, err = cashMovements.Create(ctx, tx, by, m); err != nil {
		return CashMovement{}, err
	}
	return m, shifts.Store(ctx, tx, by, snapshot, &v, cashMoved.Carrying(withMovement{m}))
}

// moveCash adds a movement to the totals of the shift. Cash that is not there cannot be taken out.
func (s *Shift) moveCash(typ string, amount money.Amount) error {
	if typ == cashIn {
		s.CashIn += amount
		return nil
	}
	if amount > s.ExpectedCash {
		return apierr.StateConflict("CASH_INSUFFICIENT", "amount: the drawer of the shift holds %s; take out at most that", s.ExpectedCash).
			With("amount", amount).With("expectedCash", s.ExpectedCash)
	}
	s.CashOut += amount
	return nil
}
