// Package company owns companies and who may act for them: plans, components, branches, users and API tokens.
// It authenticates callers; [access.Principal] tells what they may do.
package company

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/config"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// Warehouses creates the default warehouse of new companies.
type Warehouses interface {
	// CreateDefault queues the insert of the default warehouse, in the default branch, for a company without one.
	CreateDefault(tx *db.Tx, company tenant.ID, branch uuid.UUID, name string)
}

// cachedTokens is how many tokens are in memory.
const cachedTokens = 50_000

// CellSettings are those of the companies that a process makes. Zero values take the default.
type CellSettings struct {
	Cell string `help:"Cell of new companies: two letters or digits, a part of their tokens." default:"c1" same:"platform"`
}

// Check validates the name.
func (s CellSettings) Check() error {
	if err := checkCell(s.Cell); err != nil {
		return fmt.Errorf("--cell: %w", err)
	}
	return nil
}

// Config holds the dependencies of the service. DB, Warehouses and Access are required.
type Config struct {
	CellSettings

	DB         *db.DB
	Warehouses Warehouses
	Pipelines  func(tx *db.Tx, company tenant.ID) // queues the deal types of a new company; nil = it gets none
	Reminders  func(tx *db.Tx, company tenant.ID) // queues what follows from other reminders of bookings; nil = nothing does
	Access     *access.Registry                   // all scopes and components
	Log        *slog.Logger
}

// Service manages companies, users and tokens. It is safe for concurrent use.
type Service struct {
	cfg   Config
	cache *cache
	used  *usage
}

// New returns a service. A process that authenticates callers also runs [Service.Run] and [Service.ConsumeInvalidations].
func New(cfg Config) *Service {
	if cfg.Warehouses == nil || cfg.Access == nil {
		panic("company.New: Warehouses and Access are required")
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	config.Complete(&cfg.CellSettings)
	return &Service{cfg: cfg, cache: newCache(cachedTokens), used: newUsage()}
}

// Create creates a company with its components, its default branch and the default warehouse in that branch. All faults of
// the input are reported at once.
func (s *Service) Create(ctx context.Context, tx *db.Tx, in NewCompany) (Company, error) {
	c, err := in.company(s.cfg.Access, s.cfg.Cell, tx.Now())
	if err != nil {
		return Company{}, err
	}
	insertCompany(tx, c)
	if err := c.keepLogo(ctx, tx, nil); err != nil {
		return Company{}, err
	}
	upsertComponents(tx, c, c.Components, true)
	b, err := branches.Create(ctx, tx, access.System(c.ID), Branch{BranchState: BranchState{BranchFields{in.BranchName}, true}, IsDefault: true})
	if err != nil {
		return Company{}, err
	}
	s.cfg.Warehouses.CreateDefault(tx, c.ID, b.ID, b.Name)
	if s.cfg.Pipelines != nil {
		s.cfg.Pipelines(tx, c.ID)
	}
	return c, nil
}

// Get returns a company with its components.
func (s *Service) Get(ctx context.Context, id tenant.ID) (Company, error) {
	return s.get(ctx, s.cfg.DB, id)
}

func (s *Service) get(ctx context.Context, q db.Querier, id tenant.ID) (Company, error) {
	c, err := getCompany(ctx, q, id)
	c.Components = s.cfg.Access.With(c.Components...)
	return c, err
}

// ComponentsOf returns the components of companies. Companies that do not exist are omitted.
func (s *Service) ComponentsOf(ctx context.Context, ids []tenant.ID) (map[tenant.ID]access.Components, error) {
	enabled, err := db.Map[tenant.ID, []string](ctx, s.cfg.DB, "select components of companies", sqlSelectComponents, ids)
	if err != nil {
		return nil, err
	}
	all := make(map[tenant.ID]access.Components, len(enabled))
	for id, aliases := range enabled {
		all[id] = s.cfg.Access.With(aliases...)
	}
	return all, nil
}

// IDs returns the next ids of companies after one, in order, for work on all companies.
func (s *Service) IDs(ctx context.Context, after tenant.ID) ([]tenant.ID, error) {
	return selectIDs(ctx, s.cfg.DB, after)
}

// Companies returns a page of companies.
func (s *Service) Companies(ctx context.Context, by access.Caller, f Filter) (*list.Page[Company], error) {
	page, err := items.Page(ctx, s.cfg.DB, by.Company, f)
	if err != nil {
		return nil, err
	}
	ids := make([]tenant.ID, len(page.Items))
	for i, c := range page.Items {
		ids[i] = c.ID
	}
	enabled, err := selectEnabled(ctx, s.cfg.DB, ids)
	if err != nil {
		return nil, err
	}
	for i := range page.Items {
		page.Items[i].Components = s.cfg.Access.With(enabled[page.Items[i].ID]...)
	}
	return page, nil
}

// Own returns the caller's company.
func (s *Service) Own(ctx context.Context, by access.Caller) (Company, error) {
	return s.Get(ctx, by.Company)
}

// Archive closes the API to a company and keeps its records. It is idempotent.
func (s *Service) Archive(ctx context.Context, tx *db.Tx, by access.Caller) (Company, error) {
	return s.change(ctx, tx, by, func(c *Company) error {
		if c.Status != Archived {
			at := jsontype.At(tx.Now())
			c.Status, c.ArchivedAt = Archived, &at
		}
		return nil
	})
}

// Unarchive opens an archived company again.
func (s *Service) Unarchive(ctx context.Context, tx *db.Tx, by access.Caller) (Company, error) {
	return s.change(ctx, tx, by, func(c *Company) error { c.Status, c.ArchivedAt = Active, nil; return nil })
}

// SetPlan moves a company to another plan.
func (s *Service) SetPlan(ctx context.Context, tx *db.Tx, by access.Caller, plan string) (Company, error) {
	return s.Configure(ctx, tx, by, record.PatchOf(Settings{Plan: plan}, "plan"))
}

// Configure changes settings of a company.
func (s *Service) Configure(ctx context.Context, tx *db.Tx, by access.Caller, in record.Patch[Settings]) (Company, error) {
	return s.change(ctx, tx, by, func(c *Company) error {
		before, logo := c.BookingReminders, c.DocumentLogoID
		in.Apply(&c.Settings)
		c.Normalise()
		var faults apierr.Fields
		c.check(&faults)
		if err := faults.Err(); err != nil {
			return err
		}
		if s.cfg.Reminders != nil && !slices.Equal(before, c.BookingReminders) {
			s.cfg.Reminders(tx, c.ID)
		}
		return c.keepLogo(ctx, tx, logo)
	})
}

// Switch enables or disables a component.
type Switch struct {
	Component string `json:"component" required:"true" maxLength:"64" doc:"alias, such as deals"`
	On        bool   `json:"enabled" required:"true"`
}

// SchemaName implements [jsontype.Named].
func (Switch) SchemaName() string { return "ComponentSwitch" }

// SetComponent enables or disables a component of a company. Components that are always on cannot be disabled.
func (s *Service) SetComponent(ctx context.Context, tx *db.Tx, by access.Caller, in Switch) (Company, error) {
	var faults apierr.Fields
	if err := s.cfg.Access.CheckComponent(in.Component); err != nil {
		faults.Add("component", apierr.Enum, "%s", err.Error())
	} else if s.cfg.Access.AlwaysOn().Has(in.Component) && !in.On {
		faults.Add("component", apierr.Conflict, "%s is part of every company and cannot be disabled", in.Component)
	}
	if err := faults.Err(); err != nil {
		return Company{}, err
	}
	c, err := s.expected(ctx, tx, by)
	if err != nil || slices.Contains(c.Components, in.Component) == in.On {
		return c, err
	}
	enabled := slices.DeleteFunc(c.Components, func(alias string) bool { return alias == in.Component })
	if in.On {
		enabled = append(enabled, in.Component)
	}
	c.Components = s.cfg.Access.With(enabled...)
	upsertComponents(tx, c, []string{in.Component}, in.On)
	return c, s.store(ctx, tx, &c)
}

// expected reads the caller's company and checks If-Match.
func (s *Service) expected(ctx context.Context, tx *db.Tx, by access.Caller) (Company, error) {
	c, err := s.get(ctx, tx, by.Company)
	if err != nil {
		return c, err
	}
	return c, by.Expect(c.Version)
}

// change applies mutate to the company and stores the result if it differs.
func (s *Service) change(ctx context.Context, tx *db.Tx, by access.Caller, mutate func(*Company) error) (Company, error) {
	c, err := s.expected(ctx, tx, by)
	if err != nil {
		return c, err
	}
	snapshot := companyPlan.Snapshot(&c)
	if err := mutate(&c); err != nil {
		return c, err
	}
	companyPlan.Normalise(&c)
	if changed, _ := snapshot.Changes(&c); !changed {
		return c, nil
	}
	return c, s.store(ctx, tx, &c)
}

// store stores the next version of a company that this transaction has read.
func (s *Service) store(ctx context.Context, tx *db.Tx, c *Company) error {
	c.Touch(tx.Now())
	updateCompany(tx, *c)
	return s.invalidateCompany(ctx, tx, *c)
}
