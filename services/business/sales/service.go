// Package sales manages the sales of a company and the cash shifts in which they are made: receipts with their lines,
// payments and refunds, and what the drawer of a shift must hold. Items, clients, stock and users belong to other domains,
// which it uses through the interfaces below.
package sales

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/numbering"
	"github.com/tradegrid/tradegrid/pkg/store/ownermail"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/document"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Clients reads the customers of sales and changes their loyalty points.
type Clients interface {
	document.Clients
	document.Matcher
	// AddPoints queues a change of the client's points; redeeming more than the client has is 409 LOYALTY_POINTS_INSUFFICIENT.
	AddPoints(tx *db.Tx, company tenant.ID, client uuid.UUID, delta int64, reason string, sale *uuid.UUID)
	// Enter queues an entry in the ledger of the client.
	Enter(tx *db.Tx, company tenant.ID, client uuid.UUID, e trade.LedgerEntry)
}

// Stock is the warehouse as sales use it.
type Stock interface {
	// FindWarehouse returns the given warehouse, or the default one if id is nil; ok is false if there is none.
	FindWarehouse(ctx context.Context, q db.Querier, company tenant.ID, id *uuid.UUID) (found uuid.UUID, ok bool, err error)
	// WarehouseOfBranch returns the warehouse of a branch; ok is false if there is none.
	WarehouseOfBranch(ctx context.Context, q db.Querier, company tenant.ID, branch uuid.UUID) (found uuid.UUID, ok bool, err error)
	// Move changes physical quantities, and stores the movements of the document; exceeding them may be 409 STOCK_INSUFFICIENT.
	Move(ctx context.Context, tx *db.Tx, by access.Caller, doc trade.StockDocument, deltas []trade.StockDelta) error
	// CheckMove returns the error that Move would return now because of what is in stock.
	CheckMove(ctx context.Context, q db.Querier, by access.Caller, deltas []trade.StockDelta) error
}

// Users reads the users of a company.
type Users interface {
	// UserNames returns the display names of those ids that are users of the company; "" for a user without a name.
	UserNames(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) (map[uuid.UUID]string, error)
	// ActiveUsers says of those ids that are users of the company whether they are active.
	ActiveUsers(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) (map[uuid.UUID]bool, error)
}

// Branches reads the branches of a company.
type Branches interface {
	// KnownBranches returns those ids that are branches of the company.
	KnownBranches(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) ([]uuid.UUID, error)
}

// Config holds the dependencies of the service. Where PriceLists is nil, there are none.
type Config struct {
	DB         *db.DB
	Numbers    *numbering.Committer
	Catalog    document.Catalog
	Taxes      document.TaxRates
	Clients    Clients
	Stock      Stock
	Users      Users
	Branches   Branches
	PriceLists document.PriceLists

	// Letter writes the mail that has the receipt of a sale; nil = there are no mails.
	Letter func(ctx context.Context, by access.Caller, v Sale) (ownermail.Notice, error)
}

// Service manages the sales and shifts of all companies.
type Service struct {
	cfg     Config
	sources document.Sources
}

// New returns a service.
func New(cfg Config) *Service {
	return &Service{cfg: cfg, sources: document.Sources{Catalog: cfg.Catalog, Taxes: cfg.Taxes, Clients: cfg.Clients, PriceLists: cfg.PriceLists}}
}

// Update changes the external id and the metadata of a sale or refund.
func (s *Service) Update(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[ChangeFields]) (Sale, error) {
	return table.Change(ctx, tx, by, id, func(_ Sale, v *Sale) error {
		fields := ChangeFields{v.External}
		in.Apply(&fields)
		v.External = fields.External
		return s.nameCashier(ctx, tx, by, v.cashier())
	}, updated)
}

// Get reads one sale with its lines and payments, and with its costs on request.
func (s *Service) Get(ctx context.Context, by access.Caller, id uuid.UUID, in Shown) (Sale, error) {
	if err := lineitem.Include(in.Include).Admit(by); err != nil {
		return Sale{}, err
	}
	v, err := table.Get(ctx, s.cfg.DB, by.Company, id)
	if err != nil {
		return v, err
	}
	if lineitem.Include(in.Include).Costs() {
		v.showCosts()
	}
	return v, s.nameCashier(ctx, s.cfg.DB, by, v.cashier())
}
