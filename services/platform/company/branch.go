package company

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// Branch is a place of business of a company.
type Branch struct {
	record.Key
	BranchState
	IsDefault bool `json:"isDefault"`
	record.Meta
}

// BranchState holds the fields that operators change.
type BranchState struct {
	BranchFields
	IsActive bool `json:"isActive"`
}

// BranchFields are the settable fields of a branch.
type BranchFields struct {
	Name string `json:"name" required:"true" minLength:"1" maxLength:"255"`
}

var branches = resource.Of[Branch]("branches", "BRANCH")

// KnownBranches returns those ids that are branches of the company.
func (s *Service) KnownBranches(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) ([]uuid.UUID, error) {
	return branches.Known(ctx, q, company, ids)
}

const (
	sqlSelectOpenBranches  = `SELECT id FROM branches WHERE company_id = $1 AND is_active ORDER BY is_default DESC, created_at, id`
	sqlSelectBranchesState = `SELECT id, is_active FROM branches WHERE company_id = $1 AND id = ANY($2::UUID[])`
	sqlSelectBranchNames   = `SELECT id, name FROM branches WHERE company_id = $1 AND id = ANY($2::UUID[])`
)

// OpenBranches returns the branches of the company that are active, the default first, then as they were made.
func (s *Service) OpenBranches(ctx context.Context, q db.Querier, company tenant.ID) ([]uuid.UUID, error) {
	return db.Collect(ctx, q, "select open branches", pgx.RowTo[uuid.UUID], sqlSelectOpenBranches, company)
}

// ActiveBranches says of those ids that are branches of the company whether they are active.
func (s *Service) ActiveBranches(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) (map[uuid.UUID]bool, error) {
	return db.Map[uuid.UUID, bool](ctx, q, "read states of branches", sqlSelectBranchesState, company, ids)
}

// BranchNames returns the names of branches by id. Unknown ids are omitted.
func (s *Service) BranchNames(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) (map[uuid.UUID]string, error) {
	return db.Map[uuid.UUID, string](ctx, q, "read names of branches", sqlSelectBranchNames, company, ids)
}

const sqlSelectDefaultBranch = `SELECT id FROM branches WHERE company_id = $1 AND is_default`

// DefaultBranch returns the id of the default branch, or nil if there is none.
func (s *Service) DefaultBranch(ctx context.Context, q db.Querier, company tenant.ID) (*uuid.UUID, error) {
	var id uuid.UUID
	err := q.QueryRow(ctx, sqlSelectDefaultBranch, company).Scan(&id)
	if db.IsNoRows(err) {
		return nil, nil //nolint:nilnil // no branch
	}
	if err != nil {
		return nil, fmt.Errorf("select default branch: %w", err)
	}
	return &id, nil
}

// CreateBranch adds a branch to a company.
func (s *Service) CreateBranch(ctx context.Context, tx *db.Tx, by access.Caller, in BranchFields) (Branch, error) {
	if err := in.check(); err != nil {
		return Branch{}, err
	}
	if _, err := getCompany(ctx, tx, by.Company); err != nil {
		return Branch{}, err
	}
	return branches.Create(ctx, tx, by, Branch{BranchState: BranchState{in, true}})
}

func (f BranchFields) check() error {
	var faults apierr.Fields
	checkText(&faults, "name", f.Name, maxName)
	return faults.Err()
}

// UpdateBranch renames, opens or closes a branch. The default branch stays open.
func (s *Service) UpdateBranch(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[BranchState]) (Branch, error) {
	return branches.Change(ctx, tx, by, id, func(_ Branch, b *Branch) error {
		in.Apply(&b.BranchState)
		if b.IsDefault && !b.IsActive {
			return apierr.StateConflict("BRANCH_IS_DEFAULT", "branch %s is the default of its company and stays open", id)
		}
		return b.check()
	})
}

// SetBranchActive opens or closes a branch. The default branch stays open.
func (s *Service) SetBranchActive(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, active bool) (Branch, error) {
	return s.UpdateBranch(ctx, tx, by, id, record.PatchOf(BranchState{IsActive: active}, "isActive"))
}

var sqlSelectBranches = "SELECT " + record.PlanOf[Branch]().SelectList("") + " FROM branches WHERE company_id = $1 ORDER BY is_default DESC, name, id"

// Branches lists the branches of the company, the default first, then by name.
func (s *Service) Branches(ctx context.Context, by access.Caller) ([]Branch, error) {
	return all[Branch](ctx, s.cfg.DB, sqlSelectBranches, by.Company)
}
