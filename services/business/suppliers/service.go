// Package suppliers manages the suppliers of a company. A supplier can always be deleted: receipts store its name, and
// products lose it as their default supplier.
package suppliers

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// Products changes the products that refer to a supplier.
type Products interface {
	// ForgetSupplier clears the default supplier of all products that have this one.
	ForgetSupplier(ctx context.Context, tx *db.Tx, by access.Caller, supplier uuid.UUID) error
}

// Config holds the dependencies of the service.
type Config struct {
	DB       *db.DB
	Products Products
}

// Service manages the suppliers of all companies.
type Service struct{ cfg Config }

// New returns a service.
func New(cfg Config) *Service { return &Service{cfg: cfg} }

// List returns a page of suppliers. The search also matches the digits of phone numbers.
func (s *Service) List(ctx context.Context, by access.Caller, f Filter) (*list.Page[Supplier], error) {
	return items.Page(ctx, s.cfg.DB, by.Company, f)
}

// Create creates a supplier.
func (s *Service) Create(ctx context.Context, tx *db.Tx, by access.Caller, in Fields) (Supplier, error) {
	return table.Create(ctx, tx, by, Supplier{Fields: in})
}

// Update changes a supplier. If nothing differs, there is no new version.
func (s *Service) Update(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[Fields]) (Supplier, error) {
	return table.Change(ctx, tx, by, id, func(_ Supplier, v *Supplier) error { in.Apply(&v.Fields); return nil })
}

// Delete deletes a supplier and clears it as the default supplier of products.
func (s *Service) Delete(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) error {
	if err := table.Delete(ctx, tx, by, id, nil); err != nil {
		return err
	}
	return s.cfg.Products.ForgetSupplier(ctx, tx, by, id)
}
