package invoices

import "github.com/tradegrid/tradegrid/pkg/events/event"

var (
	issued    = event.New[Invoice]("invoice.issued", "An invoice or a credit note was issued; kind says which.").By(`$invoice`)
	cancelled = event.New[Invoice]("invoice.cancelled", "An invoice was cancelled by the credit note that creditNoteId names; invoice.issued is sent for that as well.").By(
		`POST /invoices/$invoice/cancel {"reason":"Trigger $run"}`,
	)
)
