// Package receipts manages stock receipts: goods that arrive in a warehouse, with their costs. A receipt is immutable, except
// that it can be cancelled as long as its goods are still there. Items, stock, suppliers and users belong to other domains,
// which it uses through the interfaces below.
package receipts

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/numbering"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Catalog reads products.
type Catalog interface {
	// OrderItems reads the items of the refs. Unknown items are omitted.
	OrderItems(ctx context.Context, q db.Querier, company tenant.ID, refs []trade.ItemRef) (map[trade.ItemRef]trade.Item, error)
	// StockProducts reads the product data of stock records. Unknown keys are omitted.
	StockProducts(ctx context.Context, q db.Querier, company tenant.ID, keys []trade.StockKey) (map[trade.StockKey]trade.StockProduct, error)
}

// Stock is the warehouse as receipts use it.
type Stock interface {
	// WarehouseNames returns the names of those ids that are warehouses of the company.
	WarehouseNames(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) (map[uuid.UUID]string, error)
	// Move changes physical quantities and stores the movements of the document.
	Move(ctx context.Context, tx *db.Tx, by access.Caller, doc trade.StockDocument, deltas []trade.StockDelta) error
	// Withdraw is Move, but fails with what refuse makes of the shortages if a physical quantity would become negative.
	Withdraw(ctx context.Context, tx *db.Tx, by access.Caller, doc trade.StockDocument, deltas []trade.StockDelta, refuse func([]trade.StockShortage) error) error
}

// Config holds the dependencies of the service.
type Config struct {
	DB        *db.DB
	Catalog   Catalog
	Stock     Stock
	Suppliers reference.Names
	Users     reference.Names
}

// Service manages the receipts of all companies.
type Service struct{ cfg Config }

// New returns a service.
func New(cfg Config) *Service { return &Service{cfg: cfg} }

const counterKind = "receipt"

// List returns a page of receipts. The search matches the number, the name of the supplier and the note.
func (s *Service) List(ctx context.Context, by access.Caller, f Filter) (*list.Page[ListItem], error) {
	page, err := items.Page(ctx, s.cfg.DB, by.Company, f)
	if err != nil {
		return nil, err
	}
	return page, s.nameCreators(by.Company, len(page.Items), func(i int) *Header { return &page.Items[i].Header })(ctx, s.cfg.DB)
}

// nameCreators reads the names of those who created n receipts.
func (s *Service) nameCreators(company tenant.ID, n int, at func(i int) *Header) batchloader.Read {
	return s.cfg.Users.Fill(company, n, func(i int) (*uuid.UUID, **string) { return &at(i).CreatedByID, &at(i).CreatedByName })
}

func (s *Service) nameCreator(r *Receipt) batchloader.Read {
	return s.nameCreators(r.CompanyID, 1, func(int) *Header { return &r.Header })
}

// Get reads one receipt with its lines.
func (s *Service) Get(ctx context.Context, by access.Caller, id uuid.UUID) (Receipt, error) {
	r, err := table.Get(ctx, s.cfg.DB, by.Company, id)
	if err != nil {
		return r, err
	}
	err = s.nameCreator(&r)(ctx, s.cfg.DB)
	return r, err
}

// Create posts a receipt: its goods are on stock at once. The costs of the products stay as they are.
//
// Errors: 400 for a date too far in the future, 404 for a reference, 409 PRODUCT_VARIANT_REQUIRED.
func (s *Service) Create(ctx context.Context, tx *db.Tx, by access.Caller, in Input) (Receipt, error) {
	date, err := dateOf(in.Date, tx.Now())
	if err != nil {
		return Receipt{}, err
	}
	// They all change the same counter row.
	if err := tx.LockInProcess(ctx, "receipts", by.Company); err != nil {
		return Receipt{}, err
	}
	r := Receipt{Header: Header{
		Key: record.Key{ID: tx.NewID(), CompanyID: by.Company}, Status: statusPosted, Date: date, WarehouseID: in.WarehouseID,
		SupplierID: in.SupplierID, PurchaseOrderID: in.PurchaseOrderID, Note: in.Note, External: in.External, CreatedByID: by.Actor,
	}}
	if err := s.resolve(ctx, tx, &r, in.Items); err != nil {
		return Receipt{}, err
	}
	if err := r.total(); err != nil {
		return Receipt{}, err
	}
	// The counter row is locked before stock, as in every document.
	if r.Number, err = numbering.Take(ctx, tx, by.Company, counterKind, 1); err != nil {
		return Receipt{}, err
	}
	if err := s.cfg.Stock.Move(ctx, tx, by, r.document(trade.MovementReceipt), r.deltas(1)); err != nil {
		return Receipt{}, err
	}
	return table.Create(ctx, tx, by, r, created)
}

// resolve reads the references of a new receipt in one round trip, and makes its lines.
func (s *Service) resolve(ctx context.Context, q db.Querier, r *Receipt, in []LineInput) (err error) {
	var b lineBuilder
	var supplier string
	var refs reference.Set
	refs.AddNamed("WAREHOUSE", "warehouseId", &r.WarehouseID, s.cfg.Stock.WarehouseNames, &r.WarehouseName)
	refs.AddNamed("SUPPLIER", "supplierId", r.SupplierID, s.cfg.Suppliers, &supplier)
	products := make([]trade.ItemRef, len(in))
	keys := make([]trade.StockKey, len(in))
	for i := range in {
		products[i], keys[i] = in[i].ref(), keyOf(in[i].ref())
	}
	reads := append(refs.Reads(r.CompanyID), s.nameCreator(r), func(ctx context.Context, q db.Querier) (err error) {
		b.items, err = s.cfg.Catalog.OrderItems(ctx, q, r.CompanyID, products)
		return err
	}, func(ctx context.Context, q db.Querier) (err error) {
		b.products, err = s.cfg.Catalog.StockProducts(ctx, q, r.CompanyID, keys)
		return err
	})
	if err := batchloader.Load(ctx, q, reads...); err != nil {
		return err
	}
	if r.SupplierID != nil {
		r.SupplierName = &supplier
	}
	r.Lines, err = b.lines(in)
	return err
}

// Update changes the external id and the metadata of a receipt.
func (s *Service) Update(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[ChangeFields]) (Receipt, error) {
	return table.Change(ctx, tx, by, id, func(_ Receipt, r *Receipt) error {
		v := ChangeFields{r.External}
		in.Apply(&v)
		r.External = v.External
		return s.nameCreator(r)(ctx, tx)
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
		var names map[uuid.UUID]string
		err := batchloader.Load(ctx, tx, s.nameCreator(r), func(ctx context.Context, q db.Querier) (err error) {
			names, err = s.cfg.Stock.WarehouseNames(ctx, q, by.Company, []uuid.UUID{r.WarehouseID})
			return err
		})
		if err != nil {
			return err
		}
		if _, ok := names[r.WarehouseID]; !ok {
			return apierr.StateConflict("WAREHOUSE_DELETED", "the warehouse of the receipt was deleted; the receipt cannot be cancelled").
				With("warehouseId", r.WarehouseID)
		}
		r.Status, r.CancelledAt = statusCancelled, new(jsontype.At(tx.Now()))
		return s.cfg.Stock.Withdraw(ctx, tx, by, r.document(trade.MovementReceiptCancel), r.deltas(-1), consumed)
	}, cancelled)
}

// consumed is the 409 for goods that are no longer there.
func consumed(short []trade.StockShortage) error {
	lines := make([]map[string]any, len(short))
	for i, l := range short {
		lines[i] = map[string]any{"productId": l.Product, "variantId": l.VariantID(), "qty": l.Qty, "required": l.Required}
	}
	return apierr.StateConflict("RECEIPT_STOCK_CONSUMED", "part of the goods is no longer in the warehouse; adjust the stock of meta.lines first").
		With("lines", lines)
}

func (r *Receipt) document(movement string) trade.StockDocument {
	return trade.StockDocument{Movement: movement, Type: trade.DocumentReceipt, ID: r.ID, Number: r.Number}
}
