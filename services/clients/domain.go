package clients

import (
	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/domain"
	"github.com/tradegrid/tradegrid/pkg/event"
	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/httpapi"
	"github.com/tradegrid/tradegrid/pkg/resource"
)

var group = httpapi.Group{Tag: "Clients", Scope: "clients", Component: "clients"}

// Domain is what the domain declares of itself.
func Domain() domain.Domain {
	return domain.Domain{
		Name:   "clients",
		Events: event.Declare(group.Component, group.Scope, created, updated, archived, restored),
		Errors: []fault.Doc{
			{Status: 409, Code: "CLIENT_ARCHIVED", Advice: "An archived client cannot be used in a new record. Restore it first."},
			{Status: 409, Code: "CLIENT_BALANCE_OUT_OF_RANGE", Advice: "The client's balance would exceed the largest amount that can be stored. Check the amounts of the order."},
		},
		Entities: []string{"CLIENT", "CLIENT_GROUP", "PRICE_LIST"},
		Tables:   []resource.Described{table, groups, priceLists},
		Lists:    []domain.Statements{items},
		Samples: []domain.Sample{{
			Entity: "CLIENT", Path: "/clients", Change: `{"marketingConsent":false,"birthday":null,"displayName":"Acme & Co"}`,
			Create: `{"kind":"legal","displayName":"Acme","companyName":"Acme GmbH","phone":"+49 30 1234567","email":"office@example.com",
				"tags":["wholesale"],"birthday":"1990-02-28","paymentTermsDays":14,"creditLimit":100000,"slaHours":4,"marketingConsent":true}`,
		}},
		Scopes:     []access.Resource{{Name: "clients"}},
		Components: []access.Component{{Alias: "clients"}},
	}
}
