package sales

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
)

// cashierField is the cashier of a record: who it is, the user of the token that made the record, and the field for the name.
type cashierField struct {
	id, createdBy *uuid.UUID
	name          **string
}

func (h *Header) cashier() cashierField {
	return cashierField{&h.CashierID, &h.CreatedByID, &h.CashierName}
}

// nameCashiers returns a read that sets the names of n cashiers. A token's own user has none, so it is not looked up.
func (s *Service) nameCashiers(company tenant.ID, n int, at func(i int) cashierField) batchloader.Read {
	return reference.Names(s.cfg.Users.UserNames).Fill(company, n, func(i int) (*uuid.UUID, **string) {
		f := at(i)
		if f.id != nil && f.createdBy != nil && *f.id == *f.createdBy {
			return nil, f.name
		}
		return f.id, f.name
	})
}

// nameCashier sets the name of one cashier.
func (s *Service) nameCashier(ctx context.Context, q db.Querier, company tenant.ID, f cashierField) error {
	return s.nameCashiers(company, 1, func(int) cashierField { return f })(ctx, q)
}

// cashier is the user whom a request names as cashier, or else that of the token, who has no name.
type cashier struct {
	id     uuid.UUID
	called string
}

// name is what the record shows: null for a user without a name.
func (c cashier) name() *string {
	if c.called == "" {
		return nil
	}
	return &c.called
}

// readCashier returns reads of the cashier that a request names. A token may name any active user of its company; its own user is
// recorded as well. See docs/reference/rules.md#cashiers.
//
// Errors: 404 USER_NOT_FOUND, 409 CASHIER_INACTIVE.
func (s *Service) readCashier(by access.Caller, id *uuid.UUID, out *cashier) []batchloader.Read {
	out.id = by.Actor
	if id == nil || *id == by.Actor {
		return nil
	}
	out.id = *id
	var refs reference.Set
	refs.AddNamed("USER", "cashierId", id, s.cfg.Users.UserNames, &out.called)
	return append(refs.Reads(by.Company), func(ctx context.Context, q db.Querier) error {
		users, err := s.cfg.Users.ActiveUsers(ctx, q, by.Company, []uuid.UUID{*id})
		if active, found := users[*id]; err == nil && found && !active {
			return apierr.StateConflict("CASHIER_INACTIVE", "cashierId: the user is not active; name another one, or activate the user").
				With("field", "cashierId").With("id", *id)
		}
		return err
	})
}
