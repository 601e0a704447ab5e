package resources

import (
	"slices"

	"github.com/tradegrid/tradegrid/services/console/web"
)

// Find is how the records of a list are found by what somebody types.
type Find struct {
	By       []string // filters of the list that a record is found by exactly
	Names    bool     // search= looks for names
	Contacts bool     // search= looks for phone numbers and addresses
	Also     []string // fields that stand behind the title, the first that has a text

	Title string // field that people call a record by; "" = that of the resource
	Page  string // address of a record, without its id; "" = that of the resource
	ID    string // field with the id of the record of that page; "" = id
}

// Answers reports whether records are found by a filter exactly.
func (f *Find) Answers(filter string) bool { return slices.Contains(f.By, filter) }

// Numbered reports whether people call a record by a number.
func (f *Find) Numbered() bool { return f.Answers("number") || f.Answers("reference") }

// Found are the lists that are looked through, in the order of all of them, in which what is found is shown.
func Found() []Resource {
	return slices.DeleteFunc(All(), func(r Resource) bool { return r.Find == nil })
}

// picked are the lists that people choose a record of, where a field takes its id: the resource by the name of the field. They are too
// long for a choice, and have a [Find].
var picked = map[string]string{
	"customerId": "clients", "clientId": "clients", "intoId": "clients", "mergedIntoId": "clients", "productId": "products", "orderId": "orders", "dealId": "deals", "refundOfSaleId": "sales", "purchaseOrderId": "purchase-orders",
	"returnId": "returns", "shiftId": "shifts", "variantId": "variants",
}

// Picked is the list of whose records people choose one for a field that takes an id.
func Picked(field string) (r Resource, ok bool) {
	all := Pickable()
	i := slices.IndexFunc(all, func(r Resource) bool { return r.Name == picked[field] })
	if i < 0 {
		return r, false
	}
	return all[i], true
}

// Pickable are the lists that people can choose a record of: those of [Found], and those whose records are only looked for in a field
// that takes the id of one.
func Pickable() []Resource {
	all := Found()
	for i, r := range all {
		own := *r.Find
		own.ID = "id" // whatever page the record stands on
		if r.Name == "variants" {
			all[i].Title, own.Title, own.Names = "name", "name", false // their products are found by names
		}
		all[i].Find = &own
	}
	shift := shifts()
	shift.Find = &Find{By: []string{"number"}, Title: shift.Title, Page: shift.Page, ID: "id"}
	return append(all, shift)
}

// Single is a kind of record that no list finds by its id.
type Single struct {
	Kind  string // "" = that of a resource
	Area  web.Area
	Get   string // operation
	Admin bool   // of the admin API
	Param string // of its path
	Page  string // address, without the id
	Title string // field that people call it by; "" = its id

	of Resource
}

// Called is what people call a record of the kind.
func (s Single) Called(q *web.Request) string {
	if s.Kind == "" {
		return s.of.One(q)
	}
	return q.T("find.kind." + s.Kind)
}

// KindRequest is the kind of requests, whose pages have addresses of their own.
const KindRequest = "request"

// Singles are the records that are asked for by their id. Those of resources that the find field does not look through are among them.
func Singles() []Single {
	all := []Single{
		{Kind: "event", Area: web.Events, Get: "getEvent", Param: "eventId", Page: "/events", Title: "event"},
		{Kind: "delivery", Area: web.Webhooks, Get: "getWebhookDelivery", Param: "id", Page: "/webhooks/deliveries", Title: "event"},
		{Kind: "subscription", Area: web.Webhooks, Get: "getWebhookSubscription", Param: "id", Page: "/webhooks", Title: "url"},
		{Kind: KindRequest, Area: web.Events, Get: "getRequest", Param: "id", Page: "/requests", Title: "requestId"},
		{Kind: "user", Area: web.People, Get: "getUser", Admin: true, Param: "id", Page: "/people", Title: "name"},
		{Kind: "token", Area: web.Tokens, Get: "getToken", Admin: true, Param: "id", Page: "/tokens", Title: "name"},
	}
	for _, r := range All() {
		if r.Find == nil && r.Get != "" {
			all = append(all, Single{Area: r.Area, Get: r.Get, Param: "id", Page: r.Page, Title: r.Title, of: r})
		}
	}
	return all
}
