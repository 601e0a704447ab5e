// Package returns manages returns to suppliers: goods that leave stock for those who delivered them, with what they cost. A
// return is immutable, except that it can be cancelled. Products, stock and users belong to other domains, which it uses through
// [stockdoc.Sources].
package returns

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
	"github.com/tradegrid/tradegrid/services/business/stockdoc"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Config holds the dependencies of the service.
type Config struct {
	DB *db.DB
	stockdoc.Sources
	Receipts reference.Known
}

// Service manages the returns to suppliers of all companies.
type Service struct {
	stockdoc.Reads[Return, ListItem, Filter]
	cfg Config
}

// New returns a service.
func New(cfg Config) *Service {
	return &Service{stockdoc.NewReads(cfg.DB, cfg.Sources, table, items), cfg}
}

// Create posts a return to a supplier: its goods leave stock at once.
//
// Errors: 404 for a reference, 409 PRODUCT_VARIANT_REQUIRED, 409 STOCK_ACCOUNTING_DISABLED, 409 STOCK_INSUFFICIENT.
func (s *Service) Create(ctx context.Context, tx *db.Tx, by access.Caller, in Input) (Return, error) {
	if err := tx.LockInProcess(ctx, "supplier_returns", by.Company); err != nil {
		return Return{}, err
	}
	warehouse, err := s.cfg.OrDefault(ctx, tx, by.Company, in.WarehouseID)
	if err != nil {
		return Return{}, err
	}
	r := Return{ListItem: ListItem{Header: stockdoc.NewHeader(tx, by, warehouse, in.Note, in.External), Status: statusPosted, SupplierID: in.SupplierID, ReceiptID: in.ReceiptID, Reason: in.Reason}}
	record.PlanOf[Return]().Normalise(&r)
	if in.Items, err = stockdoc.Identify(ctx, tx, s.cfg.Sources, by.Company, in.Items); err != nil {
		return Return{}, err
	}
	var refs reference.Set
	refs.AddNamed("WAREHOUSE", "warehouseId", &r.WarehouseID, s.cfg.Stock.WarehouseNames, &r.WarehouseName)
	refs.AddNamed("SUPPLIER", "supplierId", &r.SupplierID, s.cfg.Suppliers, &r.SupplierName)
	refs.Add("RECEIPT", "receiptId", nil, r.ReceiptID, s.cfg.Receipts)
	goods, err := stockdoc.Load(ctx, tx, s.cfg.Sources, &r.Header, refs, in.Items, table.NotTaken(nil, &r))
	if err != nil {
		return Return{}, err
	}
	r.Lines, err = stockdoc.Build(goods, in.Items, func(i int, in stockdoc.CostInput, item stockdoc.Item, of trade.Item) (Line, error) {
		l, err := in.Stocked(i, item, of, &r.Totals)
		return Line{l}, err
	})
	if err != nil {
		return Return{}, err
	}
	if err := r.TakeNumber(ctx, tx, trade.DocumentSupplierReturn); err != nil {
		return Return{}, err
	}
	if err := s.cfg.Stock.Move(ctx, tx, by, r.document(trade.MovementSupplierReturn), r.deltas(-1)); err != nil {
		return Return{}, err
	}
	return table.Create(ctx, tx, by, r, created)
}

// Update changes the external id and the metadata of a return to a supplier.
func (s *Service) Update(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[ChangeFields]) (Return, error) {
	return table.Change(ctx, tx, by, id, func(_ Return, r *Return) error {
		v := ChangeFields{r.External}
		in.Apply(&v)
		r.External = v.External
		return s.cfg.NameCreator(&r.Header)(ctx, tx)
	}, updated)
}

// Cancel puts the goods of a return to a supplier back on stock.
//
// Errors: 404, 412, 409 SUPPLIER_RETURN_STATUS_TRANSITION_INVALID, 409 WAREHOUSE_DELETED.
func (s *Service) Cancel(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (Return, error) {
	return table.Change(ctx, tx, by, id, func(before Return, r *Return) error {
		if err := states.Check(entity, before.Status, statusCancelled); err != nil {
			return err
		}
		if err := s.cfg.CheckWarehouses(ctx, tx, &r.Header, r.WarehouseID); err != nil {
			return err
		}
		r.Status, r.CancelledAt = statusCancelled, new(jsontype.At(tx.Now()))
		return s.cfg.Stock.Move(ctx, tx, by, r.document(trade.MovementSupplierReturnCancel), r.deltas(1))
	}, cancelled)
}
