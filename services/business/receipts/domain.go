package receipts

import (
	"github.com/tradegrid/tradegrid/pkg/api/domain"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

// Receipts share the tag, scope and component of the warehouse.
var group = httpapi.Group{Tag: "Warehouse", Scope: "warehouse", Component: "warehouse"}

// Domain declares the domain.
func Domain() domain.Domain {
	return domain.Domain{
		Name:   "receipts",
		Events: event.Declare(group.Component, group.Scope, created, updated, cancelled),
		Errors: []apierr.Doc{
			{Status: 409, Code: "RECEIPT_ALREADY_CANCELLED", Advice: "The receipt is cancelled already. Nothing has to be done."},
			{Status: 409, Code: "RECEIPT_STOCK_CONSUMED", Advice: "Part of the received goods is no longer in the warehouse; meta.lines lists what is there and what is required. Adjust the stock first."},
		},
		Entities: []string{"RECEIPT"},
		Tables:   []resource.Described{table},
		Lists:    []domain.Statements{items},
		Samples: []domain.Sample{{
			Entity: "RECEIPT", Path: "/warehouse/receipts", Change: `{"source":"erp","metadata":{"pallet":"7"}}`,
			Create: `{"warehouseId":"WAREHOUSE","supplierId":"SUPPLIER","items":[{"productId":"PRODUCT","qty":3,"unitCost":121000}],"note":"first delivery"}`,
		}},
	}
}
