// Package company owns companies and who may act for them: plans, components, branches, users and API tokens.
// It authenticates callers. What a caller may do with a resource is asked of [access.Principal] elsewhere.
package company

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/wire"
)

// Warehouses makes the default warehouse of new companies.
type Warehouses interface {
	// CreateDefault queues the default warehouse of a company that has none yet, in its default branch.
	CreateDefault(tx *db.Tx, company tenant.ID, branch uuid.UUID, name string)
}

// Config is what the service needs. DB and Warehouses are required.
type Config struct {
	DB         *db.DB
	Warehouses Warehouses
	Log        *slog.Logger
	Now        func() time.Time // nil = time.Now
	Cell       string           // two base62 characters that name this cell in tokens; "" = c1
	CacheSize  int              // tokens that are remembered; 0 = 50 000
}

// Service offers the operations of this package. It is safe for concurrent use.
type Service struct {
	db         *db.DB
	warehouses Warehouses
	log        *slog.Logger
	clock      func() time.Time
	cell       string
	cache      *cache
	used       *usage
}

// New makes a service. [Service.Run] and [Service.ConsumeInvalidations] are to be run beside it
// where callers are authenticated.
func New(cfg Config) *Service {
	if cfg.Warehouses == nil {
		panic("company.New: Warehouses is required")
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.CacheSize <= 0 {
		cfg.CacheSize = 50_000
	}
	orElse(&cfg.Cell, "c1")
	return &Service{
		db: cfg.DB, warehouses: cfg.Warehouses, log: cfg.Log, clock: cfg.Now, cell: cfg.Cell,
		cache: newCache(cfg.CacheSize), used: newUsage(),
	}
}

// now is the time of a change, as precise as the database keeps it.
func (s *Service) now() time.Time { return s.clock().UTC().Truncate(time.Microsecond) }

// Create makes a company with its components, its default branch, and the default warehouse in that branch.
// All faults of the input come at once.
func (s *Service) Create(ctx context.Context, in NewCompany) (Company, error) {
	now := s.now()
	c, err := in.company(s.cell, now)
	if err != nil {
		return Company{}, err
	}
	b := newBranch(in.BranchName, true, now)
	err = s.db.RunTx(ctx, "company.create", func(ctx context.Context, tx *db.Tx) error {
		insertCompany(tx, c)
		upsertComponents(tx, c, c.Components, true)
		insertBranch(tx, c.ID, b)
		s.warehouses.CreateDefault(tx, c.ID, b.ID, b.Name)
		return nil
	})
	return c, err
}

// Get reads one company with its components.
func (s *Service) Get(ctx context.Context, id tenant.ID) (Company, error) {
	return getCompany(ctx, s.db, id)
}

// List reads a page of companies in the order of their ids.
func (s *Service) List(ctx context.Context, f Filter) ([]Company, error) {
	var faults fault.Fields
	if f.Status != "" && f.Status != Active && f.Status != Archived {
		faults.Add("status", fault.Enum, "%q is not a status: use %s or %s", f.Status, Active, Archived)
	}
	if f.Limit == 0 {
		f.Limit = 50
	}
	if f.Limit < 1 || f.Limit > 200 {
		faults.Add("limit", fault.Max, "must be between 1 and 200")
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return listCompanies(ctx, s.db, f)
}

// Archive closes a company to the API; its records stay. Archiving twice changes nothing.
func (s *Service) Archive(ctx context.Context, id tenant.ID) (Company, error) {
	return s.change(ctx, "company.archive", id, func(c *Company, now time.Time) (bool, error) {
		changed := c.Status != Archived
		at := wire.At(now)
		if changed {
			c.Status, c.ArchivedAt = Archived, &at
		}
		return changed, nil
	})
}

// Unarchive opens an archived company again.
func (s *Service) Unarchive(ctx context.Context, id tenant.ID) (Company, error) {
	return s.change(ctx, "company.unarchive", id, func(c *Company, _ time.Time) (bool, error) {
		changed := c.Status == Archived
		c.Status, c.ArchivedAt = Active, nil
		return changed, nil
	})
}

// SetPlan moves a company to another plan.
func (s *Service) SetPlan(ctx context.Context, id tenant.ID, plan string) (Company, error) {
	var faults fault.Fields
	if err := checkPlan(plan); err != nil {
		faults.Add("plan", fault.Enum, "%s", err.Error())
		return Company{}, faults.Err()
	}
	return s.change(ctx, "company.plan", id, func(c *Company, _ time.Time) (bool, error) {
		changed := c.Plan != plan
		c.Plan = plan
		return changed, nil
	})
}

// Configure changes settings of a company.
func (s *Service) Configure(ctx context.Context, id tenant.ID, settings Settings) (Company, error) {
	return s.change(ctx, "company.settings", id, func(c *Company, _ time.Time) (bool, error) {
		changed := settings.apply(c)
		var faults fault.Fields
		c.check(&faults)
		return changed, faults.Err()
	})
}

// SetComponent switches a component of a company. Those that are always on cannot be disabled.
func (s *Service) SetComponent(ctx context.Context, id tenant.ID, alias string, enabled bool) (Company, error) {
	var faults fault.Fields
	if err := access.CheckComponent(alias); err != nil {
		faults.Add("component", fault.Enum, "%s", err.Error())
	} else if access.AlwaysOn(alias) && !enabled {
		faults.Add("component", fault.Conflict, "%s is part of every company and cannot be disabled", alias)
	}
	if err := faults.Err(); err != nil {
		return Company{}, err
	}
	now := s.now()
	var c Company
	err := s.db.RunTx(ctx, "company.component", func(ctx context.Context, tx *db.Tx) (err error) {
		if c, err = getCompany(ctx, tx, id); err != nil {
			return err
		}
		if access.ComponentSet(c.Components...).Has(alias) == enabled {
			return nil
		}
		c.bump(now)
		c.Components = withComponent(c.Components, alias, enabled)
		updateCompany(tx, c)
		upsertComponents(tx, c, []string{alias}, enabled)
		return announceCompany(ctx, tx, c, now)
	})
	s.cache.dropCompany(id)
	return c, err
}

func withComponent(list []string, alias string, enabled bool) []string {
	var next []string
	for _, have := range list {
		if have != alias {
			next = append(next, have)
		}
	}
	if enabled {
		next = append(next, alias)
	}
	return access.ComponentSet(next...).List()
}

// change runs fn on the company in a transaction and stores the next version if fn says that it differs.
func (s *Service) change(ctx context.Context, name string, id tenant.ID, fn func(*Company, time.Time) (bool, error)) (Company, error) {
	now := s.now()
	var c Company
	err := s.db.RunTx(ctx, name, func(ctx context.Context, tx *db.Tx) (err error) {
		if c, err = getCompany(ctx, tx, id); err != nil {
			return err
		}
		changed, err := fn(&c, now)
		if err != nil || !changed {
			return err
		}
		c.bump(now)
		updateCompany(tx, c)
		return announceCompany(ctx, tx, c, now)
	})
	s.cache.dropCompany(id)
	return c, err
}
