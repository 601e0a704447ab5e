package paper

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/ownermail"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/clients"
	"github.com/tradegrid/tradegrid/services/business/invoices"
	"github.com/tradegrid/tradegrid/services/business/orders"
	"github.com/tradegrid/tradegrid/services/business/sales"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

// Letters writes mails that carry documents, for the domains whose operations send them.
type Letters struct {
	Files    Files
	Texts    web.CustomerTexts
	Settings func(ctx context.Context, company tenant.ID) (company.Settings, error)
	Client   func(ctx context.Context, company tenant.ID, id uuid.UUID) (*clients.Client, error) // nil = it was removed
	Payments func(ctx context.Context, by access.Caller, order uuid.UUID) ([]orders.Payment, error)
}

func (l Letters) writer(ctx context.Context, by access.Caller) (Writer, error) {
	s, err := l.Settings(ctx, by.Company)
	if err != nil {
		return Writer{}, err
	}
	logo, err := ReadLogo(ctx, l.Files, by.Company, s)
	return NewWriter(l.Texts, s, logo), err
}

// OfOrder is the mail with a document of an order.
func (l Letters) OfOrder(ctx context.Context, by access.Caller, o orders.Order, document string) (ownermail.Notice, error) {
	w, err := l.writer(ctx, by)
	if err != nil {
		return ownermail.Notice{}, err
	}
	var client *clients.Client
	if o.CustomerID != nil {
		if client, err = l.Client(ctx, by.Company, *o.CustomerID); err != nil {
			return ownermail.Notice{}, err
		}
	}
	var sheet Sheet
	switch document {
	case "delivery-note":
		sheet = w.DeliveryNote(o, client)
	case "till-receipt":
		payments, err := l.Payments(ctx, by, o.ID)
		if err != nil {
			return ownermail.Notice{}, err
		}
		sheet = w.OrderReceipt(o, payments)
	default:
		sheet = w.Confirmation(o, client)
	}
	return w.letter("order."+document, o.ID, record.OrZero(o.CustomerName), sheet)
}

// OfInvoice is the mail with an invoice or a credit note.
func (l Letters) OfInvoice(ctx context.Context, by access.Caller, i invoices.Invoice) (ownermail.Notice, error) {
	w, err := l.writer(ctx, by)
	if err != nil {
		return ownermail.Notice{}, err
	}
	return w.letter("invoice", i.ID, record.OrZero(i.Buyer.Name), w.Invoice(i))
}

// OfSale is the mail with the receipt of a sale.
func (l Letters) OfSale(ctx context.Context, by access.Caller, v sales.Sale) (ownermail.Notice, error) {
	w, err := l.writer(ctx, by)
	if err != nil {
		return ownermail.Notice{}, err
	}
	return w.letter("sale.receipt", v.ID, record.OrZero(v.CustomerName), w.Receipt(v))
}

// letter is a mail with a sheet. Names that somebody has chosen become no links in it.
func (w Writer) letter(kind string, of uuid.UUID, customer string, s Sheet) (ownermail.Notice, error) {
	raw, err := PDF(s.Title, []Sheet{s}, time.Now())
	if err != nil {
		return ownermail.Notice{}, err
	}
	from := ownermail.Name(s.From[0])
	greeting := w.say("paper.mail.greeting")
	if customer != "" {
		greeting = w.say("letter.greeting", ownermail.Name(customer))
	}
	text := w.say("paper.mail.text", s.Title)
	if w.settings.DocumentMail != nil {
		text = *w.settings.DocumentMail
	}
	return ownermail.Notice{
		Kind: kind, Record: of, Subject: w.say("paper.mail.subject", s.Title, from), Text: strings.Join([]string{greeting, text, from}, "\n\n"),
		File: &ownermail.File{Name: s.Title + ".pdf", Media: "application/pdf", Bytes: raw}, From: from, ReplyTo: w.settings.MailReplyTo,
	}, nil
}
