package invoices

import (
	"net/http"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// Register adds the operations on invoices. READ COMMITTED is enough: the order, the invoice and the counter are locked by the
// statements that read them.
func (s *Service) Register(api *httpapi.API) {
	r := group.On(api, s.cfg.DB, db.ReadCommitted())
	httpapi.List(r, "/invoices", "listInvoices", "List invoices", s.List,
		httpapi.Doc("Invoices and credit notes, the latest by `issuedAt` first, without parties and lines; amounts are whole minor units of `currency`."))
	httpapi.Get(r, "/invoices/{id}", "getInvoice", "Read an invoice", s.Get,
		httpapi.Doc("The invoice or credit note with seller, buyer, lines and taxes as they were when it was issued. "+
			"Fails with `INVOICE_NOT_FOUND`."))
	httpapi.CreateIn(r, "/orders/{id}/invoices", "issueInvoice", "Issue an invoice of an order", s.Issue, httpapi.Records("/invoices"),
		httpapi.Doc("Takes the next number without gaps and keeps what the order charges now, after its returns, with seller and buyer; the invoice never changes, whatever becomes of the order. "+
			"Fails with `ORDER_NOT_FOUND`, `ORDER_CANCELLED`, `INVOICE_NOTHING_TO_CHARGE`, or `INVOICE_EXISTS` while another one of the order is not cancelled."))
	httpapi.CommandWith(r, "/invoices/{id}/cancel", "cancelInvoice", "Cancel an invoice", s.Cancel,
		httpapi.Doc("Issues a credit note over the whole invoice with a number of its own, and answers with the invoice, whose `creditNoteId` names it; another invoice of the order can be issued then. "+
			"Fails with `INVOICE_NOT_FOUND`, `INVOICE_ALREADY_CANCELLED` or `INVOICE_IS_CREDIT_NOTE`."))
	httpapi.ChangePrepared(r, "/invoices/{id}/mails", "mailInvoice", "Send an invoice by e-mail", s.prepareMail, s.mail, httpapi.Discreet,
		httpapi.Answers(http.StatusAccepted), httpapi.Records("/invoices"),
		httpapi.Doc("Sends the invoice or credit note as PDF to `email`, or else to the address of the buyer, in the language of the company. "+
			"Fails with `INVOICE_NOT_FOUND`, with `VALIDATION_ERROR` if there is no address, and with `MAIL_LIMIT_REACHED` after 500 documents of a company in 24 hours."))
}
