// Package catalog holds what a company sells: products, the categories they lie in, and units. Stock and suppliers belong
// to other packages; the catalog reads them through the functions in [Config].
package catalog

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/reference"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/trade"
)

// StockTotals reads the stock of each product over the company's warehouses. Products without any are left out.
type StockTotals func(ctx context.Context, q db.Querier, company tenant.ID, products []uuid.UUID) (map[uuid.UUID]trade.StockTotals, error)

// Config is what the service needs.
type Config struct {
	DB        *db.DB
	Stock     StockTotals
	Suppliers reference.Known
}

// Service is the catalog of all companies.
type Service struct {
	db        *db.DB
	stock     StockTotals
	suppliers reference.Known
}

// New makes the service.
func New(cfg Config) *Service {
	return &Service{db: cfg.DB, stock: cfg.Stock, suppliers: cfg.Suppliers}
}
