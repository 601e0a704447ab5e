package invoices

import (
	"context"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/ownermail"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// MailInput is the body of a mail with an invoice.
type MailInput struct {
	Email *string `json:"email" format:"email" maxLength:"254" doc:"default: the address of the buyer"`
}

// SchemaName implements [jsontype.Named].
func (MailInput) SchemaName() string { return "InvoiceMailInput" }

// Mailed is an invoice that is on its way by e-mail.
type Mailed struct {
	At jsontype.Time `json:"at"`
}

// SchemaName implements [jsontype.Named].
func (Mailed) SchemaName() string { return "InvoiceMailed" }

type mailRequest struct {
	httpapi.ByID
	Body MailInput `body:"command"`
}

// letter is a mail with its address.
type letter struct {
	to     string
	notice ownermail.Notice
}

// prepareMail writes the mail before its transaction: a logo is stored elsewhere, and a document takes time.
func (s *Service) prepareMail(ctx context.Context, in *mailRequest) (l letter, err error) {
	i, err := table.Get(ctx, s.cfg.DB, in.Company, in.ID)
	if err != nil {
		return l, err
	}
	if in.Body.Email != nil {
		i.Buyer.Email = in.Body.Email
	}
	if l.to = record.OrZero(i.Buyer.Email); l.to == "" {
		return l, apierr.InvalidField("email", apierr.Required, "is required, as the invoice has no address of the buyer")
	}
	l.notice, err = s.cfg.Letter(ctx, in.Caller, i)
	return l, err
}

func (s *Service) mail(ctx context.Context, tx *db.Tx, in *mailRequest, l letter) (Mailed, error) {
	if err := ownermail.AddDocument(ctx, tx, in.Caller, l.to, l.notice); err != nil {
		return Mailed{}, err
	}
	return Mailed{At: jsontype.At(tx.Now())}, nil
}
