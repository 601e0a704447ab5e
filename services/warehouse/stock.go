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
	"github.com/tradegrid/tradegrid/pkg/trade"
	"github.com/tradegrid/tradegrid/pkg/wire"
)

// Stock is what a warehouse holds of a product or variant; see docs/reference/rules.md#stock.
type Stock struct {
	record.Key
	ProductID         uuid.UUID         `json:"productId" format:"uuid"`
	ProductName       string            `json:"productName"`
	ProductSKU        string            `json:"productSku"`
	VariantID         *uuid.UUID        `json:"variantId" format:"uuid"`
	VariantSKU        *string           `json:"variantSku"`
	VariantAttributes map[string]string `json:"variantAttributes" nullable:"true"`
	CategoryID        *uuid.UUID        `json:"categoryId" format:"uuid"`
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
	record.Key
	Type           string     `json:"type" doc:"adjustment, receipt, receipt_cancel, sale, refund, shipment, shipment_cancel, order_completion, order_return"`
	ProductID      uuid.UUID  `json:"productId" format:"uuid"`
	ProductName    string     `json:"productName"`
	ProductSKU     string     `json:"productSku"`
	VariantID      *uuid.UUID `json:"variantId" format:"uuid"`
	VariantSKU     *string    `json:"variantSku"`
	WarehouseID    uuid.UUID  `json:"warehouseId" format:"uuid"`
	WarehouseName  string     `json:"warehouseName"`
	Delta          money.Qty  `json:"delta"`
	QtyBefore      money.Qty  `json:"qtyBefore"`
	QtyAfter       money.Qty  `json:"qtyAfter"`
	DocumentType   *string    `json:"documentType" doc:"order, shipment, sale or receipt"`
	DocumentID     *uuid.UUID `json:"documentId" format:"uuid"`
	DocumentNumber *int64     `json:"documentNumber"`
	Reason         *string    `json:"reason"`
	CreatedByID    *uuid.UUID `json:"createdById" format:"uuid"`
	CreatedAt      wire.Time  `json:"createdAt"`
}

// sum joins the deltas of one row and puts them in the order in which all documents lock stock rows,
// so that no two of them wait for each other. Deltas that change nothing fall out.
func sum(deltas []trade.StockDelta) []trade.StockDelta {
	type row struct {
		warehouse uuid.UUID
		key       trade.StockKey
	}
	rows := map[row]trade.StockDelta{}
	for _, d := range deltas {
		at := row{d.Warehouse, d.StockKey}
		d.Qty, d.Reserved = d.Qty+rows[at].Qty, d.Reserved+rows[at].Reserved
		rows[at] = d
	}
	var all []trade.StockDelta
	for _, d := range rows {
		if d.Qty != 0 || d.Reserved != 0 {
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(a, b trade.StockDelta) int {
		return cmp.Or(bytes.Compare(a.Warehouse[:], b.Warehouse[:]), bytes.Compare(a.Product[:], b.Product[:]), bytes.Compare(a.Variant[:], b.Variant[:]))
	})
	return all
}

// Reserve changes what is reserved, by positive or negative amounts. It only queues writes. Where the company
// does not let stock become negative, more than is available is 409 STOCK_INSUFFICIENT with meta.lines.
func (s *Service) Reserve(tx *db.Tx, by access.Caller, deltas []trade.StockDelta) {
	deltas = sum(deltas)
	if len(deltas) == 0 {
		return
	}
	if by.Settings.BlocksStock() {
		s.reserveAvailable(tx, by.Company, deltas)
		return
	}
	upsertStocks(tx, by.Company, deltas)
}

func (s *Service) reserveAvailable(tx *db.Tx, company tenant.ID, deltas []trade.StockDelta) {
	lockStocks(tx, company, deltas)
	done := map[trade.StockKey]bool{}
	updateAvailable(tx, company, deltas).Rows(func(rows pgx.Rows) error {
		clear(done)
		var k trade.StockKey
		if _, err := pgx.ForEachRow(rows, []any{&k.Product, &k.Variant}, func() error { done[k] = true; return nil }); err != nil {
			return fmt.Errorf("read reserved stock: %w", err)
		}
		return insufficient(deltas, done)
	})
}

// insufficient is the fault that names the deltas that were not done.
func insufficient(deltas []trade.StockDelta, done map[trade.StockKey]bool) error {
	var lines []map[string]any
	for _, d := range deltas {
		if !done[d.StockKey] {
			lines = append(lines, map[string]any{"productId": d.Product, "variantId": d.VariantID(), "warehouseId": d.Warehouse, "required": d.Reserved - d.Qty})
		}
	}
	if lines == nil {
		return nil
	}
	return fault.StateConflict("STOCK_INSUFFICIENT", "the warehouse has less available than is asked for; lower the quantities in meta.lines or receive stock").
		With("lines", lines)
}

// Move changes physical quantities, and what is reserved, and records and announces every movement.
func (s *Service) Move(ctx context.Context, tx *db.Tx, by access.Caller, doc trade.StockDocument, deltas []trade.StockDelta) error {
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
	rows, err := moveStocks(ctx, tx, by.Company, deltas)
	if err != nil {
		return err
	}
	for _, d := range deltas {
		if d.Qty == 0 {
			continue
		}
		m := newMovement(tx, by, doc, d, products[d.StockKey], names[d.Warehouse], rows[rowKey{d.Warehouse, d.StockKey}].Qty)
		if err := s.record(ctx, tx, by, m); err != nil {
			return err
		}
	}
	return nil
}

func newMovement(tx *db.Tx, by access.Caller, doc trade.StockDocument, d trade.StockDelta, p trade.StockProduct, warehouse string, after money.Qty) Movement {
	m := Movement{
		Key: record.Key{ID: record.NewID(), CompanyID: by.Company}, Type: doc.Movement, ProductID: d.Product, ProductName: p.Name, ProductSKU: p.SKU,
		VariantID: d.VariantID(), VariantSKU: p.VariantSKU, WarehouseID: d.Warehouse, WarehouseName: warehouse,
		Delta: d.Qty, QtyBefore: after - d.Qty, QtyAfter: after, CreatedByID: &by.Actor, CreatedAt: wire.At(tx.Now()),
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
		Name: movementCreated.Name, Actor: by.Actor, Type: "stock_movement", ID: m.ID, Meta: record.New(m.CreatedAt.Std()), Data: m,
	})
}

func keysOf(deltas []trade.StockDelta) []trade.StockKey {
	keys := make([]trade.StockKey, len(deltas))
	for i, d := range deltas {
		keys[i] = d.StockKey
	}
	return keys
}

func warehousesOf(deltas []trade.StockDelta) []uuid.UUID {
	ids := make([]uuid.UUID, len(deltas))
	for i, d := range deltas {
		ids[i] = d.Warehouse
	}
	return ids
}

// Adjustment sets the physical quantity of one stock row; see docs/reference/rules.md#stock-adjustment.
type Adjustment struct {
	ProductID    uuid.UUID  `json:"productId" required:"true" format:"uuid"`
	VariantID    *uuid.UUID `json:"variantId" format:"uuid"`
	WarehouseID  uuid.UUID  `json:"warehouseId" required:"true" format:"uuid"`
	TargetQty    int64      `json:"targetQty" required:"true" minimum:"-1000000000" maximum:"1000000000"`
	Reason       string     `json:"reason" required:"true" minLength:"1" maxLength:"500"`
	ExpectedQty  *money.Qty `json:"expectedQty" doc:"refuses the change when the quantity is another one"`
	ReorderPoint *money.Qty `json:"reorderPoint" minimum:"0" maximum:"1000000000" doc:"null = as it is"`
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
	k := trade.StockKey{Product: in.ProductID}
	if in.VariantID != nil {
		k.Variant = *in.VariantID
	}
	p, name, err := s.adjustable(ctx, tx, by.Company, in, k)
	if err != nil {
		return Stock{}, err
	}
	st, err := lockStock(ctx, tx, by.Company, in.WarehouseID, k)
	if err != nil {
		return Stock{}, err
	}
	if in.ExpectedQty != nil && *in.ExpectedQty != st.Qty {
		return Stock{}, fault.StateConflict("STOCK_CHANGED", "the quantity is %s, expectedQty says %s; read it again", st.Qty, *in.ExpectedQty).With("qty", st.Qty)
	}
	before := st
	st.Qty = money.Units(in.TargetQty)
	if in.ReorderPoint != nil {
		st.ReorderPoint = *in.ReorderPoint
	}
	st.describe(p, k, name)
	if st.Qty == before.Qty && st.ReorderPoint == before.ReorderPoint {
		return st, nil
	}
	st.Touch(tx.Now())
	updateStock(tx, st, k)
	if st.Qty == before.Qty {
		return st, nil
	}
	d := trade.StockDelta{Warehouse: in.WarehouseID, StockKey: k, Qty: st.Qty - before.Qty}
	m := newMovement(tx, by, trade.StockDocument{Movement: "adjustment", Reason: in.Reason}, d, p, name, st.Qty)
	if err := s.record(ctx, tx, by, m); err != nil {
		return Stock{}, err
	}
	return st, outbox.Raise(ctx, tx, by.Company, outbox.Event{
		Name: stockAdjusted.Name, Actor: by.Actor, Type: "stock", ID: st.ID, Meta: st.Meta, Data: st,
		Extra: adjusted{PreviousQty: before.Qty, Delta: d.Qty, Reason: in.Reason, MovementID: m.ID},
	})
}

// adjustable reads what the adjustment refers to.
func (s *Service) adjustable(ctx context.Context, tx *db.Tx, company tenant.ID, in Adjustment, k trade.StockKey) (p trade.StockProduct, warehouse string, err error) {
	names, err := selectNames(ctx, tx, company, []uuid.UUID{in.WarehouseID})
	if err != nil {
		return p, "", err
	}
	warehouse, ok := names[in.WarehouseID]
	if !ok {
		return p, "", fault.ReferenceNotFound("WAREHOUSE", "warehouseId", in.WarehouseID.String())
	}
	bare := trade.StockKey{Product: in.ProductID}
	products, err := s.products.StockProducts(ctx, tx, company, []trade.StockKey{bare, k})
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

func (st *Stock) describe(p trade.StockProduct, k trade.StockKey, warehouse string) {
	st.ProductName, st.ProductSKU, st.WarehouseName = p.Name, p.SKU, warehouse
	st.VariantID, st.VariantSKU, st.VariantAttributes = k.VariantID(), p.VariantSKU, p.VariantAttributes
	st.CategoryID, st.CategoryName = p.CategoryID, p.CategoryName
	st.Available = st.Qty - st.Reserved
	st.IsLowStock = st.ReorderPoint > 0 && st.Qty <= st.ReorderPoint
}
