package invoices

import (
	"strconv"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/document"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
)

// Invoice is an invoice of an order, or the credit note that cancels one; see docs/reference/rules.md#invoices. Seller, buyer, lines and
// amounts are those at the time it was issued, and never change. Money is in minor units of Currency.
type Invoice struct {
	ListItem
	Seller Seller `json:"seller" db:",insert"`
	Buyer  Buyer  `json:"buyer" db:",insert"`
	Lines  []Line `json:"lines" db:",insert"`
}

// ListItem is an invoice without its parties and lines.
type ListItem struct {
	record.Key
	Number      int64          `json:"number" db:",insert" doc:"sequential number per company, from 1, without gaps; invoices and credit notes share the numbers"`
	Kind        string         `json:"kind" db:",insert" enum:"invoice,credit_note"`
	Status      string         `json:"status" enum:"issued,cancelled"`
	OrderID     uuid.UUID      `json:"orderId" format:"uuid" db:",insert"`
	OrderNumber int64          `json:"orderNumber" db:",insert"`
	ClientID    *uuid.UUID     `json:"clientId" format:"uuid" nullable:"true" db:",insert" doc:"client of the order; after a merge, the one that it was merged into"`
	BuyerName   *string        `json:"buyerName" db:",insert" search:"text" doc:"null if the order names nobody"`
	IssuedAt    jsontype.Time  `json:"issuedAt" db:",insert"`
	DueDate     *jsontype.Date `json:"dueDate" db:",insert" nullable:"true" doc:"day on which it is due; null = none was agreed"`
	Currency    string         `json:"currency" db:",insert" doc:"of the company when it was issued, ISO 4217"`
	Note        *string        `json:"note" db:",insert" search:"text"`
	lineitem.Totals
	DeliveryCost money.Amount `json:"deliveryCost" db:",insert" doc:"without what returns have credited"`
	ReturnFees   money.Amount `json:"returnFees" db:",insert" doc:"fees that returns before the invoice have kept"`
	Payable      money.Amount `json:"payable" db:",insert" doc:"total + deliveryCost + returnFees; a credit note credits it"`

	InvoiceID        *uuid.UUID     `json:"invoiceId" format:"uuid" nullable:"true" db:",insert" doc:"invoice that the credit note cancels; null for an invoice"`
	InvoiceNumber    *int64         `json:"invoiceNumber" db:",insert"`
	CreditNoteID     *uuid.UUID     `json:"creditNoteId" format:"uuid" nullable:"true" doc:"credit note that cancels the invoice; null while it is valid"`
	CreditNoteNumber *int64         `json:"creditNoteNumber"`
	CancelledAt      *jsontype.Time `json:"cancelledAt" nullable:"true"`
	Reason           *string        `json:"reason" doc:"why the invoice was cancelled, also in its credit note"`
	CreatedByID      uuid.UUID      `json:"createdById" format:"uuid" db:",insert"`
	CreatedByName    *string        `json:"createdByName" db:"-" doc:"null for a token, or if the user was removed"`
	record.Meta

	Digits string `json:"-" db:"-" search:"text"` // the number, for searches
}

// Seller is the company as its letterhead had it.
type Seller struct {
	Name    string  `json:"name"`
	Address *string `json:"address"`
	Contact *string `json:"contact"`
	TaxID   *string `json:"taxId"`
	Bank    *string `json:"bank"`
	Footer  *string `json:"footer"`
}

// Buyer is whom the invoice is for.
type Buyer struct {
	Name    *string `json:"name" doc:"legal name of a company, otherwise the display name of the client; without a client, customerName of the order"`
	Address *string `json:"address" doc:"legalAddress of the client"`
	INN     *string `json:"inn" doc:"tax number"`
	KPP     *string `json:"kpp"`
	Email   *string `json:"email"`
}

// Line is one line of an invoice: what was left of the order line with the same id.
type Line struct{ lineitem.Line }

// Input is the body of a new invoice.
type Input struct {
	IssuedAt *jsontype.Time `json:"issuedAt" doc:"when it was issued, if that is told later; default: now"`
	DueDate  *jsontype.Date `json:"dueDate" nullable:"true" doc:"default: the day of issuedAt plus the payment terms of the client, otherwise payDueAt of the order"`
	Note     *string        `json:"note" maxLength:"4000" doc:"printed on the invoice"`
}

// CancelInput is the body of a cancellation.
type CancelInput struct {
	Reason string `json:"reason" required:"true" minLength:"1" maxLength:"1000"`
}

// Filter filters and sorts invoices.
type Filter struct {
	list.Params
	Sort       string     `query:"sort" enum:"issuedAt,number"`
	Number     *int64     `query:"number" minimum:"1" where:"number = ?"`
	Kind       string     `query:"kind" enum:"invoice,credit_note" where:"kind = ?"`
	Status     string     `query:"status" enum:"issued,cancelled" where:"status = ?" doc:"credit notes are issued"`
	OrderID    *uuid.UUID `query:"orderId" format:"uuid" where:"order_id = ?"`
	ClientID   *uuid.UUID `query:"clientId" format:"uuid" where:"client_id = ?"`
	IssuedFrom *list.From `query:"issuedFrom" where:"issued_at >= ?" doc:"issued at or after"`
	IssuedTo   *list.To   `query:"issuedTo" where:"issued_at <= ?" doc:"issued at or before"`
}

const (
	entity  = "INVOICE"
	counter = "invoice" // of the numbers
)

// Kinds of documents.
const (
	kindInvoice    = "invoice"
	kindCreditNote = "credit_note"
)

// Statuses of an invoice; see docs/reference/states.md#invoice.
const (
	statusIssued    = "issued"
	statusCancelled = "cancelled"
)

var (
	table = resource.Of[Invoice]("invoices", entity)
	items = list.Of[ListItem, Filter]("invoices", list.Spec{Default: "issuedAt", Permanent: true})

	errOrderCancelled = apierr.StateConflict("ORDER_CANCELLED", "the order is cancelled; an invoice needs an order that charges something")
	errNothing        = apierr.StateConflict("INVOICE_NOTHING_TO_CHARGE", "nothing is left of the lines of the order; an invoice needs at least one")
	errNoInvoice      = apierr.StateConflict("INVOICE_IS_CREDIT_NOTE", "this is a credit note, which cannot be cancelled; issue another invoice of the order")
)

// OfClient gives the invoices of a client to the one that it is merged into. What they say of the buyer stays.
func OfClient() document.Follow { return document.FollowIn("invoices", "client_id") }

// Derive implements [record.Deriver].
func (i *Invoice) Derive() { i.Digits = strconv.FormatInt(i.Number, 10) }

// charge sets lines and amounts to what the order charges.
func (i *Invoice) charge(c document.Charge) {
	i.Lines = make([]Line, len(c.Lines))
	i.Totals = lineitem.Totals{Taxation: c.Taxation}
	for n, l := range c.Lines {
		i.Lines[n] = Line{l}
		i.Subtotal, i.DiscountAmount, i.Total = i.Subtotal+l.Amount, i.DiscountAmount+l.DiscountAmount, i.Total+l.Total
	}
	i.Totals = lineitem.WithTaxes(i.Totals, i.Lines)
	i.DeliveryCost, i.ReturnFees, i.Payable = c.DeliveryCost, c.ReturnFees, c.Payable
}

// Reverses reports whether the document takes back another one; see docs/reference/jobs.md#signs-of-amounts.
func (i *ListItem) Reverses() bool { return i.Kind == kindCreditNote }

// check returns a 409 if the document cannot be cancelled.
func (i *Invoice) check() error {
	switch {
	case i.Kind == kindCreditNote:
		return errNoInvoice
	case i.Status == statusCancelled:
		return apierr.StateConflict("INVOICE_ALREADY_CANCELLED", "the invoice was cancelled before, by the credit note in meta").
			With("creditNoteId", i.CreditNoteID).With("creditNoteNumber", i.CreditNoteNumber)
	}
	return nil
}

// credit makes the credit note that cancels an invoice, without its number.
func (i *Invoice) credit(id uuid.UUID, at jsontype.Time, by uuid.UUID, reason string) Invoice {
	n := *i
	n.ID, n.Kind, n.IssuedAt, n.DueDate, n.Note, n.Reason, n.CreatedByID = id, kindCreditNote, at, nil, nil, &reason, by
	n.InvoiceID, n.InvoiceNumber = &i.ID, &i.Number
	n.Meta, n.CreatedByName = record.Meta{}, nil
	return n
}

// SchemaName implements [jsontype.Named].
func (Line) SchemaName() string { return "InvoiceLine" }

// SchemaName implements [jsontype.Named].
func (ListItem) SchemaName() string { return "InvoiceListItem" }

// SchemaName implements [jsontype.Named].
func (Input) SchemaName() string { return "InvoiceInput" }

// SchemaName implements [jsontype.Named].
func (CancelInput) SchemaName() string { return "InvoiceCancelInput" }

// SchemaName implements [jsontype.Named].
func (Seller) SchemaName() string { return "InvoiceSeller" }

// SchemaName implements [jsontype.Named].
func (Buyer) SchemaName() string { return "InvoiceBuyer" }
