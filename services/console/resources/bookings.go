package resources

import (
	"time"

	"github.com/tradegrid/tradegrid/services/console/web"
)

func bookings() Resource {
	return Resource{
		Name: "bookings", Area: web.Bookings, Scope: "scheduling", Component: "scheduling",
		Address: "/bookings/list", Page: "/bookings", Title: "number", State: "status", About: aboutBooking,
		List: "listBookings", Get: "getBooking", Export: true, Report: "reportBookings",
		Find:   &Find{Also: []string{"customerName"}, By: []string{"number", "externalId"}},
		Create: "createBooking",
		Stages: []string{"pending", "confirmed", "completed"},
		Next:   []string{"confirm", "complete"},
		Asks: []string{
			"resourceId", "serviceId", "startAt", "durationMinutes", "customerName", "customerPhone", "customerEmail", "headcount",
			"note",
		},
		Views: []View{{"to_confirm", "status=pending"}, {"today", "dateFrom=today&dateTo=today"}},
		Columns: []Column{
			number("number"), moment("startAt"), number("durationMinutes"), state("status"), text("resourceName"),
			text("serviceName").Of("services", "serviceId"), text("customerName").Of("clients", "clientId").Faced(), text("customerPhone"),
			amount("price"), moment("endAt").Less(), text("customerEmail").Less(), number("headcount").Less(), text("note").Less(),
			text("cancelReason").Less(), text("source").Less(), code("externalId").Less(), moment("createdAt").Less(),
			moment("confirmedAt").Less(), moment("completedAt").Less(), moment("cancelledAt").Less(), moment("updatedAt").Less(),
		},
		Commands: []Command{
			{Name: "confirm", Op: "confirmBooking", When: is("pending")},
			{Name: "complete", Op: "completeBooking", When: is("confirmed")},
			{Name: "no_show", Op: "noShowBooking", Danger: true, When: is("confirmed")},
			{
				Name: "edit", Op: "updateBooking", Form: true,
				When: is("pending", "confirmed"),
			},
			{Name: "cancel", Op: "cancelBooking", Form: true, Danger: true, When: is("pending", "confirmed")},
		},
	}
}

func holds() Resource {
	return Resource{
		Name: "holds", Area: web.Bookings, Scope: "scheduling", Component: "scheduling",
		Address: "/bookings/holds", Title: "startAt",
		List: "listHolds", Export: true,
		Columns: []Column{
			moment("startAt"), moment("endAt"), entry("resourceId"), entry("serviceId"), moment("expiresAt"), number("headcount").Less(),
			number("bufferBeforeMinutes").Less(), number("bufferAfterMinutes").Less(), entry("createdById").Less(), moment("createdAt").Less(),
		},
	}
}

func aboutBooking(q *web.Request, r Record) *web.Note {
	start, _ := time.Parse(time.RFC3339Nano, r.Text("startAt")) // zero is over
	end, _ := time.Parse(time.RFC3339Nano, r.Text("endAt"))
	switch status := r.Text("status"); {
	case status == "pending" && start.After(q.Now):
		return &web.Note{Kind: web.Warn, Title: q.T("records.is.pending"), Text: q.T("records.is.begins", q.At(start).Short())}
	case status == "confirmed" && start.After(q.Now):
		return &web.Note{Kind: web.Info, Text: q.T("records.is.begins", q.At(start).Short())}
	case (status == "pending" || status == "confirmed") && end.Before(q.Now):
		return &web.Note{Kind: web.Warn, Title: q.T("records.is.over"), Text: q.T("records.is.over.next")}
	}
	return nil
}
