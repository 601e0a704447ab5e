// Package deals manages the deals of a company: their types and stages, lines, amounts, budgets, outcomes and history, and the
// directories of lost reasons and lead sources. Items, clients, users, venues and the calendar belong to other domains, which it
// uses through the interfaces below.
package deals

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/reference"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/trade"
)

// Catalog reads items that can be sold.
type Catalog interface {
	// OrderItems reads the items of the refs. Unknown items are omitted.
	OrderItems(ctx context.Context, q db.Querier, company tenant.ID, refs []trade.ItemRef) (map[trade.ItemRef]trade.Item, error)
}

// Clients reads the customers of deals.
type Clients interface {
	// DocumentClient reads a client; lock locks it until the transaction ends.
	DocumentClient(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID, lock bool) (c trade.Client, found bool, err error)
}

// PriceLists reads the prices of price lists.
type PriceLists interface {
	// Prices returns the prices of those refs that are in the list.
	Prices(ctx context.Context, q db.Querier, company tenant.ID, list uuid.UUID, refs []trade.ItemRef) (map[trade.ItemRef]money.Amount, error)
}

// Addresses reads the addresses of clients.
type Addresses interface {
	AddressLabel(ctx context.Context, q db.Querier, company tenant.ID, address uuid.UUID) (label string, found bool, err error)
}

// Users reads the users of a company.
type Users interface {
	// UserNames returns the display names of those ids that are users of the company; "" for a user without a name.
	UserNames(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) (map[uuid.UUID]string, error)
	// KnownUsers returns those ids that are users of the company.
	KnownUsers(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) ([]uuid.UUID, error)
}

// Branches reads the branches of a company.
type Branches interface {
	// DefaultBranch returns the default branch; nil = there is none.
	DefaultBranch(ctx context.Context, q db.Querier, company tenant.ID) (*uuid.UUID, error)
}

// Venues keeps the scheduling resources at which deals take place.
type Venues interface {
	// UseVenue replaces the use of a resource before a change of a deal with that after it; nil = none. It answers 404
	// RESOURCE_NOT_FOUND, 409 RESOURCE_INACTIVE, 409 VENUE_CAPACITY_EXCEEDED and 409 BOOKING_SLOT_TAKEN.
	UseVenue(ctx context.Context, tx *db.Tx, by access.Caller, before, now *trade.VenueUse) error
}

// Calendar keeps the calendar entries of scheduled deals.
type Calendar interface {
	// Sync follows a change of what the calendar shows of a deal; nil = nothing.
	Sync(ctx context.Context, tx *db.Tx, by access.Caller, before, now *trade.CalendarEntry) error
}

// Config holds the dependencies of the service. Where PriceLists, Addresses, Assets or Venues is nil, there are none.
type Config struct {
	DB         *db.DB
	Access     *access.Registry // components that types can ask for
	Catalog    Catalog
	Clients    Clients
	Users      Users
	Branches   Branches
	Calendar   Calendar
	PriceLists PriceLists
	Addresses  Addresses
	Assets     reference.Known
	Venues     Venues
}

// Service manages the deals of all companies.
type Service struct {
	cfg Config
	db  *db.DB
}

// New returns a service.
func New(cfg Config) *Service {
	if cfg.Assets == nil {
		cfg.Assets = noneKnown
	}
	if cfg.Venues == nil {
		cfg.Venues = noVenues{}
	}
	return &Service{cfg: cfg, db: cfg.DB}
}

func noneKnown(context.Context, db.Querier, tenant.ID, []uuid.UUID) ([]uuid.UUID, error) {
	return nil, nil
}

// noVenues are the venues of a platform without scheduling.
type noVenues struct{}

// UseVenue implements [Venues].
func (noVenues) UseVenue(_ context.Context, _ *db.Tx, _ access.Caller, _, now *trade.VenueUse) error {
	if now == nil {
		return nil
	}
	return missing(nil, false, "RESOURCE", "venueResourceId", now.ResourceID)
}

// Known returns those ids that are deals of the company.
var Known = table.Known

// Get reads one deal with its lines.
func (s *Service) Get(ctx context.Context, by access.Caller, id uuid.UUID) (Deal, error) {
	return selectDeal(ctx, s.db, by.Company, id, false)
}

// lock reads the deal that a caller is about to change and keeps others from changing it until the transaction ends. Changes
// of one deal wait for each other in this process, where the database would refuse them.
func (s *Service) lock(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (Deal, error) {
	if err := tx.LockInProcess(ctx, "deal "+id.String()); err != nil {
		return Deal{}, err
	}
	d, err := selectDeal(ctx, tx, by.Company, id, true)
	if err != nil {
		return d, err
	}
	return d, by.Expect(d.Version)
}
