// Package warehouse keeps warehouses and the stock in them: what is there, what is reserved for unfinished
// documents, and the movements that made it so. Documents change stock inside their own transactions.
package warehouse

import (
	"context"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/trade"
)

// Products reads products of the catalog.
type Products interface {
	// StockProducts reads what stock records show of products. Keys without a product, or whose variant is not the
	// product's, are left out.
	StockProducts(ctx context.Context, q db.Querier, company tenant.ID, keys []trade.StockKey) (map[trade.StockKey]trade.StockProduct, error)
}

// Config is what the service needs. Products is only needed where stock moves.
type Config struct {
	DB       *db.DB
	Products Products
}

// Service is the warehouses of all companies.
type Service struct {
	db       *db.DB
	products Products
}

// New makes the service.
func New(cfg Config) *Service { return &Service{db: cfg.DB, products: cfg.Products} }
