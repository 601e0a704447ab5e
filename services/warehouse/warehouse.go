package warehouse

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/record"
	"github.com/tradegrid/tradegrid/pkg/resource"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// Warehouse is a place where stock is kept; see docs/reference/rules.md#warehouses.
type Warehouse struct {
	record.Key
	Fields
	record.Meta
}

// Fields are what clients of the API set.
type Fields struct {
	Name          string     `json:"name" required:"true" minLength:"1" maxLength:"255" search:"text"`
	Address       *string    `json:"address" maxLength:"1000"`
	IsDefault     bool       `json:"isDefault" doc:"default for receipts and write-offs"`
	ManagerUserID *uuid.UUID `json:"managerUserId" format:"uuid"`
	BranchID      *uuid.UUID `json:"branchId" format:"uuid"`
}

var table = resource.Of[Warehouse]("warehouses", "WAREHOUSE")

const sqlSelectDefault = `SELECT id FROM warehouses WHERE company_id = $1 AND is_default`

const sqlSelectExists = `SELECT id FROM warehouses WHERE company_id = $1 AND id = $2`

// FindWarehouse gives the id of a warehouse: the named one, or the default one when id is nil. ok is false when there is none.
func (s *Service) FindWarehouse(ctx context.Context, q db.Querier, company tenant.ID, id *uuid.UUID) (found uuid.UUID, ok bool, err error) {
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

// CreateDefault queues the default warehouse of a company that has none yet, in its default branch.
func (s *Service) CreateDefault(tx *db.Tx, company tenant.ID, branch uuid.UUID, name string) {
	table.Add(tx, company, &Warehouse{Fields: Fields{Name: name, IsDefault: true, BranchID: &branch}})
}
