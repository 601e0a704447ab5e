package sales

import (
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

const (
	saleLinesTable    = db.Table("sale_lines")
	salePaymentsTable = db.Table("sale_payments")
	sales             = db.Table("sales")
)

// Kinds of documents.
const (
	kindSale   = trade.MovementSale // the movements of stock are named as the kinds
	kindRefund = trade.MovementRefund
)

// Methods of payment.
const (
	methodCash  = "cash"
	methodCard  = "card"
	methodSBP   = "sbp"
	methodMixed = "mixed"
)

// defaultChannel is the channel of a sale whose request names none.
const defaultChannel = "pos"

// Sale is the receipt of a sale, or of the refund of one, with its lines and payments. Money is in minor units. See
// docs/reference/rules.md#sales.
type Sale struct {
	Header
	Lines    []Line    `json:"lines" db:"-"`
	Payments []Payment `json:"payments" db:"-"`

	LinesCount int32  `json:"-"`
	Words      string `json:"-" db:"-" search:"text"` // number, for searches
}

// Header is a sale without its lines and payments.
type Header struct {
	record.Key
	ShiftID uuid.UUID     `json:"shiftId" format:"uuid"`
	Number  int64         `json:"number" doc:"sequential number per company, shared by sales and refunds, from 1, without gaps"`
	Kind    string        `json:"kind" enum:"sale,refund"`
	SoldAt  jsontype.Time `json:"soldAt" doc:"when it happened; createdAt, unless the request says otherwise"`
	Late    bool          `json:"late" doc:"sent after its shift was closed, whose totals it has changed"`
	lineitem.Totals
	lineitem.CostSums
	Fields
	RedeemedPoints   int64         `json:"redeemedPoints" doc:"loyalty points used as a discount, after discountAmount; 1 point = 1 minor unit"`
	EarnedPoints     int64         `json:"earnedPoints" doc:"loyalty points that the customer earned"`
	ChangeAmount     *money.Amount `json:"changeAmount" doc:"receivedAmount minus what was paid in cash"`
	CashierID        uuid.UUID     `json:"cashierId" format:"uuid" doc:"who sold or refunded"`
	CashierName      *string       `json:"cashierName" db:"-" doc:"null for the user of a token"`
	CreatedByID      uuid.UUID     `json:"createdById" format:"uuid" doc:"user of the token that sent the request"`
	RefundOfSaleID   *uuid.UUID    `json:"refundOfSaleId" format:"uuid" doc:"only on a refund"`
	Reason           *string       `json:"reason" search:"text" doc:"why it was refunded; only on a refund"`
	RefundStatus     string        `json:"refundStatus" db:"-" enum:"none,partial,full" doc:"none on a refund"`
	RefundedTotal    money.Amount  `json:"refundedTotal" doc:"what the refunds of the sale add up to"`
	RefundedBySaleID *uuid.UUID    `json:"refundedBySaleId" db:"-" format:"uuid" doc:"only on a sale that was refunded in full: its last refund"`
	WarehouseID      *uuid.UUID    `json:"warehouseId" format:"uuid" doc:"where the stock was taken from; null if none was"`

	LastRefundID   *uuid.UUID `json:"-" db:"refunded_by_sale_id"` // also of a sale that was refunded in part
	PartlyRefunded bool       `json:"-"`
	record.Meta
}

// States of a sale's refunds; see docs/reference/rules.md#refunds.
const (
	refundNone    = "none"
	refundPartial = "partial"
	refundFull    = "full"
)

// Reverses reports whether the document is a refund: its amounts are negative in files.
func (h *Header) Reverses() bool { return h.Kind == kindRefund }

// Fields are the fields that API clients set.
type Fields struct {
	lineitem.Discounts
	PaymentMethod    string        `json:"paymentMethod" required:"true" enum:"cash,card,sbp,mixed"`
	PaymentMethodExt *string       `json:"paymentMethodExt" maxLength:"64" doc:"the client's own name of the method; paymentMethod is then the nearest one"`
	ReceivedAmount   *money.Amount `json:"receivedAmount" minimum:"0" doc:"cash received; ignored if nothing is paid in cash"`
	CustomerID       *uuid.UUID    `json:"customerId" format:"uuid"`
	CustomerName     *string       `json:"customerName" maxLength:"255" search:"text" doc:"default: from the client"`
	CustomerPhone    *string       `json:"customerPhone" maxLength:"32" search:"phone" doc:"default: from the client"`
	Channel          *string       `json:"channel" maxLength:"64" doc:"such as pos, qr_menu or storefront; default pos"`
	record.External
}

// Input is the body of a new sale.
type Input struct {
	ShiftID uuid.UUID   `json:"shiftId" required:"true" format:"uuid"`
	Items   []LineInput `json:"items" required:"true" minItems:"1" maxItems:"500"`
	Fields
	CashierID     *uuid.UUID     `json:"cashierId" format:"uuid" doc:"active user who sold; default: the user of the token"`
	MatchCustomer bool           `json:"matchCustomer" doc:"without customerId, the sale belongs to the active client with customerPhone, if there is one"`
	RedeemPoints  int64          `json:"redeemPoints" minimum:"0" maximum:"9007199254740991" doc:"loyalty points of the customer to use as a discount; 1 point = 1 minor unit"`
	SoldAt        *jsontype.Time `json:"soldAt" doc:"when it happened, if that is told later, also of a shift that was closed since; default: now"`
	Payments      []PaymentInput `json:"payments" maxItems:"50" doc:"required for mixed; their sum is the total. Without them a sale is paid by one payment"`
}

// ChangeFields are the fields of a sale or refund that API clients can change: what was sold and paid stays as it was.
type ChangeFields struct{ record.External }

// LineInput is one line in a request.
type LineInput struct{ lineitem.Input }

// Line is one line of a sale or refund.
type Line struct {
	lineitem.Line
	lineitem.Costing
	RefundedQty    money.Qty  `json:"refundedQty" doc:"part of qty that was refunded"`
	RefundOfLineID *uuid.UUID `json:"refundOfLineId" format:"uuid" doc:"line of the sale; only on a refund"`
}

// PaymentInput is one payment in a request.
type PaymentInput struct {
	PaymentMethod    *string      `json:"paymentMethod,omitempty" enum:"cash,card,sbp" doc:"required"`
	Method           *string      `json:"method,omitempty" enum:"cash,card,sbp" doc:"another name of paymentMethod"`
	PaymentMethodExt *string      `json:"paymentMethodExt,omitempty" nullable:"true" maxLength:"64"`
	Amount           money.Amount `json:"amount" required:"true" exclusiveMinimum:"0"`
}

// Payment is one payment of a sale.
type Payment struct {
	ID        uuid.UUID     `json:"id" format:"uuid"`
	Method    string        `json:"paymentMethod" enum:"cash,card,sbp"`
	MethodExt *string       `json:"paymentMethodExt"`
	Amount    money.Amount  `json:"amount"`
	Refunded  money.Amount  `json:"refundedAmount" doc:"part of amount that was paid back"`
	CreatedAt jsontype.Time `json:"createdAt"`
	SortOrder int32         `json:"-"`
}

var (
	saleLines    = resource.LinesOf[Line](saleLinesTable, "sale_id")
	salePayments = resource.LinesOf[Payment](salePaymentsTable, "sale_id")
	table        = resource.Of[Sale](sales, "SALE", saleLines, salePayments).OnWrite(countSummed)
)

// plan is the plan of a sale's fields.
var plan = record.PlanOf[Sale]()

// Derive implements [record.Deriver].
func (h *Header) Derive() {
	h.RefundStatus, h.RefundedBySaleID = refundNone, nil
	switch {
	case h.PartlyRefunded:
		h.RefundStatus = refundPartial
	case h.LastRefundID != nil:
		h.RefundStatus, h.RefundedBySaleID = refundFull, h.LastRefundID
	}
}

// Derive implements [record.Deriver].
func (s *Sale) Derive() {
	s.Header.Derive()
	s.deriveLines(s.Lines)
	s.derivePayments(s.Payments)
	s.sumCosts()
	s.LinesCount, s.Words = int32(len(s.Lines)), strconv.FormatInt(s.Number, 10)
	for i := range s.Payments {
		s.Payments[i].SortOrder = int32(i)
	}
}

// deriveLines sets what was refunded of the lines of a sale that was refunded in full.
func (h *Header) deriveLines(tiers []Line) {
	for i := range tiers {
		if h.RefundStatus == refundFull {
			tiers[i].RefundedQty = tiers[i].Qty
		}
	}
}

// derivePayments sets what was paid back of the payments of a sale that was refunded in full.
func (h *Header) derivePayments(payments []Payment) {
	for i := range payments {
		if h.RefundStatus == refundFull {
			payments[i].Refunded = payments[i].Amount
		}
	}
}

// TransformSchema implements [huma.SchemaTransformer]. Bounds of requests do not hold for responses, so that they can change
// compatibly.
func (h Header) TransformSchema(reg huma.Registry, s *huma.Schema) *huma.Schema {
	for _, name := range []string{"receivedAmount", "fixedDiscount"} {
		s.Properties[name].Minimum = s.Properties["total"].Minimum
	}
	return h.Key.TransformSchema(reg, s)
}

// stock returns what the sale changes in stock: it takes the items of its lines, and a refund brings them back.
func (s *Sale) stock() []trade.StockDelta {
	if s.WarehouseID == nil {
		return nil
	}
	sign := money.Qty(-1)
	if s.Kind == kindRefund {
		sign = 1
	}
	var all []trade.StockDelta
	for i := range s.Lines {
		for _, item := range s.Lines[i].Stock {
			all = append(all, trade.StockDelta{
				Warehouse: *s.WarehouseID, StockKey: trade.StockKey{Product: item.Product, Variant: item.Variant}, Qty: sign * item.Qty,
			})
		}
	}
	return all
}

// takesStock reports whether a line takes something from stock.
func (s *Sale) takesStock() bool {
	for i := range s.Lines {
		if len(s.Lines[i].Stock) > 0 {
			return true
		}
	}
	return false
}
