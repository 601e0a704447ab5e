package sales

import (
	"context"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/document"
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

func (s *Service) prepareMail(ctx context.Context, in *mailRequest) (l document.Letter, err error) {
	v, err := s.Get(ctx, in.Caller, in.ID, Shown{})
	if err != nil {
		return l, err
	}
	var known *string
	if in.Body.Email == nil && v.CustomerID != nil {
		c, _, err := s.cfg.Clients.DocumentClient(ctx, s.cfg.DB, in.Company, *v.CustomerID, false)
		if err != nil {
			return l, err
		}
		known = c.Email
	}
	if l.To, err = document.Address(in.Body.Email, known, "the sale has no client with an address"); err != nil {
		return l, err
	}
	l.Notice, err = s.cfg.Letter(ctx, in.Caller, v)
	return l, err
}

func (s *Service) mail(ctx context.Context, tx *db.Tx, in *mailRequest, l document.Letter) (Mailed, error) {
	if err := l.Queue(ctx, tx, in.Caller); err != nil {
		return Mailed{}, err
	}
	return Mailed{Document: receipt, At: jsontype.At(tx.Now())}, nil
}

// receipt is the document of a sale.
const receipt = "receipt"
