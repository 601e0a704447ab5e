// Package receipts manages stock receipts: goods that arrive in a warehouse, with their costs. A receipt is immutable, except
// that it can be cancelled as long as its goods are still there. Items, stock, suppliers and users belong to other domains,
// which it uses through [stockdoc.Sources].
package receipts

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
	"github.com/tradegrid/tradegrid/services/business/stockdoc"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// PurchaseOrders are what receipts count towards.
type PurchaseOrders interface {
	// Receive counts goods towards a purchase order, which it locks, and returns its number; nil if there is none with this id.
	Receive(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, goods map[trade.StockKey]money.Qty) (*int64, error)
}

// Config holds the dependencies of the service.
type Config struct {
	DB *db.DB
	stockdoc.Sources
	PurchaseOrders PurchaseOrders
}

// Service manages the receipts of all companies.
type Service struct {
	stockdoc.Reads[Receipt, ListItem, Filter]
	cfg Config
}

// New returns a service.
func New(cfg Config) *Service {
	return &Service{stockdoc.NewReads(cfg.DB, cfg.Sources, table, items), cfg}
}

// Create posts a receipt: its goods are on stock at once. The costs of the products stay as they are.
//
// Errors: 400 for a date too far in the future, 404 for a reference, 409 PRODUCT_VARIANT_REQUIRED, 409 PURCHASE_ORDER_NOT_SENT.
func (s *Service) Create(ctx context.Context, tx *db.Tx, by access.Caller, in Input) (Receipt, error) {
	date, err := dateOf(in.Date, s.cfg.DB.Now())
	if err != nil {
		return Receipt{}, err
	}
	// They all change the same counter row.
	if err := tx.LockInProcess(ctx, "receipts", by.Company); err != nil {
		return Receipt{}, err
	}
	r := Receipt{ListItem: ListItem{
		Header: stockdoc.NewHeader(tx, by, in.WarehouseID, in.Note, in.External), Status: statusPosted, Date: date,
		SupplierID: in.SupplierID, PurchaseOrderID: in.PurchaseOrderID,
	}}
	record.PlanOf[Receipt]().Normalise(&r)
	if in.Items, err = stockdoc.Identify(ctx, tx, s.cfg.Sources, by.Company, in.Items); err != nil {
		return Receipt{}, err
	}
	if err := s.resolve(ctx, tx, &r, in.Items); err != nil {
		return Receipt{}, err
	}
	if in.PurchaseOrderID != nil {
		if r.PurchaseOrderNo, err = s.cfg.PurchaseOrders.Receive(ctx, tx, by, *in.PurchaseOrderID, r.goods(1)); err != nil {
			return Receipt{}, err
		}
	}
	if err := r.TakeNumber(ctx, tx, trade.DocumentReceipt); err != nil {
		return Receipt{}, err
	}
	if in.Date == nil {
		r.Date = jsontype.At(tx.Now()) // as createdAt, under the lock of the counter
	}
	if err := s.cfg.Stock.Move(ctx, tx, by, r.Moves(trade.DocumentReceipt, trade.MovementReceipt), r.deltas(1)); err != nil {
		return Receipt{}, err
	}
	return table.Create(ctx, tx, by, r, created)
}

// resolve reads the references of a new receipt in one round trip, and makes its lines.
func (s *Service) resolve(ctx context.Context, q db.Querier, r *Receipt, in []LineInput) error {
	var supplier string
	var refs reference.Set
	refs.AddNamed("WAREHOUSE", "warehouseId", &r.WarehouseID, s.cfg.Stock.WarehouseNames, &r.WarehouseName)
	refs.AddNamed("SUPPLIER", "supplierId", r.SupplierID, s.cfg.Suppliers, &supplier)
	goods, err := stockdoc.Load(ctx, q, s.cfg.Sources, &r.Header, refs, in, table.NotTaken(nil, r))
	if err != nil {
		return err
	}
	if r.SupplierID != nil {
		r.SupplierName = &supplier
	}
	r.Lines, err = stockdoc.Build(goods, in, func(_ int, in LineInput, item stockdoc.Item, of trade.Item) (Line, error) {
		l, err := in.Post(item, of)
		if err == nil {
			err = r.Add(l.Cost)
		}
		return Line{l}, err
	})
	return err
}

// Update changes the external id and the metadata of a receipt.
func (s *Service) Update(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[ChangeFields]) (Receipt, error) {
	return table.Change(ctx, tx, by, id, func(_ Receipt, r *Receipt) error {
		v := ChangeFields{r.External}
		in.Apply(&v)
		r.External = v.External
		return s.cfg.NameCreator(&r.Header)(ctx, tx)
	}, updated)
}

// Cancel takes the goods of a receipt off stock again.
//
// Errors: 404, 412, 409 RECEIPT_ALREADY_CANCELLED, 409 WAREHOUSE_DELETED, 409 RECEIPT_STOCK_CONSUMED with meta.lines.
func (s *Service) Cancel(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (Receipt, error) {
	return table.Change(ctx, tx, by, id, func(before Receipt, r *Receipt) error {
		if before.Status == statusCancelled {
			return errCancelled
		}
		if err := s.cfg.CheckWarehouses(ctx, tx, &r.Header, r.WarehouseID); err != nil {
			return err
		}
		if r.PurchaseOrderNo != nil {
			if _, err := s.cfg.PurchaseOrders.Receive(ctx, tx, by, *r.PurchaseOrderID, r.goods(-1)); err != nil {
				return err
			}
		}
		r.Status, r.CancelledAt = statusCancelled, new(jsontype.At(tx.Now()))
		return s.cfg.Stock.Withdraw(ctx, tx, by, r.Moves(trade.DocumentReceipt, trade.MovementReceiptCancel), r.deltas(-1), consumed)
	}, cancelled)
}
