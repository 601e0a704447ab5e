package company

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

const (
	sqlInsertBranch = `INSERT INTO branches (company_id, id, name, is_active, is_default, version, ev_pos, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`

	sqlSelectBranch = `SELECT id, name, is_active, is_default, version, ev_pos, created_at, updated_at
FROM branches WHERE company_id = $1 AND id = $2 FOR UPDATE`

	sqlSelectBranches = `SELECT id, name, is_active, is_default, version, ev_pos, created_at, updated_at
FROM branches WHERE company_id = $1 ORDER BY is_default DESC, name, id`

	sqlUpdateBranch = `UPDATE branches SET is_active = $4, version = version + 1, ev_pos = $5, updated_at = $6
WHERE company_id = $1 AND id = $2 AND version = $3`
)

func scanBranch(row pgx.CollectableRow) (b Branch, err error) {
	err = row.Scan(&b.ID, &b.Name, &b.IsActive, &b.IsDefault, &b.Version, &b.evPos, &b.CreatedAt, &b.UpdatedAt)
	return b, err
}

func insertBranch(tx *db.Tx, company tenant.ID, b Branch) {
	tx.Queue(sqlInsertBranch, company, b.ID, b.Name, b.IsActive, b.IsDefault, b.Version, b.evPos, b.CreatedAt, b.UpdatedAt)
}

func getBranch(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID) (Branch, error) {
	b, err := one(ctx, q, scanBranch, sqlSelectBranch, company, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return b, fault.NotFound("BRANCH", id.String())
	}
	return b, err
}

func updateBranch(tx *db.Tx, company tenant.ID, b Branch) {
	tx.Queue(sqlUpdateBranch, company, b.ID, b.Version-1, b.IsActive, b.evPos, b.UpdatedAt).Expect(1, errMoved)
}
