package deals

import (
	"github.com/tradegrid/tradegrid/pkg/api/domain"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

var group = httpapi.Group{Tag: "Deals", About: "Deals, which pass through the stages of a pipeline, and their types and statuses.", Scope: "deals", Component: "deals"}

// Domain declares the domain.
func Domain() domain.Domain {
	return domain.Domain{
		Name:       "deals",
		Scopes:     []access.Resource{{Name: "deals"}},
		Components: []access.Component{{Alias: "deals"}},
		Events:     event.Declare(group.Component, group.Scope, created, updated, stageChanged, won, lost),
		Errors: []apierr.Doc{
			{Status: 409, Code: "DEAL_STAGE_TYPE_MISMATCH", Advice: "The stage belongs to another deal type. Use a stage of the type in meta.typeId."},
			{Status: 409, Code: "DEAL_STAGE_INACTIVE", Advice: "Deals cannot enter a stage that is not active. Choose another."},
			{Status: 409, Code: "DEAL_LEAD_TYPE_MISSING", Advice: "The company has no active deal type for leads. Set typeId, or mark a type as the one for leads."},
			{Status: 409, Code: "DEAL_TYPE_INACTIVE", Advice: "An inactive deal type accepts no new deals. Choose another."},
			{Status: 409, Code: "DEAL_STAGES_INCOMPLETE", Advice: "The active stages of a deal type must include one initial stage, a stage that wins or completes a deal, and one that loses it; meta.missing lists what is not there."},
			{Status: 409, Code: "DEAL_TYPE_ALIAS_TAKEN", Advice: "Another deal type has this alias. Choose another."},
			{Status: 409, Code: "DEAL_LOST_REASON_ALIAS_TAKEN", Advice: "Another lost reason has this alias. Choose another."},
			{Status: 409, Code: "LEAD_SOURCE_ALIAS_TAKEN", Advice: "Another lead source has this alias. Choose another."},
		},
		Entities: []string{"DEAL", "DEAL_TYPE", "DEAL_STAGE", "DEAL_LOST_REASON", "LEAD_SOURCE"},
		Tables:   []resource.Described{table, types, stages, lostReasons, leadSources},
		Lists:    []domain.Statements{items},
		Samples: []domain.Sample{{
			Entity: "DEAL_TYPE", Path: "/deals/types", Admin: true, Change: `{"name":"Company fleets","sortOrder":4}`,
			Create: `{"alias":"fleet","name":"Company fleet"}`,
		}, {
			Entity: "DEAL_STAGE", Path: "/deals/stages", Admin: true, Change: `{"name":"Second test ride","probability":40,"isActive":false}`,
			Create: `{"typeId":"DEAL_TYPE","name":"Test ride","color":"#112233","sortOrder":2,"probability":50,"slaHours":8,"checklist":["call"]}`,
		}, {
			Entity: "DEAL_LOST_REASON", Path: "/deals/lost-reasons", Admin: true, Change: `{"isActive":false,"alias":null}`,
			Create: `{"name":"Moved away","alias":"moved","sortOrder":9}`,
		}, {
			Entity: "LEAD_SOURCE", Path: "/deals/sources", Admin: true, Change: `{"name":"Trade fair"}`,
			Create: `{"name":"Fair","alias":"fair","sortOrder":9}`,
		}, {
			Entity: "DEAL", Path: "/deals", Change: `{"scheduledAt":"2027-02-01T10:00:00Z","dueAt":null,"headcount":3,"budget":1,"nextActionAt":"2027-01-01T10:00:00Z","note":null}`,
			Create: `{"typeId":"DEAL_TYPE","clientId":"CLIENT","items":[{"kind":"custom","name":"Helmet","unitPrice":4900,"unitCost":2100,"qty":1,"perGuest":true,"note":"sizes follow"}],
				"discountPercent":5,"headcount":20,"budget":30000,"scheduledAt":"2027-01-31T18:00:00Z","dueAt":"2027-01-31T23:00:00Z","source":"site","address":"Kanalstraße 9","intake":{"colours":["green"],"training":true},"note":"First ten bicycles in March"}`,
		}},
	}
}
