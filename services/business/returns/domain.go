package returns

import (
	"github.com/tradegrid/tradegrid/pkg/api/domain"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

// Returns to suppliers share the tag, scope and component of the warehouse.
var group = httpapi.Group{Tag: "Warehouse", Scope: "warehouse", Component: "warehouse"}

// Domain declares the domain.
func Domain() domain.Domain {
	return domain.Domain{
		Name:   "returns",
		Events: event.Declare(group.Component, group.Scope, created, updated, cancelled),
		Errors: []apierr.Doc{
			{Status: 409, Code: "SUPPLIER_RETURN_STATUS_TRANSITION_INVALID", Advice: "The return is cancelled already. Nothing has to be done."},
		},
		Entities: []string{entity},
		Tables:   []resource.Described{table},
		Lists:    []domain.Statements{items},
		Samples: []domain.Sample{{
			Entity: entity, Path: "/warehouse/supplier-returns", Change: `{"source":"erp","metadata":{"rma":"7"}}`,
			Create: `{"items":[{"productId":"PRODUCT","qty":1,"unitCost":121000}],"supplierId":"SUPPLIER","receiptId":"RECEIPT","reason":"wrong size"}`,
		}},
	}
}
