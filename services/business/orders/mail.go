package orders

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/document"
)

// MailInput is the body of a mail to the client of an order.
type MailInput struct {
	Document string  `json:"document" required:"true" enum:"confirmation,delivery-note,till-receipt"`
	Email    *string `json:"email" format:"email" maxLength:"254" doc:"default: customerEmail of the order"`
}

// SchemaName implements [jsontype.Named].
func (MailInput) SchemaName() string { return "OrderMailInput" }

// Mailed is a document that is on its way by e-mail.
type Mailed struct {
	Document string        `json:"document"`
	At       jsontype.Time `json:"at"`
}

// SchemaName implements [jsontype.Named].
func (Mailed) SchemaName() string { return "OrderMailed" }

// fieldMail is what the history calls a document that was sent.
const fieldMail = "mail"

type mailRequest struct {
	httpapi.ByID
	Body MailInput `body:"command"`
}

func (s *Service) prepareMail(ctx context.Context, in *mailRequest) (l document.Letter, err error) {
	o, err := table.Get(ctx, s.cfg.DB, in.Company, in.ID)
	if err != nil {
		return l, err
	}
	if l.To, err = document.Address(in.Body.Email, o.CustomerEmail, "the order has no customerEmail"); err != nil {
		return l, err
	}
	o.CustomerEmail = &l.To
	l.Notice, err = s.cfg.Letter(ctx, in.Caller, o, in.Body.Document)
	return l, err
}

func (s *Service) mail(ctx context.Context, tx *db.Tx, in *mailRequest, l document.Letter) (Mailed, error) {
	if err := l.Queue(ctx, tx, in.Caller); err != nil {
		return Mailed{}, err
	}
	tx.Queue(sqlInsertHistory, in.Company, in.ID, record.NewID(), []int32{0}, []string{fieldMail}, []string{"null"}, []string{text(in.Body.Document + ": " + l.To)}, in.ActorID(), tx.Now())
	return Mailed{Document: in.Body.Document, At: jsontype.At(tx.Now())}, nil
}

// ForgetMailed removes the addresses from the histories of orders that ids selects; the document stays.
func ForgetMailed(ids string) db.Write {
	return orderHistory.Update(`SET to_value = split_part(to_value, ': ', 1) || '"'
WHERE company_id = $1 AND field = '` + fieldMail + `' AND strpos(to_value, ': ') > 0 AND order_id IN (` + ids + `)`)
}

// Paid are the latest payments and refunds of an order, for its receipt.
func (s *Service) Paid(ctx context.Context, by access.Caller, order uuid.UUID) ([]Payment, error) {
	page, err := s.Payments(ctx, by, order, PaymentFilter{Params: list.Params{PageSize: 50}})
	if err != nil {
		return nil, err
	}
	paid := make([]Payment, len(page.Items))
	for i, p := range page.Items {
		paid[i] = p.Payment
	}
	return paid, nil
}
