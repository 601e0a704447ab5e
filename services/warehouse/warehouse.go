package warehouse

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/list"
	"github.com/tradegrid/tradegrid/pkg/record"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// Warehouse is a place where stock is kept (specification, section 2).
type Warehouse struct {
	ID            uuid.UUID  `json:"id" format:"uuid"`
	CompanyID     tenant.ID  `json:"companyId" format:"uuid"`
	Name          string     `json:"name"`
	Address       *string    `json:"address"`
	IsDefault     bool       `json:"isDefault" doc:"default for receipts and write-offs"`
	ManagerUserID *uuid.UUID `json:"managerUserId" format:"uuid" nullable:"true"`
	BranchID      *uuid.UUID `json:"branchId" format:"uuid" nullable:"true"`
	record.Meta
}

// Input is a new warehouse.
type Input struct {
	Name          string     `json:"name" minLength:"1" maxLength:"255"`
	Address       *string    `json:"address,omitempty" nullable:"true" maxLength:"1000"`
	ManagerUserID *uuid.UUID `json:"managerUserId,omitempty" format:"uuid" nullable:"true"`
	BranchID      *uuid.UUID `json:"branchId,omitempty" format:"uuid"`
}

const sqlSelectDefault = `SELECT id FROM warehouses WHERE company_id = $1 AND is_default`

const sqlSelectExists = `SELECT id FROM warehouses WHERE company_id = $1 AND id = $2`

// Find gives the id of a warehouse: the named one, or the default one when id is nil.
// found is false when there is none.
func (s *Service) Find(ctx context.Context, q db.Querier, company tenant.ID, id *uuid.UUID) (found uuid.UUID, ok bool, err error) {
	sql, args := sqlSelectDefault, []any{company}
	if id != nil {
		sql, args = sqlSelectExists, []any{company, *id}
	}
	err = q.QueryRow(ctx, sql, args...).Scan(&found)
	if db.IsNoRows(err) {
		return found, false, nil
	}
	if err != nil {
		return found, false, fmt.Errorf("find warehouse: %w", err)
	}
	return found, true, nil
}

const sqlInsertWarehouse = `INSERT INTO warehouses (company_id, id, name, address, is_default, manager_user_id, branch_id, search_text, version, ev_pos, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`

// CreateWarehouse adds a warehouse. The first one of a company becomes its default.
// A branch that has a warehouse already is 409 BRANCH_WAREHOUSE_EXISTS.
func (s *Service) CreateWarehouse(ctx context.Context, tx *db.Tx, by access.Caller, in Input) (Warehouse, error) {
	_, has, err := s.Find(ctx, tx, by.Company, nil)
	if err != nil {
		return Warehouse{}, err
	}
	w := Warehouse{
		ID: record.NewID(), CompanyID: by.Company, Name: in.Name, Address: in.Address, IsDefault: !has,
		ManagerUserID: in.ManagerUserID, BranchID: in.BranchID, Meta: record.New(s.now()),
	}
	insert := tx.Queue(sqlInsertWarehouse, w.CompanyID, w.ID, w.Name, w.Address, w.IsDefault, w.ManagerUserID, w.BranchID,
		list.SearchText([]string{w.Name, deref(w.Address)}), w.Version, w.EvPos, w.CreatedAt, w.UpdatedAt).
		OnConstraint("warehouses_default_key", db.ErrStale) // another first warehouse meanwhile: look again
	if in.BranchID != nil {
		insert.OnConstraint("warehouses_branch_key", fault.StateConflict("BRANCH_WAREHOUSE_EXISTS",
			"the branch has a warehouse already; choose another branch").With("branchId", *in.BranchID))
	}
	return w, nil
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
