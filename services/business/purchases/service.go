// Package purchases manages purchase orders: what a company asks its suppliers for. Receipts that name an order count towards it. Goods below
// their reorder points become drafts. Products, stock, suppliers and users belong to other domains, which it uses through
// [stockdoc.Sources] and the interfaces below.
package purchases

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
	"github.com/tradegrid/tradegrid/services/business/stockdoc"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Levels reads stock.
type Levels interface {
	// LowStock returns up to limit goods of the warehouse of which no more is available than their reorder point.
	LowStock(ctx context.Context, q db.Querier, company tenant.ID, warehouse uuid.UUID, limit int) ([]trade.LowStock, error)
}

// DefaultSuppliers returns the suppliers of those products that have one.
type DefaultSuppliers func(ctx context.Context, q db.Querier, company tenant.ID, products []uuid.UUID) (map[uuid.UUID]uuid.UUID, error)

// Config holds the dependencies of the service.
type Config struct {
	DB *db.DB
	stockdoc.Sources
	Levels           Levels
	DefaultSuppliers DefaultSuppliers
}

// Service manages the purchase orders of all companies.
type Service struct {
	stockdoc.Reads[Order, ListItem, Filter]
	cfg Config
}

// New returns a service.
func New(cfg Config) *Service {
	return &Service{stockdoc.NewReads(cfg.DB, cfg.Sources, table, items), cfg}
}

// Create makes a draft.
//
// Errors: 404 for a reference, 409 PRODUCT_VARIANT_REQUIRED.
func (s *Service) Create(ctx context.Context, tx *db.Tx, by access.Caller, in Input) (Order, error) {
	if err := tx.LockInProcess(ctx, "purchase_orders", by.Company); err != nil {
		return Order{}, err
	}
	items, err := stockdoc.Identify(ctx, tx, s.cfg.Sources, by.Company, in.Items)
	if err != nil {
		return Order{}, err
	}
	warehouse, err := s.cfg.OrDefault(ctx, tx, by.Company, in.WarehouseID)
	if err != nil {
		return Order{}, err
	}
	o := Order{ListItem: ListItem{
		Header: stockdoc.NewHeader(tx, by, warehouse, in.Note, in.External), Status: statusDraft, SupplierID: in.SupplierID, ExpectedAt: in.ExpectedAt,
	}}
	record.PlanOf[Order]().Normalise(&o)
	if err := s.resolve(ctx, tx, nil, &o, items); err != nil {
		return Order{}, err
	}
	if err := o.TakeNumber(ctx, tx, trade.DocumentPurchaseOrder); err != nil {
		return Order{}, err
	}
	return table.Create(ctx, tx, by, o, created)
}

// resolve reads what the order newly refers to, and makes the lines of the items; without items they stay.
func (s *Service) resolve(ctx context.Context, q db.Querier, before, o *Order, in []stockdoc.CostInput) error {
	var refs reference.Set
	if before == nil || o.WarehouseID != before.WarehouseID {
		refs.AddNamed("WAREHOUSE", "warehouseId", &o.WarehouseID, s.cfg.Stock.WarehouseNames, &o.WarehouseName)
	}
	if before == nil || o.SupplierID != before.SupplierID {
		refs.AddNamed("SUPPLIER", "supplierId", &o.SupplierID, s.cfg.Suppliers, &o.SupplierName)
	}
	goods, err := stockdoc.Load(ctx, q, s.cfg.Sources, &o.Header, refs, in, table.NotTaken(before, o))
	if err != nil || in == nil {
		return err
	}
	o.Totals = stockdoc.Totals{}
	o.Lines, err = stockdoc.Build(goods, in, func(_ int, in stockdoc.CostInput, item stockdoc.Item, of trade.Item) (Line, error) {
		l, err := in.Costed(item, of, &o.Totals)
		return Line{Costed: l}, err
	})
	return err
}

// Update changes a draft. Of an order that was sent, only the expected time, the note, the external id and the metadata can change.
//
// Errors: 404, 412, those of [Service.Create], 409 PURCHASE_ORDER_NOT_DRAFT.
func (s *Service) Update(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[Input]) (Order, error) {
	return table.Change(ctx, tx, by, id, func(before Order, o *Order) (err error) {
		v := Input{SupplierID: o.SupplierID, WarehouseID: o.WarehouseID, ExpectedAt: o.ExpectedAt, Note: o.Note, External: o.External}
		in.Apply(&v)
		o.SupplierID, o.WarehouseID, o.ExpectedAt, o.Note, o.External = v.SupplierID, v.WarehouseID, v.ExpectedAt, v.Note, v.External
		if v.Items, err = stockdoc.Identify(ctx, tx, s.cfg.Sources, by.Company, v.Items); err != nil {
			return err
		}
		if o.described(v.Items) {
			v.Items = nil
		}
		if before.Status != statusDraft && (v.Items != nil || o.WarehouseID != before.WarehouseID || o.SupplierID != before.SupplierID) {
			return stockdoc.OnlyDrafts(entity, before.Status, "supplierId, warehouseId and items")
		}
		return s.resolve(ctx, tx, &before, o, v.Items)
	}, updated)
}

// Send marks a draft as sent to the supplier.
//
// Errors: 404, 412, 409 PURCHASE_ORDER_STATUS_TRANSITION_INVALID.
func (s *Service) Send(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (Order, error) {
	return table.Change(ctx, tx, by, id, func(before Order, o *Order) error {
		o.SentAt = new(jsontype.At(tx.Now()))
		return s.move(ctx, tx, before.Status, statusSent, o)
	}, sent)
}

// Close ends an order of which the rest will not arrive.
//
// Errors: 404, 412, 409 PURCHASE_ORDER_STATUS_TRANSITION_INVALID.
func (s *Service) Close(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (Order, error) {
	return table.Change(ctx, tx, by, id, func(before Order, o *Order) error {
		o.ClosedAt = new(jsontype.At(tx.Now()))
		return s.move(ctx, tx, before.Status, statusReceived, o)
	}, closed)
}

// Cancel cancels an order for which nothing has arrived.
//
// Errors: 404, 412, 409 PURCHASE_ORDER_STATUS_TRANSITION_INVALID.
func (s *Service) Cancel(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (Order, error) {
	return table.Change(ctx, tx, by, id, func(before Order, o *Order) error {
		o.CancelledAt = new(jsontype.At(tx.Now()))
		return s.move(ctx, tx, before.Status, statusCancelled, o)
	}, cancelled)
}

func (s *Service) move(ctx context.Context, q db.Querier, from, to string, o *Order) error {
	if err := states.Check(entity, from, to); err != nil {
		return err
	}
	o.Status = to
	return s.cfg.NameCreator(&o.Header)(ctx, q)
}

// Receive counts goods that a receipt brought towards an order, which it locks, and returns the number of the order; nil if there is none
// with this id: the id is one of another system.
//
// Errors: 409 PURCHASE_ORDER_NOT_SENT.
func (s *Service) Receive(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, goods map[trade.StockKey]money.Qty) (*int64, error) {
	o, err := table.Change(ctx, tx, by.Unconditional(), id, func(before Order, o *Order) error {
		if err := before.checkSent(); err != nil {
			return err
		}
		o.receive(goods)
		return s.cfg.NameCreator(&o.Header)(ctx, tx)
	}, received)
	if apierr.Is(err, entity+"_NOT_FOUND") {
		return nil, nil //nolint:nilnil // no number
	}
	return &o.Number, err
}
