package sales

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
)

// cashierField is the cashier of a record: who it is, and the field for the name.
type cashierField struct {
	id   *uuid.UUID
	name **string
}

func (h *Header) cashier() cashierField { return cashierField{&h.CashierID, &h.CashierName} }

// nameCashiers returns a read that sets the names of n cashiers. The user of the caller's token has none, so it is not looked up.
func (s *Service) nameCashiers(by access.Caller, n int, at func(i int) cashierField) batchloader.Read {
	return reference.Names(s.cfg.Users.UserNames).Fill(by.Company, n, func(i int) (*uuid.UUID, **string) {
		f := at(i)
		if f.id != nil && *f.id == by.Actor && !by.IsPerson() {
			return nil, f.name
		}
		return f.id, f.name
	})
}

// nameCashier sets the name of one cashier.
func (s *Service) nameCashier(ctx context.Context, q db.Querier, by access.Caller, f cashierField) error {
	return s.nameCashiers(by, 1, func(int) cashierField { return f })(ctx, q)
}

// cashier is the user whom a request names as cashier, or else the caller. The user of a token has no name.
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
		return s.readPerson(by, out)
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

// readPerson returns a read of the caller's own name; none for a token.
func (s *Service) readPerson(by access.Caller, out *cashier) []batchloader.Read {
	if !by.IsPerson() {
		return nil
	}
	return []batchloader.Read{func(ctx context.Context, q db.Querier) error {
		names, err := s.cfg.Users.UserNames(ctx, q, by.Company, []uuid.UUID{by.Actor})
		out.called = names[by.Actor]
		return err
	}}
}
