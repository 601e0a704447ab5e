package orders

import (
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
)

// Order is an order with its lines. Money is in minor units. See docs/reference/rules.md#orders.
type Order struct {
	Header
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
	AmountDue          money.Amount   `json:"amountDue" db:"-,as=amountDue" doc:"total + deliveryCost - prepaidAmount"`
	CreatedByID        *uuid.UUID     `json:"createdById" format:"uuid" db:",insert"`
	AllowedTransitions []string       `json:"allowedTransitions" db:"-" doc:"statuses that the order can change to"`
	CompletedAt        *jsontype.Time `json:"completedAt"`
	CancelledAt        *jsontype.Time `json:"cancelledAt"`
	WasPaid            bool           `json:"-"` // the payments contain a positive one
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
	Channel       *string    `json:"channel" enum:"manual,public_link,phone" doc:"default manual"`
	record.External
	DeliveryMethod      *string        `json:"deliveryMethod" enum:"pickup,courier,post" doc:"pickup, courier or post"`
	DeliveryCost        money.Amount   `json:"deliveryCost" minimum:"0"`
	DeliveryAddressText *string        `json:"deliveryAddressText" maxLength:"1000"`
	DueAt               *jsontype.Time `json:"dueAt"`
	ReadyBy             *jsontype.Time `json:"readyBy"`
	PayDueAt            *jsontype.Time `json:"payDueAt" doc:"default: createdAt plus the payment terms of the client"`
	Note                *string        `json:"note" maxLength:"4000"`
	DiscountPercent     money.Percent  `json:"discountPercent" db:"discount_percent_bp"`
	PrepaidAmount       money.Amount   `json:"prepaidAmount" minimum:"0" doc:"sum of the payments; changing it records the difference as a payment"`
	AssignedToID        *uuid.UUID     `json:"assignedToId" format:"uuid"`
}

// Input is the body of a new order.
type Input struct {
	Items []LineInput `json:"items" required:"true" minItems:"1" maxItems:"500"`
	Details
	DealID      *uuid.UUID `json:"dealId" format:"uuid"`
	WarehouseID *uuid.UUID `json:"warehouseId" format:"uuid" doc:"default: the default warehouse"`
}

// Fields are the fields of an order that API clients can change.
type Fields struct {
	Items []LineInput `json:"items" minItems:"1" maxItems:"500" doc:"replaces all items; only while the order is new or confirmed"`
	Details
	WarehouseID *uuid.UUID `json:"warehouseId" format:"uuid" doc:"moves the reservations of the order; null = they stay where they are"`
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
	ReservedQty money.Qty `json:"reservedQty"`
	ShippedQty  money.Qty `json:"shippedQty"`
	LineFields
}

var (
	plan       = record.PlanOf[Order]()
	orderLines = resource.LinesOf[Line]("order_lines", "order_id")
	table      = resource.Of[Order]("orders", "ORDER", orderLines).OnConstraint("orders_external_id_key", errExternalTaken).OnChange(insertHistory).OnWrite(countSummed)
)

// TransformSchema implements [huma.SchemaTransformer]. Requests accept only fixed channels and delivery methods and
// bounded amounts, but responses and events do not guarantee these limits, so that they can change compatibly.
func (h Header) TransformSchema(reg huma.Registry, s *huma.Schema) *huma.Schema {
	for _, name := range []string{"channel", "deliveryMethod"} {
		s.Properties[name].Enum = nil
	}
	for _, name := range []string{"deliveryCost", "prepaidAmount"} {
		s.Properties[name].Minimum = s.Properties["total"].Minimum
	}
	return h.Key.TransformSchema(reg, s)
}

// isFinal reports whether the order is completed or cancelled.
func (h *Header) isFinal() bool { return h.Status == statusCompleted || h.Status == statusCancelled }

// Derive implements [record.Deriver] for items of lists.
func (h *Header) Derive() {
	h.AllowedTransitions = transitions[h.Status]
	h.AmountDue = h.Total + h.DeliveryCost - h.PrepaidAmount
}

// Derive implements [record.Deriver].
func (o *Order) Derive() {
	o.Header.Derive()
	words := []string{strconv.FormatInt(o.Number, 10)}
	for i := range o.Lines {
		words = append(words, o.Lines[i].Name)
	}
	o.LinesCount, o.Words = int32(len(o.Lines)), strings.Join(words, "\n")
}
