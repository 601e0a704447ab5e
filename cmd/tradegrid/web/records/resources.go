package records

import (
	"slices"

	"github.com/tradegrid/tradegrid/cmd/tradegrid/web"
)

// resources is the table of the lists: all pages of this room follow from it.
func resources() []resource {
	return []resource{orders(), payments(), deals(), bookings(), sales(), shifts(), products(), services(), categories(), clients(), leads(), stocks(), movements(), receipts(), suppliers()}
}

// lines are the columns of the lines of documents.
func lines(own ...column) table {
	columns := []column{text("name").of("products", "refId"), state("kind").less(), code("sku"), qty("qty"), text("unit")}
	columns = append(append(columns, own...), amount("unitPrice"), amount("discountAmount"), amount("total"))
	return table{name: "lines", field: "lines", columns: columns, sums: []string{"discountAmount", "total"}}
}

func orders() resource {
	return resource{
		name: "orders", area: web.Orders, scope: "orders", component: "orders", at: "/orders", page: "/orders", list: "listOrders", get: "getOrder", about: aboutOrder, create: "createOrder", lines: &linesInput{field: "items", ref: "refId", price: "unitPrice"}, asks: []string{"customerName", "customerPhone", "customerEmail", "warehouseId", "assignedToId", "dueAt", "discountPercent", "note"}, export: true,
		title: "number", state: "status",
		columns: []column{
			number("number"), moment("createdAt"), state("status"), state("paymentStatus"), text("customerName").of("clients", "customerId"), number("linesCount"), amount("total"), amount("amountDue").less(),
			text("customerPhone").less(), text("customerEmail").less(), state("deliveryStatus").less(), word("deliveryMethod").less(), entry("assignedToId").less(), moment("dueAt").less(), moment("readyBy").less(),
			moment("payDueAt").less(), amount("subtotal").less(), amount("discountAmount").less(), amount("prepaidAmount").less(), amount("deliveryCost").less(), word("channel").less(), entry("warehouseId").less(),
			text("note").less(), text("source").less(), code("externalId").less(), moment("completedAt").less(), moment("cancelledAt").less(), moment("updatedAt").less(),
		},
		facts: []column{percent("discountPercent"), text("deliveryAddressText"), text("addressLabel"), text("customerNote"), code("dealId").of("deals", "dealId"), entry("createdById")},
		tables: []table{
			lines(qty("reservedQty"), qty("shippedQty")),
			{name: "payments", list: "listOrderPayments", columns: []column{moment("paidAt"), state("kind"), word("method"), amount("amount"), amount("refundedAmount"), text("reference"), text("note")}},
			{name: "shipments", list: "listShipments", columns: []column{number("number"), moment("shippedAt"), state("status"), qty("totalQty"), text("warehouseName"), text("carrier"), code("trackingNumber")}},
			{name: "history", list: "getOrderHistory", columns: []column{moment("at"), word("field"), text("from"), text("to"), entry("actorId")}},
		},
		commands: []command{
			{name: "move", op: "moveOrder", each: "allowedTransitions", param: "next"},
			{name: "pay", op: "createOrderPayment", form: true, fields: []string{"amount", "method", "paidAt", "reference", "note"}, when: func(r record) bool { return r.number("amountDue") > 0 }},
			{name: "ship", op: "createShipment", form: true, fields: []string{"warehouseId", "carrier", "trackingNumber", "shippedAt", "note"}, when: unshipped, rows: &rowsInput{field: "items", id: "orderLineId", done: "shippedQty", only: "product"}},
			{name: "edit", op: "updateOrder", form: true, fields: []string{"customerName", "customerPhone", "customerEmail", "assignedToId", "dueAt", "readyBy", "payDueAt", "discountPercent", "deliveryMethod", "deliveryAddressText", "note"}},
			{name: "refund_payment", op: "refundOrderPayment", table: "payments", param: "paymentId", form: true, fields: []string{"amount", "reason", "reference"}, when: func(r record) bool {
				return r.text("kind") == "payment" && r.number("refundedAmount") < r.number("amount")
			}},
			{name: "cancel_shipment", op: "cancelShipment", table: "shipments", param: "shipmentId", danger: true, when: is("posted")},
		},
	}
}

// unshipped reports whether an order has goods that did not leave yet.
func unshipped(r record) bool {
	if r.text("status") == "cancelled" {
		return false
	}
	for _, l := range r.records("lines") {
		if l.text("kind") == "product" && l.text("shippedQty") != l.text("qty") {
			return true
		}
	}
	return false
}

// is reports whether the status of a record is one of these.
func is(statuses ...string) func(record) bool {
	return func(r record) bool { return slices.Contains(statuses, r.text("status")) }
}

func payments() resource {
	return resource{
		name: "payments", area: web.Orders, scope: "orders", component: "orders", at: "/payments", list: "listPayments", export: true, title: "paidAt",
		columns: []column{
			moment("paidAt"), number("orderNumber").of("orders", "orderId"), state("kind"), word("method"), amount("amount"), amount("refundedAmount").less(), text("reference"), text("createdByName"),
			text("reason").less(), text("note").less(), text("methodExt").less(), text("source").less(), code("externalId").less(), moment("createdAt").less(),
		},
	}
}

func deals() resource {
	return resource{
		name: "deals", area: web.Deals, scope: "deals", component: "deals", at: "/deals/list", page: "/deals", list: "listDeals", get: "getDeal", about: aboutDeal, create: "createDeal", asks: []string{"typeId", "customerName", "customerPhone", "customerEmail", "assignedToId", "sourceId", "budget", "scheduledAt", "dueAt", "address", "note"}, export: true,
		title: "number", state: "outcome",
		columns: []column{
			number("number"), moment("createdAt"), text("typeName"), text("stageName"), state("outcome"), text("customerName").of("clients", "clientId"), text("assignedToName"), amount("total"), moment("nextActionAt"),
			amount("cost").less(), amount("budget").less(), moment("dueAt").less(), moment("scheduledAt").less(), text("customerPhone").less(), text("customerEmail").less(), text("address").less(), number("headcount").less(),
			entry("sourceId").less(), number("linesCount").less(), text("note").less(), word("channel").less(), text("source").less(), code("externalId").less(), moment("stageEnteredAt").less(), moment("updatedAt").less(),
		},
		facts: []column{entry("typeId"), entry("stageId"), entry("lostReasonId"), entry("assignedToId"), percent("discountPercent"), amount("subtotal"), amount("discountAmount"), text("customerNote"), entry("venueResourceId"), entry("createdById")},
		tables: []table{
			lines(amount("cost")),
			{name: "orders", list: "listOrders", where: "dealId", sees: web.Orders, all: "/orders", columns: []column{number("number").of("orders", "id"), moment("createdAt"), state("status"), state("paymentStatus"), amount("total")}},
			{name: "history", list: "getDealHistory", columns: []column{moment("at"), entry("fromStageId"), entry("toStageId"), state("toOutcome"), entry("lostReasonId"), entry("actorId")}},
		},
		commands: []command{
			{name: "stage", op: "moveDeal", form: true},
			{name: "edit", op: "updateDeal", form: true, fields: []string{"customerName", "customerPhone", "customerEmail", "assignedToId", "sourceId", "budget", "discountPercent", "scheduledAt", "dueAt", "nextActionAt", "address", "note"}},
		},
	}
}

func bookings() resource {
	return resource{
		name: "bookings", area: web.Bookings, scope: "scheduling", component: "scheduling", at: "/bookings/list", page: "/bookings", list: "listBookings", get: "getBooking", about: aboutBooking, create: "createBooking", asks: []string{"resourceId", "serviceId", "startAt", "durationMinutes", "customerName", "customerPhone", "customerEmail", "headcount", "note"}, export: true,
		title: "number", state: "status",
		columns: []column{
			number("number"), moment("startAt"), number("durationMinutes"), state("status"), text("resourceName"), text("serviceName").of("services", "serviceId"), text("customerName").of("clients", "clientId"),
			text("customerPhone"), amount("price"), moment("endAt").less(), text("customerEmail").less(), number("headcount").less(), text("note").less(), text("cancelReason").less(), text("source").less(),
			code("externalId").less(), moment("createdAt").less(), moment("confirmedAt").less(), moment("completedAt").less(), moment("cancelledAt").less(), moment("updatedAt").less(),
		},
		facts: []column{entry("createdById")},
		commands: []command{
			{name: "confirm", op: "confirmBooking", when: is("pending")},
			{name: "complete", op: "completeBooking", when: is("confirmed")},
			{name: "no_show", op: "noShowBooking", danger: true, when: is("confirmed")},
			{name: "edit", op: "updateBooking", form: true, fields: []string{"startAt", "durationMinutes", "resourceId", "customerName", "customerPhone", "customerEmail", "headcount", "note"}, when: is("pending", "confirmed")},
			{name: "cancel", op: "cancelBooking", form: true, danger: true, when: is("pending", "confirmed")},
		},
	}
}

func sales() resource {
	return resource{
		name: "sales", area: web.Sales, scope: "sales", component: "cashier", at: "/sales", page: "/sales", list: "listSales", get: "getSale", about: aboutSale, export: true, title: "number", state: "refundStatus",
		columns: []column{
			number("number"), moment("createdAt"), state("kind"), state("refundStatus"), text("customerName").of("clients", "customerId"), text("cashierName"), word("paymentMethod"), number("linesCount"), amount("total"),
			amount("refundedTotal").less(), amount("subtotal").less(), amount("discountAmount").less(), text("customerPhone").less(), amount("receivedAmount").less(), amount("changeAmount").less(),
			number("redeemedPoints").less(), number("earnedPoints").less(), text("reason").less(), entry("warehouseId").less(), word("channel").less(), text("source").less(), code("externalId").less(), moment("updatedAt").less(),
		},
		facts: []column{percent("discountPercent"), code("refundOfSaleId").of("sales", "refundOfSaleId"), code("shiftId").of("shifts", "shiftId"), entry("createdById")},
		tables: []table{
			lines(qty("refundedQty")),
			{name: "payments", field: "payments", columns: []column{moment("createdAt"), word("paymentMethod"), text("paymentMethodExt"), amount("amount"), amount("refundedAmount")}, sums: []string{"amount", "refundedAmount"}},
			{name: "refunds", list: "listSales", where: "refundOfSaleId", all: "/sales", columns: []column{number("number").of("sales", "id"), moment("createdAt"), text("cashierName"), text("reason"), amount("total")}},
		},
		commands: []command{{name: "refund", op: "refundSale", form: true, danger: true, makes: true, fields: []string{"reason"}, when: refundable, rows: &rowsInput{field: "items", id: "saleLineId", done: "refundedQty"}}},
	}
}

func refundable(r record) bool { return r.text("kind") == "sale" && r.text("refundStatus") != "full" }

func shifts() resource {
	return resource{
		name: "shifts", area: web.Sales, scope: "sales", component: "cashier", at: "/shifts", page: "/shifts", elsewhere: true, list: "listShifts", get: "getShift", export: true, title: "number", state: "status",
		columns: []column{
			number("number"), moment("openedAt"), moment("closedAt"), state("status"), text("cashierName"), number("salesCount"), amount("salesTotal"), number("refundsCount"), amount("refundsTotal"), amount("expectedCash"), amount("cashDifference"),
			amount("openingCash").less(), amount("closingCash").less(), amount("cashIn").less(), amount("cashOut").less(),
		},
	}
}
