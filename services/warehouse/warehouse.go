package warehouse

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/db"
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

// CreateDefault queues the default warehouse of a company that has none yet, in its default branch.
func (s *Service) CreateDefault(tx *db.Tx, company tenant.ID, branch uuid.UUID, name string) {
	w := Warehouse{ID: record.NewID(), CompanyID: company, Name: name, IsDefault: true, BranchID: &branch, Meta: record.New(s.now())}
	tx.Queue(sqlInsertWarehouse, w.CompanyID, w.ID, w.Name, w.Address, w.IsDefault, w.ManagerUserID, w.BranchID,
		list.SearchText([]string{w.Name}), w.Version, w.EvPos, w.CreatedAt, w.UpdatedAt)
}
