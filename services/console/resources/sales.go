package resources

import (
	"github.com/tradegrid/tradegrid/services/console/web"
)

func sales() Resource {
	return Resource{
		Name: "sales", Area: web.Sales, Scope: "sales", Component: "cashier",
		Prints:  []string{"receipt"},
		Address: "/sales", Page: "/sales", Title: "number", State: "refundStatus", About: aboutSale,
		List: "listSales", Get: "getSale", Export: true, Report: "reportSales", Totals: "sumSales",
		Find: &Find{Also: []string{"customerName"}, By: []string{"number", "externalId"}},
		Columns: []Column{
			number("number"), moment("soldAt"), state("kind"), state("refundStatus"),
			text("customerName").Of("clients", "customerId").Faced(), text("cashierName"), word("paymentMethod"), number("linesCount"),
			amount("total"), amount("refundedTotal").Less(), amount("subtotal").Less(), amount("discountAmount").Less(), amount("taxAmount").Less(),
			text("customerPhone").Less(), amount("receivedAmount").Less(), amount("changeAmount").Less(),
			number("redeemedPoints").Less(), number("earnedPoints").Less(), text("reason").Less(), entry("warehouseId").Less(),
			word("channel").Less(), text("source").Less(), code("externalId").Less(), moment("createdAt").Less(), moment("updatedAt").Less(),
		},
		Sums: sums(Sum{Name: "redeemedPoints", Less: true}, Sum{Name: "total"}),
		Facts: []Column{
			percent("discountPercent"), amount("fixedDiscount"), code("couponCode"), amount("taxAmount"), word("taxMode"), code("refundOfSaleId").Of("sales", "refundOfSaleId"),
			code("shiftId").Of("shifts", "shiftId"),
		},
		Tables: []Table{
			lines(qty("refundedQty")),
			taxes(),
			{
				Name: "payments", Field: "payments",
				Columns: []Column{
					moment("createdAt"), word("paymentMethod"), text("paymentMethodExt"), amount("amount"),
					amount("refundedAmount"),
				},
				Sums: []string{"amount", "refundedAmount"},
			},
			{
				Name: "refunds", List: "listSales", Where: "refundOfSaleId", All: "/sales",
				Columns: []Column{
					number("number").Of("sales", "id"), moment("createdAt"), text("cashierName"), text("reason"), amount("total"),
				},
			},
		},
		Commands: []Command{
			{
				Name: "refund", Op: "refundSale", Form: true, Danger: true, Makes: true, Fields: []string{"reason", "warehouseId"},
				When: refundable, Rows: &RowsInput{Field: "items", ID: "saleLineId", Done: "refundedQty"},
			},
			{Name: "mail", Op: "mailSale", Form: true, Fields: []string{"email"}},
		},
	}
}

func aboutSale(q *web.Request, r Record) *web.Note {
	switch {
	case r.Text("kind") == "refund":
		return &web.Note{Kind: web.Info, Text: q.T("records.is.refund")}
	case r.Number("refundedTotal") > 0:
		return &web.Note{Kind: web.Warn, Text: q.T("records.is.refunded", q.Money(r.Number("refundedTotal")), q.Money(r.Number("total")))}
	}
	return nil
}

func refundable(r Record) bool { return r.Text("kind") == "sale" && r.Text("refundStatus") != "full" }

func shifts() Resource {
	return Resource{
		Name: "shifts", Area: web.Sales, Scope: "sales", Component: "cashier",
		Address: "/shifts", Page: "/shifts", Elsewhere: true, Title: "number", State: "status",
		List: "listShifts", Get: "getShift", Export: true,
		Columns: []Column{
			number("number"), moment("openedAt"), moment("closedAt"), state("status"), text("cashierName").Faced(), number("salesCount"),
			amount("salesTotal"), amount("refundsTotal"), amount("cashDifference"),
			number("refundsCount").Less(), amount("expectedCash").Less(), amount("openingCash").Less(), amount("closingCash").Less(), amount("cashIn").Less(), amount("cashOut").Less(),
		},
	}
}

func saleDrafts() Resource {
	return Resource{
		Name: "sale-drafts", Area: web.Sales, Scope: "sales", Component: "cashier",
		Address: "/sales/drafts", Title: "name",
		List: "listSaleDrafts", Export: true,
		Columns: []Column{text("name"), moment("createdAt"), entry("createdById"), moment("expiresAt")},
	}
}
