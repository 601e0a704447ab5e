package warehouse

import (
	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/domain"
	"github.com/tradegrid/tradegrid/pkg/event"
	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/httpapi"
	"github.com/tradegrid/tradegrid/pkg/resource"
)

var group = httpapi.Group{Tag: "Warehouse", Scope: "warehouse", Component: "warehouse"}

// Domain is what the domain declares of itself.
func Domain() domain.Domain {
	return domain.Domain{
		Name:       "warehouse",
		Scopes:     []access.Resource{{Name: "warehouse"}},
		Components: []access.Component{{Alias: "warehouse"}},
		Events:     event.Declare(group.Component, group.Scope, movementCreated, stockAdjusted),
		Errors: []fault.Doc{
			{Status: 409, Code: "BRANCH_WAREHOUSE_EXISTS", Advice: "The branch has a warehouse already; a branch may have one."},
			{Status: 409, Code: "STOCK_ACCOUNTING_DISABLED", Advice: "No stock is kept of the product. Set hasStock first."},
			{Status: 409, Code: "STOCK_CHANGED", Advice: "The stock has changed since it was read. Read it again and repeat."},
			{Status: 409, Code: "STOCK_INSUFFICIENT", Advice: "The company blocks sales beyond stock; meta.lines names what is short."},
		},
		Entities: []string{"WAREHOUSE"},
		Tables:   []resource.Described{table},
	}
}
