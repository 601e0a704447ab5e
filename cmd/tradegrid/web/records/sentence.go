package records

import (
	"time"

	"github.com/tradegrid/tradegrid/cmd/tradegrid/web"
)

// The sentences with which pages of records begin: what is the case, and what happens next. nil = the facts say it all.

func aboutOrder(q *web.Request, r record) *web.Note {
	due, status := r.number("amountDue"), r.text("status")
	switch {
	case status == "cancelled":
		return &web.Note{Kind: web.Off, Text: q.T("records.is.cancelled")}
	case due > 0:
		n := &web.Note{Kind: web.Warn, Title: q.T("records.is.due", q.Money(due), q.Money(r.number("total")))}
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

func aboutBooking(q *web.Request, r record) *web.Note {
	start, _ := time.Parse(time.RFC3339Nano, r.text("startAt")) // zero is over
	end, _ := time.Parse(time.RFC3339Nano, r.text("endAt"))
	switch status := r.text("status"); {
	case status == "pending" && start.After(q.Now):
		return &web.Note{Kind: web.Warn, Title: q.T("records.is.pending"), Text: q.T("records.is.begins", q.At(start).Short())}
	case status == "confirmed" && start.After(q.Now):
		return &web.Note{Kind: web.Info, Text: q.T("records.is.begins", q.At(start).Short())}
	case (status == "pending" || status == "confirmed") && end.Before(q.Now):
		return &web.Note{Kind: web.Warn, Title: q.T("records.is.over"), Text: q.T("records.is.over.next")}
	}
	return nil
}

func aboutSale(q *web.Request, r record) *web.Note {
	switch {
	case r.text("kind") == "refund":
		return &web.Note{Kind: web.Info, Text: q.T("records.is.refund")}
	case r.number("refundedTotal") > 0:
		return &web.Note{Kind: web.Warn, Text: q.T("records.is.refunded", q.Money(r.number("refundedTotal")), q.Money(r.number("total")))}
	}
	return nil
}

func aboutLead(q *web.Request, r record) *web.Note {
	if r.text("status") != "new" {
		return nil
	}
	return &web.Note{Kind: web.Warn, Title: q.T("records.is.new_lead"), Text: q.T("records.is.new_lead.next")}
}

func aboutClient(q *web.Request, r record) *web.Note {
	if r.text("status") != "archived" {
		return nil
	}
	return &web.Note{Kind: web.Off, Text: q.T("records.is.archived")}
}

func aboutDeal(q *web.Request, r record) *web.Note {
	at, err := time.Parse(time.RFC3339Nano, r.text("nextActionAt"))
	switch outcome := r.text("outcome"); {
	case outcome != "":
		return &web.Note{Kind: kindOf(outcome), Text: q.T("records.is.ended", q.InlineWord(outcome))}
	case err != nil:
		return &web.Note{Kind: web.Info, Text: q.T("records.is.no_action")}
	case at.Before(q.Now):
		return &web.Note{Kind: web.Warn, Text: q.T("records.is.overdue", q.At(at).Short())}
	}
	return &web.Note{Kind: web.Info, Text: q.T("records.is.next_action", q.At(at).Short())}
}
