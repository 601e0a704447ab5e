package clients

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/trade"
)

// phoneDigits is the indexed expression of a phone number without anything but its digits.
const phoneDigits = `regexp_replace(phone, '[^0-9]', '', 'g')`

const (
	sqlMatchPhone = `SELECT id FROM clients WHERE company_id = $1 AND ` + phoneDigits + ` = ANY($2::TEXT[]) AND phone IS NOT NULL AND status = 'active'
ORDER BY created_at, id LIMIT 1`
	sqlMatchEmail = `SELECT id FROM clients WHERE company_id = $1 AND lower(email) = $2 AND email IS NOT NULL AND status = 'active'
ORDER BY created_at, id LIMIT 1`
)

// MatchClient returns the active client with the phone number, otherwise the one with the e-mail address; the oldest if there
// are several. Phone numbers are compared as docs/reference/rules.md#client-matching says; countryPrefix is the company's, such
// as +49.
func (s *Service) MatchClient(
	ctx context.Context, q db.Querier, company tenant.ID, countryPrefix string, phone, email *string,
) (id uuid.UUID, found bool, err error) {
	if phone != nil {
		if spellings := phoneSpellings(*phone, countryPrefix); len(spellings) > 0 {
			if id, found, err = match(ctx, q, sqlMatchPhone, company, spellings); err != nil || found {
				return id, found, err
			}
		}
	}
	if email != nil {
		return match(ctx, q, sqlMatchEmail, company, strings.ToLower(*email))
	}
	return id, false, nil
}

func match(ctx context.Context, q db.Querier, sql string, args ...any) (id uuid.UUID, found bool, err error) {
	err = q.QueryRow(ctx, sql, args...).Scan(&id)
	if db.IsNoRows(err) {
		return id, false, nil
	}
	if err != nil {
		return id, false, fmt.Errorf("match client: %w", err)
	}
	return id, true, nil
}

// Lengths of phone numbers without and with the country prefix, in digits.
const (
	localDigits  = 10
	russianTrunk = 11 // 8 in place of 7
)

// normalPhone returns the digits of a phone number with its country prefix.
func normalPhone(phone, countryPrefix string) string {
	digits := digitsOf(phone)
	switch {
	case len(digits) == russianTrunk && digits[0] == '8':
		return "7" + digits[1:]
	case len(digits) == localDigits:
		return digitsOf(countryPrefix) + digits
	}
	return digits
}

// phoneSpellings returns all digit strings that mean the same phone number.
func phoneSpellings(phone, countryPrefix string) []string {
	normal := normalPhone(phone, countryPrefix)
	if normal == "" {
		return nil
	}
	candidates := []string{normal}
	if len(normal) == russianTrunk && normal[0] == '7' {
		candidates = append(candidates, "8"+normal[1:])
	}
	if local, ok := strings.CutPrefix(normal, digitsOf(countryPrefix)); ok {
		candidates = append(candidates, local)
	}
	return slices.DeleteFunc(candidates, func(c string) bool { return normalPhone(c, countryPrefix) != normal })
}

func digitsOf(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, s)
}

// CreateFromLead creates an individual client with the contact data of a lead.
func (s *Service) CreateFromLead(ctx context.Context, tx *db.Tx, by access.Caller, in trade.Contact) (uuid.UUID, error) {
	c, err := s.Create(ctx, tx, by.Unconditional(), Fields{
		Card: Card{Kind: "individual", DisplayName: in.DisplayName, Phone: in.Phone, Email: in.Email, AssignedToID: in.AssignedToID}, Note: in.Note,
	})
	return c.ID, err
}
