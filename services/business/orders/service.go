// Package orders manages the orders of a company: lines, amounts, statuses, payments and stock reservations. Items,
// clients, stock and users belong to other domains, which it uses through the interfaces below.
package orders

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/numbering"
	"github.com/tradegrid/tradegrid/pkg/store/ownermail"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
	"github.com/tradegrid/tradegrid/services/business/document"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Clients reads the customers of orders and changes their balances.
type Clients interface {
	document.Clients
	document.Matcher
	// Enter queues an entry in the ledger of the client, and the change of the balance that it makes; one without amounts changes nothing.
	Enter(tx *db.Tx, company tenant.ID, client uuid.UUID, e trade.LedgerEntry)
}

// Stock is the warehouse as orders use it.
type Stock interface {
	// FindWarehouse returns the given warehouse, or the default one if id is nil; ok is false if there is none.
	FindWarehouse(ctx context.Context, q db.Querier, company tenant.ID, id *uuid.UUID) (found uuid.UUID, ok bool, err error)
	// WarehouseNames returns the names of those ids that are warehouses of the company.
	WarehouseNames(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) (map[uuid.UUID]string, error)
	// Reserve queues changes of reserved quantities; exceeding the available quantity may be 409 STOCK_INSUFFICIENT.
	Reserve(tx *db.Tx, by access.Caller, deltas []trade.StockDelta)
	// Move changes physical and reserved quantities, and stores the movements of the document.
	Move(ctx context.Context, tx *db.Tx, by access.Caller, doc trade.StockDocument, deltas []trade.StockDelta) error
}

// Config holds the dependencies of the service. Where PriceLists, Addresses, Assets or Deals is nil, there are none.
type Config struct {
	DB         *db.DB
	Numbers    *numbering.Committer
	Catalog    document.Catalog
	Taxes      document.TaxRates
	Clients    Clients
	Stock      Stock
	Users      document.Users
	PriceLists document.PriceLists
	Addresses  document.Addresses
	Assets     reference.Known
	Deals      reference.Known
	Channels   document.Codes
	Methods    document.Codes // of delivery

	// Letter writes the mail that has a document of an order; nil = there are no mails.
	Letter func(ctx context.Context, by access.Caller, o Order, document string) (ownermail.Notice, error)
}

// Service manages the orders of all companies.
type Service struct {
	cfg     Config
	sources document.Sources
}

// New returns a service.
func New(cfg Config) *Service {
	if cfg.Assets == nil {
		cfg.Assets = reference.None
	}
	if cfg.Deals == nil {
		cfg.Deals = reference.None
	}
	return &Service{cfg: cfg, sources: document.Sources{Catalog: cfg.Catalog, Taxes: cfg.Taxes, Clients: cfg.Clients, PriceLists: cfg.PriceLists, Addresses: cfg.Addresses}}
}
