package orders

import (
	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/record"
	"github.com/tradegrid/tradegrid/pkg/wire"
)

// Order is an order with its lines. Money is in minor units. See docs/reference/rules.md#orders.
type Order struct {
	Header
	Lines []Line `json:"lines" db:"-"`
}

// Header is an order without its lines.
type Header struct {
	record.Key
	Number        int64  `json:"number" db:",insert" doc:"1, 2, 3 … per company, without gaps"`
	Status        string `json:"status" enum:"new,confirmed,in_progress,ready,completed,cancelled"`
	PaymentStatus string `json:"paymentStatus" enum:"unpaid,partial,paid,refunded"`
	Details
	DealID             *uuid.UUID   `json:"dealId" format:"uuid" db:",insert"`
	WarehouseID        *uuid.UUID   `json:"warehouseId" format:"uuid" doc:"where the order reserves; null on some old orders, until their items or status change"`
	AddressLabel       *string      `json:"addressLabel"`
	DeliveryStatus     *string      `json:"deliveryStatus" doc:"pending, packing, shipped, delivered, returned; null = no delivery"`
	Subtotal           money.Amount `json:"subtotal" doc:"before the discount"`
	DiscountAmount     money.Amount `json:"discountAmount"`
	Total              money.Amount `json:"total" doc:"after the discount, without deliveryCost"`
	AmountDue          money.Amount `json:"amountDue" db:"-" doc:"total + deliveryCost - prepaidAmount"`
	CreatedByID        *uuid.UUID   `json:"createdById" format:"uuid" db:",insert"`
	AllowedTransitions []string     `json:"allowedTransitions" db:"-" doc:"statuses that the order can move to"`
	CompletedAt        *wire.Time   `json:"completedAt"`
	CancelledAt        *wire.Time   `json:"cancelledAt"`
	WasPaid            bool         `json:"-"` // the payments contain a positive one
	record.Meta
}

// Details are what clients set of an order at any time, and read as they set it.
type Details struct {
	CustomerID          *uuid.UUID    `json:"customerId" format:"uuid"`
	AssetID             *uuid.UUID    `json:"assetId" format:"uuid"`
	AddressID           *uuid.UUID    `json:"addressId" format:"uuid"`
	CustomerName        *string       `json:"customerName" maxLength:"255" search:"text" doc:"default: that of the client"`
	CustomerPhone       *string       `json:"customerPhone" maxLength:"32" search:"phone" doc:"default: that of the client"`
	CustomerEmail       *string       `json:"customerEmail" format:"email" maxLength:"254" search:"text" doc:"default: that of the client"`
	CustomerNote        *string       `json:"customerNote" maxLength:"4000"`
	Channel             *string       `json:"channel" enum:"manual,public_link,phone" doc:"default manual"`
	Source              *string       `json:"source" maxLength:"255"`
	ExternalID          *string       `json:"externalId" minLength:"1" maxLength:"255" doc:"unique per company and source"`
	DeliveryMethod      *string       `json:"deliveryMethod" enum:"pickup,courier,post" doc:"pickup, courier or post"`
	DeliveryCost        money.Amount  `json:"deliveryCost" minimum:"0"`
	DeliveryAddressText *string       `json:"deliveryAddressText" maxLength:"1000"`
	DueAt               *wire.Time    `json:"dueAt"`
	ReadyBy             *wire.Time    `json:"readyBy"`
	PayDueAt            *wire.Time    `json:"payDueAt" doc:"default: createdAt plus the payment terms of the client"`
	Note                *string       `json:"note" maxLength:"4000"`
	DiscountPercent     money.Percent `json:"discountPercent" db:"discount_percent_bp"`
	PrepaidAmount       money.Amount  `json:"prepaidAmount" minimum:"0" doc:"sum of the payments; a change books the difference"`
	AssignedToID        *uuid.UUID    `json:"assignedToId" format:"uuid"`
}

// Input is the body of a new order.
type Input struct {
	Items []LineInput `json:"items" required:"true" minItems:"1" maxItems:"500"`
	Details
	DealID      *uuid.UUID `json:"dealId" format:"uuid"`
	WarehouseID *uuid.UUID `json:"warehouseId" format:"uuid" doc:"default: the default warehouse"`
}

// Fields are what clients change of an order.
type Fields struct {
	Items []LineInput `json:"items" minItems:"1" maxItems:"500" doc:"full replacement, only while new or confirmed"`
	Details
	WarehouseID uuid.UUID `json:"warehouseId" format:"uuid" doc:"moves what the order reserves"`
}

// LineInput is one line as clients send it.
type LineInput struct {
	Kind      string          `json:"kind,omitempty" enum:"product,service,custom" default:"product"`
	RefID     *uuid.UUID      `json:"refId,omitempty" format:"uuid" nullable:"true" doc:"required for product and service"`
	VariantID *uuid.UUID      `json:"variantId,omitempty" format:"uuid" nullable:"true" doc:"required when the product has variants"`
	Name      *string         `json:"name,omitempty" minLength:"1" maxLength:"255" doc:"required for custom; else in place of the catalog's"`
	Qty       *money.Qty      `json:"qty,omitempty" exclusiveMinimum:"0" maximum:"1000000" doc:"default 1"`
	UnitPrice *money.Amount   `json:"unitPrice,omitempty" minimum:"0" doc:"required for custom; default: price list or catalog, with modifiers"`
	Modifiers []ModifierInput `json:"modifiers,omitempty" maxItems:"50"`
	Note      *string         `json:"note,omitempty" nullable:"true" maxLength:"4000"`
}

// ModifierInput is a chosen option.
type ModifierInput struct {
	OptionID uuid.UUID  `json:"optionId" format:"uuid"`
	Qty      *money.Qty `json:"qty,omitempty" exclusiveMinimum:"0" maximum:"1000000" doc:"default 1"`
}

// Line is one line of an order. See docs/reference/rules.md#order-lines.
type Line struct {
	ID             uuid.UUID    `json:"id" format:"uuid"`
	Kind           string       `json:"kind" enum:"product,service,custom"`
	RefID          *uuid.UUID   `json:"refId" format:"uuid"`
	VariantID      *uuid.UUID   `json:"variantId" format:"uuid"`
	SKU            *string      `json:"sku"`
	Name           string       `json:"name"`
	Unit           *string      `json:"unit"`
	Qty            money.Qty    `json:"qty"`
	UnitPrice      money.Amount `json:"unitPrice"`
	Amount         money.Amount `json:"amount" doc:"qty × unitPrice"`
	DiscountAmount money.Amount `json:"discountAmount" doc:"share of the order's discount"`
	Total          money.Amount `json:"total" doc:"amount - discountAmount"`
	ReservedQty    money.Qty    `json:"reservedQty"`
	ShippedQty     money.Qty    `json:"shippedQty"`
	Modifiers      []Modifier   `json:"modifiers"`
	Note           *string      `json:"note"`
	SortOrder      int32        `json:"sortOrder"`

	stock []stockItem
}

// Modifier is an option that was chosen for a line.
type Modifier struct {
	OptionID  uuid.UUID    `json:"optionId" format:"uuid"`
	Name      string       `json:"name"`
	Surcharge money.Amount `json:"surcharge" doc:"of one"`
	Qty       money.Qty    `json:"qty"`
}

// stockItem is what a line takes from the warehouse: the product itself, or a component of a bundle.
type stockItem struct {
	Product uuid.UUID `json:"productId"`
	Variant uuid.UUID `json:"variantId"`
	Qty     money.Qty `json:"qty"` // of the whole line
}

// TransformSchema implements [huma.SchemaTransformer]. Clients choose from fixed channels and delivery methods, but
// responses and events do not promise that there are no others; nor do amounts keep the bounds of bodies.
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

// derive fills what follows from the rest of the record.
func (h *Header) derive() {
	h.AllowedTransitions = transitions[h.Status]
	h.AmountDue = h.Total + h.DeliveryCost - h.PrepaidAmount
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func samePtr[T comparable](a, b *T) bool {
	return (a == nil && b == nil) || (a != nil && b != nil && *a == *b)
}
