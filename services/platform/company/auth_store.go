package company

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
)

const sqlSelectKnown = `SELECT s.company_id, c.name, c.is_test, c.currency, c.country_prefix, c.status, c.plan, c.max_in_flight, c.stock_policy,
  c.accrual_percent_bp, c.time_zone, c.tax_mode, c.tax_rounding, c.backdate_days, c.locale,
  COALESCE(c.booking_url, ''), c.booking_change_minutes, c.booking_mails, c.booking_reminders, t.id, t.name, t.actor_id, t.scopes, t.expires_at, t.ip_allowlist, t.rate_tier, t.rate_refill_milli,
  t.rate_burst, t.rate_in_flight, t.last_used_at, t.revoked_at, s.expires_at,
  ARRAY(SELECT k.component FROM company_components AS k WHERE k.company_id = s.company_id AND k.enabled) AS components
FROM token_secrets AS s
JOIN tokens AS t ON t.company_id = s.company_id AND t.id = s.token_id
JOIN companies AS c ON c.id = s.company_id
WHERE s.hash = $1`

// selectKnown reads the token, company and plan of a secret; nil for an unknown or revoked one.
func (s *Service) selectKnown(ctx context.Context, hash tokenHash, now time.Time) (*known, error) {
	k, err := one(ctx, s.cfg.DB, scanKnown, sqlSelectKnown, hash[:])
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, nil
	case err != nil || k == nil:
		return nil, err
	}
	k.loadedAt = now
	k.Components = s.cfg.Access.With(k.Components...)
	k.Expired = k.ExpiresAt != nil && !now.Before(*k.ExpiresAt)
	return k, nil
}

func scanKnown(row pgx.CollectableRow) (*known, error) {
	k, t := &known{}, Token{}
	var status string
	var maxInFlight *int32
	var lastUsed, secretUntil *time.Time
	err := row.Scan(&k.Company, &k.CompanyName, &k.IsTest, &k.Currency, &k.CountryPrefix, &status, &k.Plan, &maxInFlight,
		&k.Settings.StockPolicy, &k.Settings.AccrualPercentBP, &k.Settings.TimeZone, &k.Settings.TaxMode, &k.Settings.TaxRounding, &k.Settings.BackdateDays,
		&k.Settings.Locale, &k.Settings.Bookings.URL, &k.Settings.Bookings.ChangeMinutes, &k.Settings.Bookings.Mails, &k.Settings.Bookings.Reminders, &k.TokenID, &k.TokenName, &k.Actor, &t.Scopes,
		&k.ExpiresAt, &t.IPAllowlist, &t.RateTier, &t.CustomRate.RefillMilli, &t.CustomRate.Burst, &t.CustomRate.InFlight,
		&lastUsed, &t.RevokedAt, &secretUntil, &k.Components)
	if err != nil || t.RevokedAt != nil {
		return nil, err
	}
	plan := planOf(k.Plan)
	companyCap := plan.InFlight
	if maxInFlight != nil {
		companyCap = int(*maxInFlight)
	}
	k.Scopes, k.PlanAPI, k.Subscriptions, k.Archived = t.Scopes, plan.API, plan.Subscriptions, status == Archived
	k.Rate = t.rate(companyCap)
	k.use = newLastUse(lastUsed)
	if secretUntil != nil {
		k.secretUntil = *secretUntil
	}
	for _, text := range t.IPAllowlist {
		r, err := parseRange(text)
		if err != nil {
			return nil, err // skipping an invalid range could leave the allow-list empty, which admits every address
		}
		k.allow = append(k.allow, r)
	}
	return k, nil
}

// rate is the rate of the token's tier; see docs/reference/limits.md#rate-limits. The cap of the company bounds
// the requests in flight of the standard and high tiers; a custom one says what it wants.
func (t *Token) rate(companyCap int) access.Rate {
	switch t.RateTier {
	case TierHigh:
		return access.Rate{Limit: 600, RefillPerSecond: 100, InFlight: min(400, companyCap)}
	case TierCustom:
		return access.Rate{
			Limit: int(t.CustomRate.Burst), RefillPerSecond: float64(t.CustomRate.RefillMilli) / 1000,
			InFlight: int(t.CustomRate.InFlight), Unlimited: t.CustomRate.RefillMilli == 0 || t.CustomRate.Burst == 0,
		}
	default:
		return access.Rate{Limit: 120, RefillPerSecond: 20, InFlight: min(40, companyCap)}
	}
}
