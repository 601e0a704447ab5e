package company

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// Input is the body of a new company.
type Input struct {
	Settings
	IsTest     bool     `json:"isTest" doc:"tokens start with svc_test_"`
	Components []string `json:"components" maxItems:"50" doc:"to enable; all if absent"`
	BranchName string   `json:"branchName" minLength:"1" maxLength:"255" default:"Main" doc:"of the default branch and its warehouse"`
}

func (s *Service) createCompany(ctx context.Context, tx *db.Tx, _ access.Caller, in Input) (Company, error) {
	return s.Create(ctx, tx, NewCompany{
		Name: in.Name, Plan: in.Plan, IsTest: in.IsTest, HomeRegion: in.HomeRegion, Currency: in.Currency, CountryPrefix: in.CountryPrefix,
		TimeZone: in.TimeZone, Locale: in.Locale, StockPolicy: in.StockPolicy, AccrualPercent: in.AccrualPercent, TaxMode: in.TaxMode, TaxRounding: in.TaxRounding, BackdateDays: &in.BackdateDays,
		Bookings: NewBookingSettings{URL: in.BookingURL, ChangeMinutes: &in.BookingChangeMinutes, Mails: in.BookingMails, Reminders: in.BookingReminders}, Letterhead: in.Letterhead, MaxInFlight: in.MaxInFlight,
		Components: in.Components, BranchName: in.BranchName,
	})
}

type settingsRequest struct {
	httpapi.Call
	Body record.Patch[Settings]
}

func (s *Service) httpConfigure(ctx context.Context, tx *db.Tx, in *settingsRequest) (Company, error) {
	return s.Configure(ctx, tx, in.Caller, in.Body)
}

func (s *Service) httpArchive(ctx context.Context, tx *db.Tx, in *httpapi.Own) (Company, error) {
	return s.Archive(ctx, tx, in.Caller)
}

func (s *Service) httpRestore(ctx context.Context, tx *db.Tx, in *httpapi.Own) (Company, error) {
	return s.Unarchive(ctx, tx, in.Caller)
}

type switchRequest struct {
	httpapi.Call
	Body Switch `body:"command"`
}

func (s *Service) httpSetComponent(ctx context.Context, tx *db.Tx, in *switchRequest) (Company, error) {
	return s.SetComponent(ctx, tx, in.Caller, in.Body)
}

func listPlans(context.Context, access.Caller) ([]Plan, error) { return plans, nil }

// AccessInfo lists all scopes and components.
type AccessInfo struct {
	Scopes     []string `json:"scopes"`
	Components []string `json:"components"`
	AlwaysOn   []string `json:"alwaysOn" doc:"components that cannot be disabled"`
}

func (s *Service) accessInfo(context.Context, access.Caller) (AccessInfo, error) {
	return AccessInfo{s.cfg.Access.Scopes(), s.cfg.Access.Components(), s.cfg.Access.AlwaysOn()}, nil
}

type userQuery struct {
	Technical bool `query:"includeTechnical" doc:"also the technical users of tokens"`
}

func (s *Service) listUsers(ctx context.Context, by access.Caller, q userQuery) ([]User, error) {
	return s.Users(ctx, by, q.Technical)
}

type tokenQuery struct {
	Revoked bool `query:"includeRevoked" doc:"also revoked tokens"`
}

func (s *Service) listTokens(ctx context.Context, by access.Caller, q tokenQuery) ([]Token, error) {
	return s.Tokens(ctx, by, q.Revoked)
}

// TokenInput is the body of a new token.
type TokenInput struct {
	Name         string      `json:"name" required:"true" minLength:"1" maxLength:"255" doc:"of the integration that uses it"`
	Scopes       []string    `json:"scopes" required:"true" minItems:"1" maxItems:"50" doc:"such as orders:write"`
	LifetimeDays *int32      `json:"lifetimeDays" minimum:"1" maximum:"1095" default:"365" doc:"null = it never expires"`
	IPAllowlist  []string    `json:"ipAllowlist" maxItems:"100" doc:"addresses such as 203.0.113.7 or CIDR ranges such as 203.0.113.0/24 that may use it; none = any"`
	RateTier     string      `json:"rateTier" enum:"standard,high,custom" default:"standard"`
	CustomRate   *CustomRate `json:"customRate" doc:"only for the tier custom; null = unlimited there"`
}

func (s *Service) issueToken(ctx context.Context, tx *db.Tx, by access.Caller, in TokenInput) (Issued, error) {
	t := NewToken{Name: in.Name, Scopes: in.Scopes, NeverExpires: in.LifetimeDays == nil, IPAllowlist: in.IPAllowlist, RateTier: in.RateTier}
	if in.LifetimeDays != nil {
		t.Lifetime = time.Duration(*in.LifetimeDays) * 24 * time.Hour
	}
	if in.CustomRate != nil {
		t.CustomRate = *in.CustomRate
	}
	return s.IssueToken(ctx, tx, by, t)
}

// RotationInput is the body of a rotation.
type RotationInput struct {
	OverlapHours int32 `json:"overlapHours" minimum:"0" maximum:"168" default:"24" doc:"how long older secrets stay valid"`
}

// SchemaName implements [jsontype.Named].
func (RotationInput) SchemaName() string { return "TokenRotationInput" }

func (s *Service) rotateToken(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in RotationInput) (Issued, error) {
	return s.RotateToken(ctx, tx, by, Rotation{TokenID: id, Overlap: time.Duration(in.OverlapHours) * time.Hour})
}
