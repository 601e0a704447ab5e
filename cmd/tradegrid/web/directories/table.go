package directories

import (
	"net/url"

	"github.com/tradegrid/tradegrid/cmd/tradegrid/web"
)

// directory is a row of the table: what the console has to know of a directory that the admin API maintains. Fields, their help and
// their faults are those of its operations.
type directory struct {
	name      string // in addresses, and of its texts: directory.NAME
	scope     string // resource of the external API that its pages show
	component string

	list, get, create, update, remove string // operationIds; "" = there is none

	query   url.Values // of the list
	paged   bool       // the list is a page of more
	columns []string   // fields that the list shows; the first leads to the entry
	but     []string   // fields that forms do not ask for
	fixed   []string   // fields that only the form of a new entry asks for, because an entry keeps them
	pick    map[string]string
	active  bool // entries are put out of use by isActive
	ordered bool // people set the order, by sortOrder
	parts   []directory

	// Of a part:
	key   string // path parameter of its id; "" = id
	field string // field of the owner that has the entries; "" = list has them
	owner string // field of the body that names the owner; "" = the path does, as id
	when  func(owner entry) bool
}

// Sources of choices, beside the directories themselves.
const (
	ofUsers      = "users"
	ofServices   = "services"
	ofCategories = "categories"
)

var inactiveToo = url.Values{"includeInactive": {"true"}}

// table lists the directories, in the order of the page that leads to them.
var table = []directory{
	{
		name: "units", scope: "catalog", component: "catalog",
		list: "listUnits", get: "getUnit", create: "createUnit", update: "updateUnit",
		columns: []string{"name", "code", "shortName", "precision"}, fixed: []string{"code"}, active: true,
	},
	{
		name: "attributes", scope: "catalog", component: "catalog",
		list: "listAttributes", get: "getAttribute", create: "createAttribute", update: "updateAttribute", remove: "deleteAttribute",
		columns: []string{"name", "type", "unit", "isVariant", "isRequired", "isFilterable"}, fixed: []string{"type"}, ordered: true,
		pick: map[string]string{"categoryIds": ofCategories},
		parts: []directory{{
			name: "options", scope: "catalog", component: "catalog", key: "optionId", field: "options",
			get: "getAttributeOption", create: "createAttributeOption", update: "updateAttributeOption", remove: "deleteAttributeOption",
			columns: []string{"label", "color"}, ordered: true,
			when: func(a entry) bool { return a.text("type") == "select" || a.text("type") == "multiselect" },
		}},
	},
	{
		name: "client-groups", scope: "clients", component: "clients",
		list: "listClientGroups", get: "getClientGroup", create: "createClientGroup", update: "updateClientGroup", remove: "deleteClientGroup",
		columns: []string{"name", "priceListId"}, pick: map[string]string{"priceListId": "price-lists"},
	},
	{
		name: "price-lists", scope: "clients", component: "clients",
		list: "listPriceLists", get: "getPriceList", create: "createPriceList", update: "updatePriceList", remove: "deletePriceList",
		columns: []string{"name"},
	},
	{
		name: "deal-types", scope: "deals", component: "deals",
		list: "listDealTypes", get: "getDealType", create: "createDealType", update: "updateDealType", query: inactiveToo,
		columns: []string{"name", "alias", "isDefault", "isLeadType"}, but: []string{"stages"}, active: true, ordered: true,
		parts: []directory{{
			name: "stages", scope: "deals", component: "deals", field: "stages", owner: "typeId",
			get: "getDealStage", create: "createDealStage", update: "updateDealStage",
			columns: []string{"name", "outcome", "probability"}, active: true, ordered: true,
		}},
	},
	{
		name: "lost-reasons", scope: "deals", component: "deals",
		list: "listDealLostReasons", get: "getDealLostReason", create: "createDealLostReason", update: "updateDealLostReason", query: inactiveToo,
		columns: []string{"name", "alias"}, active: true, ordered: true,
	},
	{
		name: "sources", scope: "deals", component: "deals",
		list: "listLeadSources", get: "getLeadSource", create: "createLeadSource", update: "updateLeadSource", query: inactiveToo,
		columns: []string{"name", "alias"}, active: true, ordered: true,
	},
	{
		name: "resources", scope: "scheduling", component: "scheduling", paged: true,
		list: "listResources", get: "getResource", create: "createResource", update: "updateResource",
		columns: []string{"name", "type", "branchId", "userId", "capacity"}, but: []string{"workingHours"}, active: true,
		pick: map[string]string{"branchId": "branches", "userId": ofUsers, "serviceIds": ofServices},
	},
	{
		name: "branches", scope: "company", list: "listBranches", get: "getBranch", create: "createBranch", update: "updateBranch",
		columns: []string{"name", "isDefault"}, active: true,
	},
	{
		name: "warehouses", scope: "warehouse", component: "warehouse", paged: true,
		list: "listWarehouses", get: "getWarehouse", create: "createWarehouse", update: "updateWarehouse", remove: "deleteWarehouse",
		columns: []string{"name", "branchId", "address", "isDefault"}, pick: map[string]string{"branchId": "branches", "managerUserId": ofUsers},
	},
}

// byName is the directory with a name.
func byName(name string) (directory, bool) {
	for _, d := range table {
		if d.name == name {
			return d, true
		}
	}
	return directory{}, false
}

// place is where the pages of a directory, or of a part of an entry, are.
type place struct {
	directory

	of    *directory // nil = it is no part
	owner string     // id of the entry that the part belongs to
}

// placeOf reads the owner of a part from the address.
func placeOf(q *web.Request, d directory, of *directory) place {
	p := place{directory: d, of: of}
	if of != nil {
		p.owner = q.HTTP.PathValue("id")
	}
	return p
}

// at is the address of the list, or of what follows it.
func (p place) at(q *web.Request, rest string) string {
	if p.of == nil {
		return q.Path("/directories/" + p.name + rest)
	}
	return q.Path("/directories/" + p.of.name + "/" + p.owner + "/" + p.name + rest)
}

// back is where a person goes from an entry: the list, or the entry that a part belongs to.
func (p place) back(q *web.Request) string {
	if p.of == nil {
		return p.at(q, "")
	}
	return q.Path("/directories/" + p.of.name + "/" + p.owner)
}

// id is that of the entry in the address.
func (p place) id(q *web.Request) string {
	if p.of == nil {
		return q.HTTP.PathValue("id")
	}
	return q.HTTP.PathValue("part")
}

// path has the parameters of an operation on an entry.
func (p place) path(id string) map[string]string {
	if p.key == "" {
		return map[string]string{"id": id}
	}
	return map[string]string{"id": p.owner, p.key: id}
}
