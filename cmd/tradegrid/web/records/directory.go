package records

import (
	"cmp"
	"context"
	"net/url"

	"github.com/tradegrid/tradegrid/cmd/tradegrid/web"
	"github.com/tradegrid/tradegrid/pkg/apierr"
)

// directory is a short list of the API whose entries fields name by their ids.
type directory struct {
	op     string
	name   string // field with the name of an entry
	paged  bool   // the answer is a page, of which the first 200 are read
	within string // field of an entry with the entries of another directory
}

// The directories, and the fields that name their entries.
var (
	users      = directory{op: "listUsers", name: "name"}
	branches   = directory{op: "listBranches", name: "name"}
	warehouses = directory{op: "listWarehouses", name: "name", paged: true}
	vendors    = directory{op: "listSuppliers", name: "name", paged: true}
	calendars  = directory{op: "listResources", name: "name", paged: true}
	offers     = directory{op: "listServices", name: "name", paged: true}
	groups     = directory{op: "listClientGroups", name: "name"}
	priceLists = directory{op: "listPriceLists", name: "name"}
	dealTypes  = directory{op: "listDealTypes", name: "name"}
	stages     = directory{op: "listDealTypes", name: "name", within: "stages"}
	sources    = directory{op: "listLeadSources", name: "name"}
	reasons    = directory{op: "listDealLostReasons", name: "name"}
	folders    = directory{op: "listCategories", name: "name"}

	directoryOf = map[string]directory{
		"assignedToId": users, "assigneeId": users, "createdById": users, "cashierId": users, "openedById": users, "actorId": users, "branchId": branches, "warehouseId": warehouses, "supplierId": vendors,
		"defaultSupplierId": vendors, "resourceId": calendars, "venueResourceId": calendars, "serviceId": offers, "groupId": groups, "priceListId": priceLists, "typeId": dealTypes, "stageId": stages, "fromStageId": stages,
		"toStageId": stages, "sourceId": sources, "lostReasonId": reasons, "categoryId": folders, "parentId": folders,
	}
)

// directories are those that a request has read: each of them once.
type directories struct {
	q    *web.Request
	read map[string][]record // by operation
}

// maxEntries is how many entries of a directory are read. One with more is no choice, but a field for an id.
const maxEntries = 200

// entries returns the entries of a directory. One that the person may not see has none.
func (d *directories) entries(ctx context.Context, of directory) ([]record, error) {
	all, ok := d.read[of.op]
	if !ok {
		var err error
		if all, err = d.fetch(ctx, of); err != nil {
			return nil, err
		}
		if d.read == nil {
			d.read = map[string][]record{}
		}
		d.read[of.op] = all
	}
	if of.within == "" {
		return all, nil
	}
	var inner []record
	for _, r := range all {
		inner = append(inner, r.records(of.within)...)
	}
	return inner, nil
}

func (d *directories) fetch(ctx context.Context, of directory) (all []record, err error) {
	in := web.Input{}
	if of.paged {
		in.Query = url.Values{"pageSize": {"200"}, "sort": {"name"}}
	}
	reply, err := d.q.Call(ctx, of.op, in)
	if known, ok := apierr.As(err); ok && known.Status < 500 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !of.paged {
		return all, decode(reply.Body, &all)
	}
	var page struct {
		Items []record `json:"items"`
	}
	err = decode(reply.Body, &page)
	return page.Items, err
}

// name is what the directory calls the entry that a field names; "" = it is not known.
func (d *directories) name(ctx context.Context, field, id string) (string, error) {
	of, ok := directoryOf[field]
	if !ok || id == "" {
		return "", nil
	}
	all, err := d.entries(ctx, of)
	for _, r := range all {
		if r.text("id") == id {
			return cmp.Or(r.text(of.name), id), err
		}
	}
	return "", err
}

// options are the choices of a field; nil = people have to type an id.
func (d *directories) options(ctx context.Context, field, current string, keep func(record) bool) ([]web.Option, error) {
	of, ok := directoryOf[field]
	if !ok {
		return nil, nil
	}
	all, err := d.entries(ctx, of)
	if err != nil || len(all) == 0 || len(all) >= maxEntries {
		return nil, err
	}
	var out []web.Option
	for _, r := range all {
		gone := r["isActive"] != nil && r.text("isActive") == "false"
		if id := r.text("id"); id == current || !gone && (keep == nil || keep(r)) {
			out = append(out, web.Option{Value: id, Text: cmp.Or(r.text(of.name), id), Selected: id == current})
		}
	}
	return out, nil
}
