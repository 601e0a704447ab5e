package company

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// OwnCompany is what integrations need to know of their company.
type OwnCompany struct {
	ID                   tenant.ID     `json:"id" format:"uuid"`
	Name                 string        `json:"name"`
	IsTest               bool          `json:"isTest" doc:"a company for trying things out"`
	Currency             string        `json:"currency" doc:"ISO 4217; all amounts are in it"`
	CurrencyDigits       int           `json:"currencyDigits" doc:"decimal places of the currency: amounts are whole numbers of its smallest unit, 2 = hundredths"`
	TimeZone             string        `json:"timeZone" doc:"IANA name of the zone that the company works in; days in the filters of lists are UTC"`
	Locale               string        `json:"locale" doc:"language and region in which the company addresses its clients, a BCP 47 tag such as de-DE"`
	CountryPrefix        string        `json:"countryPrefix" doc:"calling code of the country that phone numbers without one belong to"`
	StockPolicy          string        `json:"stockPolicy" enum:"allow_negative,block" doc:"whether orders and sales may take more than is available"`
	AccrualPercent       money.Percent `json:"accrualPercent" doc:"loyalty points earned, in percent of a sale"`
	TaxMode              string        `json:"taxMode" enum:"included,added" doc:"whether the prices of new orders, deals and sales contain their taxes, or taxes are added"`
	TaxRounding          string        `json:"taxRounding" enum:"line,document" doc:"whether taxes are rounded for each line, or once for each rate of a document"`
	BackdateDays         int32         `json:"backdateDays" doc:"how many days ago what is sent later may have happened"`
	BookingURL           *string       `json:"bookingUrl" doc:"where customers reach the links to their bookings; null = there are no links"`
	BookingChangeMinutes int32         `json:"bookingChangeMinutes" doc:"how many minutes before its start a booking can last be moved or cancelled by its link"`
	BookingMails         bool          `json:"bookingMails" doc:"whether customers get e-mail on their bookings"`
	BookingReminders     []int32       `json:"bookingReminders" doc:"how many minutes before the start of a booking booking.reminder is raised"`
	Letterhead
	Plan       string        `json:"plan"`
	Components []string      `json:"modules" doc:"components that the company has"`
	CreatedAt  jsontype.Time `json:"createdAt"`
	UpdatedAt  jsontype.Time `json:"updatedAt"`
}

// BranchEntry is a branch as integrations see it: an id for branchId.
type BranchEntry struct {
	ID       uuid.UUID `json:"id" format:"uuid"`
	Name     string    `json:"name"`
	IsActive bool      `json:"isActive"`
}

// UserEntry is a user as integrations see it: an id for assignedToId.
type UserEntry struct {
	ID       uuid.UUID `json:"id" format:"uuid"`
	Name     *string   `json:"name"`
	IsActive bool      `json:"isActive"`
}

// TokenInfo describes the caller's own token.
type TokenInfo struct {
	ID          uuid.UUID      `json:"id" format:"uuid"`
	Name        string         `json:"name"`
	CompanyID   tenant.ID      `json:"companyId" format:"uuid"`
	CompanyName string         `json:"companyName"`
	ActorID     uuid.UUID      `json:"actorId" format:"uuid" doc:"actorId of the events that the token causes"`
	IsTest      bool           `json:"isTest"`
	Scopes      []string       `json:"scopes"`
	Components  []string       `json:"modules" doc:"components that the company has"`
	Plan        string         `json:"plan"`
	ExpiresAt   *jsontype.Time `json:"expiresAt"`
	RateLimit   *RateInfo      `json:"rateLimit" doc:"null when the token has no limit"`
}

// RateInfo is a token's rate, with the figures of the headers RateLimit-Policy and X-RateLimit-Limit.
type RateInfo struct {
	Limit         int `json:"limit" doc:"requests in windowSeconds in the long run"`
	WindowSeconds int `json:"windowSeconds"`
	Burst         int `json:"burst" doc:"requests at once after a pause"`
}

func (s *Service) companyInfo(ctx context.Context, by access.Caller) (OwnCompany, error) {
	c, err := getCompany(ctx, s.cfg.DB, by.Company)
	if err != nil {
		return OwnCompany{}, err
	}
	return OwnCompany{
		ID: c.ID, Name: c.Name, IsTest: c.IsTest, Currency: c.Currency, CurrencyDigits: money.Digits(c.Currency), TimeZone: c.TimeZone, Locale: c.Locale,
		CountryPrefix: c.CountryPrefix, StockPolicy: c.StockPolicy, AccrualPercent: c.AccrualPercent, TaxMode: c.TaxMode, TaxRounding: c.TaxRounding, BackdateDays: c.BackdateDays,
		BookingURL: c.BookingURL, BookingChangeMinutes: c.BookingChangeMinutes, BookingMails: c.BookingMails, BookingReminders: c.BookingReminders, Letterhead: c.Letterhead, Plan: c.Plan, Components: by.Components,
		CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
	}, nil
}

func (s *Service) branchEntries(ctx context.Context, by access.Caller) ([]BranchEntry, error) {
	branches, err := s.Branches(ctx, by)
	entries := make([]BranchEntry, len(branches))
	for i, b := range branches {
		entries[i] = BranchEntry{ID: b.ID, Name: b.Name, IsActive: b.IsActive}
	}
	return entries, err
}

func (s *Service) userEntries(ctx context.Context, by access.Caller) ([]UserEntry, error) {
	users, err := s.Users(ctx, by, false)
	entries := make([]UserEntry, len(users))
	for i, u := range users {
		entries[i] = UserEntry{ID: u.ID, Name: u.Name, IsActive: u.Status == UserActive}
	}
	return entries, err
}

func tokenInfo(_ context.Context, by access.Caller) (TokenInfo, error) {
	info := TokenInfo{
		ID: by.TokenID, Name: by.TokenName, CompanyID: by.Company, CompanyName: by.CompanyName, ActorID: by.Actor, IsTest: by.IsTest,
		Scopes: by.Scopes, Components: by.Components, Plan: by.Plan,
	}
	if by.ExpiresAt != nil {
		at := jsontype.At(*by.ExpiresAt)
		info.ExpiresAt = &at
	}
	if !by.Rate.Unlimited {
		info.RateLimit = &RateInfo{Limit: by.Rate.PerWindow(), WindowSeconds: int(access.RateWindow.Seconds()), Burst: by.Rate.Limit}
	}
	return info, nil
}
