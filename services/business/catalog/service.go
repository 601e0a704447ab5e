// Package catalog manages the products with their variants and attributes, the categories and the units of a company. Stock and suppliers belong to other packages,
// which the catalog reads through the functions in [Config].
package catalog

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// StockTotals reads the total stock of each product in the company's warehouses. Products without stock are omitted.
type StockTotals func(ctx context.Context, q db.Querier, company tenant.ID, products []uuid.UUID) (map[uuid.UUID]trade.StockTotals, error)

// VariantTotals reads the total stock of each variant of the products in the company's warehouses. Variants without stock are omitted.
type VariantTotals func(ctx context.Context, q db.Querier, company tenant.ID, products []uuid.UUID) (map[uuid.UUID]trade.StockTotals, error)

// Services are the services of the catalog, which are in the same categories as products.
type Services interface {
	// CountActive counts the active services in a category, not in those below it.
	CountActive(ctx context.Context, q db.Querier, company tenant.ID, category uuid.UUID) (int64, error)
	// EmptyCategory removes the services from a category: active ones move to the other one, hidden ones to none.
	EmptyCategory(ctx context.Context, tx *db.Tx, by access.Caller, category uuid.UUID, to *uuid.UUID) error
}

// Config holds the dependencies of the service.
type Config struct {
	DB           *db.DB
	Stock        StockTotals
	VariantStock VariantTotals
	Suppliers    reference.Known
	TaxRates     reference.Known // that can be chosen
	Services     Services
}

// Service manages the catalogs of all companies.
type Service struct{ cfg Config }

// New returns a service.
func New(cfg Config) *Service { return &Service{cfg: cfg} }
