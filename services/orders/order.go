package orders

import (
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/list"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/record"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/wire"
)

// Header is an order without its lines (specification, section 2). Money is in minor units.
type Header struct {
	ID                  uuid.UUID     `json:"id" format:"uuid"`
	CompanyID           tenant.ID     `json:"companyId" format:"uuid"`
	Number              int64         `json:"number" doc:"1, 2, 3 … per company, without gaps"`
	Status              string        `json:"status" enum:"new,confirmed,in_progress,ready,completed,cancelled"`
	PaymentStatus       string        `json:"paymentStatus" enum:"unpaid,partial,paid,refunded"`
	CustomerID          *uuid.UUID    `json:"customerId" format:"uuid" nullable:"true"`
	AssetID             *uuid.UUID    `json:"assetId" format:"uuid" nullable:"true"`
	AddressID           *uuid.UUID    `json:"addressId" format:"uuid" nullable:"true"`
	AddressLabel        *string       `json:"addressLabel"`
	CustomerName        *string       `json:"customerName"`
	CustomerPhone       *string       `json:"customerPhone"`
	CustomerEmail       *string       `json:"customerEmail"`
	CustomerNote        *string       `json:"customerNote"`
	Channel             *string       `json:"channel"`
	Source              *string       `json:"source"`
	ExternalID          *string       `json:"externalId" doc:"unique per company and source"`
	DealID              *uuid.UUID    `json:"dealId" format:"uuid" nullable:"true"`
	WarehouseID         *uuid.UUID    `json:"warehouseId" format:"uuid" nullable:"true" doc:"where the order reserves; null on some old orders, until their items or status change"`
	DeliveryStatus      *string       `json:"deliveryStatus" doc:"pending, packing, shipped, delivered, returned; null = no delivery"`
	DeliveryMethod      *string       `json:"deliveryMethod" doc:"pickup, courier or post"`
	DeliveryCost        money.Amount  `json:"deliveryCost"`
	DeliveryAddressText *string       `json:"deliveryAddressText"`
	DueAt               *wire.Time    `json:"dueAt" nullable:"true"`
	ReadyBy             *wire.Time    `json:"readyBy" nullable:"true"`
	PayDueAt            *wire.Time    `json:"payDueAt" nullable:"true"`
	Note                *string       `json:"note"`
	Subtotal            money.Amount  `json:"subtotal" doc:"before the discount"`
	DiscountPercent     money.Percent `json:"discountPercent"`
	DiscountAmount      money.Amount  `json:"discountAmount"`
	Total               money.Amount  `json:"total" doc:"after the discount, without deliveryCost"`
	PrepaidAmount       money.Amount  `json:"prepaidAmount" doc:"sum of the payments"`
	AmountDue           money.Amount  `json:"amountDue" doc:"total + deliveryCost - prepaidAmount"`
	CreatedByID         *uuid.UUID    `json:"createdById" format:"uuid" nullable:"true"`
	AssignedToID        *uuid.UUID    `json:"assignedToId" format:"uuid" nullable:"true"`
	AllowedTransitions  []string      `json:"allowedTransitions" doc:"statuses that the order can move to"`
	CompletedAt         *wire.Time    `json:"completedAt" nullable:"true"`
	CancelledAt         *wire.Time    `json:"cancelledAt" nullable:"true"`
	record.Meta

	wasPaid bool // the payments contain a positive one
}

// Order is an order with its lines.
type Order struct {
	Header
	Lines []Line `json:"lines"`
}

// ListItem is an order in a list.
type ListItem struct {
	Header
	LinesCount     int32   `json:"linesCount"`
	AssignedToName *string `json:"assignedToName"`
	Lines          *[]Line `json:"lines,omitempty" doc:"only with include=lines"`
}

// Line is one position of an order.
type Line struct {
	ID             uuid.UUID    `json:"id" format:"uuid"`
	Kind           string       `json:"kind" enum:"product,service,custom"`
	RefID          *uuid.UUID   `json:"refId" format:"uuid" nullable:"true"`
	VariantID      *uuid.UUID   `json:"variantId" format:"uuid" nullable:"true"`
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

	stock []linePart
}

// Modifier is an option that was chosen for a line.
type Modifier struct {
	OptionID  uuid.UUID    `json:"optionId" format:"uuid"`
	Name      string       `json:"name"`
	Surcharge money.Amount `json:"surcharge" doc:"of one"`
	Qty       money.Qty    `json:"qty"`
}

// linePart is what a line takes from the warehouse: the product itself, or a component of a bundle.
type linePart struct {
	Product uuid.UUID `json:"productId"`
	Variant uuid.UUID `json:"variantId"`
	Qty     money.Qty `json:"qty"` // of the whole line
}

// Input is the body of a new order.
type Input struct {
	Items               []LineInput   `json:"items" minItems:"1" maxItems:"500"`
	CustomerID          *uuid.UUID    `json:"customerId,omitempty" format:"uuid" nullable:"true"`
	AssetID             *uuid.UUID    `json:"assetId,omitempty" format:"uuid" nullable:"true"`
	AddressID           *uuid.UUID    `json:"addressId,omitempty" format:"uuid" nullable:"true"`
	CustomerName        *string       `json:"customerName,omitempty" nullable:"true" maxLength:"255" doc:"default: that of the client"`
	CustomerPhone       *string       `json:"customerPhone,omitempty" nullable:"true" maxLength:"32" doc:"default: that of the client"`
	CustomerEmail       *string       `json:"customerEmail,omitempty" nullable:"true" format:"email" maxLength:"254" doc:"default: that of the client"`
	CustomerNote        *string       `json:"customerNote,omitempty" nullable:"true" maxLength:"4000"`
	Channel             *string       `json:"channel,omitempty" nullable:"true" enum:"manual,public_link,phone" doc:"default manual"`
	Source              *string       `json:"source,omitempty" nullable:"true" maxLength:"255"`
	ExternalID          *string       `json:"externalId,omitempty" nullable:"true" minLength:"1" maxLength:"255" doc:"unique per company and source"`
	DealID              *uuid.UUID    `json:"dealId,omitempty" format:"uuid" nullable:"true"`
	WarehouseID         *uuid.UUID    `json:"warehouseId,omitempty" format:"uuid" nullable:"true" doc:"default: the default warehouse"`
	DeliveryMethod      *string       `json:"deliveryMethod,omitempty" nullable:"true" enum:"pickup,courier,post"`
	DeliveryCost        money.Amount  `json:"deliveryCost,omitempty" minimum:"0"`
	DeliveryAddressText *string       `json:"deliveryAddressText,omitempty" nullable:"true" maxLength:"1000"`
	DueAt               *wire.Time    `json:"dueAt,omitempty" nullable:"true"`
	ReadyBy             *wire.Time    `json:"readyBy,omitempty" nullable:"true"`
	PayDueAt            *wire.Time    `json:"payDueAt,omitempty" nullable:"true" doc:"default: now and the client's payment terms"`
	Note                *string       `json:"note,omitempty" nullable:"true" maxLength:"4000"`
	DiscountPercent     money.Percent `json:"discountPercent,omitempty"`
	PrepaidAmount       money.Amount  `json:"prepaidAmount,omitempty" minimum:"0"`
	AssignedToID        *uuid.UUID    `json:"assignedToId,omitempty" format:"uuid" nullable:"true"`
}

// Patch is the body of a change: what is absent stays.
type Patch struct {
	Items               wire.Optional[[]LineInput]   `json:"items,omitzero" minItems:"1" maxItems:"500" doc:"full replacement, only while new or confirmed"`
	CustomerID          wire.Optional[uuid.UUID]     `json:"customerId,omitzero" format:"uuid" nullable:"true"`
	AssetID             wire.Optional[uuid.UUID]     `json:"assetId,omitzero" format:"uuid" nullable:"true"`
	AddressID           wire.Optional[uuid.UUID]     `json:"addressId,omitzero" format:"uuid" nullable:"true"`
	CustomerName        wire.Optional[string]        `json:"customerName,omitzero" nullable:"true" maxLength:"255"`
	CustomerPhone       wire.Optional[string]        `json:"customerPhone,omitzero" nullable:"true" maxLength:"32"`
	CustomerEmail       wire.Optional[string]        `json:"customerEmail,omitzero" nullable:"true" format:"email" maxLength:"254"`
	CustomerNote        wire.Optional[string]        `json:"customerNote,omitzero" nullable:"true" maxLength:"4000"`
	Channel             wire.Optional[string]        `json:"channel,omitzero" nullable:"true" enum:"manual,public_link,phone"`
	Source              wire.Optional[string]        `json:"source,omitzero" nullable:"true" maxLength:"255"`
	ExternalID          wire.Optional[string]        `json:"externalId,omitzero" nullable:"true" minLength:"1" maxLength:"255"`
	WarehouseID         wire.Optional[uuid.UUID]     `json:"warehouseId,omitzero" format:"uuid" doc:"moves what the order reserves"`
	DeliveryMethod      wire.Optional[string]        `json:"deliveryMethod,omitzero" nullable:"true" enum:"pickup,courier,post"`
	DeliveryCost        wire.Optional[money.Amount]  `json:"deliveryCost,omitzero" minimum:"0"`
	DeliveryAddressText wire.Optional[string]        `json:"deliveryAddressText,omitzero" nullable:"true" maxLength:"1000"`
	DueAt               wire.Optional[wire.Time]     `json:"dueAt,omitzero" nullable:"true"`
	ReadyBy             wire.Optional[wire.Time]     `json:"readyBy,omitzero" nullable:"true"`
	PayDueAt            wire.Optional[wire.Time]     `json:"payDueAt,omitzero" nullable:"true"`
	Note                wire.Optional[string]        `json:"note,omitzero" nullable:"true" maxLength:"4000"`
	DiscountPercent     wire.Optional[money.Percent] `json:"discountPercent,omitzero"`
	PrepaidAmount       wire.Optional[money.Amount]  `json:"prepaidAmount,omitzero" minimum:"0" doc:"target total of payments"`
	AssignedToID        wire.Optional[uuid.UUID]     `json:"assignedToId,omitzero" format:"uuid" nullable:"true"`
}

// LineInput is one position of a new order.
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

// RecordID is the last segment of the order's address.
func (h Header) RecordID() string { return h.ID.String() }

// payable is what the customer owes in all.
func (h *Header) payable() (money.Amount, error) { return money.Sum(h.Total, h.DeliveryCost) }

// isFinal reports whether the order is completed or cancelled.
func (h *Header) isFinal() bool { return h.Status == statusCompleted || h.Status == statusCancelled }

// derive fills what follows from the rest of the record.
func (h *Header) derive() {
	h.AllowedTransitions = transitions[h.Status]
	h.AmountDue = h.Total + h.DeliveryCost - h.PrepaidAmount
}

// searchText is what search= looks through.
func (o *Order) searchText() string {
	fields := []string{intText(o.Number), deref(o.CustomerName), deref(o.CustomerEmail)}
	for _, l := range o.Lines {
		fields = append(fields, l.Name)
	}
	return list.SearchText(fields, deref(o.CustomerPhone))
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// dueAfter is the moment some days after now.
func dueAfter(now time.Time, days int32) *wire.Time {
	at := wire.At(now.AddDate(0, 0, int(days)))
	return &at
}
