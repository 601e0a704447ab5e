package purchases

import (
	"github.com/tradegrid/tradegrid/pkg/api/domain"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

// Purchase orders share the tag, scope and component of the warehouse.
var group = httpapi.Group{Tag: "Warehouse", Scope: "warehouse", Component: "warehouse"}

// Domain declares the domain.
func Domain() domain.Domain {
	return domain.Domain{
		Name:   "purchases",
		Events: event.Declare(group.Component, group.Scope, created, updated, sent, received, closed, cancelled),
		Errors: []apierr.Doc{
			{Status: 409, Code: "PURCHASE_ORDER_NOT_DRAFT", Advice: "The purchase order was sent or cancelled; its supplier, warehouse and lines cannot change any more. Cancel it and make another one."},
			{Status: 409, Code: "PURCHASE_ORDER_NOT_SENT", Advice: "Goods arrive only for purchase orders that were sent (meta.status is that of the order). Send it first, or leave purchaseOrderId out."},
			{Status: 409, Code: "PURCHASE_ORDER_STATUS_TRANSITION_INVALID", Advice: "The purchase order cannot change to this status from its current one; meta.allowed lists the allowed statuses."},
		},
		Entities: []string{entity},
		Tables:   []resource.Described{table},
		Lists:    []domain.Statements{items},
		Samples: []domain.Sample{{
			Entity: entity, Path: "/warehouse/purchase-orders", Change: `{"note":"confirmed by phone","expectedAt":"2030-03-04T08:00:00Z"}`,
			Create: `{"supplierId":"SUPPLIER","warehouseId":"WAREHOUSE","items":[{"productId":"PRODUCT","qty":4,"unitCost":121000}],"note":"as always"}`,
		}},
	}
}
