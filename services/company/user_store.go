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
	sqlInsertUser = `INSERT INTO users (company_id, id, name, email, status, role, is_technical, version, ev_pos, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`

	sqlSelectUser = `SELECT id, name, email, status, role, is_technical, version, ev_pos, created_at, updated_at
FROM users WHERE company_id = $1 AND id = $2 FOR UPDATE`

	sqlSelectUsers = `SELECT id, name, email, status, role, is_technical, version, ev_pos, created_at, updated_at
FROM users WHERE company_id = $1 AND (NOT is_technical OR $2) ORDER BY name ASC NULLS LAST, id`

	sqlSelectUserNames = `SELECT id, COALESCE(name, '') FROM users WHERE company_id = $1 AND id = ANY($2::UUID[]) AND NOT is_technical`

	sqlSelectKnownUsers = `SELECT id FROM users WHERE company_id = $1 AND id = ANY($2::UUID[]) AND NOT is_technical`

	sqlUpdateUser = `UPDATE users SET status = $4, version = version + 1, ev_pos = $5, updated_at = $6
WHERE company_id = $1 AND id = $2 AND version = $3`
)

func scanUser(row pgx.CollectableRow) (u User, err error) {
	err = row.Scan(&u.ID, &u.Name, &u.Email, &u.Status, &u.Role, &u.IsTechnical, &u.Version, &u.evPos, &u.CreatedAt, &u.UpdatedAt)
	return u, err
}

func insertUser(tx *db.Tx, company tenant.ID, u User) {
	taken := fault.StateConflict("USER_EMAIL_TAKEN", "another user of the company has this email: invite with another one, or activate the existing user")
	if u.Email != nil {
		taken = taken.With("email", *u.Email)
	}
	tx.Queue(sqlInsertUser, company, u.ID, u.Name, u.Email, u.Status, u.Role, u.IsTechnical, u.Version, u.evPos, u.CreatedAt, u.UpdatedAt).
		OnConstraint("users_email_key", taken)
}

func getUser(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID) (User, error) {
	u, err := one(ctx, q, scanUser, sqlSelectUser, company, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return u, fault.NotFound("USER", id.String())
	}
	return u, err
}

func updateUser(tx *db.Tx, company tenant.ID, u User) {
	tx.Queue(sqlUpdateUser, company, u.ID, u.Version-1, u.Status, u.evPos, u.UpdatedAt).Expect(1, errMoved)
}
