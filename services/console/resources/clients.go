package resources

import (
	"github.com/tradegrid/tradegrid/services/console/web"
)

func clients() Resource {
	return Resource{
		Name: "clients", Area: web.Clients, Scope: "clients", Component: "clients",
		Address: "/clients", Page: "/clients", Title: "displayName", State: "status", About: aboutClient,
		List: "listClients", Get: "getClient", Files: "attachmentFileIds", Export: true, Import: true,
		Find:   &Find{Also: []string{"phone", "email"}, By: []string{"externalId", "phone", "email"}, Names: true, Contacts: true},
		Create: "createClient",
		Asks: []string{
			"kind", "displayName", "firstName", "lastName", "companyName", "phone", "email", "birthday", "groupId", "assignedToId",
			"creditLimit", "note",
		},
		Views: []View{{"archived", "status=archived"}},
		Bulk: []Bulk{
			{Name: "group", Op: "batchClients", Field: "groupId", When: is("active"), Undo: true},
			{Name: "price_list", Op: "batchClients", Field: "priceListId", When: is("active"), Undo: true},
			{Name: "assign", Op: "batchClients", Field: "assignedToId", When: is("active"), Undo: true},
			{Name: "tag", Op: "batchClientChanges", Field: "addTags", Entries: "tags", Back: "removeTags", ID: "clientId", When: unmerged, Undo: true},
			{Name: "untag", Op: "batchClientChanges", Field: "removeTags", Entries: "tags", Back: "addTags", Removes: true, ID: "clientId", When: unmerged, Undo: true},
			{Name: "archive", Op: "batchClientChanges", Field: "status", Value: "archived", ID: "clientId", When: is("active"), Undo: true},
		},
		Columns: []Column{
			text("displayName").Faced(), word("kind"), state("status"), text("phone"), text("email"), amount("balance"), number("points"),
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
				Name: "statement", List: "getClientStatement",
				Columns: []Column{
					moment("date"), word("kind"), number("number"), amount("charged"), amount("paid"), amount("balance"),
				},
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
			{Name: "archive", Op: "archiveClient", When: is("active"), Undo: "restore"},
			{
				Name: "restore", Op: "restoreClient", Undo: "archive",
				When: func(r Record) bool { return r.Text("status") == "archived" && !r.Has("mergedIntoId") },
			},
			{
				Name: "merge", Op: "mergeClient", Form: true, Fields: []string{"intoId"}, Danger: true, Starts: true,
				When: func(r Record) bool { return !r.Has("mergedIntoId") && !r.Has("anonymizedAt") },
			},
			{
				Name: "anonymize", Op: "anonymizeClient", Danger: true,
				When: func(r Record) bool { return !r.Has("anonymizedAt") && !r.Has("mergedIntoId") },
			},
		},
	}
}

func aboutClient(q *web.Request, r Record) *web.Note {
	switch {
	case r.Has("mergedIntoId"):
		return &web.Note{Kind: web.Off, Text: q.T("records.is.merged")}
	case r.Text("status") != "archived":
		return nil
	}
	return &web.Note{Kind: web.Off, Text: q.T("records.is.archived")}
}

// unmerged reports whether a client is one that can be changed.
func unmerged(r Record) bool { return !r.Has("mergedIntoId") }
