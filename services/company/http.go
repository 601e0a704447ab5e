package company

import (
	"context"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/httpapi"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/wire"
)

// Register adds the operations about the caller's own company.
func (s *Service) Register(api *httpapi.API) {
	section := httpapi.Section{Tag: "Company", Scope: "company", Component: "core"}
	httpapi.Register(api, section.Op(http.MethodGet, "/branches", "listBranches", "List all branches", 200), s.httpListBranches)
	httpapi.Register(api, section.Op(http.MethodGet, "/users", "listUsers", "List all users", 200), s.httpListUsers)
	section.Scope, section.Component = "", "" // every token may ask about itself
	httpapi.Register(api, section.Op(http.MethodGet, "/token", "getToken", "Read what the caller's token is and may do", 200), s.httpGetToken)
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
	Name     *string   `json:"name" nullable:"true"`
	IsActive bool      `json:"isActive"`
}

// TokenInfo is what a token may know of itself.
type TokenInfo struct {
	ID          uuid.UUID  `json:"id" format:"uuid"`
	Name        string     `json:"name"`
	CompanyID   tenant.ID  `json:"companyId" format:"uuid"`
	CompanyName string     `json:"companyName"`
	IsTest      bool       `json:"isTest"`
	Scopes      []string   `json:"scopes"`
	Modules     []string   `json:"modules" doc:"components that the company has"`
	Plan        string     `json:"plan"`
	ExpiresAt   *wire.Time `json:"expiresAt" nullable:"true"`
	RateLimit   *RateInfo  `json:"rateLimit" doc:"null when the token has no limit"`
}

// RateInfo is a token's rate as in the headers of each answer.
type RateInfo struct {
	wire.OrNull

	Limit         int `json:"limit" doc:"requests at once after a pause"`
	WindowSeconds int `json:"windowSeconds"`
}

type listBranchesRequest struct{ httpapi.Call }

func (s *Service) httpListBranches(ctx context.Context, in *listBranchesRequest) (*httpapi.Reply[[]BranchEntry], error) {
	branches, err := s.Branches(ctx, in.Company)
	entries := make([]BranchEntry, len(branches))
	for i, b := range branches {
		entries[i] = BranchEntry{ID: b.ID, Name: b.Name, IsActive: b.IsActive}
	}
	return httpapi.OK(entries), err
}

type listUsersRequest struct{ httpapi.Call }

func (s *Service) httpListUsers(ctx context.Context, in *listUsersRequest) (*httpapi.Reply[[]UserEntry], error) {
	users, err := s.Users(ctx, in.Company, false)
	entries := make([]UserEntry, len(users))
	for i, u := range users {
		entries[i] = UserEntry{ID: u.ID, Name: u.Name, IsActive: u.Status == UserActive}
	}
	return httpapi.OK(entries), err
}

type getTokenRequest struct{ httpapi.Call }

func (s *Service) httpGetToken(_ context.Context, in *getTokenRequest) (*httpapi.Reply[TokenInfo], error) {
	return httpapi.OK(infoOf(in.Principal)), nil
}

func infoOf(p *access.Principal) TokenInfo {
	info := TokenInfo{
		ID: p.TokenID, Name: p.TokenName, CompanyID: p.Company, CompanyName: p.CompanyName, IsTest: p.IsTest,
		Scopes: p.Scopes, Modules: p.Components.List(), Plan: p.Plan,
	}
	if p.ExpiresAt != nil {
		at := wire.At(*p.ExpiresAt)
		info.ExpiresAt = &at
	}
	if !p.Rate.Unlimited {
		info.RateLimit = &RateInfo{Limit: p.Rate.Limit, WindowSeconds: int(time.Minute / time.Second)}
	}
	return info
}
