package warehouse

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/outbox"
	"github.com/tradegrid/tradegrid/pkg/record"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/wire"
)

// Stock is what a warehouse holds of a product or variant (specification, section 2).
type Stock struct {
	ID                uuid.UUID         `json:"id" format:"uuid"`
	CompanyID         tenant.ID         `json:"companyId" format:"uuid"`
	ProductID         uuid.UUID         `json:"productId" format:"uuid"`
	ProductName       string            `json:"productName"`
	ProductSKU        string            `json:"productSku"`
	VariantID         *uuid.UUID        `json:"variantId" format:"uuid" nullable:"true"`
	VariantSKU        *string           `json:"variantSku"`
	VariantAttributes map[string]string `json:"variantAttributes" nullable:"true"`
	CategoryID        *uuid.UUID        `json:"categoryId" format:"uuid" nullable:"true"`
	CategoryName      *string           `json:"categoryName"`
	WarehouseID       uuid.UUID         `json:"warehouseId" format:"uuid"`
	WarehouseName     string            `json:"warehouseName"`
	Qty               money.Qty         `json:"qty" doc:"physical"`
	Reserved          money.Qty         `json:"reserved" doc:"for unfinished orders"`
	Available         money.Qty         `json:"available" doc:"qty minus reserved"`
	ReorderPoint      money.Qty         `json:"reorderPoint" doc:"0 = not set"`
	IsLowStock        bool              `json:"isLowStock" doc:"at or below the reorder point"`
	record.Meta
}

// Movement is one change of a physical quantity. It never changes.
type Movement struct {
	ID             uuid.UUID  `json:"id" format:"uuid"`
	CompanyID      tenant.ID  `json:"companyId" format:"uuid"`
	Type           string     `json:"type" doc:"adjustment, receipt, receipt_cancel, sale, refund, shipment, shipment_cancel, order_completion, order_return"`
	ProductID      uuid.UUID  `json:"productId" format:"uuid"`
	ProductName    string     `json:"productName"`
	ProductSKU     string     `json:"productSku"`
	VariantID      *uuid.UUID `json:"variantId" format:"uuid" nullable:"true"`
	VariantSKU     *string    `json:"variantSku"`
	WarehouseID    uuid.UUID  `json:"warehouseId" format:"uuid"`
	WarehouseName  string     `json:"warehouseName"`
	Delta          money.Qty  `json:"delta"`
	QtyBefore      money.Qty  `json:"qtyBefore"`
	QtyAfter       money.Qty  `json:"qtyAfter"`
	DocumentType   *string    `json:"documentType" doc:"order, shipment, sale or receipt"`
	DocumentID     *uuid.UUID `json:"documentId" format:"uuid" nullable:"true"`
	DocumentNumber *int64     `json:"documentNumber"`
	Reason         *string    `json:"reason"`
	CreatedByID    *uuid.UUID `json:"createdById" format:"uuid" nullable:"true"`
	CreatedAt      wire.Time  `json:"createdAt"`
}

// Delta is a change of one stock row: of what is there, and of what is reserved.
type Delta struct {
	Warehouse uuid.UUID
	Key
	Qty      money.Qty
	Reserved money.Qty
}

// Document is what moves stock.
type Document struct {
	Movement string // type of the movements, such as order_completion
	Type     string // order, shipment, sale or receipt; "" = none
	ID       uuid.UUID
	Number   int64
	Reason   string
}

// sum joins the deltas of one row and puts them in the order in which all documents lock stock rows,
// so that no two of them wait for each other. Deltas that change nothing fall out.
func sum(deltas []Delta) []Delta {
	type row struct {
		warehouse uuid.UUID
		key       Key
	}
	rows := map[row]Delta{}
	for _, d := range deltas {
		at := row{d.Warehouse, d.Key}
		d.Qty, d.Reserved = d.Qty+rows[at].Qty, d.Reserved+rows[at].Reserved
		rows[at] = d
	}
	var all []Delta
	for _, d := range rows {
		if d.Qty != 0 || d.Reserved != 0 {
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(a, b Delta) int {
		return cmp.Or(bytes.Compare(a.Warehouse[:], b.Warehouse[:]), bytes.Compare(a.Product[:], b.Product[:]), bytes.Compare(a.Variant[:], b.Variant[:]))
	})
	return all
}

// Reserve changes what is reserved, by positive or negative amounts. It only queues writes. Where the company
// does not let stock become negative, more than is available is 409 STOCK_INSUFFICIENT with meta.lines.
func (s *Service) Reserve(tx *db.Tx, by access.Caller, deltas []Delta) {
	deltas = sum(deltas)
	if len(deltas) == 0 {
		return
	}
	if by.Settings.BlocksStock() {
		s.reserveAvailable(tx, by.Company, deltas)
		return
	}
	upsertStocks(tx, by.Company, deltas, s.now())
}

func (s *Service) reserveAvailable(tx *db.Tx, company tenant.ID, deltas []Delta) {
	lockStocks(tx, company, deltas)
	done := map[Key]bool{}
	updateAvailable(tx, company, deltas, s.now()).Rows(func(rows pgx.Rows) error {
		clear(done)
		var k Key
		if _, err := pgx.ForEachRow(rows, []any{&k.Product, &k.Variant}, func() error { done[k] = true; return nil }); err != nil {
			return fmt.Errorf("read reserved stock: %w", err)
		}
		return insufficient(deltas, done)
	})
}

// insufficient is the fault that names the deltas that were not done.
func insufficient(deltas []Delta, done map[Key]bool) error {
	var lines []map[string]any
	for _, d := range deltas {
		if !done[d.Key] {
			lines = append(lines, map[string]any{"productId": d.Product, "variantId": d.variant(), "warehouseId": d.Warehouse, "required": d.Reserved - d.Qty})
		}
	}
	if lines == nil {
		return nil
	}
	return fault.StateConflict("STOCK_INSUFFICIENT", "the warehouse has less available than is asked for; lower the quantities in meta.lines or receive stock").
		With("lines", lines)
}

// Move changes physical quantities, and what is reserved, and records and announces every movement.
func (s *Service) Move(ctx context.Context, tx *db.Tx, by access.Caller, doc Document, deltas []Delta) error {
	deltas = sum(deltas)
	if len(deltas) == 0 {
		return nil
	}
	products, err := s.products.StockProducts(ctx, tx, by.Company, keysOf(deltas))
	if err != nil {
		return err
	}
	names, err := selectNames(ctx, tx, by.Company, warehousesOf(deltas))
	if err != nil {
		return err
	}
	rows, err := moveStocks(ctx, tx, by.Company, deltas, s.now())
	if err != nil {
		return err
	}
	for _, d := range deltas {
		if d.Qty == 0 {
			continue
		}
		m := s.movement(by, doc, d, products[d.Key], names[d.Warehouse], rows[rowKey{d.Warehouse, d.Key}].Qty)
		if err := s.record(ctx, tx, by, m); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) movement(by access.Caller, doc Document, d Delta, p Product, warehouse string, after money.Qty) Movement {
	m := Movement{
		ID: record.NewID(), CompanyID: by.Company, Type: doc.Movement, ProductID: d.Product, ProductName: p.Name, ProductSKU: p.SKU,
		VariantID: d.variant(), VariantSKU: p.VariantSKU, WarehouseID: d.Warehouse, WarehouseName: warehouse,
		Delta: d.Qty, QtyBefore: after - d.Qty, QtyAfter: after, CreatedByID: &by.Actor, CreatedAt: wire.At(s.now()),
	}
	if doc.Type != "" {
		m.DocumentType, m.DocumentID, m.DocumentNumber = &doc.Type, &doc.ID, &doc.Number
	}
	if doc.Reason != "" {
		m.Reason = &doc.Reason
	}
	return m
}

func (s *Service) record(ctx context.Context, tx *db.Tx, by access.Caller, m Movement) error {
	insertMovement(tx, m)
	return outbox.Raise(ctx, tx, by.Company, outbox.Event{
		Name: eventMovementCreated, Actor: by.Actor, Type: "stock_movement", ID: m.ID, Meta: record.New(m.CreatedAt.Std()), Data: m,
	})
}

func keysOf(deltas []Delta) []Key {
	keys := make([]Key, len(deltas))
	for i, d := range deltas {
		keys[i] = d.Key
	}
	return keys
}

func warehousesOf(deltas []Delta) []uuid.UUID {
	ids := make([]uuid.UUID, len(deltas))
	for i, d := range deltas {
		ids[i] = d.Warehouse
	}
	return ids
}

// Adjustment sets the physical quantity of one stock row (specification, section 4).
type Adjustment struct {
	ProductID    uuid.UUID  `json:"productId" format:"uuid"`
	VariantID    *uuid.UUID `json:"variantId,omitempty" format:"uuid" nullable:"true"`
	WarehouseID  uuid.UUID  `json:"warehouseId" format:"uuid"`
	TargetQty    int64      `json:"targetQty" minimum:"-1000000000" maximum:"1000000000"`
	Reason       string     `json:"reason" minLength:"1" maxLength:"500"`
	ExpectedQty  *money.Qty `json:"expectedQty,omitempty" doc:"refuses the change when the quantity is another one"`
	ReorderPoint *money.Qty `json:"reorderPoint,omitempty" minimum:"0" maximum:"1000000000"`
}

// adjusted is what the event of an adjustment adds to the stock record.
type adjusted struct {
	PreviousQty money.Qty `json:"previousQty"`
	Delta       money.Qty `json:"delta"`
	Reason      string    `json:"reason"`
	MovementID  uuid.UUID `json:"movementId" format:"uuid"`
}

// SetStock sets the quantity of a product in a warehouse. A quantity that is there already is no movement.
func (s *Service) SetStock(ctx context.Context, tx *db.Tx, by access.Caller, in Adjustment) (Stock, error) {
	k := Key{Product: in.ProductID}
	if in.VariantID != nil {
		k.Variant = *in.VariantID
	}
	p, name, err := s.adjustable(ctx, tx, by.Company, in, k)
	if err != nil {
		return Stock{}, err
	}
	st, err := lockStock(ctx, tx, by.Company, in.WarehouseID, k, s.now())
	if err != nil {
		return Stock{}, err
	}
	if in.ExpectedQty != nil && *in.ExpectedQty != st.Qty {
		return Stock{}, fault.StateConflict("STOCK_CHANGED", "the quantity is %s, expectedQty says %s; read it again", st.Qty, *in.ExpectedQty).With("qty", st.Qty)
	}
	before, target := st.Qty, money.Units(in.TargetQty)
	reorder := st.ReorderPoint
	if in.ReorderPoint != nil {
		st.ReorderPoint = *in.ReorderPoint
	}
	st.Qty = target
	st.describe(p, k, name)
	if target == before && st.ReorderPoint == reorder {
		return st, nil
	}
	st.Touch(s.now())
	updateStock(tx, st, k)
	if target == before {
		return st, nil
	}
	d := Delta{Warehouse: in.WarehouseID, Key: k, Qty: target - before}
	m := s.movement(by, Document{Movement: "adjustment", Reason: in.Reason}, d, p, name, target)
	if err := s.record(ctx, tx, by, m); err != nil {
		return Stock{}, err
	}
	return st, outbox.Raise(ctx, tx, by.Company, outbox.Event{
		Name: eventStockAdjusted, Actor: by.Actor, Type: "stock", ID: st.ID, Meta: st.Meta, Data: st,
		Extra: adjusted{PreviousQty: before, Delta: d.Qty, Reason: in.Reason, MovementID: m.ID},
	})
}

// adjustable reads what the adjustment refers to.
func (s *Service) adjustable(ctx context.Context, tx *db.Tx, company tenant.ID, in Adjustment, k Key) (p Product, warehouse string, err error) {
	names, err := selectNames(ctx, tx, company, []uuid.UUID{in.WarehouseID})
	if err != nil {
		return p, "", err
	}
	warehouse, ok := names[in.WarehouseID]
	if !ok {
		return p, "", fault.ReferenceNotFound("WAREHOUSE", "warehouseId", in.WarehouseID.String())
	}
	bare := Key{Product: in.ProductID}
	products, err := s.products.StockProducts(ctx, tx, company, []Key{bare, k})
	if err != nil {
		return p, "", err
	}
	if _, ok := products[bare]; !ok {
		return p, "", fault.ReferenceNotFound("PRODUCT", "productId", in.ProductID.String())
	}
	p, ok = products[k]
	switch {
	case !ok:
		return p, "", fault.ReferenceNotFound("PRODUCT_VARIANT", "variantId", k.Variant.String())
	case !p.HasStock:
		return p, "", fault.StateConflict("STOCK_ACCOUNTING_DISABLED", "no stock is kept of the product; set hasStock first")
	case p.HasVariants && k.Variant == uuid.Nil:
		return p, "", fault.StateConflict("PRODUCT_VARIANT_REQUIRED", "stock of the product is kept per variant; send variantId")
	}
	return p, warehouse, nil
}

func (st *Stock) describe(p Product, k Key, warehouse string) {
	st.ProductName, st.ProductSKU, st.WarehouseName = p.Name, p.SKU, warehouse
	st.VariantID, st.VariantSKU, st.VariantAttributes = k.variant(), p.VariantSKU, p.VariantAttributes
	st.CategoryID, st.CategoryName = p.CategoryID, p.CategoryName
	st.Available = st.Qty - st.Reserved
	st.IsLowStock = st.ReorderPoint > 0 && st.Qty <= st.ReorderPoint
}

// Totals is the stock of a product over all warehouses of the company.
type Totals struct {
	Qty       money.Qty
	Available money.Qty
	Low       bool // the sum of quantities is at or below the sum of reorder points, which is not 0
}

// Totals reads the totals of products. Products without stock rows are left out: they have nothing.
func (s *Service) Totals(ctx context.Context, q db.Querier, company tenant.ID, products []uuid.UUID) (map[uuid.UUID]Totals, error) {
	return selectTotals(ctx, q, company, products)
}
