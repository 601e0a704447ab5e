package transfers

import (
	"github.com/tradegrid/tradegrid/pkg/api/domain"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

// Transfers share the tag, scope and component of the warehouse.
var group = httpapi.Group{Tag: "Warehouse", Scope: "warehouse", Component: "warehouse"}

// Domain declares the domain.
func Domain() domain.Domain {
	return domain.Domain{
		Name:   "transfers",
		Events: event.Declare(group.Component, group.Scope, created, updated, sent, received, cancelled),
		Errors: []apierr.Doc{
			{Status: 409, Code: "TRANSFER_NOT_DRAFT", Advice: "The transfer was sent or cancelled; its warehouses and lines cannot change any more. Cancel it and make another one."},
			{Status: 409, Code: "TRANSFER_STATUS_TRANSITION_INVALID", Advice: "The transfer cannot change to this status from its current one; meta.allowed lists the allowed statuses."},
		},
		Entities: []string{entity, "TRANSFER_LINE"},
		Tables:   []resource.Described{table},
		Lists:    []domain.Statements{items},
		Samples: []domain.Sample{{
			Entity: entity, Path: "/warehouse/transfers", Change: `{"note":"with the morning tour","source":"erp"}`,
			Create: `{"toWarehouseId":"WAREHOUSE","items":[{"productId":"PRODUCT","qty":2}],"note":"for the weekend"}`,
		}},
	}
}
