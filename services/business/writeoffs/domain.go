package writeoffs

import (
	"github.com/tradegrid/tradegrid/pkg/api/domain"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

// Write-offs share the tag, scope and component of the warehouse.
var group = httpapi.Group{Tag: "Warehouse", Scope: "warehouse", Component: "warehouse"}

// Domain declares the domain.
func Domain() domain.Domain {
	return domain.Domain{
		Name:   "writeoffs",
		Events: event.Declare(group.Component, group.Scope, created, updated, cancelled),
		Errors: []apierr.Doc{
			{Status: 409, Code: "WRITE_OFF_STATUS_TRANSITION_INVALID", Advice: "The write-off is cancelled already. Nothing has to be done."},
		},
		Entities: []string{entity},
		Tables:   []resource.Described{table},
		Lists:    []domain.Statements{items},
		Samples: []domain.Sample{{
			Entity: entity, Path: "/warehouse/write-offs", Change: `{"source":"erp","metadata":{"claim":"7"}}`,
			Create: `{"items":[{"productId":"PRODUCT","qty":1,"unitCost":121000}],"reason":"damaged","note":"fell from the rack"}`,
		}},
	}
}
