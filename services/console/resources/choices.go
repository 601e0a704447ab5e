package resources

import "slices"

// Choices are a short list of the API whose entries other records name by their ids.
type Choices struct {
	List   string   // operation
	Name   string   // field with the name of an entry
	Paged  bool     // the answer is a page, of which the first 200 are read
	Within string   // field of an entry with the entries that are meant; "" = it is meant itself
	Fields []string // fields of records that name an entry
}

// ChoicesOf are those that a field names one of.
func ChoicesOf(field string) (c Choices, ok bool) {
	all := choices()
	i := slices.IndexFunc(all, func(c Choices) bool { return slices.Contains(c.Fields, field) })
	if i < 0 {
		return c, false
	}
	return all[i], true
}

func choices() []Choices {
	return []Choices{
		{List: "listUsers", Name: "name", Fields: []string{"assignedToId", "assigneeId", "createdById", "cashierId", "openedById", "actorId"}},
		{List: "listBranches", Name: "name", Fields: []string{"branchId"}},
		{List: "listWarehouses", Name: "name", Paged: true, Fields: []string{"warehouseId"}},
		{List: "listSuppliers", Name: "name", Paged: true, Fields: []string{"supplierId", "defaultSupplierId"}},
		{List: "listResources", Name: "name", Paged: true, Fields: []string{"resourceId", "venueResourceId"}},
		{List: "listServices", Name: "name", Paged: true, Fields: []string{"serviceId"}},
		{List: "listClientGroups", Name: "name", Fields: []string{"groupId"}},
		{List: "listPriceLists", Name: "name", Fields: []string{"priceListId"}},
		{List: "listDealTypes", Name: "name", Fields: []string{"typeId"}},
		{List: "listDealTypes", Name: "name", Within: "stages", Fields: []string{"stageId", "fromStageId", "toStageId"}},
		{List: "listLeadSources", Name: "name", Fields: []string{"sourceId"}},
		{List: "listDealLostReasons", Name: "name", Fields: []string{"lostReasonId"}},
		{List: "listCategories", Name: "name", Fields: []string{"categoryId", "parentId"}},
	}
}
