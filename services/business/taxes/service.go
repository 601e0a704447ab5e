// Package taxes manages the tax rates of a company. Products, services and lines of documents refer to them; what a rate makes of the
// amounts of a document is calculated in package lineitem. A rate is never deleted: documents that had it name it.
package taxes

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// Service manages the tax rates of all companies.
type Service struct{ db *db.DB }

// New returns a service.
func New(d *db.DB) *Service { return &Service{d} }

// List returns a page of tax rates.
func (s *Service) List(ctx context.Context, by access.Caller, f Filter) (*list.Page[Rate], error) {
	return items.Page(ctx, s.db, by.Company, f)
}

// Create creates a tax rate.
func (s *Service) Create(ctx context.Context, tx *db.Tx, by access.Caller, in Fields) (Rate, error) {
	if err := in.check(); err != nil {
		return Rate{}, err
	}
	return table.Create(ctx, tx, by, Rate{Fields: in})
}

// Update changes a tax rate. Lines of documents keep the percentage that it had.
func (s *Service) Update(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[Fields]) (Rate, error) {
	return table.Change(ctx, tx, by, id, func(_ Rate, v *Rate) error {
		in.Apply(&v.Fields)
		return v.check()
	})
}

func (f *Fields) check() error {
	if (f.Kind == kindZero || f.Kind == kindExempt) && f.Percent != 0 {
		return apierr.InvalidField("percent", apierr.Conflict, "must be 0 for the kind %s", f.Kind)
	}
	return nil
}
