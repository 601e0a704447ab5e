package resources

import (
	"net/url"
)

// Directory is what the console has to know of a directory that the admin API maintains. Fields, their help and their faults are those
// of its operations.
type Directory struct {
	Name      string // in addresses, and of its texts: directory.NAME
	Scope     string // resource of the external API that its pages show
	Component string

	List, Get, Create, Update, Remove string // operationIds; "" = there is none

	Query   url.Values // of the list
	Paged   bool       // the list is a page of more
	Columns []string   // fields that the list shows; the first leads to the entry
	But     []string   // fields that forms do not ask for
	Hours   string     // field with the hours of a day, which people type as text; "" = there is none
	Fixed   []string   // fields that only the form of a new entry asks for, because an entry keeps them
	Pick    map[string]string
	Active  bool // entries are put out of use by isActive
	Ordered bool // people set the order, by sortOrder
	Parts   []Directory

	// Of a part:
	Key   string   // path parameter of its id; "" = id
	Field string   // field of the owner that has the entries; "" = list has them
	Owner string   // field of the body that names the owner; "" = the path does, as id
	Types []string // types of owners that have it; nil = all
}

// Where the choices of a field come from ([Directory.Pick]), beside the directories themselves.
const (
	OfUsers      = "users"
	OfServices   = "services"
	OfCategories = "categories"
	OfResources  = "resources or all" // nothing chosen = all of them
)

var inactiveToo = url.Values{"includeInactive": {"true"}}

// Directories are what there is, in the order of the page that leads to them.
func Directories() []Directory {
	return []Directory{
		{
			Name: "units", Scope: "catalog", Component: "catalog",
			List: "listUnits", Get: "getUnit", Create: "createUnit", Update: "updateUnit",
			Columns: []string{"name", "code", "shortName", "precision"}, Fixed: []string{"code"}, Active: true,
		},
		{
			Name: "tax-rates", Scope: "catalog", Component: "catalog", Paged: true,
			List: "listTaxRates", Get: "getTaxRate", Create: "createTaxRate", Update: "updateTaxRate",
			Columns: []string{"name", "percent", "kind"}, Active: true,
		},
		{
			Name: "channels", Scope: "orders", Component: "orders",
			List: "listChannels", Get: "getChannel", Create: "createChannel", Update: "updateChannel",
			Columns: []string{"name", "code"}, Fixed: []string{"code"}, Active: true,
		},
		{
			Name: "delivery-methods", Scope: "orders", Component: "orders",
			List: "listDeliveryMethods", Get: "getDeliveryMethod", Create: "createDeliveryMethod", Update: "updateDeliveryMethod",
			Columns: []string{"name", "code"}, Fixed: []string{"code"}, Active: true,
		},
		{
			Name: "attributes", Scope: "catalog", Component: "catalog",
			List: "listAttributes", Get: "getAttribute", Create: "createAttribute", Update: "updateAttribute", Remove: "deleteAttribute",
			Columns: []string{"name", "type", "unit", "isVariant", "isRequired", "isFilterable"}, Fixed: []string{"type"}, Ordered: true,
			Pick: map[string]string{"categoryIds": OfCategories},
			Parts: []Directory{{
				Name: "options", Scope: "catalog", Component: "catalog", Key: "optionId", Field: "options",
				Get: "getAttributeOption", Create: "createAttributeOption", Update: "updateAttributeOption", Remove: "deleteAttributeOption",
				Columns: []string{"label", "color"}, Ordered: true,
				Types: []string{"select", "multiselect"},
			}},
		},
		{
			Name: "client-groups", Scope: "clients", Component: "clients",
			List: "listClientGroups", Get: "getClientGroup", Create: "createClientGroup", Update: "updateClientGroup", Remove: "deleteClientGroup",
			Columns: []string{"name", "priceListId"}, Pick: map[string]string{"priceListId": "price-lists"},
		},
		{
			Name: "price-lists", Scope: "clients", Component: "clients",
			List: "listPriceLists", Get: "getPriceList", Create: "createPriceList", Update: "updatePriceList", Remove: "deletePriceList",
			Columns: []string{"name"},
		},
		{
			Name: "deal-types", Scope: "deals", Component: "deals",
			List: "listDealTypes", Get: "getDealType", Create: "createDealType", Update: "updateDealType", Query: inactiveToo,
			Columns: []string{"name", "alias", "isDefault", "isLeadType"}, But: []string{"stages"}, Active: true, Ordered: true,
			Parts: []Directory{{
				Name: "stages", Scope: "deals", Component: "deals", Field: "stages", Owner: "typeId",
				Get: "getDealStage", Create: "createDealStage", Update: "updateDealStage",
				Columns: []string{"name", "outcome", "probability"}, Active: true, Ordered: true,
			}},
		},
		{
			Name: "lost-reasons", Scope: "deals", Component: "deals",
			List: "listDealLostReasons", Get: "getDealLostReason", Create: "createDealLostReason", Update: "updateDealLostReason", Query: inactiveToo,
			Columns: []string{"name", "alias"}, Active: true, Ordered: true,
		},
		{
			Name: "sources", Scope: "deals", Component: "deals",
			List: "listLeadSources", Get: "getLeadSource", Create: "createLeadSource", Update: "updateLeadSource", Query: inactiveToo,
			Columns: []string{"name", "alias"}, Active: true, Ordered: true,
		},
		{
			Name: "resources", Scope: "scheduling", Component: "scheduling", Paged: true,
			List: "listResources", Get: "getResource", Create: "createResource", Update: "updateResource",
			Columns: []string{"name", "type", "branchId", "userId", "capacity"}, But: []string{"workingHours"}, Active: true,
			Pick: map[string]string{"branchId": "branches", "userId": OfUsers, "serviceIds": OfServices},
		},
		{
			Name: "exceptions", Scope: "scheduling", Component: "scheduling", Paged: true,
			List: "listScheduleExceptions", Get: "getScheduleException", Create: "createScheduleException", Update: "updateScheduleException", Remove: "deleteScheduleException",
			Query: url.Values{"sort": {"dateFrom"}, "order": {"desc"}}, Columns: []string{"name", "resourceId", "dateFrom", "dateTo", "hours"}, Hours: "hours",
			Pick: map[string]string{"resourceId": OfResources},
		},
		{
			Name: "branches", Scope: "company", List: "listBranches", Get: "getBranch", Create: "createBranch", Update: "updateBranch",
			Columns: []string{"name", "isDefault"}, Active: true,
		},
		{
			Name: "warehouses", Scope: "warehouse", Component: "warehouse", Paged: true,
			List: "listWarehouses", Get: "getWarehouse", Create: "createWarehouse", Update: "updateWarehouse", Remove: "deleteWarehouse",
			Columns: []string{"name", "branchId", "address", "isDefault"}, Pick: map[string]string{"branchId": "branches", "managerUserId": OfUsers},
		},
	}
}
