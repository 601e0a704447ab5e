package orders

import (
	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// Kinds of entries of the ledger of an order.
const (
	kindPayment = "payment"
	kindRefund  = "refund"
)

// methodUnspecified is the method of payments and refunds that are recorded by setting prepaidAmount, which names none.
const methodUnspecified = "unspecified"

// Payment is an entry of the ledger of an order: money that came in, or went back. prepaidAmount of the order is the sum of its
// payments minus its refunds. Entries are not changed. See docs/reference/rules.md#order-payments.
type Payment struct {
	record.Key
	OrderID        uuid.UUID    `json:"orderId" format:"uuid" db:",insert"`
	Kind           string       `json:"kind" enum:"payment,refund" db:"-"`
	Amount         money.Amount `json:"amount" db:"-" doc:"above 0, also of a refund"`
	RefundedAmount money.Amount `json:"refundedAmount" doc:"sum of the refunds of this payment"`
	RefundOfID     *uuid.UUID   `json:"refundOfId" format:"uuid" db:",insert" doc:"payment that a refund returns; null for payments, and for refunds by a change of prepaidAmount"`
	ReturnID       *uuid.UUID   `json:"returnId" format:"uuid" db:",insert" doc:"return of the order whose request has recorded the refund"`
	Method         string       `json:"method" enum:"cash,card,sbp,transfer,other,unspecified" doc:"unspecified if it was recorded by setting prepaidAmount"`
	PaymentDetails
	PaidAt      jsontype.Time `json:"paidAt" doc:"time at which the money came or went"`
	Reason      *string       `json:"reason" search:"text" doc:"of a refund"`
	CreatedByID *uuid.UUID    `json:"createdById" format:"uuid" db:",insert"`
	Delta       money.Amount  `json:"-" db:",insert"` // amount; negative for a refund
	record.Meta
}

// Reverses reports whether the entry is a refund: its amounts are negative in files.
func (p *Payment) Reverses() bool { return p.Kind == kindRefund }

// PaymentDetails are what API clients can say of a payment or refund.
type PaymentDetails struct {
	MethodExt *string `json:"methodExt" maxLength:"64" doc:"the client's own name of the method; method is then the nearest one"`
	record.External
	Reference *string `json:"reference" maxLength:"255" search:"text" doc:"such as the number of a bank transfer or of a receipt"`
	Note      *string `json:"note" maxLength:"4000" search:"text"`
}

// PaymentInput is the body of a new payment.
type PaymentInput struct {
	Amount money.Amount   `json:"amount" required:"true" exclusiveMinimum:"0"`
	Method string         `json:"method" required:"true" enum:"cash,card,sbp,transfer,other"`
	PaidAt *jsontype.Time `json:"paidAt" doc:"when the money came, if that is told later; default: now"`
	PaymentDetails
}

// RefundInput is the body of a new refund.
type RefundInput struct {
	Amount *money.Amount  `json:"amount" exclusiveMinimum:"0" doc:"default: what is left of the payment"`
	Reason *string        `json:"reason" maxLength:"1000"`
	Method *string        `json:"method" enum:"cash,card,sbp,transfer,other" doc:"default: that of the payment, with its methodExt"`
	PaidAt *jsontype.Time `json:"paidAt" doc:"when the money went back, if that is told later; default: now"`
	PaymentDetails
}

var (
	paymentPlan = record.PlanOf[Payment]()
	payments    = resource.Of[Payment]("order_payments", "PAYMENT").TakenAs("paymentId").OnWrite(countPayment)
)

// Derive implements [record.Deriver].
func (p *Payment) Derive() {
	p.Kind, p.Amount = kindPayment, p.Delta
	if p.Delta < 0 {
		p.Kind, p.Amount = kindRefund, -p.Delta
	}
}

// TransformSchema implements [huma.SchemaTransformer].
func (p Payment) TransformSchema(reg huma.Registry, s *huma.Schema) *huma.Schema {
	return p.Key.TransformSchema(reg, s)
}
