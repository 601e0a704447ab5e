package sales

import (
	"context"
	"fmt"
	"net/http"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/numbering"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

const shiftCounter = "shift"

// Shifts returns a page of shifts.
func (s *Service) Shifts(ctx context.Context, by access.Caller, f ShiftFilter) (*list.Page[Shift], error) {
	page, err := shiftItems.Page(ctx, s.cfg.DB, by.Company, f)
	if err != nil {
		return nil, err
	}
	return page, s.nameCashiers(by, len(page.Items), func(i int) cashierField { return page.Items[i].cashier() })(ctx, s.cfg.DB)
}

// Shift reads one shift.
func (s *Service) Shift(ctx context.Context, by access.Caller, id uuid.UUID) (Shift, error) {
	v, err := shifts.Get(ctx, s.cfg.DB, by.Company, id)
	if err != nil {
		return v, err
	}
	return v, s.nameCashier(ctx, s.cfg.DB, by, v.cashier())
}

// CurrentShift reads the open shift of the caller's token; 404 SHIFT_NOT_FOUND if there is none.
func (s *Service) CurrentShift(ctx context.Context, by access.Caller) (Shift, error) {
	id, err := selectOpen(ctx, s.cfg.DB, by.Company, by.Actor)
	if err != nil {
		return Shift{}, err
	}
	if id == nil {
		return Shift{}, apierr.New(http.StatusNotFound, "SHIFT_NOT_FOUND", "this token has no open shift; open one")
	}
	return s.Shift(ctx, by, *id)
}

const sqlSelectOpen = `SELECT id FROM shifts WHERE company_id = $1 AND opened_by_id = $2 AND status = 'open'`

// selectOpen returns the id of the open shift of a token, which its actor identifies, or nil.
func selectOpen(ctx context.Context, q db.Querier, company tenant.ID, actor uuid.UUID) (*uuid.UUID, error) {
	var id uuid.UUID
	err := q.QueryRow(ctx, sqlSelectOpen, company, actor).Scan(&id)
	if db.IsNoRows(err) {
		return nil, nil //nolint:nilnil // no such shift
	}
	if err != nil {
		return nil, fmt.Errorf("select open shift: %w", err)
	}
	return &id, nil
}

const sqlSelectOpenOf = `SELECT id, number FROM shifts WHERE company_id = $1 AND status = 'open' AND cashier_id = $2 LIMIT 1`

// checkCashier returns a 409 if the cashier of a new shift has an open one: a person answers for one drawer at a time. The user of the
// caller's token is no person.
func checkCashier(ctx context.Context, q db.Querier, by access.Caller, cashier uuid.UUID) error {
	if cashier == by.Actor && !by.IsPerson() {
		return nil
	}
	var id uuid.UUID
	var number int64
	err := q.QueryRow(ctx, sqlSelectOpenOf, by.Company, cashier).Scan(&id, &number)
	if db.IsNoRows(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("select open shift of cashier: %w", err)
	}
	return apierr.StateConflict("SHIFT_ALREADY_OPEN", "cashierId: the user has the open shift %d; close it first, or name another cashier", number).
		With("field", "cashierId").With("shiftId", id).With("number", number)
}

// OpenShift opens a shift for the caller's token. A token has at most one, and so has a person who is named as cashier: 409
// SHIFT_ALREADY_OPEN with meta.shiftId.
func (s *Service) OpenShift(ctx context.Context, tx *db.Tx, by access.Caller, in OpenInput) (Shift, error) {
	at, err := trade.Happened(by, "openedAt", in.OpenedAt, s.cfg.DB.Now())
	if err != nil {
		return Shift{}, err
	}
	if err := tx.LockInProcess(ctx, "open shift", by.Actor); err != nil {
		return Shift{}, err
	}
	var refs reference.Set
	refs.Add("BRANCH", "branchId", nil, in.BranchID, s.cfg.Branches.KnownBranches)
	var who cashier
	if err := batchloader.Load(ctx, tx, append(refs.Reads(by.Company), s.readCashier(by, in.CashierID, &who)...)...); err != nil {
		return Shift{}, err
	}
	in.CashierID = &who.id
	current, err := selectOpen(ctx, tx, by.Company, by.Actor)
	if err != nil {
		return Shift{}, err
	}
	if current != nil {
		return Shift{}, errAlreadyOpen.With("shiftId", *current)
	}
	if err := checkCashier(ctx, tx, by, who.id); err != nil {
		return Shift{}, err
	}
	number, err := numbering.Take(ctx, tx, by.Company, shiftCounter, 1)
	if err != nil {
		return Shift{}, err
	}
	v := Shift{
		Key: record.Key{ID: tx.NewID()}, Number: number, Status: statusOpen, ShiftFields: in.ShiftFields, OpenedAt: jsontype.At(tx.Now()), OpenedByID: by.Actor,
		CashierName: who.name(),
	}
	if at != nil {
		v.OpenedAt = *at
	}
	return shifts.Create(ctx, tx, by, v, opened)
}

// CloseShift closes a shift, also one of another token. Repeating it is 409 SHIFT_ALREADY_CLOSED.
func (s *Service) CloseShift(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in CloseInput) (Shift, error) {
	return shifts.Change(ctx, tx, by, id, func(before Shift, v *Shift) error {
		if before.Status == statusClosed {
			return apierr.StateConflict("SHIFT_ALREADY_CLOSED", "the shift was closed before; nothing was changed").With("closedAt", before.ClosedAt)
		}
		at, err := v.closes(ctx, tx, by, in.ClosedAt)
		if err != nil {
			return err
		}
		v.Status, v.ClosedAt, v.ClosedByID, v.ClosingCash = statusClosed, &at, &by.Actor, in.ClosingCash
		return s.nameCashier(ctx, tx, by, v.cashier())
	}, shut)
}

const sqlSelectShiftNumbers = `SELECT id, number FROM shifts WHERE company_id = $1 AND id = ANY($2::UUID[])`

// ShiftNumbers returns the numbers of those ids that are shifts of the company.
func ShiftNumbers(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) (map[uuid.UUID]int64, error) {
	return db.Map[uuid.UUID, int64](ctx, q, "read numbers of shifts", sqlSelectShiftNumbers, company, ids)
}
