// Package orders manages the orders of a company: lines, amounts, statuses, payments and stock reservations. Items,
// clients, stock and users belong to other domains, which it uses through the interfaces below.
package orders

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/numbering"
	"github.com/tradegrid/tradegrid/pkg/reference"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/trade"
)

// Catalog reads items that can be sold.
type Catalog interface {
	// OrderItems reads the items of the refs. Unknown items are omitted.
	OrderItems(ctx context.Context, q db.Querier, company tenant.ID, refs []trade.ItemRef) (map[trade.ItemRef]trade.Item, error)
}

// Clients reads the customers of orders and changes their balances.
type Clients interface {
	// DocumentClient reads a client; lock locks it until the transaction ends.
	DocumentClient(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID, lock bool) (c trade.Client, found bool, err error)
	// AddBalance queues a change of the client's balance; a delta of 0 changes nothing.
	AddBalance(tx *db.Tx, company tenant.ID, id uuid.UUID, delta money.Amount)
}

// PriceLists reads the prices of price lists.
type PriceLists interface {
	// Prices returns the prices of those refs that are in the list.
	Prices(ctx context.Context, q db.Querier, company tenant.ID, list uuid.UUID, refs []trade.ItemRef) (map[trade.ItemRef]money.Amount, error)
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

// Users reads the users of a company.
type Users interface {
	// UserNames returns the display names of those ids that are users of the company; "" for a user without a name.
	UserNames(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) (map[uuid.UUID]string, error)
	// KnownUsers returns those ids that are users of the company.
	KnownUsers(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) ([]uuid.UUID, error)
}

// Addresses reads the addresses of clients.
type Addresses interface {
	AddressLabel(ctx context.Context, q db.Querier, company tenant.ID, address uuid.UUID) (label string, found bool, err error)
}

// Config holds the dependencies of the service. Where PriceLists, Addresses, Assets or Deals is nil, there are none.
type Config struct {
	DB         *db.DB
	Numbers    *numbering.Committer
	Catalog    Catalog
	Clients    Clients
	Stock      Stock
	Users      Users
	PriceLists PriceLists
	Addresses  Addresses
	Assets     reference.Known
	Deals      reference.Known
}

// Service manages the orders of all companies.
type Service struct {
	cfg Config
	db  *db.DB
}

// New returns a service.
func New(cfg Config) *Service {
	if cfg.Assets == nil {
		cfg.Assets = noneKnown
	}
	if cfg.Deals == nil {
		cfg.Deals = noneKnown
	}
	return &Service{cfg: cfg, db: cfg.DB}
}

func noneKnown(context.Context, db.Querier, tenant.ID, []uuid.UUID) ([]uuid.UUID, error) {
	return nil, nil
}

// Get reads one order with its lines.
func (s *Service) Get(ctx context.Context, by access.Caller, id uuid.UUID) (Order, error) {
	return selectOrder(ctx, s.db, by.Company, id, false)
}

// lock reads the order that a caller is about to change and keeps others from changing it until the transaction ends.
// Changes read the lines, references and stock as well, so they stay SERIALIZABLE; those of one order wait for each other in
// this process, where the database would refuse them.
func (s *Service) lock(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (Order, error) {
	o, err := s.lockOrder(ctx, tx, by.Company, id)
	if err != nil {
		return o, err
	}
	return o, by.Expect(o.Version)
}

// lockOrder is lock for a change of a record that belongs to the order, whose version the caller does not expect.
func (s *Service) lockOrder(ctx context.Context, tx *db.Tx, company tenant.ID, id uuid.UUID) (Order, error) {
	if err := tx.LockInProcess(ctx, "order "+id.String()); err != nil {
		return Order{}, err
	}
	return selectOrder(ctx, tx, company, id, true)
}
