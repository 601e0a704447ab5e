package counts

import (
	"github.com/tradegrid/tradegrid/pkg/api/domain"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

// Counts share the tag, scope and component of the warehouse.
var group = httpapi.Group{Tag: "Warehouse", Scope: "warehouse", Component: "warehouse"}

// Domain declares the domain.
func Domain() domain.Domain {
	return domain.Domain{
		Name:   "counts",
		Events: event.Declare(group.Component, group.Scope, created, updated, posted, cancelled),
		Errors: []apierr.Doc{
			{Status: 409, Code: "STOCK_COUNT_NOT_OPEN", Advice: "The count was posted or cancelled (meta.status). Begin another one."},
			{Status: 409, Code: "STOCK_COUNT_OVERLAPS", Advice: "An open count of the warehouse (meta.countId) has the goods already. Record their quantity there, or post or cancel that count first."},
			{Status: 409, Code: "STOCK_COUNT_STATUS_TRANSITION_INVALID", Advice: "The count has ended; meta.from says how. Begin another one."},
		},
		Entities: []string{entity, "STOCK_COUNT_LINE"},
		Tables:   []resource.Described{table},
		Lists:    []domain.Statements{items},
		Samples: []domain.Sample{{
			Entity: entity, Path: "/warehouse/counts", Change: `{"note":"shelves 1 to 4","metadata":{"team":"2"}}`,
			Create: `{"note":"end of year"}`,
		}},
	}
}
