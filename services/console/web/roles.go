package web

import (
	"net/http"
	"slices"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

// Area is a part of the console that a role may or may not see.
type Area string

// Areas, in the order of the menu. A new one is a line here, and one in menu with its group.
const (
	Home            Area = "home"
	Orders          Area = "orders"
	Deals           Area = "deals"
	Bookings        Area = "bookings"
	Till            Area = "till"
	Sales           Area = "sales"
	Catalog         Area = "catalog"
	Clients         Area = "clients"
	Leads           Area = "leads"
	Warehouse       Area = "warehouse"
	Webhooks        Area = "webhooks"
	Events          Area = "events"
	Requests        Area = "requests"
	Tokens          Area = "tokens"
	Explorer        Area = "explorer"
	EventCatalog    Area = "event_catalog"
	QuickStart      Area = "quick_start"
	CompanySettings Area = "company_settings"
	Directories     Area = "directories"
	People          Area = "people"
	Audit           Area = "audit"
	Platform        Area = "platform" // for operators, as those below: the companies
	Pipeline        Area = "pipeline"
	Deliveries      Area = "deliveries"
	DeadLetters     Area = "dead_letters"
	Jobs            Area = "jobs"
	Nodes           Area = "nodes"
	Topics          Area = "topics"
	Checks          Area = "checks"
	Mailbox         Area = "mailbox"
	Account         Area = "account" // of oneself
)

// Groups of the menu.
const (
	groupBusiness   = "business"
	groupDevelopers = "developers"
	groupSettings   = "settings"
	groupPlatform   = "platform"
)

// entry is an area in the menu: its group, and its address in the company, or in the console where it is for operators.
type entry struct {
	Area  Area
	Group string
	Path  string
}

// menu lists the areas that the menu names, in order. One without pages is left out.
var menu = []entry{
	{Home, "", ""},
	{Till, groupBusiness, "/sell"},
	{Orders, groupBusiness, "/orders"},
	{Deals, groupBusiness, "/deals"},
	{Bookings, groupBusiness, "/bookings"},
	{Sales, groupBusiness, "/sales"},
	{Catalog, groupBusiness, "/products"},
	{Clients, groupBusiness, "/clients"},
	{Leads, groupBusiness, "/leads"},
	{Warehouse, groupBusiness, "/stock"},
	{Webhooks, groupDevelopers, "/webhooks"},
	{Events, groupDevelopers, "/events"},
	{Requests, groupDevelopers, "/requests"},
	{Tokens, groupDevelopers, "/tokens"},
	{Explorer, groupDevelopers, "/explorer"},
	{EventCatalog, groupDevelopers, "/event-catalog"},
	{QuickStart, groupDevelopers, "/quick-start"},
	{CompanySettings, groupSettings, "/settings"},
	{Directories, groupSettings, "/directories"},
	{People, groupSettings, "/people"},
	{Audit, groupSettings, "/audit"},
}

// operatorMenu lists the areas of operators.
var operatorMenu = []entry{
	{Platform, groupPlatform, "/companies"},
	{Pipeline, groupPlatform, "/platform/pipeline"},
	{Deliveries, groupPlatform, "/platform/deliveries"},
	{DeadLetters, groupPlatform, "/platform/dead-letters"},
	{Jobs, groupPlatform, "/platform/jobs"},
	{Nodes, groupPlatform, "/platform/nodes"},
	{Topics, groupPlatform, "/platform/topics"},
	{Checks, groupPlatform, "/platform/checks"},
	{Mailbox, groupPlatform, "/platform/mail"},
}

// Areas that roles see together: those of a group of the menu.
var (
	business   = append(areasOf(menu, groupBusiness), Home)
	developers = areasOf(menu, groupDevelopers)
	settings   = areasOf(menu, groupSettings)
	ofViewers  = slices.Concat(business, []Area{Webhooks, Events, EventCatalog, Directories})
	ofOwners   = slices.Concat(business, developers, settings)
	platform   = areasOf(operatorMenu, groupPlatform)
)

// areasOf are the areas of a group of a menu.
func areasOf(menu []entry, group string) (all []Area) {
	for _, e := range menu {
		if e.Group == group {
			all = append(all, e.Area)
		}
	}
	return all
}

// grant is what a role may do: the scopes are those of API tokens, so that a rule about records exists once.
type grant struct {
	Scopes access.Scopes
	Areas  []Area
}

// grants is the one table of who may do what. Menus are drawn from it, and each request is checked against it.
var grants = map[string]grant{
	company.RoleOwner:              {access.Scopes{"*:write"}, ofOwners},
	company.RoleAdmin:              {access.Scopes{"*:write"}, ofOwners},
	company.RoleDeveloper:          {access.Scopes{"*:read", "webhooks:write"}, slices.Concat(business, developers, []Area{CompanySettings, Directories})},
	company.RoleViewer:             {access.Scopes{"*:read"}, ofViewers},
	operatorRole(secret.RoleWrite): {access.Scopes{"*:write"}, slices.Concat(platform, ofOwners)},
	operatorRole(secret.RoleRead):  {access.Scopes{"*:read"}, slices.Concat(platform, ofOwners)},
}

// operatorRole is the name of an operator's role in the table.
func operatorRole(role string) string { return "operator:" + role }

// sees reports whether the role sees the area. Everybody sees the own account.
func (g grant) sees(a Area) bool { return a == Account || slices.Contains(g.Areas, a) }

// MayCall reports whether the person may call an operation of the external API: by the scopes of the role, and by the components of
// the company.
func (q *Request) MayCall(id string) bool {
	op := q.Operation(id)
	has := func(component string) bool { return component == "" || q.Has(component) }
	return (op.Scope == "" || q.Allows(op.Scope, op.Method != http.MethodGet)) && has(op.Component) && has(op.AlsoNeeds)
}
