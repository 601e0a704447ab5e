package web

import (
	"slices"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/secret"
	"github.com/tradegrid/tradegrid/services/company"
)

// Area is a part of the console that a role may or may not see.
type Area string

// Areas, in the order of the menu. A new one is a line here, one in menu, and its name in the roles that see it.
const (
	Home     Area = "home"
	Webhooks Area = "webhooks"
	Events   Area = "events"
	People   Area = "people"
	Audit    Area = "audit"
	Platform Area = "platform" // for operators
	Account  Area = "account"  // of oneself
)

// Groups of the menu.
const (
	groupDevelopers = "developers"
	groupSettings   = "settings"
)

// entry is an area in the menu: its group, its address in the company, and the icon's name is its own.
type entry struct {
	Area  Area
	Group string
	Path  string
}

// menu lists the areas that the menu names, in order.
var menu = []entry{
	{Home, "", ""},
	{Webhooks, groupDevelopers, "/webhooks"},
	{Events, groupDevelopers, "/events"},
	{People, groupSettings, "/people"},
	{Audit, groupSettings, "/audit"},
}

// grant is what a role may do: the scopes are those of API tokens, so that a rule about records exists once.
type grant struct {
	Scopes access.Scopes
	Areas  []Area
}

// grants is the one table of who may do what. Menus are drawn from it, and each request is checked against it.
var grants = map[string]grant{
	company.RoleOwner:     {access.Scopes{"*:write"}, []Area{Home, Webhooks, Events, People, Audit}},
	company.RoleAdmin:     {access.Scopes{"*:write"}, []Area{Home, Webhooks, Events, People, Audit}},
	company.RoleDeveloper: {access.Scopes{"*:read", "webhooks:write"}, []Area{Home, Webhooks, Events}},
	company.RoleViewer:    {access.Scopes{"*:read"}, []Area{Home, Webhooks, Events}},
	operatorRole(secret.RoleWrite): {
		access.Scopes{"*:write"}, []Area{Platform, Home, Webhooks, Events, People, Audit},
	},
	operatorRole(secret.RoleRead): {
		access.Scopes{"*:read"}, []Area{Platform, Home, Webhooks, Events, People, Audit},
	},
}

// operatorRole is the name of an operator's role in the table.
func operatorRole(role string) string { return "operator:" + role }

// sees reports whether the role sees the area. Everybody sees the own account.
func (g grant) sees(a Area) bool { return a == Account || slices.Contains(g.Areas, a) }
