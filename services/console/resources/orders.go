package resources

import (
	"github.com/tradegrid/tradegrid/services/console/web"
)

func orders() Resource {
	return Resource{
		Name: "orders", Area: web.Orders, Scope: "orders", Component: "orders",
		Address: "/orders", Page: "/orders", Title: "number", State: "status", About: aboutOrder,
		List: "listOrders", Get: "getOrder", Export: true, Report: "reportOrders",
		Find:   &Find{Also: []string{"customerName"}, By: []string{"number", "externalId"}},
		Create: "createOrder", Lines: &LinesInput{Field: "items", Ref: "refId", Price: "unitPrice"},
		Asks: []string{
			"customerName", "customerPhone", "customerEmail", "warehouseId", "assignedToId", "dueAt", "discountPercent", "note",
		},
		Columns: []Column{
			number("number"), moment("createdAt"), state("status"), state("paymentStatus"),
			text("customerName").Of("clients", "customerId"), number("linesCount"), amount("total"), amount("amountDue").Less(),
			text("customerPhone").Less(), text("customerEmail").Less(), state("deliveryStatus").Less(),
			word("deliveryMethod").Less(), entry("assignedToId").Less(), moment("dueAt").Less(), moment("readyBy").Less(),
			moment("payDueAt").Less(), amount("subtotal").Less(), amount("discountAmount").Less(), amount("prepaidAmount").Less(),
			amount("deliveryCost").Less(), word("channel").Less(), entry("warehouseId").Less(), text("note").Less(),
			text("source").Less(), code("externalId").Less(), moment("completedAt").Less(), moment("cancelledAt").Less(),
			moment("updatedAt").Less(),
		},
		Facts: []Column{percent("discountPercent"), code("dealId").Of("deals", "dealId")},
		Tables: []Table{
			lines(qty("reservedQty"), qty("shippedQty")),
			{
				Name: "payments", List: "listOrderPayments",
				Columns: []Column{
					moment("paidAt"), state("kind"), word("method"), amount("amount"), amount("refundedAmount"), text("reference"),
					text("note"),
				},
			},
			{
				Name: "shipments", List: "listShipments",
				Columns: []Column{
					number("number"), moment("shippedAt"), state("status"), qty("totalQty"), text("warehouseName"), text("carrier"),
					code("trackingNumber"),
				},
			},
			{
				Name: "history", List: "getOrderHistory",
				Columns: []Column{moment("at"), word("field"), text("from"), text("to"), entry("actorId")},
			},
		},
		Commands: []Command{
			{Name: "move", Op: "moveOrder", ForEach: "allowedTransitions", Param: "next"},
			{
				Name: "pay", Op: "createOrderPayment", Form: true,
				Fields: []string{"amount", "method", "paidAt", "reference", "note"},
				When:   func(r Record) bool { return r.Number("amountDue") > 0 },
			},
			{
				Name: "ship", Op: "createShipment", Form: true,
				Fields: []string{"warehouseId", "carrier", "trackingNumber", "shippedAt", "note"},
				When:   unshipped, Rows: &RowsInput{Field: "items", ID: "orderLineId", Done: "shippedQty", Only: "product"},
			},
			{
				Name: "edit", Op: "updateOrder", Form: true,
			},
			{
				Name: "refund_payment", Op: "refundOrderPayment", Table: "payments", Param: "paymentId", Form: true,
				Fields: []string{"amount", "reason", "reference"},
				When: func(r Record) bool {
					return r.Text("kind") == "payment" && r.Number("refundedAmount") < r.Number("amount")
				},
			},
			{
				Name: "cancel_shipment", Op: "cancelShipment", Table: "shipments", Param: "shipmentId", Danger: true,
				When: is("posted"),
			},
		},
	}
}

func aboutOrder(q *web.Request, r Record) *web.Note {
	due, status := r.Number("amountDue"), r.Text("status")
	switch {
	case status == "cancelled":
		return &web.Note{Kind: web.Off, Text: q.T("records.is.cancelled")}
	case due > 0:
		n := &web.Note{Kind: web.Warn, Title: q.T("records.is.due", q.Money(due), q.Money(r.Number("total")))}
		if unshipped(r) {
			n.Text = q.T("records.is.unshipped")
		}
		return n
	case unshipped(r):
		return &web.Note{Kind: web.Info, Title: q.T("records.is.paid"), Text: q.T("records.is.unshipped")}
	case status == "completed":
		return &web.Note{Kind: web.Good, Text: q.T("records.is.completed")}
	}
	return &web.Note{Kind: web.Info, Text: q.T("records.is.to_complete")}
}

// unshipped reports whether an order has goods that did not leave yet.
func unshipped(r Record) bool {
	if r.Text("status") == "cancelled" {
		return false
	}
	for _, l := range r.Records("lines") {
		if l.Text("kind") == "product" && l.Text("shippedQty") != l.Text("qty") {
			return true
		}
	}
	return false
}

func payments() Resource {
	return Resource{
		Name: "payments", Area: web.Orders, Scope: "orders", Component: "orders",
		Address: "/payments", Title: "paidAt",
		List: "listPayments", Export: true, Report: "reportPayments",
		Find: &Find{Also: []string{"reference"}, By: []string{"externalId", "reference"}, Title: "orderNumber", Page: "/orders", ID: "orderId"},
		Columns: []Column{
			moment("paidAt"), number("orderNumber").Of("orders", "orderId"), state("kind"), word("method"), amount("amount"),
			amount("refundedAmount").Less(), text("reference"), text("createdByName"), text("reason").Less(), text("note").Less(),
			text("methodExt").Less(), text("source").Less(), code("externalId").Less(), moment("createdAt").Less(),
		},
	}
}
