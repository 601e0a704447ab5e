package warehouse

import (
	"github.com/tradegrid/tradegrid/pkg/api/domain"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

var group = httpapi.Group{Tag: "Warehouse", About: "Stock and its movements, warehouses, suppliers, and the documents that move stock: receipts, transfers, write-offs, counts, purchase orders, returns to suppliers.", Scope: "warehouse", Component: "warehouse"}

// Domain declares the domain.
func Domain() domain.Domain {
	return domain.Domain{
		Name:       "warehouse",
		Scopes:     []access.Resource{{Name: "warehouse"}},
		Components: []access.Component{{Alias: "warehouse"}},
		Events:     event.Declare(group.Component, group.Scope, movementCreated, stockAdjusted, stockLow, availableChanged),
		Errors: []apierr.Doc{
			{Status: 409, Code: "BRANCH_NOT_AVAILABLE", Advice: "No open branch is without a warehouse, or the given one is closed. Open a branch first."},
			{Status: 409, Code: "BRANCH_WAREHOUSE_EXISTS", Advice: "The branch already has a warehouse (meta.warehouseId); a branch can have only one."},
			{Status: 409, Code: "STOCK_ACCOUNTING_DISABLED", Advice: "Stock tracking is disabled for the product. Set hasStock to true first."},
			{Status: 409, Code: "STOCK_CHANGED", Advice: "The stock has changed since it was read (meta.qty). Read it again and retry."},
			{Status: 409, Code: "STOCK_INSUFFICIENT", Advice: "The company does not allow negative stock; meta.lines lists the lines that exceed it. Reduce the quantities."},
			{Status: 409, Code: "WAREHOUSE_DELETED", Advice: "The warehouse of the document was deleted, so its stock cannot change. Use another warehouse."},
			{Status: 409, Code: "WAREHOUSE_IS_DEFAULT", Advice: "The default warehouse cannot be deleted. Make another warehouse the default first."},
			{Status: 409, Code: "WAREHOUSE_NOT_EMPTY", Advice: "The warehouse has stock or reserves. Bring its quantities to 0 and finish or move its orders first."},
		},
		Entities: []string{"WAREHOUSE"},
		Tables:   []resource.Described{table},
		Lists:    []domain.Statements{items, movementItems},
		Samples: []domain.Sample{{
			Entity: "WAREHOUSE", Path: "/warehouse/warehouses", Create: `{"name":"Annex","address":"2 Harbour Road"}`, Change: `{"name":"North annex","address":null}`,
		}},
	}
}
