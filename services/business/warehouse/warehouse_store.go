package warehouse

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// sqlLockWarehouses changes a row that every company has, so that a transaction that waited for another one starts again
// and sees what that one did.
var sqlLockWarehouses = warehouses.Update(`SET ev_pos = ev_pos WHERE company_id = $1 AND is_default`)

// lockWarehouses keeps others from creating warehouses of the company, or from moving the default, until the transaction ends.
func lockWarehouses(ctx context.Context, tx *db.Tx, company tenant.ID) error {
	if err := tx.LockInProcess(ctx, "warehouses", company); err != nil {
		return err
	}
	tx.ReadsMore()
	if _, err := tx.Write(ctx, sqlLockWarehouses, company); err != nil {
		return fmt.Errorf("lock warehouses: %w", err)
	}
	return nil
}

const sqlSelectTaken = `SELECT branch_id, id FROM warehouses WHERE company_id = $1 AND branch_id = ANY($2::UUID[])`

// taken returns the warehouses of those branches that have one.
func taken(ctx context.Context, q db.Querier, company tenant.ID, branches ...uuid.UUID) (map[uuid.UUID]uuid.UUID, error) {
	return db.Map[uuid.UUID, uuid.UUID](ctx, q, "read warehouses of branches", sqlSelectTaken, company, branches)
}

// branchFor returns the branch of a new warehouse: the given one, or the first free one if it is zero.
func (s *Service) branchFor(ctx context.Context, q db.Querier, company tenant.ID, given uuid.UUID) (uuid.UUID, error) {
	if given != uuid.Nil {
		return s.checkBranch(ctx, q, company, given)
	}
	open, err := s.cfg.Branches.OpenBranches(ctx, q, company)
	if err != nil {
		return uuid.Nil, err
	}
	of, err := taken(ctx, q, company, open...)
	if err != nil {
		return uuid.Nil, err
	}
	for _, branch := range open {
		if _, ok := of[branch]; !ok {
			return branch, nil
		}
	}
	return uuid.Nil, errNoBranch
}

// checkBranch returns the branch if it exists, is open and has no warehouse.
func (s *Service) checkBranch(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID) (uuid.UUID, error) {
	active, err := s.cfg.Branches.ActiveBranches(ctx, q, company, []uuid.UUID{id})
	if err != nil {
		return id, err
	}
	of, err := taken(ctx, q, company, id)
	if err != nil {
		return id, err
	}
	open, exists := active[id]
	other, isTaken := of[id]
	switch {
	case !exists:
		return id, apierr.ReferenceNotFound("BRANCH", "branchId", id.String())
	case isTaken:
		return id, errBranchTaken.With("branchId", id).With("warehouseId", other)
	case !open:
		return id, apierr.StateConflict("BRANCH_NOT_AVAILABLE", "branchId: the branch is closed; choose an open one").With("branchId", id)
	}
	return id, nil
}

const sqlCountStocks = `SELECT count(*) FROM stocks WHERE company_id = $1 AND warehouse_id = $2`

var sqlDeleteEmptyStocks = stocks.Delete(`WHERE company_id = $1 AND warehouse_id = $2 AND qty = 0 AND reserved = 0`)

// deleteStocks deletes the stock rows of a warehouse; all their quantities must be 0. The foreign key of stocks rejects rows
// that others create at the same time.
func deleteStocks(ctx context.Context, tx *db.Tx, company tenant.ID, warehouse uuid.UUID) error {
	if _, err := tx.Write(ctx, sqlDeleteEmptyStocks, company, warehouse); err != nil {
		return fmt.Errorf("delete empty stock: %w", err)
	}
	var filled int64
	if err := tx.QueryRow(ctx, sqlCountStocks, company, warehouse).Scan(&filled); err != nil {
		return fmt.Errorf("count stock of warehouse: %w", err)
	}
	if filled > 0 {
		return errNotEmpty.With("products", filled)
	}
	return nil
}

const (
	sqlSelectDefault = `SELECT id FROM warehouses WHERE company_id = $1 AND is_default`
	sqlSelectExists  = `SELECT id FROM warehouses WHERE company_id = $1 AND id = $2`
)

// FindWarehouse returns the id of the given warehouse, or of the default one if id is nil. ok is false if there is none.
func (s *Service) FindWarehouse(ctx context.Context, q db.Querier, company tenant.ID, id *uuid.UUID) (found uuid.UUID, ok bool, err error) {
	if id != nil {
		return find(ctx, q, sqlSelectExists, company, *id)
	}
	return find(ctx, q, sqlSelectDefault, company)
}

const sqlSelectOfBranch = `SELECT id FROM warehouses WHERE company_id = $1 AND (branch_id = $2 OR is_default) ORDER BY branch_id = $2 DESC NULLS LAST LIMIT 1`

// WarehouseOfBranch returns the warehouse of a branch, or the default one if the branch has none. ok is false if there is none
// at all.
func (s *Service) WarehouseOfBranch(ctx context.Context, q db.Querier, company tenant.ID, branch uuid.UUID) (found uuid.UUID, ok bool, err error) {
	return find(ctx, q, sqlSelectOfBranch, company, branch)
}

func find(ctx context.Context, q db.Querier, sql string, args ...any) (found uuid.UUID, ok bool, err error) {
	err = q.QueryRow(ctx, sql, args...).Scan(&found)
	if db.IsNoRows(err) {
		return found, false, nil
	}
	if err != nil {
		return found, false, fmt.Errorf("find warehouse: %w", err)
	}
	return found, true, nil
}

// maxNamed is how many warehouses [Service.WarehouseIDs] reads.
const maxNamed = 10_000

const sqlSelectNamed = `SELECT name, min(id::TEXT)::UUID, count(*) FROM warehouses WHERE company_id = $1 GROUP BY name ORDER BY name LIMIT $2`

// WarehouseIDs returns the ids of the warehouses of a company by name; the nil UUID for a name that several have.
func (s *Service) WarehouseIDs(ctx context.Context, q db.Querier, company tenant.ID) (map[string]uuid.UUID, error) {
	rows, err := q.Query(ctx, sqlSelectNamed, company, maxNamed)
	if err != nil {
		return nil, fmt.Errorf("select warehouses by name: %w", err)
	}
	ids := map[string]uuid.UUID{}
	var name string
	var id uuid.UUID
	var count int64
	_, err = pgx.ForEachRow(rows, []any{&name, &id, &count}, func() error {
		if ids[name] = id; count > 1 {
			ids[name] = uuid.Nil
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read warehouses by name: %w", err)
	}
	return ids, nil
}

const sqlSelectNames = `SELECT id, name FROM warehouses WHERE company_id = $1 AND id = ANY($2::UUID[])`

// WarehouseNames returns the names of those ids that are warehouses of the company.
func (s *Service) WarehouseNames(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) (map[uuid.UUID]string, error) {
	return db.Map[uuid.UUID, string](ctx, q, "read names of warehouses", sqlSelectNames, company, ids)
}

const sqlSelectBranches = `SELECT id, branch_id FROM warehouses WHERE company_id = $1 AND branch_id IS NOT NULL`

// BranchesOfAll returns the branches of those warehouses of the company that have one.
func BranchesOfAll(ctx context.Context, q db.Querier, company tenant.ID) (map[uuid.UUID]uuid.UUID, error) {
	return db.Map[uuid.UUID, uuid.UUID](ctx, q, "read branches of warehouses", sqlSelectBranches, company)
}
