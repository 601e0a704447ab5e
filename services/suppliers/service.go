// Package suppliers holds those who deliver to a company. Receipts keep a supplier's name, so a supplier can always be
// deleted; products forget theirs.
package suppliers

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/list"
	"github.com/tradegrid/tradegrid/pkg/record"
)

// Products are what suppliers deliver.
type Products interface {
	// ForgetSupplier clears the default supplier of the products that have this one.
	ForgetSupplier(ctx context.Context, tx *db.Tx, by access.Caller, supplier uuid.UUID) error
}

// Config is what the service needs.
type Config struct {
	DB       *db.DB
	Products Products
}

// Service holds the suppliers of all companies.
type Service struct {
	db       *db.DB
	products Products
}

// New makes the service.
func New(cfg Config) *Service { return &Service{db: cfg.DB, products: cfg.Products} }

// List lists suppliers. The search also finds a phone by its digits, however it is written.
func (s *Service) List(ctx context.Context, by access.Caller, f Filter) (*list.Page[Supplier], error) {
	return items.Page(ctx, s.db, by.Company, f)
}

// Get reads one supplier.
func (s *Service) Get(ctx context.Context, by access.Caller, id uuid.UUID) (Supplier, error) {
	return table.Get(ctx, s.db, by.Company, id)
}

// Create adds a supplier.
func (s *Service) Create(ctx context.Context, tx *db.Tx, by access.Caller, in Fields) (Supplier, error) {
	return table.Create(ctx, tx, by, Supplier{Fields: in})
}

// Update changes a supplier. What stays the same makes no new version.
func (s *Service) Update(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[Fields]) (Supplier, error) {
	return table.Change(ctx, tx, by, id, func(_ Supplier, v *Supplier) error { in.Apply(&v.Fields); return nil })
}

// Delete removes a supplier, also from the products that have it as their default.
func (s *Service) Delete(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) error {
	if err := table.Delete(ctx, tx, by, id, nil); err != nil {
		return err
	}
	return s.products.ForgetSupplier(ctx, tx, by, id)
}
