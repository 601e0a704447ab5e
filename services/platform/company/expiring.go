package company

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/ownermail"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

var tokenExpiring = event.As("token.expiring", "A token expires in 30, 7 or 1 days.", func(t *TokenExpiring) TokenExpiring { return *t }).NotByClients("the platform raises it 30, 7 and 1 days before a token expires")

// TokenExpiring is the payload of token.expiring.
type TokenExpiring struct {
	record.Key
	Name      string        `json:"name"`
	ExpiresAt jsontype.Time `json:"expiresAt"`
	DaysLeft  int32         `json:"daysLeft" doc:"rounded up"`
	record.Meta
}

const (
	day = 24 * time.Hour

	// lookback is how late the last of several days may be told. It spans a time in which no process looked.
	lookback = 3 * day
)

// sqlSelectExpiring finds, in all companies, tokens whose expiry lies between $1 and $2, and whose owners have not been told
// $3 hours before it. A token that was issued for less is left out: its owner knows.
var sqlSelectExpiring = `SELECT t.company_id, t.id FROM tokens AS t
JOIN companies AS c ON c.id = t.company_id AND c.status = 'active'
WHERE t.revoked_at IS NULL AND t.expires_at IS NOT NULL AND t.expires_at > $1 AND t.expires_at <= $2
AND t.created_at < t.expires_at - $3::BIGINT * INTERVAL '1 hour'
AND ` + ownermail.Untold(tokenExpiring.Name, "t.company_id", "t.id", "t.expires_at - $3::BIGINT * INTERVAL '1 hour'") + ` LIMIT 200`

type tokenKey struct {
	Company tenant.ID
	ID      uuid.UUID
}

// TellExpiring tells the owners of tokens 30, 7 and 1 days before they expire, once each, and raises token.expiring.
func (s *Service) TellExpiring(ctx context.Context) error {
	for _, ahead := range []time.Duration{30 * day, 7 * day, day} {
		if err := s.tellExpiring(ctx, ahead); err != nil {
			return fmt.Errorf("tell of tokens that expire: %w", err)
		}
	}
	return nil
}

func (s *Service) tellExpiring(ctx context.Context, ahead time.Duration) error {
	for ctx.Err() == nil {
		now := s.cfg.DB.Now()
		rows, err := s.cfg.DB.Query(ctx, sqlSelectExpiring, now.Add(max(ahead-lookback, 0)), now.Add(ahead), int64(ahead/time.Hour))
		if err != nil {
			return err
		}
		found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[tokenKey])
		if err != nil {
			return err
		}
		for _, key := range found {
			err := s.cfg.DB.RunTx(ctx, "company.token.expiring", func(ctx context.Context, tx *db.Tx) error { return s.tellOfToken(ctx, tx, key, ahead) })
			if err != nil {
				return err
			}
		}
		if len(found) == 0 {
			break
		}
	}
	return ctx.Err()
}

// tellOfToken stores the token, too: an event counts a version of its record.
func (s *Service) tellOfToken(ctx context.Context, tx *db.Tx, key tokenKey, ahead time.Duration) error {
	t, err := getToken(ctx, tx, key.Company, key.ID)
	if err != nil || t.RevokedAt != nil || t.ExpiresAt == nil {
		return err
	}
	left, expires := t.ExpiresAt.Std().Sub(tx.Now()), t.ExpiresAt.Std().UTC()
	days := int32((left + day - 1) / day)
	first, err := ownermail.Add(ctx, tx, key.Company, Owners, ownermail.Notice{
		Kind: tokenExpiring.Name, Record: t.ID, Since: expires.Add(-ahead),
		Subject: fmt.Sprintf("API token expires in %s: %s", inDays(days), t.Name),
		Text: fmt.Sprintf(`The API token %q (%s…) expires on %s. From then on, its requests are answered 401.

Issue a token in its place, let the integration use it, and revoke the old one.

Token: %s`, t.Name, t.Prefix, expires.Format(time.RFC1123), t.ID),
	})
	if err != nil || !first {
		return err
	}
	if err := s.storeToken(ctx, tx, access.System(key.Company), &t); err != nil {
		return err
	}
	data := TokenExpiring{Key: t.Key, Name: t.Name, ExpiresAt: *t.ExpiresAt, DaysLeft: days, Meta: t.Meta}
	return outbox.Raise(ctx, tx, key.Company, outbox.Event{Name: tokenExpiring.Name, Type: "token", ID: t.ID, Meta: t.Meta, Data: tokenExpiring.Data(&data)})
}

func inDays(n int32) string {
	if n == 1 {
		return "1 day"
	}
	return fmt.Sprintf("%d days", n)
}
