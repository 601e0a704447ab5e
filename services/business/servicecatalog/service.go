// Package servicecatalog manages the services of a company's catalog: what it does for its clients, as opposed to the products
// that it sells. Categories, units and products belong to package catalog.
package servicecatalog

import (
	"cmp"
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
	"github.com/tradegrid/tradegrid/services/business/sku"
)

// Config holds the dependencies of the service, which the catalog provides.
type Config struct {
	DB *db.DB
	// FilterCategory adds the filter categoryId to a list.
	FilterCategory func(ctx context.Context, d db.Querier, q *list.Query, company tenant.ID, category jsontype.IDOrNull) error
	// CategoryPrefixes returns the SKU prefixes, nil for none, of those ids that are categories of the company.
	CategoryPrefixes func(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) (map[uuid.UUID]*string, error)
	Products         reference.Known
	TaxRates         reference.Known // that can be chosen
	Units            reference.Known
}

// Service manages the services of all companies.
type Service struct{ cfg Config }

// New returns a service.
func New(cfg Config) *Service { return &Service{cfg: cfg} }

// List returns a page of services.
func (s *Service) List(ctx context.Context, by access.Caller, f Filter) (*list.Page[OfferingListItem], error) {
	q, err := items.Query(by.Company, f)
	if err != nil {
		return nil, err
	}
	q.In("status", f.statuses())
	sku.Filter(q, by.Company, sku.Service, f.SKU)
	if err := s.cfg.FilterCategory(ctx, s.cfg.DB, q, by.Company, f.CategoryID); err != nil {
		return nil, err
	}
	page, err := items.Fetch(ctx, s.cfg.DB, q)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(f.Include, "costItems") {
		for i := range page.Items {
			page.Items[i].CostItems = nil
		}
	}
	return page, nil
}

// Create creates a service. Without a SKU it gets the next one with the prefix of its category, or S-NNNN.
//
// Errors: 404 for a reference, 409 SKU_TAKEN.
func (s *Service) Create(ctx context.Context, tx *db.Tx, by access.Caller, in OfferingInput) (Offering, error) {
	o := Offering{Key: record.Key{ID: tx.NewID()}, Fields: in.Fields}
	o.Status, o.PriceModel = cmp.Or(o.Status, StatusActive), cmp.Or(o.PriceModel, defaultModel)
	if err := o.take(in); err != nil {
		return Offering{}, err
	}
	if o.SKU == "" {
		if err := sku.Prepare(ctx, tx, by.Company); err != nil {
			return Offering{}, err
		}
	}
	prefix, err := s.settle(ctx, tx, by.Company, Offering{}, o, in)
	if err != nil {
		return Offering{}, err
	}
	if o.SKU == "" {
		if o.SKU, err = sku.Next(ctx, tx, by.Company, prefix); err != nil {
			return Offering{}, err
		}
	}
	if o, err = table.Create(ctx, tx, by, o, created); err != nil {
		return Offering{}, err
	}
	o.name().Claim(tx, by.Company, sku.Item{})
	return o, nil
}

// Update changes a service; fields missing from the patch stay unchanged. If nothing differs, there is no event.
//
// Errors: 404, 412, 404 for a reference, 409 SKU_TAKEN.
func (s *Service) Update(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[OfferingInput]) (Offering, error) {
	if in.Value.refers() {
		tx.ReadsMore()
	}
	return change(ctx, tx, by, id, func(before Offering, o *Offering) error {
		v := OfferingInput{Fields: o.Fields}
		in.Apply(&v)
		o.Fields = v.Fields
		if err := o.take(in.Value); err != nil {
			return err
		}
		_, err := s.settle(ctx, tx, by.Company, before, *o, in.Value)
		return err
	}, updated)
}

// Hide hides a service; see docs/reference/states.md#service. Hiding it again changes nothing.
func (s *Service) Hide(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (Offering, error) {
	return change(ctx, tx, by, id, func(_ Offering, o *Offering) error { o.Status = StatusHidden; return nil }, deleted)
}

// change changes one service and its reservation of a SKU.
func change(
	ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, mutate func(before Offering, o *Offering) error, e event.Event[Offering],
) (Offering, error) {
	var before Offering
	o, err := table.Change(ctx, tx, by, id, func(b Offering, o *Offering) error {
		before = b
		return mutate(b, o)
	}, e)
	if err != nil {
		return o, err
	}
	o.name().Claim(tx, by.Company, before.name())
	return o, nil
}
