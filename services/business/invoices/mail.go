package invoices

import (
	"context"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/document"
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

func (s *Service) prepareMail(ctx context.Context, in *mailRequest) (l document.Letter, err error) {
	i, err := table.Get(ctx, s.cfg.DB, in.Company, in.ID)
	if err != nil {
		return l, err
	}
	if l.To, err = document.Address(in.Body.Email, i.Buyer.Email, "the invoice has no address of the buyer"); err != nil {
		return l, err
	}
	i.Buyer.Email = &l.To
	l.Notice, err = s.cfg.Letter(ctx, in.Caller, i)
	return l, err
}

func (s *Service) mail(ctx context.Context, tx *db.Tx, in *mailRequest, l document.Letter) (Mailed, error) {
	if err := l.Queue(ctx, tx, in.Caller); err != nil {
		return Mailed{}, err
	}
	return Mailed{At: jsontype.At(tx.Now())}, nil
}
