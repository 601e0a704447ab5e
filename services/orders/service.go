// Package orders holds the orders of a company: their lines and amounts, their way from new to completed or
// cancelled, what was paid for them, and what they reserve in the warehouse. Items, clients, stock and users
// belong to other domains; the interfaces below are all that orders ask of them.
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

// Catalog reads what can be sold.
type Catalog interface {
	// OrderItems reads the items of the refs. Refs without an item are left out.
	OrderItems(ctx context.Context, q db.Querier, company tenant.ID, refs []trade.ItemRef) (map[trade.ItemRef]trade.Item, error)
}

// Clients reads the customers of orders and keeps their balance.
type Clients interface {
	// DocumentClient reads a client; lock keeps others from confirming orders of the client until the transaction ends.
	DocumentClient(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID, lock bool) (c trade.Client, found bool, err error)
	// AddBalance queues a change of the client's balance; a delta of 0 changes nothing.
	AddBalance(tx *db.Tx, company tenant.ID, id uuid.UUID, delta money.Amount)
}

// PriceLists reads the prices that some clients have.
type PriceLists interface {
	// Prices gives the prices of the refs that the list has.
	Prices(ctx context.Context, q db.Querier, company tenant.ID, list uuid.UUID, refs []trade.ItemRef) (map[trade.ItemRef]money.Amount, error)
}

// Stock is the warehouse as orders use it.
type Stock interface {
	// FindWarehouse gives the named warehouse, or the default one when id is nil; ok is false when there is none.
	FindWarehouse(ctx context.Context, q db.Querier, company tenant.ID, id *uuid.UUID) (found uuid.UUID, ok bool, err error)
	// Reserve queues changes of what is reserved; more than is available may be 409 STOCK_INSUFFICIENT.
	Reserve(tx *db.Tx, by access.Caller, deltas []trade.StockDelta)
	// Move changes physical quantities and reserves, and records the movements of the document.
	Move(ctx context.Context, tx *db.Tx, by access.Caller, doc trade.StockDocument, deltas []trade.StockDelta) error
}

// Users knows the people of a company.
type Users interface {
	// UserNames are the display names of those ids that are users of the company; a user without a name has "".
	UserNames(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) (map[uuid.UUID]string, error)
	// KnownUsers are those of the ids that are users of the company.
	KnownUsers(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) ([]uuid.UUID, error)
}

// Addresses reads the addresses of clients.
type Addresses interface {
	AddressLabel(ctx context.Context, q db.Querier, company tenant.ID, address uuid.UUID) (label string, found bool, err error)
}

// Config is what the service needs. Where PriceLists, Addresses, Assets or Deals is nil, there are none.
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

// Service is the orders of all companies.
type Service struct {
	cfg Config
	db  *db.DB
}

// New makes the service.
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
	if err := tx.LockInProcess(ctx, "order "+id.String()); err != nil {
		return Order{}, err
	}
	o, err := selectOrder(ctx, tx, by.Company, id, true)
	if err != nil {
		return o, err
	}
	return o, by.Expect(o.Version)
}
