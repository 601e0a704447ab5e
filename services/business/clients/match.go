package clients

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/phone"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// phoneDigits is the indexed expression of a phone number without anything but its digits.
const phoneDigits = `regexp_replace(c.phone, '[^0-9]', '', 'g')`

// A client that was merged is found as the one that it was merged into.
const (
	sqlMatched    = ` FROM clients c LEFT JOIN clients m ON m.company_id = c.company_id AND m.id = c.merged_into_id WHERE c.company_id = $1 AND COALESCE(m.status, c.status) = 'active' AND `
	sqlMatchPhone = `SELECT DISTINCT ON (c.phone) c.phone, COALESCE(m.id, c.id), c.created_at` + sqlMatched + phoneDigits + ` = ANY($2::TEXT[])
  AND c.phone IS NOT NULL ORDER BY c.phone NULLS FIRST, c.created_at, c.id`
	sqlMatchEmail = `SELECT COALESCE(m.id, c.id)` + sqlMatched + `lower(c.email) = $2 AND c.email IS NOT NULL ORDER BY c.created_at, c.id LIMIT 1`
)

// MatchClient returns the active client with the phone number, otherwise the one with the e-mail address; the oldest if there
// are several. Phone numbers are compared as docs/reference/rules.md#phone-numbers says; countryPrefix is the company's, such as +49.
func (s *Service) MatchClient(
	ctx context.Context, q db.Querier, company tenant.ID, countryPrefix string, number, email *string,
) (id uuid.UUID, found bool, err error) {
	if number != nil {
		if id, found, err = matchPhone(ctx, q, company, countryPrefix, *number); err != nil || found {
			return id, found, err
		}
	}
	if email == nil {
		return id, false, nil
	}
	err = q.QueryRow(ctx, sqlMatchEmail, company, strings.ToLower(*email)).Scan(&id)
	if db.IsNoRows(err) {
		return id, false, nil
	}
	if err != nil {
		return id, false, fmt.Errorf("match client by e-mail: %w", err)
	}
	return id, true, nil
}

// holder is the oldest active client with a spelling of a number.
type holder struct {
	phone string
	id    uuid.UUID
	since time.Time
}

// matchPhone returns the oldest active client with a number. The index finds those with the digits of a spelling; whether they mean
// the number depends on the country and the extension.
func matchPhone(ctx context.Context, q db.Querier, company tenant.ID, countryPrefix, number string) (id uuid.UUID, found bool, err error) {
	home := phone.CountryOf(countryPrefix)
	digits := home.Spellings(number)
	if len(digits) == 0 {
		return id, false, nil
	}
	holders, err := db.Collect(ctx, q, "match client by phone", func(row pgx.CollectableRow) (h holder, err error) {
		return h, row.Scan(&h.phone, &h.id, &h.since)
	}, sqlMatchPhone, company, digits)
	if err != nil {
		return id, false, err
	}
	key := home.Key(number)
	holders = slices.DeleteFunc(holders, func(h holder) bool { return home.Key(h.phone) != key })
	if len(holders) == 0 {
		return id, false, nil
	}
	oldest := slices.MinFunc(holders, func(a, b holder) int { return cmp.Or(a.since.Compare(b.since), bytes.Compare(a.id[:], b.id[:])) })
	return oldest.id, true, nil
}

// CreateFromLead creates an individual client with the contact data of a lead.
func (s *Service) CreateFromLead(ctx context.Context, tx *db.Tx, by access.Caller, in trade.Contact) (uuid.UUID, error) {
	c, err := s.Create(ctx, tx, by.Unconditional(), Fields{
		Card: Card{Kind: "individual", DisplayName: in.DisplayName, Phone: in.Phone, Email: in.Email, AssignedToID: in.AssignedToID}, Note: in.Note,
	})
	return c.ID, err
}
