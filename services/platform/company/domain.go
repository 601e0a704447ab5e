package company

import (
	"github.com/tradegrid/tradegrid/pkg/api/domain"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

var (
	group = httpapi.Group{Tag: "Company", About: "The company, its settings, branches, users and tokens.", Scope: "company", Component: "core"}
	self  = httpapi.Group{Tag: "Company"} // every token may ask about itself

	platform = httpapi.Group{Tag: "Companies", About: "All companies: plans, components and limits.", Platform: true}
)

// Domain declares the domain.
func Domain() domain.Domain {
	return domain.Domain{
		Name:   "company",
		Events: event.Declare(group.Component, group.Scope, userInvited, userActivated, userUpdated, userBlocked, tokenExpiring),
		Errors: []apierr.Doc{
			{Status: 409, Code: "COMPANY_EXISTS", Advice: "There is a company with this id already."},
			{Status: 409, Code: "BRANCH_IS_DEFAULT", Advice: "The default branch of a company stays open."},
			{Status: 409, Code: "USER_EMAIL_TAKEN", Advice: "Another user of the company has this email. Invite with another one, or activate the existing user."},
			{Status: 409, Code: "USER_IS_TECHNICAL", Advice: "The user stands for a token. Revoke the token instead."},
			{Status: 409, Code: "USER_IS_LAST_OWNER", Advice: "The user is the last active owner of the company. Make another user an owner first."},
			{Status: 409, Code: "USER_IS_SELF", Advice: "Nobody changes the own role or state. Ask another owner or admin."},
			{Status: 409, Code: "TOKEN_LIMIT_REACHED", Advice: "A company has at most 50 tokens. Revoke one that is no longer used."},
			{Status: 409, Code: "TOKEN_REVOKED", Advice: "The token is revoked. Issue a new one."},
		},
		Entities: []string{"USER", "BRANCH", "TOKEN"},
		Lists:    []domain.Statements{items},
		Tables:   []resource.Described{users, branches},
		Scopes:   []access.Resource{{Name: "company", ReadOnly: true}},
		Components: []access.Component{
			{Alias: "core", AlwaysOn: true},      // company, webhooks, events, exports
			{Alias: "messenger", AlwaysOn: true}, // has no operations
		},
		Samples: []domain.Sample{
			{Entity: "BRANCH", Path: "/branches", Admin: true, Create: `{"name":"Harbour"}`, Change: `{"name":"Old harbour","isActive":true}`},
			{Entity: "USER", Path: "/users", Admin: true, Create: `{"email":"kim@example.com","name":"Kim","role":"sales"}`, Change: `{"name":"Kim Berg","role":"manager"}`},
			{
				Entity: "TOKEN", Path: "/tokens", Admin: true, Create: `{"name":"Shop","scopes":["orders:write"],"rateTier":"custom",
				"customRate":{"refillMilli":500,"burst":3,"inFlight":2},"ipAllowlist":["192.0.2.0/24"],"lifetimeDays":30}`,
				Change: `{"scopes":["orders:write","clients:read"],"ipAllowlist":[]}`,
			},
		},
	}
}
