package resources

import (
	"strings"

	"github.com/tradegrid/tradegrid/services/console/web"
)

func orders() Resource {
	return Resource{
		Name: "orders", Area: web.Orders, Scope: "orders", Component: "orders",
		Address: "/orders", Page: "/orders", Title: "number", State: "status", About: aboutOrder,
		List: "listOrders", Get: "getOrder", Export: true, Files: "attachmentFileIds", Report: "reportOrders", Totals: "sumOrders",
		Find:   &Find{Also: []string{"customerName"}, By: []string{"number", "externalId"}},
		Create: "createOrder", Client: "customerId",
		Prints: []string{"confirmation", "delivery-note", "receipt", "pick-list"},
		Lines: &LinesInput{Field: "items", Ref: "refId", Price: "unitPrice", Kinds: true, Preview: "previewOrder", Then: "pay", Open: is("new", "confirmed"), Keeps: []string{"note"}, Groups: []FieldGroup{
			{"delivery", []string{"deliveryMethod", "deliveryCost", "addressId", "deliveryAddressText", "dueAt", "readyBy", "warehouseId", "assignedToId"}},
			{"price", []string{"discountPercent", "fixedDiscount", "couponCode", "prepaidAmount", "payDueAt", "reprice"}},
			{"notes", []string{"customerNote", "note"}},
		}},
		Asks: []string{
			"customerName", "customerPhone", "customerEmail", "deliveryMethod", "deliveryCost", "addressId", "deliveryAddressText", "dueAt", "warehouseId", "assignedToId",
			"discountPercent", "fixedDiscount", "couponCode", "customerNote", "note",
		},
		Bulk: []Bulk{
			{Name: "move", Op: "batchOrderChanges", Field: "status", Among: "allowedTransitions", ID: "orderId", When: unfinished},
			{Name: "assign", Op: "batchOrderChanges", Field: "assignedToId", ID: "orderId", Nobody: "null", Undo: true},
			{Name: "pick_list", Paper: "/paper/orders/pick-list"},
			{Name: "delivery_note", Paper: "/paper/orders/delivery-note"},
		},
		Views: []View{
			{"todo", "status=new,confirmed,in_progress,ready"},
			{"unpaid", "paymentStatus=unpaid,partial&status=new,confirmed,in_progress,ready,completed"},
			{"due_today", "dueFrom=today&dueTo=today&status=new,confirmed,in_progress,ready"},
			{"late", "dueTo=yesterday&status=new,confirmed,in_progress,ready"},
		},
		Stages: []string{"new", "confirmed", "in_progress", "ready", "completed"},
		Next:   []string{"move.confirmed", "ship", "pay", "move.completed"},
		Gauges: []Gauge{
			{Name: "payment", Part: paid, Amount: true, State: "paymentStatus", Command: "pay", Back: "payments"},
			{Name: "shipment", Part: shipped, State: "deliveryStatus", Command: "ship"},
		},
		Sums: sums(Sum{Name: "deliveryCost"}, Sum{Name: "returnedAmount", Less: true}, Sum{Name: "payable"}),
		Columns: []Column{
			number("number"), text("customerName").Of("clients", "customerId").Faced(), state("status"), state("paymentStatus"), moment("createdAt"), due("dueAt", awaited),
			number("linesCount").Less(), amount("total"), amount("amountDue").Less(),
			text("customerPhone").Less(), text("customerEmail").Less(), state("deliveryStatus").Less(),
			entry("deliveryMethod").Less(), entry("assignedToId").Less(), moment("readyBy").Less(),
			moment("payDueAt").Less(), amount("subtotal").Less(), amount("discountAmount").Less(), amount("taxAmount").Less(), amount("prepaidAmount").Less(),
			amount("returnedAmount").Less(), amount("payable").Less(),
			amount("deliveryCost").Less(), entry("channel").Less(), entry("warehouseId").Less(), text("note").Less(),
			text("source").Less(), code("externalId").Less(), moment("completedAt").Less(), moment("cancelledAt").Less(),
			text("cancelReason").Less(), moment("updatedAt").Less(),
		},
		Facts: []Column{percent("discountPercent"), amount("fixedDiscount"), code("couponCode"), amount("taxAmount"), word("taxMode"), code("dealId").Of("deals", "dealId")},
		Tables: []Table{
			lines(qty("reservedQty"), qty("shippedQty"), qty("returnedQty"), amount("returnedAmount").Less(), amount("returnedTaxAmount").Less()),
			taxesReturned("returnedTaxAmount"),
			{
				Name: "payments", List: "listOrderPayments", First: "pay",
				Columns: []Column{
					moment("paidAt"), state("kind"), word("method"), amount("amount"), amount("refundedAmount"), text("reference"),
					text("note"),
				},
			},
			{
				Name: "shipments", List: "listShipments", First: "ship",
				Columns: []Column{
					number("number"), moment("shippedAt"), state("status"), qty("totalQty"), text("warehouseName"), text("carrier"),
					code("trackingNumber"),
				},
			},
			{
				Name: "returns", List: "listOrderReturns", First: "give_back",
				Columns: []Column{
					number("number"), moment("returnedAt"), state("status"), qty("totalQty"), amount("amount"), amount("fee"), amount("total"),
					amount("refundedAmount"), text("reason"), text("note"),
				},
			},
			{
				Name: "invoices", List: "listInvoices", Where: "orderId", All: "/invoices", First: "invoice",
				Columns: []Column{number("number").Of("invoices", "id"), moment("issuedAt"), state("kind"), state("status"), date("dueDate"), text("buyerName"), amount("payable")},
			},
			{
				Name: "history", List: "getOrderHistory",
				Columns: []Column{moment("at"), field("field"), changed("from"), changed("to"), entry("actorId")},
			},
		},
		Commands: []Command{
			{Name: "move", Op: "moveOrder", ForEach: "allowedTransitions", Param: "next", Undo: "move", Sets: "status"},
			{
				Name: "pay", Op: "createOrderPayment", Form: true,
				Fields: []string{"amount", "method", "paidAt", "reference", "note"},
				Due:    map[string]Due{"amount": func(r, _ Record) int64 { return r.Number("amountDue") }},
				When:   func(r Record) bool { return r.Number("amountDue") > 0 },
			},
			{
				Name: "ship", Op: "createShipment", Form: true,
				Fields: []string{"warehouseId", "carrier", "trackingNumber", "shippedAt", "note"},
				When:   unshipped, Rows: &RowsInput{Field: "items", ID: "orderLineId", Done: "shippedQty", Only: "product"},
			},
			{
				Name: "give_back", Op: "createOrderReturn", Form: true,
				Fields: []string{"reason", "restock", "warehouseId", "deliveryAmount", "fee", "note"},
				When:   returnable, Rows: &RowsInput{Field: "items", ID: "orderLineId", Done: "returnedQty"},
			},
			{
				Name: "invoice", Op: "issueInvoice", Form: true, Fields: []string{"issuedAt", "dueDate", "note"}, To: "invoices", IDOf: "id",
				When: func(r Record) bool { return r.Text("status") != "cancelled" },
			},
			{
				Name: "cancel_unshipped", Op: "cancelUnshipped", Form: true,
				When: func(r Record) bool {
					return unshipped(r) && r.Text("status") != "completed" && r.Number("returnedAmount") == 0
				},
				Rows: &RowsInput{Field: "items", ID: "orderLineId", Done: "shippedQty"},
			},
			{
				Name: "edit", Op: "updateOrder", Form: true,
			},
			{Name: "mail", Op: "mailOrder", Form: true, Fields: []string{"document", "email"}},
			{
				Name: "refund_payment", Op: "refundOrderPayment", Table: "payments", Param: "paymentId", Form: true,
				Fields: []string{"amount", "reason", "reference"}, Due: map[string]Due{"amount": toRefund},
				When: func(r Record) bool {
					return r.Text("kind") == "payment" && r.Number("refundedAmount") < r.Number("amount")
				},
			},
			{
				Name: "cancel_shipment", Op: "cancelShipment", Table: "shipments", Param: "shipmentId", Danger: true,
				When: is("posted"),
			},
			{
				Name: "cancel_return", Op: "cancelOrderReturn", Table: "returns", Param: "returnId", Danger: true,
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
	case due < 0:
		return &web.Note{Kind: web.Warn, Title: q.T("records.is.to_refund", q.Money(-due))}
	case due > 0:
		n := &web.Note{Kind: web.Warn, Title: q.T("records.is.due", q.Money(due), q.Money(r.Number("payable")))}
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

// awaited reports whether somebody waits for what an order has.
func awaited(r Record) bool { return is("new", "confirmed", "in_progress", "ready")(r) }

// unfinished reports whether an order can move to another status.
func unfinished(r Record) bool { return len(r.Texts("allowedTransitions")) > 0 }

// paid is how much of an order was paid.
func paid(r Record) (done, whole float64) {
	due, whole := float64(r.Number("amountDue")), float64(r.Number("payable"))
	return whole - due, whole
}

// toRefund is what a payment gives back of what was paid beyond what the order costs.
func toRefund(r, payment Record) int64 {
	return max(min(-r.Number("amountDue"), payment.Number("amount")-payment.Number("refundedAmount")), 0)
}

// shipped is how many of the goods of an order left.
func shipped(r Record) (done, whole float64) {
	for _, l := range r.Records("lines") {
		if l.Text("kind") == "product" {
			done, whole = done+l.Float("shippedQty"), whole+l.Float("qty")
		}
	}
	return done, whole
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

// returnable reports whether the client has goods of an order.
func returnable(r Record) bool {
	status := r.Text("status")
	for _, l := range r.Records("lines") {
		has := l.Text("shippedQty")
		if status == "completed" {
			has = l.Text("qty")
		}
		if status != "cancelled" && has != l.Text("returnedQty") {
			return true
		}
	}
	return false
}

func shipments() Resource {
	return Resource{
		Name: "shipments", Area: web.Orders, Scope: "orders", Component: "orders",
		Address: "/shipments", Title: "number", State: "status",
		List: "listAllShipments", Export: true,
		Find: &Find{Also: []string{"trackingNumber"}, By: []string{"number", "trackingNumber"}, Page: "/orders", ID: "orderId"},
		Columns: []Column{
			number("number"), moment("shippedAt"), state("status"), number("orderNumber").Of("orders", "orderId"), qty("totalQty"),
			text("warehouseName"), text("carrier"), code("trackingNumber"), entry("deliveryMethod").Less(), text("note").Less(), moment("createdAt").Less(),
		},
	}
}

func returns() Resource {
	return Resource{
		Name: "returns", Area: web.Orders, Scope: "orders", Component: "orders",
		Address: "/returns", Title: "number", State: "status",
		List: "listReturns", Export: true,
		Find: &Find{By: []string{"number", "externalId"}, Page: "/orders", ID: "orderId"},
		Columns: []Column{
			number("number"), moment("returnedAt"), state("status"), number("orderNumber").Of("orders", "orderId"), qty("totalQty"), amount("total"),
			text("reason"), amount("refundedAmount"), amount("amount").Less(), amount("deliveryAmount").Less(), amount("fee").Less(),
			entry("warehouseId").Less(), text("createdByName").Less(), text("note").Less(), text("source").Less(), code("externalId").Less(),
			moment("cancelledAt").Less(), moment("createdAt").Less(),
		},
	}
}

func invoices() Resource {
	return Resource{
		Name: "invoices", Area: web.Orders, Scope: "orders", Component: "orders",
		Address: "/invoices", Page: "/invoices", Title: "number", State: "status", About: aboutInvoice,
		List: "listInvoices", Get: "getInvoice", Export: true,
		Find:   &Find{Also: []string{"buyerName"}, By: []string{"number"}},
		Prints: []string{"invoice"},
		Views:  []View{{"open", "kind=invoice&status=issued"}, {"credit_notes", "kind=credit_note"}},
		Sums:   sums(Sum{Name: "deliveryCost"}, Sum{Name: "returnFees"}, Sum{Name: "payable"}),
		Columns: []Column{
			number("number"), moment("issuedAt"), state("kind"), state("status"), text("buyerName").Of("clients", "clientId").Faced(), number("orderNumber").Of("orders", "orderId"),
			date("dueDate"), amount("payable"),
			amount("total").Less(), amount("taxAmount").Less(), code("currency").Less(), number("creditNoteNumber").Of("invoices", "creditNoteId").Less(),
			number("invoiceNumber").Of("invoices", "invoiceId").Less(), moment("cancelledAt").Less(), text("reason").Less(), text("note").Less(),
			text("createdByName").Less(), moment("createdAt").Less(),
		},
		Facts:  []Column{amount("taxAmount"), word("taxMode")},
		Tables: []Table{lines(), taxes()},
		Commands: []Command{
			{Name: "mail", Op: "mailInvoice", Form: true, Fields: []string{"email"}},
			{Name: "cancel_invoice", Op: "cancelInvoice", Form: true, Fields: []string{"reason"}, Danger: true, When: func(r Record) bool {
				return r.Text("kind") == "invoice" && r.Text("status") == "issued"
			}},
		},
	}
}

func aboutInvoice(q *web.Request, r Record) *web.Note {
	switch {
	case r.Text("kind") == "credit_note":
		return &web.Note{Kind: web.Info, Text: q.T("records.is.credit_note", r.Number("invoiceNumber"))}
	case r.Text("status") == "cancelled":
		return &web.Note{Kind: web.Off, Text: q.T("records.is.invoice_cancelled", r.Number("creditNoteNumber"))}
	}
	return lacking(q, r, web.Note{Kind: web.Good, Text: q.T("records.is.invoice")})
}

// lacking adds to a note on an invoice what it does not say though most invoices have to, and where that is filled in for the next one.
func lacking(q *web.Request, r Record, note web.Note) *web.Note {
	seller, buyer := r.Object("seller"), r.Object("buyer")
	var all []string
	settings, client := false, false
	for _, f := range []struct {
		of   Record
		name string
		at   *bool
	}{{seller, "address", &settings}, {seller, "taxId", &settings}, {buyer, "address", &client}, {r, "dueDate", &client}} {
		if f.of != nil && !f.of.Has(f.name) {
			key := f.name
			if f.at == &settings {
				key = "seller_" + key
			}
			all, *f.at = append(all, q.T("records.lacks."+key)), true
		}
	}
	if len(all) == 0 {
		return &note
	}
	note.Kind, note.Text = web.Warn, note.Text+" "+q.T("records.lacks", strings.Join(all, ", "))
	if settings && q.Sees(web.CompanySettings) {
		note.Links = append(note.Links, web.Link{Text: q.T("records.lacks.settings"), Href: q.Path("/settings#f-documentAddress")})
	}
	if id := r.Text("clientId"); client && id != "" && q.MayCall("updateClient") {
		note.Links = append(note.Links, web.Link{Text: q.T("records.lacks.client"), Href: q.Path("/clients/" + id + "/do/edit")})
	}
	return &note
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
