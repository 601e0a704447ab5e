package resources

import (
	"time"

	"github.com/tradegrid/tradegrid/services/console/web"
)

func deals() Resource {
	return Resource{
		Name: "deals", Area: web.Deals, Scope: "deals", Component: "deals",
		Address: "/deals/list", Page: "/deals", Title: "number", State: "outcome", About: aboutDeal,
		List: "listDeals", Get: "getDeal", Export: true,
		Find:   &Find{Also: []string{"customerName"}, By: []string{"number", "externalId"}, Names: true},
		Create: "createDeal", Client: "clientId",
		Lines: &LinesInput{Field: "items", Ref: "refId", Price: "unitPrice", Kinds: true, Optional: true, Keeps: []string{"note", "perGuest", "unitCost"}, Groups: []FieldGroup{
			{"plan", []string{"typeId", "assignedToId", "scheduledAt", "dueAt", "nextActionAt", "headcount", "budget", "venueResourceId", "addressId", "address"}},
			{"price", []string{"discountPercent", "fixedDiscount", "couponCode", "reprice"}},
			{"notes", []string{"customerNote", "note"}},
		}},
		Asks: []string{
			"typeId", "customerName", "customerPhone", "customerEmail", "assignedToId", "sourceId", "budget", "scheduledAt",
			"dueAt", "addressId", "address", "note",
		},
		Views: []View{{"open", "openOnly=true"}, {"overdue", "overdue=true"}},
		Columns: []Column{
			number("number"), moment("createdAt"), text("typeName"), text("stageName"), state("outcome"),
			text("customerName").Of("clients", "clientId").Faced(), text("assignedToName"), amount("total"), moment("nextActionAt"),
			amount("cost").Less(), amount("budget").Less(), moment("dueAt").Less(), moment("scheduledAt").Less(),
			text("customerPhone").Less(), text("customerEmail").Less(), text("address").Less(), number("headcount").Less(),
			entry("sourceId").Less(), number("linesCount").Less(), text("note").Less(), entry("channel").Less(),
			text("source").Less(), code("externalId").Less(), moment("stageEnteredAt").Less(), moment("updatedAt").Less(),
		},
		Next:  []string{"stage"},
		Sums:  sums(Sum{Name: "total"}),
		Facts: []Column{percent("discountPercent"), amount("fixedDiscount"), code("couponCode"), amount("taxAmount"), word("taxMode")},
		Tables: []Table{
			lines(amount("cost"), yes("perGuest").Less(), qty("effectiveQty").Less(), amount("unitCost").Less()),
			taxes(),
			{
				Name: "orders", List: "listOrders", Where: "dealId", Sees: web.Orders, All: "/orders",
				Columns: []Column{
					number("number").Of("orders", "id"), moment("createdAt"), state("status"), state("paymentStatus"),
					amount("total"),
				},
			},
			{
				Name: "history", List: "getDealHistory",
				Columns: []Column{
					moment("at"), entry("fromStageId"), entry("toStageId"), state("toOutcome"), entry("lostReasonId"),
					entry("actorId"),
				},
			},
		},
		Commands: []Command{
			{Name: "stage", Op: "moveDeal", Form: true, Undo: "stage", Sets: "stageId"},
			{
				Name: "edit", Op: "updateDeal", Form: true,
			},
		},
	}
}

func aboutDeal(q *web.Request, r Record) *web.Note {
	at, err := time.Parse(time.RFC3339Nano, r.Text("nextActionAt"))
	switch outcome := r.Text("outcome"); {
	case outcome != "":
		return &web.Note{Kind: Colour(outcome), Text: q.T("records.is.ended", q.InlineWord(outcome))}
	case err != nil:
		return &web.Note{Kind: web.Info, Text: q.T("records.is.no_action")}
	case at.Before(q.Now):
		return &web.Note{Kind: web.Warn, Text: q.T("records.is.overdue", q.At(at).Short())}
	}
	return &web.Note{Kind: web.Info, Text: q.T("records.is.next_action", q.At(at).Short())}
}
