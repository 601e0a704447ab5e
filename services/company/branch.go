package company

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/wire"
)

// Branch is a place of business of a company.
type Branch struct {
	ID        uuid.UUID `json:"id"`
	Name      string    `json:"name"`
	IsActive  bool      `json:"isActive"`
	IsDefault bool      `json:"isDefault"`
	Version   int64     `json:"version"`
	CreatedAt wire.Time `json:"createdAt"`
	UpdatedAt wire.Time `json:"updatedAt"`

	evPos int64
}

func newBranch(name string, isDefault bool, now time.Time) Branch {
	return Branch{
		ID: newID(), Name: name, IsActive: true, IsDefault: isDefault, Version: 1, evPos: now.UnixMicro(),
		CreatedAt: wire.At(now), UpdatedAt: wire.At(now),
	}
}

// CreateBranch adds a branch to a company.
func (s *Service) CreateBranch(ctx context.Context, company tenant.ID, name string) (Branch, error) {
	b := newBranch(strings.TrimSpace(name), false, s.now())
	var faults fault.Fields
	checkText(&faults, "name", b.Name, maxName)
	if err := faults.Err(); err != nil {
		return Branch{}, err
	}
	err := s.db.RunTx(ctx, "company.branch.create", func(ctx context.Context, tx *db.Tx) error {
		if _, err := getCompany(ctx, tx, company); err != nil {
			return err
		}
		insertBranch(tx, company, b)
		return nil
	})
	return b, err
}

// SetBranchActive opens or closes a branch. The default branch stays open.
func (s *Service) SetBranchActive(ctx context.Context, company tenant.ID, id uuid.UUID, active bool) (Branch, error) {
	now := s.now()
	var b Branch
	err := s.db.RunTx(ctx, "company.branch.active", func(ctx context.Context, tx *db.Tx) (err error) {
		if b, err = getBranch(ctx, tx, company, id); err != nil || b.IsActive == active {
			return err
		}
		if b.IsDefault && !active {
			return fault.StateConflict("BRANCH_IS_DEFAULT", "branch %s is the default of its company and stays open", id)
		}
		b.IsActive, b.Version, b.evPos, b.UpdatedAt = active, b.Version+1, nextPos(b.evPos, now), wire.At(now)
		updateBranch(tx, company, b)
		return nil
	})
	return b, err
}

// Branches lists the branches of a company, the default first, then by name.
func (s *Service) Branches(ctx context.Context, company tenant.ID) ([]Branch, error) {
	return many(ctx, s.db, scanBranch, sqlSelectBranches, company)
}
