// Package trade holds types that domains exchange: references of document lines, the client of a document, and changes of
// stock. They are shared here because services do not import each other. The rules stay in the domains.
package trade

import (
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// Kinds of items that a document line can have.
const (
	KindProduct = "product"
	KindService = "service"
	KindCustom  = "custom" // exists only in the document and has no reference
)

// ItemRef names a product, one of its variants, or a service.
type ItemRef struct {
	Kind    string // KindProduct or KindService
	ID      uuid.UUID
	Variant uuid.UUID // zero = none
}

// ItemName names an item by one of SKU, Barcode and ExternalID, as they are sent.
type ItemName struct {
	Kind                             string // KindProduct, which variants are, too, or KindService
	SKU, Barcode, Source, ExternalID string // an empty Source is any
}

// Item is the catalog data of a document line.
type Item struct {
	SKU            string
	Name           string
	Unit           string       // code
	Price          money.Amount // of the variant, if the reference names one
	Cost           money.Amount
	Hidden         bool
	HasStock       bool
	HasVariants    bool     // has active variants, one of which must be referenced
	UnknownVariant bool     // the item exists, but not the referenced variant
	Tax            *TaxRate // nil = none
	MinOrderQty    *money.Qty
	OrderStepQty   *money.Qty
	Components     []Component            // components with stock of a bundle without stock of its own
	Options        map[uuid.UUID]Modifier // of its modifier groups, by option
	Groups         []ModifierGroup
}

// TaxRate is a tax rate with its percentage as it is now.
type TaxRate struct {
	ID      uuid.UUID
	Percent money.Percent
}

// Component is a product in a bundle.
type Component struct {
	Product uuid.UUID
	Qty     money.Qty // per bundle
}

// ModifierGroup says how many options of a group a line must choose. An option that is chosen several times counts as often.
type ModifierGroup struct {
	Name      string
	MinSelect int32
	MaxSelect *int32 // nil = no limit
	Options   []uuid.UUID
}

// Modifier is an option of an item, with its surcharge.
type Modifier struct {
	OptionID  uuid.UUID
	Name      string
	Surcharge money.Amount // minor units per piece
}

// Client is the client data of a document.
type Client struct {
	ID               uuid.UUID
	DisplayName      string
	Phone            *string
	Email            *string
	Archived         bool
	PaymentTermsDays *int32
	CreditLimit      money.Amount // 0 = no limit
	Balance          money.Amount // negative = the client owes
	Points           int64        // loyalty points; negative after a refund of a sale whose points were spent
	PriceListID      *uuid.UUID   // of the client, otherwise of its group
	MergedIntoID     *uuid.UUID   // the client that it is now
}

// Reasons for a change of a client's loyalty points.
const (
	PointsRedeemed  = "redeemed"            // as a discount of a sale
	PointsEarned    = "earned"              // by a sale
	PointsReturned  = "redemption_returned" // by a refund
	PointsTakenBack = "accrual_reversed"    // by a refund
	PointsAdjusted  = "adjusted"            // by a request
	PointsMerged    = "merged"              // with another client
)

// Kinds of entries of the ledger of a client.
const (
	LedgerOrder           = "order"  // was completed
	LedgerReturn          = "return" // of a completed order
	LedgerReturnCancelled = "return_cancelled"
	LedgerPayment         = "payment"      // of an order
	LedgerRefund          = "refund"       // of an order
	LedgerReassignment    = "reassignment" // what was paid for an order went to another client with it, or came from one
	LedgerSale            = "sale"         // with its payment
	LedgerSaleRefund      = "sale_refund"
	LedgerMerge           = "merge" // the balance went to another client that is the same, or came from one
)

// LedgerEntry is what a document has charged a client, and what was paid for it. Both are negative for what goes back.
type LedgerEntry struct {
	Kind      string
	At        jsontype.Time // when it happened
	Charged   money.Amount
	Paid      money.Amount
	OrderID   *uuid.UUID
	SaleID    *uuid.UUID
	Number    int64 // of the order or sale
	PaymentID *uuid.UUID
	ReturnID  *uuid.UUID
	OtherID   *uuid.UUID // client that was merged, or that an order came from or went to
}

// Delta is what the balance of the client changes by.
func (e LedgerEntry) Delta() money.Amount { return e.Paid - e.Charged }

// StockKey identifies a product or variant with stock. Variant is the zero UUID for a product without variants.
type StockKey struct {
	Product uuid.UUID
	Variant uuid.UUID
}

// VariantID is nil for a product without variants.
func (k StockKey) VariantID() *uuid.UUID {
	if k.Variant == uuid.Nil {
		return nil
	}
	return &k.Variant
}

// StockDelta is a change of the physical and reserved quantities in a warehouse.
type StockDelta struct {
	Warehouse uuid.UUID
	StockKey
	Qty      money.Qty // physical
	Reserved money.Qty
}

// StockDocument is the document that causes stock movements.
type StockDocument struct {
	Movement string // type of the movements, such as order_completion
	Type     string // order, shipment, sale, receipt or another Document; "" = none
	ID       uuid.UUID
	Number   int64
	Reason   string
}

// StockProduct is the product or variant data in stock records.
type StockProduct struct {
	Name              string
	SKU               string
	VariantSKU        *string
	VariantAttributes map[string]string
	CategoryID        *uuid.UUID
	CategoryName      *string
	HasStock          bool // stock is tracked
	HasVariants       bool // has active variants, so stock is tracked per variant
}

// StockTotals is the stock of one product in all warehouses of its company.
type StockTotals struct {
	Qty       money.Qty
	Available money.Qty // Qty minus the reserved quantity
	Low       bool      // Qty is at or below the sum of the reorder points, if that is not 0
}

// StockShortage is a stock row that holds less than a document takes from it.
type StockShortage struct {
	StockKey
	Qty      money.Qty // physical
	Required money.Qty
}

// LowStock are goods of which no more is available in a warehouse than their reorder point.
type LowStock struct {
	StockKey
	Available    money.Qty
	ReorderPoint money.Qty
}

// Types of stock movements.
const (
	MovementAdjustment     = "adjustment"
	MovementReceipt        = "receipt"
	MovementReceiptCancel  = "receipt_cancel"
	MovementSale           = "sale"
	MovementRefund         = "refund"
	MovementShipment       = "shipment"
	MovementShipmentCancel = "shipment_cancel"
	MovementCompletion     = "order_completion"
	MovementReturn         = "order_return"
	MovementReturnCancel   = "order_return_cancel"
	MovementTransferOut    = "transfer_out"
	MovementTransferIn     = "transfer_in"
	MovementTransferCancel = "transfer_cancel"
	MovementCount          = "count"

	MovementSupplierReturn       = "supplier_return"
	MovementSupplierReturnCancel = "supplier_return_cancel"

	MovementWriteOff       = "write_off"
	MovementWriteOffCancel = "write_off_cancel"
)

// Types of documents that cause stock movements.
const (
	DocumentOrder    = "order"
	DocumentShipment = "shipment"
	DocumentSale     = "sale"
	DocumentReceipt  = "receipt"
	DocumentReturn   = "return" // of an order
	DocumentTransfer = "stock_transfer"
	DocumentWriteOff = "write_off"
	DocumentCount    = "stock_count"

	DocumentSupplierReturn = "supplier_return"

	DocumentPurchaseOrder = "purchase_order" // causes none itself, but has numbers of its own
)

// Contact is the contact data of a lead, of which a client can be made.
type Contact struct {
	DisplayName  string
	Phone        *string
	Email        *string
	Note         *string
	AssignedToID *uuid.UUID
}

// DealFromLead is the data of a deal that a lead is converted to.
type DealFromLead struct {
	TypeID       *uuid.UUID // nil = the type for leads
	ClientID     uuid.UUID
	Name         *string
	Phone        *string
	Email        *string
	Source       string // also the alias of the lead source, if there is one
	Note         *string
	AssignedToID *uuid.UUID
}

// Kinds of owners of calendar entries.
const (
	CalendarBooking = "booking"
	CalendarDeal    = "deal"
)

// CalendarEntry is what the calendar shows of a booking or a deal.
type CalendarEntry struct {
	Kind       string    // CalendarBooking or CalendarDeal
	OwnerID    uuid.UUID // the booking or deal
	Title      string
	StartAt    time.Time
	EndAt      time.Time  // StartAt, if the owner has no end
	ResourceID *uuid.UUID // scheduling resource that is taken
	ClientID   *uuid.UUID
	Status     *string
}

// ShowsSame reports whether both entries have the same content, apart from the status.
func (e CalendarEntry) ShowsSame(other CalendarEntry) bool {
	return e.Title == other.Title && e.StartAt.Equal(other.StartAt) && e.EndAt.Equal(other.EndAt) &&
		record.Same(e.ResourceID, other.ResourceID) && record.Same(e.ClientID, other.ClientID)
}

// VenueUse is the use of a scheduling resource by a deal. A deal takes the whole resource from StartAt to EndAt; without
// both times it takes nothing, and only its headcount is checked.
type VenueUse struct {
	DealID     uuid.UUID
	ResourceID uuid.UUID
	StartAt    *time.Time
	EndAt      *time.Time
	Headcount  *int32
}

// Same reports whether both uses, nil for none, are the same.
func (u *VenueUse) Same(other *VenueUse) bool {
	if u == nil || other == nil {
		return u == other
	}
	return u.ResourceID == other.ResourceID && record.Same(u.Headcount, other.Headcount) && sameTime(u.StartAt, other.StartAt) && sameTime(u.EndAt, other.EndAt)
}

func sameTime(a, b *time.Time) bool { return a == b || a != nil && b != nil && a.Equal(*b) }

// BookedService is the data of a service that is booked.
type BookedService struct {
	ID              uuid.UUID
	Name            string
	PriceModel      string // what Price is for: fixed, per_hour, per_minute, per_day or per_item
	Price           money.Amount
	DurationMinutes *int32
	Hidden          bool

	// Minutes that the resource keeps free before and after a booking; nil = as the resource has it.
	BufferBeforeMinutes, BufferAfterMinutes *int32
}
