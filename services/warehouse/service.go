// Package warehouse keeps warehouses and the stock in them: what is there, what is reserved for unfinished
// documents, and the movements that made it so. Documents change stock inside their own transactions.
package warehouse

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

const (
	component = "warehouse"
	scope     = "warehouse"
)

// Key names what stock is kept of. Variant is the zero uuid for a product without variants.
type Key struct {
	Product uuid.UUID
	Variant uuid.UUID
}

// variant is nil for a product without variants.
func (k Key) variant() *uuid.UUID {
	if k.Variant == uuid.Nil {
		return nil
	}
	return &k.Variant
}

// Product is what stock records show of a product or variant.
type Product struct {
	Name              string
	SKU               string
	VariantSKU        *string
	VariantAttributes map[string]string
	CategoryID        *uuid.UUID
	CategoryName      *string
	HasStock          bool // stock is kept of it
	HasVariants       bool // it has active variants, so stock is kept per variant
}

// Products reads products of the catalog. Keys without a product, or whose variant is not the product's, are left out.
type Products interface {
	StockProducts(ctx context.Context, q db.Querier, company tenant.ID, keys []Key) (map[Key]Product, error)
}

// Service is the warehouses of all companies.
type Service struct {
	db       *db.DB
	products Products
	clock    func() time.Time
}

// New makes the service.
func New(d *db.DB, products Products) *Service {
	return &Service{db: d, products: products, clock: time.Now}
}

// now is the time of a change, as precise as the database keeps it.
func (s *Service) now() time.Time { return s.clock().UTC().Truncate(time.Microsecond) }
