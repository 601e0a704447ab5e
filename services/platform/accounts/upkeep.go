package accounts

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// sealedColumn is where sealed texts are: what names a row beside the company, whose they are, and what they are sealed as.
type sealedColumn struct {
	sqlSelect string
	sqlUpdate db.Write
	what      string
}

var sealedColumns = []sealedColumn{
	{
		`SELECT company_id, user_id, user_id, totp_secret FROM accounts WHERE (company_id, user_id) > ($1, $2) AND totp_secret IS NOT NULL
ORDER BY company_id, user_id LIMIT $3`,
		accounts.Update(`SET totp_secret = $3 WHERE company_id = $1 AND user_id = $2 AND totp_secret = $4`), "totp",
	},
	{
		`SELECT company_id, id, user_id, credential FROM passkeys WHERE (company_id, id) > ($1, $2) ORDER BY company_id, id LIMIT $3`,
		passkeys.Update(`SET credential = $3 WHERE company_id = $1 AND id = $2 AND credential = $4`), "passkey",
	},
}

// sealedText is one in a row.
type sealedText struct {
	Owner
	ID   uuid.UUID
	Text string
}

// Rekey brings all second factors and passkeys under the first key of the ring, in small batches. It reports how many it moved, and
// how many it could not open, which stay as they are. An interrupted run can be repeated.
func (s *Service) Rekey(ctx context.Context, batch int, log *slog.Logger) (moved, failed int, err error) {
	for _, column := range sealedColumns {
		m, f, err := s.rekey(ctx, column, batch, log)
		if moved, failed = moved+m, failed+f; err != nil {
			return moved, failed, err
		}
	}
	return moved, failed, nil
}

func (s *Service) rekey(ctx context.Context, column sealedColumn, batch int, log *slog.Logger) (moved, failed int, err error) {
	for last := (sealedText{}); ; {
		rows, err := s.cfg.DB.Query(ctx, column.sqlSelect, last.Company, last.ID, batch)
		if err != nil {
			return moved, failed, fmt.Errorf("select %s: %w", column.what, err)
		}
		page, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (t sealedText, err error) {
			err = row.Scan(&t.Company, &t.ID, &t.User, &t.Text)
			return t, err
		})
		if err != nil {
			return moved, failed, fmt.Errorf("read %s: %w", column.what, err)
		}
		for _, t := range page {
			now, changed, err := s.cfg.Keys.Rewrap(t.Text, t.context(column.what))
			if err != nil {
				failed++
				log.ErrorContext(ctx, "credential not decrypted, left unchanged", "kind", column.what, "company_id", t.Company, "user_id", t.User, "error", err)
				continue
			}
			if !changed {
				continue
			}
			if err := s.run(ctx, "accounts.rekey", func(tx *db.Tx) { tx.Queue(column.sqlUpdate, t.Company, t.ID, now, t.Text) }); err != nil {
				return moved, failed, fmt.Errorf("store %s: %w", column.what, err)
			}
			moved++
		}
		if len(page) < batch {
			return moved, failed, nil
		}
		last = page[len(page)-1]
	}
}

var (
	sqlEndAllSessions = sessions.Delete(`WHERE created_at <= $1`)
	sqlEndAllLinks    = accountLinks.Delete(`WHERE created_at <= $1`)
)

// EndAll ends all sessions and links: a database that was restored has those that were revoked or used since the backup.
func (s *Service) EndAll(_ context.Context, tx *db.Tx) error {
	tx.Queue(sqlEndAllSessions, tx.Now())
	tx.Queue(sqlEndAllLinks, tx.Now())
	return nil
}
