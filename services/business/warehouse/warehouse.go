package warehouse

import (
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

const warehouses = db.Table("warehouses")

// Warehouse is a place where stock is kept; see docs/reference/rules.md#warehouses.
type Warehouse struct {
	record.Key
	Fields
	BranchID  *uuid.UUID `json:"branchId" format:"uuid" doc:"branch that the warehouse serves"`
	IsDefault bool       `json:"isDefault" doc:"default for receipts and write-offs"`
	record.Meta
}

// Fields are the fields that API clients set and that are stored unchanged.
type Fields struct {
	Name          string     `json:"name" required:"true" minLength:"1" maxLength:"255" search:"text"`
	Address       *string    `json:"address" maxLength:"1000" search:"text"`
	ManagerUserID *uuid.UUID `json:"managerUserId" format:"uuid"`
}

// Input is the body of requests.
type Input struct {
	Fields
	BranchID uuid.UUID `json:"branchId" format:"uuid" doc:"a branch without a warehouse; default on creation: the first such branch, the company's default branch before others"`
}

// ListItem is a warehouse in a list.
type ListItem struct {
	Warehouse
	BranchName  *string `json:"branchName" db:"-"`
	ManagerName *string `json:"managerName" db:"-" doc:"null without a manager, or if the user was removed"`
}

// Filter filters and sorts warehouses.
type Filter struct {
	list.Params
	Sort string `query:"sort" enum:"name,createdAt"`
}

var (
	table = resource.Of[Warehouse](warehouses, "WAREHOUSE").OnConstraint("warehouses_branch_key", errBranchTaken).
		OnConstraint(stockFK, db.ErrStale) // a document put stock into a warehouse that is being deleted: look again
	items = list.Of[ListItem, Filter](warehouses)
)

// Errors of the rules of warehouses; see docs/reference/rules.md#warehouses.
var (
	errBranchTaken = apierr.StateConflict("BRANCH_WAREHOUSE_EXISTS", "branchId: the branch already has a warehouse; choose a branch without one")
	errNoBranch    = apierr.StateConflict("BRANCH_NOT_AVAILABLE", "branchId: every open branch has a warehouse; open another branch first")
	errIsDefault   = apierr.StateConflict("WAREHOUSE_IS_DEFAULT", "the default warehouse of the company cannot be deleted; make another warehouse the default first")
	errNotEmpty    = apierr.StateConflict("WAREHOUSE_NOT_EMPTY", "the warehouse has stock or reserves; bring its quantities to 0 and move its open orders first")
	errDeleted     = apierr.StateConflict("WAREHOUSE_DELETED", "the warehouse of the document was deleted; stock cannot move there")
)
