package invoices

import (
	"github.com/tradegrid/tradegrid/pkg/api/domain"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

// Invoices share the tag, scope and component of orders.
var group = httpapi.Group{Tag: "Orders", Scope: "orders", Component: "orders"}

// Domain declares the domain.
func Domain() domain.Domain {
	return domain.Domain{
		Name:   "invoices",
		Events: event.Declare(group.Component, group.Scope, issued, cancelled),
		Errors: []apierr.Doc{
			{Status: 409, Code: "INVOICE_EXISTS", Advice: "The order has an invoice, meta.id with meta.number. Cancel that before issuing another."},
			{Status: 409, Code: "INVOICE_NOTHING_TO_CHARGE", Advice: "All lines of the order were returned, so that an invoice would be empty."},
			{Status: 409, Code: "INVOICE_ALREADY_CANCELLED", Advice: "The invoice was cancelled before, by the credit note in meta. Nothing has to be done."},
			{Status: 409, Code: "INVOICE_IS_CREDIT_NOTE", Advice: "A credit note cannot be cancelled. Issue another invoice of the order."},
		},
		Entities: []string{entity},
		Tables:   []resource.Described{table},
		Lists:    []domain.Statements{items},
	}
}
