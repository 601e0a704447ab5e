// Package orders holds the orders of a company: their lines and amounts, their way from new to completed or
// cancelled, what was paid for them, and what they reserve in the warehouse. Items, clients, stock and users
// belong to other domains; the interfaces below are all that orders ask of them.
package orders

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/numbering"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

const (
	component = "orders"
	scope     = "orders"
)

// Catalog reads what can be sold.
type Catalog interface {
	// OrderItems reads the items of the refs. Refs without an item are left out.
	OrderItems(ctx context.Context, q db.Querier, company tenant.ID, refs []ItemRef) (map[ItemRef]Item, error)
}

// ItemRef names a product, one of its variants, or a service.
type ItemRef struct {
	Kind    string // product or service
	ID      uuid.UUID
	Variant uuid.UUID // zero = none
}

// Item is what a line takes from the catalog.
type Item struct {
	SKU          string
	Name         string
	Unit         string
	Price        money.Amount // of the variant, if one is named
	Hidden       bool
	HasStock     bool
	HasVariants  bool // it has active variants, one of which must be named
	NoVariant    bool // the item exists, the variant that the ref names does not
	MinOrderQty  *money.Qty
	OrderStepQty *money.Qty
	Parts        []Part                 // of a bundle that has no stock of its own: its components with stock
	Options      map[uuid.UUID]Modifier // of its modifier groups, by option
}

// Part is a component of a bundle.
type Part struct {
	Product uuid.UUID
	Qty     money.Qty // in one bundle
}

// Clients reads the customers of orders and keeps their balance.
type Clients interface {
	// OrderClient reads a client; lock keeps others from confirming orders of the client until the transaction ends.
	OrderClient(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID, lock bool) (c Client, found bool, err error)
	// AddBalance queues a change of the client's balance.
	AddBalance(ctx context.Context, tx *db.Tx, company tenant.ID, id uuid.UUID, delta money.Amount) error
}

// Client is what an order takes from its customer.
type Client struct {
	DisplayName      string
	Phone            *string
	Email            *string
	Archived         bool
	PaymentTermsDays *int32
	CreditLimit      money.Amount // 0 = no limit
	Balance          money.Amount // negative = debt
	PriceListID      *uuid.UUID   // the client's own, else that of the group
}

// PriceLists reads the prices that some clients have.
type PriceLists interface {
	// Prices gives the prices of the refs that the list has.
	Prices(ctx context.Context, q db.Querier, company tenant.ID, list uuid.UUID, refs []ItemRef) (map[ItemRef]money.Amount, error)
}

// Stock is the warehouse as orders use it.
type Stock interface {
	// FindWarehouse gives the named warehouse, or the default one when id is nil; ok is false when there is none.
	FindWarehouse(ctx context.Context, q db.Querier, company tenant.ID, id *uuid.UUID) (found uuid.UUID, ok bool, err error)
	// Reserve queues changes of what is reserved; more than is available may be 409 STOCK_INSUFFICIENT.
	Reserve(tx *db.Tx, by access.Caller, deltas []StockDelta)
	// Complete changes physical quantities and reserves of a completed order, and records the movements.
	Complete(ctx context.Context, tx *db.Tx, by access.Caller, order uuid.UUID, number int64, deltas []StockDelta) error
}

// StockDelta is a change of what a warehouse holds, and has reserved, of a product or variant (zero = none).
type StockDelta struct {
	Warehouse uuid.UUID
	Product   uuid.UUID
	Variant   uuid.UUID
	Qty       money.Qty
	Reserved  money.Qty
}

// Users reads the people of a company.
type Users interface {
	// UserNames gives the display names of users; ids of nobody are left out.
	UserNames(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) (map[uuid.UUID]string, error)
}

// Places reads the addresses and assets of clients.
type Places interface {
	AddressLabel(ctx context.Context, q db.Querier, company tenant.ID, address uuid.UUID) (label string, found bool, err error)
	HasAsset(ctx context.Context, q db.Querier, company tenant.ID, asset uuid.UUID) (bool, error)
}

// Deals reads the deals that orders come from.
type Deals interface {
	HasDeal(ctx context.Context, q db.Querier, company tenant.ID, deal uuid.UUID) (bool, error)
}

// Config is what the service needs. Where PriceLists, Places or Deals is nil, there are none.
type Config struct {
	DB         *db.DB
	Numbers    *numbering.Committer
	Catalog    Catalog
	Clients    Clients
	Stock      Stock
	Users      Users
	PriceLists PriceLists
	Places     Places
	Deals      Deals
	Now        func() time.Time // nil = time.Now
}

// Service is the orders of all companies.
type Service struct {
	cfg Config
	db  *db.DB
}

// New makes the service.
func New(cfg Config) *Service {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Service{cfg: cfg, db: cfg.DB}
}

// now is the time of a change, as precise as the database keeps it.
func (s *Service) now() time.Time { return s.cfg.Now().UTC().Truncate(time.Microsecond) }
