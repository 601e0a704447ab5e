package resources

import (
	"github.com/tradegrid/tradegrid/services/console/web"
)

func clients() Resource {
	return Resource{
		Name: "clients", Area: web.Clients, Scope: "clients", Component: "clients",
		Address: "/clients", Page: "/clients", Title: "displayName", State: "status", About: aboutClient,
		List: "listClients", Get: "getClient", Export: true,
		Find:   &Find{Also: []string{"phone", "email"}, By: []string{"externalId", "phone", "email"}, Names: true, Contacts: true},
		Create: "createClient",
		Asks: []string{
			"kind", "displayName", "firstName", "lastName", "companyName", "phone", "email", "birthday", "groupId", "assignedToId",
			"creditLimit", "note",
		},
		Columns: []Column{
			text("displayName"), word("kind"), state("status"), text("phone"), text("email"), amount("balance"), number("points"),
			texts("tags"), text("assignedToName").Less(), text("companyName").Less(), text("inn").Less(),
			amount("creditLimit").Less(), entry("groupId").Less(), entry("priceListId").Less(), text("source").Less(),
			code("externalId").Less(), moment("createdAt").Less(), moment("updatedAt").Less(),
		},
		Tables: []Table{
			{
				Name: "orders", List: "listOrders", Where: "customerId", Sees: web.Orders, All: "/orders",
				Columns: []Column{
					number("number").Of("orders", "id"), moment("createdAt"), state("status"), state("paymentStatus"),
					amount("total"),
				},
			},
			{
				Name: "deals", List: "listDeals", Where: "clientId", Sees: web.Deals, All: "/deals/list",
				Columns: []Column{number("number").Of("deals", "id"), moment("createdAt"), text("stageName"), amount("total")},
			},
			{
				Name: "sales", List: "listSales", Where: "customerId", Sees: web.Sales, All: "/sales",
				Columns: []Column{
					number("number").Of("sales", "id"), moment("createdAt"), state("kind"), word("paymentMethod"), amount("total"),
				},
			},
			{
				Name: "bookings", List: "listBookings", Where: "clientId", Sees: web.Bookings, All: "/bookings/list",
				Columns: []Column{
					number("number").Of("bookings", "id"), moment("startAt"), state("status"), text("serviceName"),
					text("resourceName"),
				},
			},
			{
				Name: "interactions", List: "listClientInteractions",
				Columns: []Column{moment("occurredAt"), word("type"), word("direction"), text("subject"), text("body")},
			},
			{
				Name: "addresses", List: "listClientAddresses",
				Columns: []Column{text("label"), text("text"), text("city"), text("postalCode"), yes("isDefault")},
			},
			{
				Name: "points", List: "listClientPoints",
				Columns: []Column{moment("createdAt"), text("reason"), number("delta"), number("balance")},
			},
		},
		Commands: []Command{
			{Name: "interaction", Op: "createClientInteraction", Form: true, When: is("active")},
			{
				Name: "edit", Op: "updateClient", Form: true, When: is("active"),
			},
			{Name: "archive", Op: "archiveClient", When: is("active")},
			{Name: "restore", Op: "restoreClient", When: is("archived")},
			{
				Name: "anonymize", Op: "anonymizeClient", Danger: true,
				When: func(r Record) bool { return !r.Has("anonymizedAt") },
			},
		},
	}
}

func aboutClient(q *web.Request, r Record) *web.Note {
	if r.Text("status") != "archived" {
		return nil
	}
	return &web.Note{Kind: web.Off, Text: q.T("records.is.archived")}
}
