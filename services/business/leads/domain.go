package leads

import (
	"github.com/tradegrid/tradegrid/pkg/api/domain"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
)

var group = httpapi.Group{Tag: "Leads", About: "Enquiries, which become clients and deals.", Scope: "leads", Component: "marketing"}

// Domain declares the domain.
func Domain() domain.Domain {
	return domain.Domain{
		Name:       "leads",
		Events:     event.Declare(group.Component, group.Scope, created, updated, statusChanged, assigned, converted),
		Entities:   []string{"LEAD"},
		Tables:     []resource.Described{table},
		Lists:      []domain.Statements{items},
		Scopes:     []access.Resource{{Name: "leads"}},
		Components: []access.Component{{Alias: "marketing"}},
		Samples: []domain.Sample{{
			Entity: "LEAD", Path: "/leads", Change: `{"name":"Ada Fennwick","channel":"chat","message":null}`,
			Create: `{"name":"Ada","phone":"+49 30 7654321","email":"ada@example.com","message":"Which frame size fits 1.80 m?","source":"landing","externalId":"f-17","utm":{"utm_source":"ads"}}`,
		}},
	}
}
