// Package trade holds the types that domains hand to each other: what a document line refers to, what a client is to a
// document, and changes of stock. They stand here once, because services do not import each other. Rules stay in the domains.
package trade

import (
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/money"
)

// Kinds of items that a document line can have.
const (
	KindProduct = "product"
	KindService = "service"
	KindCustom  = "custom" // of the document alone; it refers to nothing
)

// ItemRef names a product, one of its variants, or a service.
type ItemRef struct {
	Kind    string // KindProduct or KindService
	ID      uuid.UUID
	Variant uuid.UUID // zero = none
}

// Item is what a document line takes from the catalog.
type Item struct {
	SKU            string
	Name           string
	Unit           string       // code
	Price          money.Amount // of the variant, if one is named
	Cost           money.Amount
	Hidden         bool
	HasStock       bool
	HasVariants    bool // it has active variants, one of which must be named
	UnknownVariant bool // the item exists, the variant that the reference names does not
	MinOrderQty    *money.Qty
	OrderStepQty   *money.Qty
	Components     []Component            // of a bundle that has no stock of its own: its components with stock
	Options        map[uuid.UUID]Modifier // of its modifier groups, by option
}

// Component is a product in a bundle.
type Component struct {
	Product uuid.UUID
	Qty     money.Qty // in one bundle
}

// Modifier is an option of an item that a line can choose, at a surcharge.
type Modifier struct {
	OptionID  uuid.UUID
	Name      string
	Surcharge money.Amount // minor units for one piece
}

// Client is what a document takes from its customer.
type Client struct {
	ID               uuid.UUID
	DisplayName      string
	Phone            *string
	Email            *string
	Archived         bool
	PaymentTermsDays *int32
	CreditLimit      money.Amount // 0 = no limit
	Balance          money.Amount // negative = the client owes
	PriceListID      *uuid.UUID   // the client's own, else that of the group
}

// StockKey names what stock is kept of. Variant is the zero uuid for a product without variants.
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

// StockDelta changes what a warehouse holds, and what is reserved in it.
type StockDelta struct {
	Warehouse uuid.UUID
	StockKey
	Qty      money.Qty // physical
	Reserved money.Qty
}

// StockDocument is what moves stock.
type StockDocument struct {
	Movement string // type of the movements, such as order_completion
	Type     string // order, shipment, sale or receipt; "" = none
	ID       uuid.UUID
	Number   int64
	Reason   string
}

// StockProduct is what stock records show of a product or variant.
type StockProduct struct {
	Name              string
	SKU               string
	VariantSKU        *string
	VariantAttributes map[string]string
	CategoryID        *uuid.UUID
	CategoryName      *string
	HasStock          bool // stock is kept of it
	HasVariants       bool // it has active variants, so stock is kept per variant
}

// StockTotals is the stock of one product over all warehouses of its company.
type StockTotals struct {
	Qty       money.Qty
	Available money.Qty // Qty less what is reserved
	Low       bool      // Qty is at or below the sum of the reorder points, which is not 0
}
