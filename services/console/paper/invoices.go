package paper

import (
	"time"

	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/invoices"
)

// issuedBy is the writer with what an invoice says of the company: that of the day on which it was issued.
func (w Writer) issuedBy(i invoices.Invoice) Writer {
	s, by := &w.settings, i.Seller
	s.Currency, s.DocumentName, s.DocumentAddress, s.DocumentContact = i.Currency, &by.Name, by.Address, by.Contact
	s.DocumentTaxID, s.DocumentBank, s.DocumentFooter = by.TaxID, by.Bank, by.Footer
	return w
}

// Invoice is an invoice, or the credit note that cancels one.
func (w Writer) Invoice(i invoices.Invoice) Sheet {
	w = w.issuedBy(i)
	credit := i.Kind == "credit_note"
	title, due := "paper.invoice.title", "paper.invoice.payable"
	if credit {
		title, due = "paper.credit_note.title", "paper.credit_note.payable"
	}
	s := w.page(w.say(title, i.Number))
	s.To = lines(i.Buyer.Name, i.Buyer.Address)
	if i.Buyer.INN != nil {
		s.To = append(s.To, w.say("paper.tax_id", *i.Buyer.INN))
	}
	if i.Buyer.KPP != nil {
		s.To = append(s.To, w.say("paper.kpp", *i.Buyer.KPP))
	}
	w.invoiceFacts(&s, i)
	s.Columns = w.pricedColumns()
	for _, l := range i.Lines {
		w.pricedRow(&s, l.Line)
	}
	s.Sums = w.totals(i.Totals)
	s.Sums = w.sum(s.Sums, w.say("paper.delivery"), i.DeliveryCost)
	s.Sums = w.sum(s.Sums, w.say("paper.return_fees"), i.ReturnFees)
	if credit || i.Payable != i.Total {
		s.Sums = append(s.Sums, Fact{Label: w.say(due), Text: w.money(i.Payable), Strong: true})
	}
	s.Notes = w.fact(nil, "paper.note", record.OrZero(i.Note))
	if credit {
		s.Notes = w.fact(s.Notes, "paper.credit_note.reason", record.OrZero(i.Reason))
	}
	return s
}

// invoiceFacts are what an invoice says above its lines.
func (w Writer) invoiceFacts(s *Sheet, i invoices.Invoice) {
	s.Facts = []Fact{{Label: w.say("paper.date_of"), Text: w.date(i.IssuedAt.Std())}, {Label: w.say("paper.order"), Text: numbered(i.OrderNumber)}}
	if i.InvoiceNumber != nil {
		s.Facts = w.fact(s.Facts, "paper.credit_note.of", numbered(*i.InvoiceNumber))
	}
	if i.DueDate != nil {
		s.Facts = w.fact(s.Facts, "paper.invoice.due", w.day(time.Time(*i.DueDate)))
	}
	if i.CreditNoteNumber != nil {
		s.Facts = w.fact(s.Facts, "paper.invoice.cancelled", numbered(*i.CreditNoteNumber))
	}
}
