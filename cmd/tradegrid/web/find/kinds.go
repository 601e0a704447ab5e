package find

import "github.com/tradegrid/tradegrid/cmd/tradegrid/web"

// kind is a list of the API that is looked through. Its filters are the questions that it can answer.
type kind struct {
	name  string // key of its text, find.kind.NAME
	area  web.Area
	list  string   // operation
	at    string   // address of the list
	page  string   // address of a record, without its id
	id    string   // field with the id of the record of that page; "" = id
	title string   // field that people call a record by
	also  []string // fields that stand behind it, the first that has a text

	number, external, sku, barcode, phone, email, reference bool // filters
	names                                                   bool // search= looks for names
	contacts                                                bool // search= looks for phone numbers and addresses
}

// kinds are looked through in this order, and shown in it.
var kinds = []kind{
	{name: "order", area: web.Orders, list: "listOrders", at: "/orders", page: "/orders/", title: "number", also: []string{"customerName"}, number: true, external: true},
	{name: "sale", area: web.Sales, list: "listSales", at: "/sales", page: "/sales/", title: "number", also: []string{"customerName"}, number: true, external: true},
	{name: "booking", area: web.Bookings, list: "listBookings", at: "/bookings/list", page: "/bookings/", title: "number", also: []string{"customerName"}, number: true, external: true},
	{name: "deal", area: web.Deals, list: "listDeals", at: "/deals/list", page: "/deals/", title: "number", also: []string{"customerName"}, number: true, external: true, names: true},
	{name: "receipt", area: web.Warehouse, list: "listReceipts", at: "/receipts", page: "/receipts/", title: "number", also: []string{"supplierName"}, number: true, external: true},
	{name: "client", area: web.Clients, list: "listClients", at: "/clients", page: "/clients/", title: "displayName", also: []string{"phone", "email"}, phone: true, email: true, external: true, names: true, contacts: true},
	{name: "lead", area: web.Leads, list: "listLeads", at: "/leads", page: "/leads/", title: "name", also: []string{"phone", "email"}, names: true, contacts: true},
	{name: "product", area: web.Catalog, list: "listProducts", at: "/products", page: "/products/", title: "name", also: []string{"sku"}, sku: true, barcode: true, external: true, names: true},
	{name: "service", area: web.Catalog, list: "listServices", at: "/services", page: "/services/", title: "name", also: []string{"sku"}, sku: true, external: true, names: true},
	{name: "supplier", area: web.Warehouse, list: "listSuppliers", at: "/suppliers", page: "/suppliers/", title: "name", also: []string{"phone", "email"}, external: true, names: true, contacts: true},
	{name: "payment", area: web.Orders, list: "listPayments", at: "/payments", page: "/orders/", id: "orderId", title: "orderNumber", also: []string{"reference"}, external: true, reference: true},
}

// single is a record that no list finds by its id.
type single struct {
	name  string
	area  web.Area
	get   string // operation
	admin bool   // of the admin API
	param string // of its path
	page  string // address, without the id
	title string // field that people call it by; "" = its id
}

const kindRequest = "request"

var singles = []single{
	{name: "event", area: web.Events, get: "getEvent", param: "eventId", page: "/events/", title: "event"},
	{name: "delivery", area: web.Webhooks, get: "getWebhookDelivery", param: "id", page: "/webhooks/deliveries/", title: "event"},
	{name: "subscription", area: web.Webhooks, get: "getWebhookSubscription", param: "id", page: "/webhooks/", title: "url"},
	{name: kindRequest, area: web.Events, get: "getRequest", param: "id", page: "/requests/", title: "requestId"},
	{name: "shift", area: web.Sales, get: "getShift", param: "id", page: "/shifts/", title: "number"},
	{name: "category", area: web.Catalog, get: "getCategory", param: "id", page: "/categories/", title: "name"},
	{name: "user", area: web.People, get: "getUser", admin: true, param: "id", page: "/people/", title: "name"},
	{name: "token", area: web.Tokens, get: "getToken", admin: true, param: "id", page: "/tokens/", title: "name"},
}
