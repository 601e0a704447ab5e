// Package warehouse manages warehouses and their stock: physical quantities, quantities reserved for open documents, and
// movements. Documents change stock in their own transactions.
package warehouse

import (
	"context"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/trade"
)

// Products reads products of the catalog.
type Products interface {
	// StockProducts reads the product data of stock records. Keys with an unknown product, or with a variant of another
	// product, are omitted.
	StockProducts(ctx context.Context, q db.Querier, company tenant.ID, keys []trade.StockKey) (map[trade.StockKey]trade.StockProduct, error)
}

// Config holds the dependencies of the service. Products is only needed where stock moves.
type Config struct {
	DB       *db.DB
	Products Products
}

// Service manages the warehouses of all companies.
type Service struct {
	db       *db.DB
	products Products
}

// New returns a service.
func New(cfg Config) *Service { return &Service{db: cfg.DB, products: cfg.Products} }
