// Package warehouse manages warehouses and their stock: physical quantities, quantities reserved for open documents, and
// movements. Documents change stock in their own transactions.
package warehouse

import (
	"context"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Products reads products of the catalog.
type Products interface {
	// StockProducts reads the product data of stock records. Keys with an unknown product, or with a variant of another
	// product, are omitted.
	StockProducts(ctx context.Context, q db.Querier, company tenant.ID, keys []trade.StockKey) (map[trade.StockKey]trade.StockProduct, error)
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
	// OpenBranches returns those that are active, in the order in which they get warehouses.
	OpenBranches(ctx context.Context, q db.Querier, company tenant.ID) ([]uuid.UUID, error)
	// ActiveBranches says of those ids that are branches of the company whether they are active.
	ActiveBranches(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) (map[uuid.UUID]bool, error)
	// BranchNames returns the names of those ids that are branches of the company.
	BranchNames(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) (map[uuid.UUID]string, error)
}

// FilterCategory adds the filter by a category, or "null", to a list that has a column category_id.
type FilterCategory func(ctx context.Context, d db.Querier, q *list.Query, company tenant.ID, category jsontype.IDOrNull) error

// ProductOf returns the product of a variant; 404 if there is no such variant.
type ProductOf func(ctx context.Context, q db.Querier, company tenant.ID, variant uuid.UUID) (uuid.UUID, error)

// Config holds the dependencies of the service. Products is needed where stock moves, the others for the operations of the API.
type Config struct {
	DB             *db.DB
	Products       Products
	ProductOf      ProductOf
	FilterCategory FilterCategory
	Users          Users
	Branches       Branches
}

// Service manages the warehouses of all companies.
type Service struct {
	Defaults

	cfg Config
}

// New returns a service.
func New(cfg Config) *Service { return &Service{cfg: cfg} }

// Defaults creates the default warehouses of new companies.
type Defaults struct{}

// CreateDefault queues the creation of the default warehouse of a company that has none, in its default branch.
func (Defaults) CreateDefault(tx *db.Tx, company tenant.ID, branch uuid.UUID, name string) {
	table.Add(tx, company, &Warehouse{Fields: Fields{Name: name}, BranchID: &branch, IsDefault: true})
}

// List returns a page of warehouses.
func (s *Service) List(ctx context.Context, by access.Caller, f Filter) (*list.Page[ListItem], error) {
	page, err := items.Page(ctx, s.cfg.DB, by.Company, f)
	if err != nil || !f.Shows("branchName", "managerName") {
		return page, err
	}
	return page, s.nameAll(ctx, by.Company, page.Items)
}

// nameAll fills in the names of branches and managers, in one round trip.
func (s *Service) nameAll(ctx context.Context, company tenant.ID, all []ListItem) error {
	return batchloader.Load(ctx, s.cfg.DB,
		reference.Names(s.cfg.Branches.BranchNames).Fill(company, len(all), func(i int) (*uuid.UUID, **string) { return all[i].BranchID, &all[i].BranchName }),
		reference.Names(s.cfg.Users.UserNames).Fill(company, len(all), func(i int) (*uuid.UUID, **string) { return all[i].ManagerUserID, &all[i].ManagerName }))
}

// nameOf is nil for a record that has no name or does not exist.
func nameOf(names map[uuid.UUID]string, id *uuid.UUID) *string {
	if id == nil || names[*id] == "" {
		return nil
	}
	return new(names[*id])
}

// Create creates a warehouse in the given branch, or in the first open branch that has none.
//
// Errors: 404 for a reference, 409 BRANCH_WAREHOUSE_EXISTS, 409 BRANCH_NOT_AVAILABLE.
func (s *Service) Create(ctx context.Context, tx *db.Tx, by access.Caller, in Input) (Warehouse, error) {
	if err := lockWarehouses(ctx, tx, by.Company); err != nil {
		return Warehouse{}, err
	}
	w := Warehouse{Fields: in.Fields}
	if err := s.checkManager(ctx, tx, by.Company, nil, w.ManagerUserID); err != nil {
		return Warehouse{}, err
	}
	branch, err := s.branchFor(ctx, tx, by.Company, in.BranchID)
	if err != nil {
		return Warehouse{}, err
	}
	w.BranchID = &branch
	return table.Create(ctx, tx, by, w)
}

// Update changes a warehouse. If nothing differs, there is no new version.
//
// Errors: 404, 412, 404 for a reference, 409 BRANCH_WAREHOUSE_EXISTS, 409 BRANCH_NOT_AVAILABLE for a closed branch.
func (s *Service) Update(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[Input]) (Warehouse, error) {
	moves := in.Sent(&in.Value.BranchID)
	if moves || in.Value.ManagerUserID != nil {
		tx.ReadsMore()
	}
	return table.Change(ctx, tx, by, id, func(before Warehouse, w *Warehouse) error {
		v := Input{Fields: w.Fields}
		in.Apply(&v)
		w.Fields = v.Fields
		if err := s.checkManager(ctx, tx, by.Company, before.ManagerUserID, w.ManagerUserID); err != nil {
			return err
		}
		if !moves || (before.BranchID != nil && *before.BranchID == v.BranchID) {
			return nil
		}
		branch, err := s.checkBranch(ctx, tx, by.Company, v.BranchID)
		w.BranchID = &branch
		return err
	})
}

func (s *Service) checkManager(ctx context.Context, q db.Querier, company tenant.ID, before, now *uuid.UUID) error {
	var refs reference.Set
	refs.Add("USER", "managerUserId", before, now, s.cfg.Users.KnownUsers)
	return refs.Check(ctx, q, company)
}

// Delete deletes a warehouse without stock. Movements and documents keep its name.
//
// Errors: 404, 412, 409 WAREHOUSE_IS_DEFAULT, 409 WAREHOUSE_NOT_EMPTY.
func (s *Service) Delete(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) error {
	tx.ReadsMore()
	return table.Delete(ctx, tx, by, id, func(w Warehouse) error {
		if w.IsDefault {
			return errIsDefault
		}
		return deleteStocks(ctx, tx, by.Company, id)
	})
}

// MakeDefault makes a warehouse the default of its company in place of the current one.
func (s *Service) MakeDefault(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (Warehouse, error) {
	if err := lockWarehouses(ctx, tx, by.Company); err != nil {
		return Warehouse{}, err
	}
	w, err := table.Lock(ctx, tx, by, id)
	if err != nil || w.IsDefault {
		return w, err
	}
	current, found, err := s.FindWarehouse(ctx, tx, by.Company, nil)
	if err != nil {
		return w, err
	}
	if found {
		// The update of the old default comes first: there is never more than one.
		if _, err := table.Change(ctx, tx, by.Unconditional(), current, func(_ Warehouse, old *Warehouse) error { old.IsDefault = false; return nil }); err != nil {
			return w, err
		}
	}
	snapshot := table.Snapshot(w)
	w.IsDefault = true
	return w, table.Store(ctx, tx, by, snapshot, &w)
}

var (
	differences = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "tradegrid_stock_differences", Help: "Quantities of stock that are not the sum of their movements or reserves, as the last nightly check found them: 0 unless something is wrong. Counted by the owner of bucket 0; 0 in other processes.",
	})
	checked = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "tradegrid_stock_checked_companies_total", Help: "Companies whose stock the nightly check has compared.",
	})
)

// Metrics returns the collectors of this package, to be registered once per process.
func Metrics() []prometheus.Collector { return []prometheus.Collector{differences, checked, untold} }
