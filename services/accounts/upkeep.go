package accounts

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/db"
)

const (
	sqlSelectFactors = `SELECT company_id, user_id, totp_secret FROM accounts WHERE (company_id, user_id) > ($1, $2) AND totp_secret IS NOT NULL
ORDER BY company_id, user_id LIMIT $3`
	sqlUpdateFactor = `UPDATE accounts SET totp_secret = $3 WHERE company_id = $1 AND user_id = $2 AND totp_secret = $4`
)

// factor is a stored second factor.
type factor struct {
	Owner
	Sealed string
}

// Rekey brings all second factors under the first key of the ring, in small batches. It reports how many it moved, and how many it
// could not open, which stay as they are. An interrupted run can be repeated.
func (s *Service) Rekey(ctx context.Context, batch int, log *slog.Logger) (moved, failed int, err error) {
	for last := (factor{}); ; {
		rows, err := s.cfg.DB.Query(ctx, sqlSelectFactors, last.Company, last.User, batch)
		if err != nil {
			return moved, failed, fmt.Errorf("select second factors: %w", err)
		}
		page, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (f factor, err error) {
			err = row.Scan(&f.Company, &f.User, &f.Sealed)
			return f, err
		})
		if err != nil {
			return moved, failed, fmt.Errorf("read second factors: %w", err)
		}
		for _, f := range page {
			now, changed, err := s.cfg.Keys.Rewrap(f.Sealed, f.context("totp"))
			if err != nil {
				failed++
				log.ErrorContext(ctx, "second factor not decrypted, left unchanged", "company_id", f.Company, "user_id", f.User, "error", err)
				continue
			}
			if !changed {
				continue
			}
			if err := s.run(ctx, "accounts.rekey", func(tx *db.Tx) { tx.Queue(sqlUpdateFactor, f.Company, f.User, now, f.Sealed) }); err != nil {
				return moved, failed, fmt.Errorf("store second factor: %w", err)
			}
			moved++
		}
		if len(page) < batch {
			return moved, failed, nil
		}
		last = page[len(page)-1]
	}
}

const (
	sqlEndAllSessions = `DELETE FROM sessions WHERE created_at <= $1`
	sqlEndAllLinks    = `DELETE FROM account_links WHERE created_at <= $1`
)

// EndAll ends all sessions and links: a database that was restored has those that were revoked or used since the backup.
func (s *Service) EndAll(_ context.Context, tx *db.Tx) error {
	tx.Queue(sqlEndAllSessions, tx.Now())
	tx.Queue(sqlEndAllLinks, tx.Now())
	return nil
}
