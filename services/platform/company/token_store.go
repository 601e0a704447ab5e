package company

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

const (
	tokenSecrets = db.Table("token_secrets")
	tokens       = db.Table("tokens")
)

const (
	sqlSelectToken = `SELECT company_id, id, name, prefix, scopes, actor_id, expires_at, ip_allowlist, rate_tier, rate_refill_milli, rate_burst,
  rate_in_flight, last_used_at, created_by_id, revoked_at, version, ev_pos, created_at, updated_at
FROM tokens WHERE company_id = $1 AND id = $2`

	sqlSelectTokens = `SELECT company_id, id, name, prefix, scopes, actor_id, expires_at, ip_allowlist, rate_tier, rate_refill_milli, rate_burst,
  rate_in_flight, last_used_at, created_by_id, revoked_at, version, ev_pos, created_at, updated_at
FROM tokens WHERE company_id = $1 AND (revoked_at IS NULL OR $2) ORDER BY id DESC`

	sqlCountTokens = `SELECT count(*) FROM tokens WHERE company_id = $1 AND revoked_at IS NULL`
)

var (
	sqlInsertToken = tokens.Insert(`(company_id, id, name, prefix, scopes, actor_id, expires_at, ip_allowlist, rate_tier,
  rate_refill_milli, rate_burst, rate_in_flight, created_by_id, version, ev_pos, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`)
	sqlUpdateToken = tokens.Update(`SET revoked_at = $4, version = version + 1, ev_pos = $5, updated_at = $6, name = $7, scopes = $8, expires_at = $9, ip_allowlist = $10
WHERE company_id = $1 AND id = $2 AND version = $3`)
	sqlInsertSecret     = tokenSecrets.Insert(`(hash, company_id, token_id) VALUES ($1, $2, $3)`)
	sqlDeleteSecrets    = tokenSecrets.Delete(`WHERE company_id = $1 AND token_id = $2`)
	sqlDeleteOldSecrets = tokenSecrets.Delete(`WHERE company_id = $1 AND token_id = $2 AND expires_at <= $3`)
	sqlRetireSecrets    = tokenSecrets.Update(`SET expires_at = LEAST(COALESCE(expires_at, $3), $3) WHERE company_id = $1 AND token_id = $2`)
)

func scanToken(row pgx.CollectableRow) (t Token, err error) {
	err = row.Scan(&t.CompanyID, &t.ID, &t.Name, &t.Prefix, &t.Scopes, &t.ActorID, &t.ExpiresAt, &t.IPAllowlist, &t.RateTier,
		&t.CustomRate.RefillMilli, &t.CustomRate.Burst, &t.CustomRate.InFlight, &t.LastUsedAt, &t.CreatedByID, &t.RevokedAt,
		&t.Version, &t.EvPos, &t.CreatedAt, &t.UpdatedAt)
	return t, err
}

func insertToken(tx *db.Tx, t Token) {
	tx.Queue(sqlInsertToken, t.CompanyID, t.ID, t.Name, t.Prefix, t.Scopes, t.ActorID, t.ExpiresAt, t.IPAllowlist, t.RateTier,
		t.CustomRate.RefillMilli, t.CustomRate.Burst, t.CustomRate.InFlight, t.CreatedByID, t.Version, t.EvPos, t.CreatedAt, t.UpdatedAt)
}

func insertSecret(tx *db.Tx, t Token, hash tokenHash) {
	tx.Queue(sqlInsertSecret, hash[:], t.CompanyID, t.ID)
}

func getToken(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID) (Token, error) {
	t, err := one(ctx, q, scanToken, sqlSelectToken, company, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return t, apierr.NotFound("TOKEN", id.String())
	}
	return t, err
}

func countTokens(ctx context.Context, q db.Querier, company tenant.ID) (n int, err error) {
	err = q.QueryRow(ctx, sqlCountTokens, company).Scan(&n)
	return n, err
}

func updateToken(tx *db.Tx, t Token) {
	tx.Queue(sqlUpdateToken, t.CompanyID, t.ID, t.Version-1, t.RevokedAt, t.EvPos, t.UpdatedAt, t.Name, t.Scopes, t.ExpiresAt, t.IPAllowlist).Expect(1, db.ErrStale)
}

func deleteSecrets(tx *db.Tx, t Token) {
	tx.Queue(sqlDeleteSecrets, t.CompanyID, t.ID)
}

// retireSecrets lets the secrets of a token expire at a time, and deletes those that have expired.
func retireSecrets(tx *db.Tx, t Token, now, at time.Time) {
	tx.Queue(sqlDeleteOldSecrets, t.CompanyID, t.ID, now)
	tx.Queue(sqlRetireSecrets, t.CompanyID, t.ID, at)
}
