package sales

import (
	"context"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/ownermail"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// MailInput is the body of a mail to the client of a sale.
type MailInput struct {
	Email *string `json:"email" format:"email" maxLength:"254" doc:"default: the address of the client"`
}

// SchemaName implements [jsontype.Named].
func (MailInput) SchemaName() string { return "SaleMailInput" }

// Mailed is a receipt that is on its way by e-mail.
type Mailed struct {
	Document string        `json:"document"`
	At       jsontype.Time `json:"at"`
}

// SchemaName implements [jsontype.Named].
func (Mailed) SchemaName() string { return "SaleMailed" }

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
	v, err := s.Get(ctx, in.Caller, in.ID, Shown{})
	if err != nil {
		return l, err
	}
	l.to = record.OrZero(in.Body.Email)
	if l.to == "" && v.CustomerID != nil {
		c, _, err := s.cfg.Clients.DocumentClient(ctx, s.cfg.DB, in.Company, *v.CustomerID, false)
		if err != nil {
			return l, err
		}
		l.to = record.OrZero(c.Email)
	}
	if l.to == "" {
		return l, apierr.InvalidField("email", apierr.Required, "is required, as the sale has no client with an address")
	}
	l.notice, err = s.cfg.Letter(ctx, in.Caller, v)
	return l, err
}

func (s *Service) mail(ctx context.Context, tx *db.Tx, in *mailRequest, l letter) (Mailed, error) {
	if err := ownermail.AddDocument(ctx, tx, in.Caller, l.to, l.notice); err != nil {
		return Mailed{}, err
	}
	return Mailed{Document: receipt, At: jsontype.At(tx.Now())}, nil
}

// receipt is the document of a sale.
const receipt = "receipt"
