// Package invoices issues the invoices of orders, and the credit notes that cancel them. An invoice keeps what it says: seller, buyer,
// lines and amounts are stored with it, and later changes of the order, the client or the company do not reach it. Orders, clients
// and the company belong to other domains, which it uses through the interfaces below.
package invoices

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/numbering"
	"github.com/tradegrid/tradegrid/pkg/store/ownermail"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
	"github.com/tradegrid/tradegrid/services/business/document"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Orders says what orders charge.
type Orders interface {
	// Charge returns what an order charges, and locks it until the transaction ends: 404 ORDER_NOT_FOUND, 412 for the version in by.
	Charge(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (document.Charge, error)
}

// Clients reads the buyers.
type Clients interface {
	// Buyer reads a client; found is false if there is none with the id.
	Buyer(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID) (b document.Buyer, found bool, err error)
}

// Config holds the dependencies of the service.
type Config struct {
	DB      *db.DB
	Orders  Orders
	Clients Clients
	Users   reference.Names

	// Seller reads the letterhead of a company and its currency.
	Seller func(ctx context.Context, q db.Querier, company tenant.ID) (s Seller, currency string, err error)
	// Letter writes the mail that has an invoice; nil = there are no mails.
	Letter func(ctx context.Context, by access.Caller, i Invoice) (ownermail.Notice, error)
}

// Service manages the invoices of all companies.
type Service struct{ cfg Config }

// New returns a service.
func New(cfg Config) *Service { return &Service{cfg} }

// maxTermsDays is how long after its issue an invoice can be due, as payment terms of clients can be.
const maxTermsDays = 3650

// List returns a page of invoices and credit notes.
func (s *Service) List(ctx context.Context, by access.Caller, f Filter) (*list.Page[ListItem], error) {
	page, err := items.Page(ctx, s.cfg.DB, by.Company, f)
	if err != nil {
		return nil, err
	}
	at := func(i int) (*uuid.UUID, **string) { return &page.Items[i].CreatedByID, &page.Items[i].CreatedByName }
	return page, s.cfg.Users.Fill(by.Company, len(page.Items), at)(ctx, s.cfg.DB)
}

// Get reads one invoice or credit note.
func (s *Service) Get(ctx context.Context, by access.Caller, id uuid.UUID) (Invoice, error) {
	i, err := table.Get(ctx, s.cfg.DB, by.Company, id)
	if err != nil {
		return Invoice{}, err
	}
	return i, s.nameCreator(ctx, s.cfg.DB, &i)
}

func (s *Service) nameCreator(ctx context.Context, q db.Querier, i *Invoice) error {
	return s.cfg.Users.Fill(i.CompanyID, 1, func(int) (*uuid.UUID, **string) { return &i.CreatedByID, &i.CreatedByName })(ctx, q)
}

// Issue issues an invoice of an order with the next number.
//
// Errors: 400 for issuedAt and dueDate, 404 ORDER_NOT_FOUND, 412, 409 ORDER_CANCELLED, 409 INVOICE_NOTHING_TO_CHARGE, 409 INVOICE_EXISTS.
func (s *Service) Issue(ctx context.Context, tx *db.Tx, by access.Caller, order uuid.UUID, in Input) (Invoice, error) {
	// Invoices of one company wait for each other here rather than for the row of the counter, where each would hold a connection.
	if err := tx.LockInProcess(ctx, "invoices", by.Company); err != nil {
		return Invoice{}, err
	}
	issuedAt, err := trade.Happened(by, "issuedAt", in.IssuedAt, tx.Now())
	if err != nil {
		return Invoice{}, err
	}
	if issuedAt == nil {
		issuedAt = new(jsontype.At(tx.Now()))
	}
	c, err := s.cfg.Orders.Charge(ctx, tx, by, order)
	if err != nil {
		return Invoice{}, err
	}
	if err := s.checkCharge(ctx, tx, by.Company, c); err != nil {
		return Invoice{}, err
	}
	i := Invoice{ListItem: ListItem{
		Key: record.Key{ID: tx.NewID(), CompanyID: by.Company}, Kind: kindInvoice, Status: statusIssued, OrderID: c.OrderID, OrderNumber: c.Number,
		ClientID: c.ClientID, IssuedAt: *issuedAt, DueDate: in.DueDate, Note: in.Note, CreatedByID: by.Actor,
	}}
	i.charge(c)
	if err := s.describe(ctx, tx, by, &i, c); err != nil {
		return Invoice{}, err
	}
	record.PlanOf[Invoice]().Normalise(&i)
	if i.Number, err = numbering.Take(ctx, tx, by.Company, counter, 1); err != nil {
		return Invoice{}, err
	}
	return table.Create(ctx, tx, by, i, issued)
}

const sqlSelectOpen = `SELECT id, number FROM invoices WHERE company_id = $1 AND order_id = $2 AND kind = 'invoice' AND status = 'issued'`

// checkCharge returns a 409 if the order cannot be invoiced. The order is locked, so that no other invoice of it can be issued meanwhile.
func (s *Service) checkCharge(ctx context.Context, tx *db.Tx, company tenant.ID, c document.Charge) error {
	if c.Cancelled {
		return errOrderCancelled
	}
	if len(c.Lines) == 0 {
		return errNothing
	}
	var id uuid.UUID
	var number int64
	err := tx.QueryRow(ctx, sqlSelectOpen, company, c.OrderID).Scan(&id, &number)
	if db.IsNoRows(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("select invoice of order: %w", err)
	}
	return apierr.StateConflict("INVOICE_EXISTS", "the order has the invoice %d; cancel that before issuing another", number).With("id", id).With("number", number)
}

// describe sets who sells, who buys, and when the invoice is due.
func (s *Service) describe(ctx context.Context, tx *db.Tx, by access.Caller, i *Invoice, c document.Charge) (err error) {
	if i.Seller, i.Currency, err = s.cfg.Seller(ctx, tx, by.Company); err != nil {
		return err
	}
	i.Buyer = Buyer{Name: c.CustomerName, Email: c.CustomerEmail}
	var terms *int32
	if c.ClientID != nil {
		b, found, err := s.cfg.Clients.Buyer(ctx, tx, by.Company, *c.ClientID)
		if err != nil {
			return err
		}
		if found {
			i.Buyer, terms = Buyer{Name: &b.Name, Address: b.Address, INN: b.INN, KPP: b.KPP, Email: b.Email}, b.PaymentTermsDays
		}
	}
	if i.Buyer.Email == nil {
		i.Buyer.Email = c.CustomerEmail
	}
	i.BuyerName = i.Buyer.Name
	if err := i.settleDue(by.Settings.Zone(), terms, c.PayDueAt); err != nil {
		return err
	}
	return s.nameCreator(ctx, tx, i)
}

// settleDue checks the day on which the invoice is due, or sets it: from the payment terms, or else from the order unless that is over.
func (i *Invoice) settleDue(zone *time.Location, terms *int32, ofOrder *jsontype.Time) error {
	year, month, day := i.IssuedAt.Std().In(zone).Date()
	first := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	switch {
	case i.DueDate != nil && time.Time(*i.DueDate).Before(first):
		return apierr.InvalidField("dueDate", apierr.Min, "must not be before %s, the day on which the invoice is issued", jsontype.Date(first))
	case i.DueDate != nil && time.Time(*i.DueDate).After(first.AddDate(0, 0, maxTermsDays)):
		return apierr.InvalidField("dueDate", apierr.Max, "must be at most %d days after the invoice is issued", maxTermsDays)
	case i.DueDate != nil:
		return nil
	case terms != nil:
		i.DueDate = new(jsontype.Date(first.AddDate(0, 0, int(*terms))))
	case ofOrder != nil:
		year, month, day = ofOrder.Std().In(zone).Date()
		if due := time.Date(year, month, day, 0, 0, 0, 0, time.UTC); !due.Before(first) {
			i.DueDate = new(jsontype.Date(due))
		}
	}
	return nil
}

// Cancel cancels an invoice by a credit note with the next number, and returns the invoice.
//
// Errors: 404, 412, 409 INVOICE_ALREADY_CANCELLED, 409 INVOICE_IS_CREDIT_NOTE.
func (s *Service) Cancel(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in CancelInput) (Invoice, error) {
	if err := tx.LockInProcess(ctx, "invoices", by.Company); err != nil {
		return Invoice{}, err
	}
	var note Invoice
	i, err := table.Change(ctx, tx, by, id, func(before Invoice, i *Invoice) (err error) {
		if err := before.check(); err != nil {
			return err
		}
		note = before.credit(tx.NewID(), jsontype.At(tx.Now()), by.Actor, in.Reason)
		if note.Number, err = numbering.Take(ctx, tx, by.Company, counter, 1); err != nil {
			return err
		}
		i.Status, i.CancelledAt, i.Reason = statusCancelled, &note.IssuedAt, note.Reason
		i.CreditNoteID, i.CreditNoteNumber = &note.ID, &note.Number
		return s.nameCreator(ctx, tx, i)
	}, cancelled)
	if err != nil {
		return Invoice{}, err
	}
	if err := s.nameCreator(ctx, tx, &note); err != nil {
		return Invoice{}, err
	}
	_, err = table.Create(ctx, tx, by.Unconditional(), note, issued)
	return i, err
}
