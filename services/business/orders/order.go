package orders

import (
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/fileuse"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
)

// Order is an order with its lines. Money is in minor units. See docs/reference/rules.md#orders.
type Order struct {
	Header
	fileuse.Attached
	Lines []Line `json:"lines" db:"-"`

	LinesCount int32  `json:"-"`
	Words      string `json:"-" db:"-" search:"text"` // number and names of lines, for searches
}

// Header is an order without its lines.
type Header struct {
	record.Key
	Number        int64  `json:"number" db:",insert" doc:"sequential number per company, from 1, without gaps"`
	Status        string `json:"status" enum:"new,confirmed,in_progress,ready,completed,cancelled"`
	PaymentStatus string `json:"paymentStatus" enum:"unpaid,partial,paid,refunded"`
	Details
	DealID         *uuid.UUID `json:"dealId" format:"uuid" db:",insert"`
	WarehouseID    *uuid.UUID `json:"warehouseId" format:"uuid" doc:"warehouse in which items are reserved; null on some old orders until their items or status change"`
	AddressLabel   *string    `json:"addressLabel"`
	DeliveryStatus *string    `json:"deliveryStatus" doc:"pending, packing, shipped, delivered, returned; null = no delivery"`
	lineitem.Totals
	lineitem.CostSums
	ReturnedAmount     money.Amount   `json:"returnedAmount" doc:"what the order costs less by its returns"`
	ReturnedTax        money.Amount   `json:"returnedTaxAmount" db:"returned_tax" doc:"tax of the lines of its returns"`
	ReturnedDelivery   money.Amount   `json:"-"` // what its returns credit of the cost of delivery
	Payable            money.Amount   `json:"payable" db:"-" doc:"total + deliveryCost - returnedAmount"`
	AmountDue          money.Amount   `json:"amountDue" db:"-,as=amountDue" doc:"payable - prepaidAmount; below 0 if a return has not been refunded"`
	CreatedByID        *uuid.UUID     `json:"createdById" format:"uuid" db:",insert"`
	AllowedTransitions []string       `json:"allowedTransitions" db:"-" doc:"statuses that the order can change to"`
	CompletedAt        *jsontype.Time `json:"completedAt"`
	CancelledAt        *jsontype.Time `json:"cancelledAt"`
	CancelReason       *string        `json:"cancelReason" doc:"that the cancellation gave"`
	WasPaid            bool           `json:"-"` // the payments contain a positive one
	IsOut              bool           `json:"-"` // shipments of it are out: they have neither been cancelled nor returned
	record.Meta
}

// Details are the fields that API clients can set at any time.
type Details struct {
	CustomerID    *uuid.UUID `json:"customerId" format:"uuid"`
	AssetID       *uuid.UUID `json:"assetId" format:"uuid"`
	AddressID     *uuid.UUID `json:"addressId" format:"uuid"`
	CustomerName  *string    `json:"customerName" maxLength:"255" search:"text" doc:"default: from the client"`
	CustomerPhone *string    `json:"customerPhone" maxLength:"32" search:"phone" doc:"default: from the client"`
	CustomerEmail *string    `json:"customerEmail" format:"email" maxLength:"254" search:"text" doc:"default: from the client"`
	CustomerNote  *string    `json:"customerNote" maxLength:"4000"`
	Channel       *string    `json:"channel" maxLength:"64" doc:"code of a channel: manual, public_link, phone, or one of the company; default manual"`
	record.External
	lineitem.Discounts
	DeliveryMethod      *string        `json:"deliveryMethod" maxLength:"64" doc:"code of a method of delivery: pickup, courier, post, or one of the company"`
	DeliveryCost        money.Amount   `json:"deliveryCost" minimum:"0"`
	DeliveryAddressText *string        `json:"deliveryAddressText" maxLength:"1000"`
	DueAt               *jsontype.Time `json:"dueAt"`
	ReadyBy             *jsontype.Time `json:"readyBy"`
	PayDueAt            *jsontype.Time `json:"payDueAt" doc:"default: createdAt plus the payment terms of the client"`
	Note                *string        `json:"note" maxLength:"4000"`
	PrepaidAmount       money.Amount   `json:"prepaidAmount" minimum:"0" doc:"sum of the payments; changing it records the difference as a payment"`
	AssignedToID        *uuid.UUID     `json:"assignedToId" format:"uuid"`
}

// Input is the body of a new order.
type Input struct {
	Items []LineInput `json:"items" required:"true" minItems:"1" maxItems:"500"`
	lineitem.Pricing
	Details
	fileuse.Attached
	DealID        *uuid.UUID `json:"dealId" format:"uuid"`
	WarehouseID   *uuid.UUID `json:"warehouseId" format:"uuid" doc:"default: the default warehouse"`
	MatchCustomer bool       `json:"matchCustomer" doc:"without customerId, the document belongs to the active client with customerPhone, otherwise with customerEmail, if there is one"`
}

// Fields are the fields of an order that API clients can change.
type Fields struct {
	Items []LineInput `json:"items" minItems:"1" maxItems:"500" doc:"replaces all items; only while the order is new or confirmed"`
	lineitem.Pricing
	Details
	fileuse.Attached
	WarehouseID   *uuid.UUID `json:"warehouseId" format:"uuid" doc:"moves the reservations of the order; null = they stay where they are"`
	MatchCustomer bool       `json:"matchCustomer" doc:"without customerId, the document belongs to the active client with customerPhone, otherwise with customerEmail, if there is one"`
}

// LineInput is one line in a request.
type LineInput struct {
	lineitem.Input
	LineFields
}

// LineFields are the fields of a line that clients set and that only lines of orders have.
type LineFields struct {
	Note *string `json:"note" maxLength:"4000"`
}

// Line is one line of an order. See docs/reference/rules.md#order-lines.
type Line struct {
	lineitem.Line
	lineitem.Costing
	ReservedQty    money.Qty    `json:"reservedQty"`
	ShippedQty     money.Qty    `json:"shippedQty"`
	ReturnedQty    money.Qty    `json:"returnedQty" doc:"that returns have taken back"`
	ReturnedAmount money.Amount `json:"returnedAmount" doc:"what returns credit for it"`
	ReturnedTax    money.Amount `json:"returnedTaxAmount" db:"returned_tax" doc:"tax in returnedAmount"`
	ReturnedShare  money.Amount `json:"-"` // of its total, that returns have
	LineFields
}

var (
	plan       = record.PlanOf[Order]()
	orderLines = resource.LinesOf[Line]("order_lines", "order_id")
	table      = resource.Of[Order]("orders", "ORDER", orderLines).TakenAs("orderId").OnChange(insertHistory).OnWrite(countSummed)
)

// TransformSchema implements [huma.SchemaTransformer]. Requests accept only bounded amounts, but responses and events do not guarantee these
// limits, so that they can change compatibly.
func (h Header) TransformSchema(reg huma.Registry, s *huma.Schema) *huma.Schema {
	for _, name := range []string{"deliveryCost", "prepaidAmount", "fixedDiscount"} {
		s.Properties[name].Minimum = s.Properties["total"].Minimum
	}
	return h.Key.TransformSchema(reg, s)
}

// isFinal reports whether the order is completed or cancelled.
func (h *Header) isFinal() bool { return h.Status == statusCompleted || h.Status == statusCancelled }

// Derive implements [record.Deriver] for items of lists.
func (h *Header) Derive() {
	h.AllowedTransitions = h.allowed()
	h.Payable = h.Total + h.DeliveryCost - h.ReturnedAmount
	h.AmountDue = h.Payable - h.PrepaidAmount
}

// Derive implements [record.Deriver].
func (o *Order) Derive() {
	o.IsOut = record.OrZero(o.DeliveryStatus) != deliveryReturned && slices.ContainsFunc(o.Lines, func(l Line) bool { return l.ShippedQty > l.ReturnedQty })
	o.Header.Derive()
	o.sumCosts()
	words := []string{strconv.FormatInt(o.Number, 10)}
	for i := range o.Lines {
		words = append(words, o.Lines[i].Name)
	}
	o.LinesCount, o.Words = int32(len(o.Lines)), strings.Join(words, "\n")
}
