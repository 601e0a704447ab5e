// Package deals manages the deals of a company: their types and stages, lines, amounts, budgets, outcomes and history, and the
// directories of lost reasons and lead sources. Items, clients, users, venues and the calendar belong to other domains, which it
// uses through the interfaces below.
package deals

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
	"github.com/tradegrid/tradegrid/services/business/document"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

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
	Catalog    document.Catalog
	Taxes      document.TaxRates
	Clients    document.Clients
	Users      document.Users
	Branches   Branches
	Calendar   Calendar
	PriceLists document.PriceLists
	Addresses  document.Addresses
	Assets     reference.Known
	Venues     Venues
	Channels   document.Codes
}

// Service manages the deals of all companies.
type Service struct {
	cfg     Config
	sources document.Sources
}

// New returns a service.
func New(cfg Config) *Service {
	if cfg.Assets == nil {
		cfg.Assets = reference.None
	}
	if cfg.Venues == nil {
		cfg.Venues = noVenues{}
	}
	return &Service{cfg: cfg, sources: document.Sources{Catalog: cfg.Catalog, Taxes: cfg.Taxes, Clients: cfg.Clients, PriceLists: cfg.PriceLists, Addresses: cfg.Addresses}}
}

// noVenues are the venues of a platform without scheduling.
type noVenues struct{}

// UseVenue implements [Venues].
func (noVenues) UseVenue(_ context.Context, _ *db.Tx, _ access.Caller, _, now *trade.VenueUse) error {
	if now == nil {
		return nil
	}
	return reference.Missing(nil, false, "RESOURCE", "venueResourceId", now.ResourceID)
}

// Known returns those ids that are deals of the company.
var Known = table.Known
