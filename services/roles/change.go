package roles

import (
	"context"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

// Change makes one change of a company in a transaction of its own, for an operator.
func Change[T any](
	ctx context.Context, d *db.DB, name string, id tenant.ID, run func(context.Context, *db.Tx, access.Caller) (T, error),
) (v T, err error) {
	err = d.RunTx(ctx, name, func(ctx context.Context, tx *db.Tx) (err error) {
		v, err = run(ctx, tx, access.System(id))
		return err
	})
	return v, err
}

// ChangeWith is [Change] with an input.
func ChangeWith[F, T any](
	ctx context.Context, d *db.DB, name string, id tenant.ID, run func(context.Context, *db.Tx, access.Caller, F) (T, error), in F,
) (T, error) {
	return Change(ctx, d, name, id, func(ctx context.Context, tx *db.Tx, by access.Caller) (T, error) { return run(ctx, tx, by, in) })
}

// CreateCompany makes a company in a transaction of its own.
func (all *Domains) CreateCompany(ctx context.Context, in company.NewCompany) (c company.Company, err error) {
	err = all.DB.RunTx(ctx, "company.create", func(ctx context.Context, tx *db.Tx) (err error) {
		c, err = all.Company.Create(ctx, tx, in)
		return err
	})
	return c, err
}
