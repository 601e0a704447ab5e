// Package receipts manages stock receipts: goods that arrive in a warehouse, with their costs. A receipt is immutable, except
// that it can be cancelled as long as its goods are still there. Items, stock, suppliers and users belong to other domains,
// which it uses through the interfaces below.
package receipts

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/apierr"
	"github.com/tradegrid/tradegrid/pkg/batchloader"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/jsontype"
	"github.com/tradegrid/tradegrid/pkg/list"
	"github.com/tradegrid/tradegrid/pkg/numbering"
	"github.com/tradegrid/tradegrid/pkg/outbox"
	"github.com/tradegrid/tradegrid/pkg/record"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/trade"
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

// Names returns the names of those ids that are records of the company.
type Names func(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) (map[uuid.UUID]string, error)

// Config holds the dependencies of the service.
type Config struct {
	DB        *db.DB
	Catalog   Catalog
	Stock     Stock
	Suppliers Names
	Users     Names
}

// Service manages the receipts of all companies.
type Service struct {
	cfg Config
	db  *db.DB
}

// New returns a service.
func New(cfg Config) *Service { return &Service{cfg: cfg, db: cfg.DB} }

const (
	counterKind = "receipt"
	aggregate   = "receipt"
)

// List returns a page of receipts. The search matches the number, the name of the supplier and the note.
func (s *Service) List(ctx context.Context, by access.Caller, f Filter) (*list.Page[ListItem], error) {
	page, err := items.Page(ctx, s.db, by.Company, f)
	if err != nil || len(page.Items) == 0 {
		return page, err
	}
	ids := []uuid.UUID{}
	for _, r := range page.Items {
		if !slices.Contains(ids, r.CreatedByID) {
			ids = append(ids, r.CreatedByID)
		}
	}
	names, err := s.cfg.Users(ctx, s.db, by.Company, ids)
	for i := range page.Items {
		page.Items[i].nameCreator(names)
	}
	return page, err
}

func (h *Header) nameCreator(names map[uuid.UUID]string) {
	if name := names[h.CreatedByID]; name != "" {
		h.CreatedByName = &name
	}
}

// Get reads one receipt with its lines.
func (s *Service) Get(ctx context.Context, by access.Caller, id uuid.UUID) (Receipt, error) {
	return s.read(ctx, s.db, by.Company, id)
}

// read reads a receipt with its lines and names.
func (s *Service) read(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID) (r Receipt, err error) {
	stored, err := table.Get(ctx, q, company, id)
	if err != nil {
		return r, err
	}
	r.Header = stored.Header
	return r, s.complete(ctx, q, &r)
}

// complete reads what is not in the row of a receipt.
func (s *Service) complete(ctx context.Context, q db.Querier, r *Receipt) error {
	var names map[uuid.UUID]string
	err := batchloader.Load(ctx, q, func(ctx context.Context, q db.Querier) (err error) {
		r.Lines, err = selectLines(ctx, q, r.CompanyID, r.ID)
		return err
	}, func(ctx context.Context, q db.Querier) (err error) {
		names, err = s.cfg.Users(ctx, q, r.CompanyID, []uuid.UUID{r.CreatedByID})
		return err
	})
	r.nameCreator(names)
	return err
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
	if err := tx.LockInProcess(ctx, "receipts of "+by.Company.String()); err != nil {
		return Receipt{}, err
	}
	r := Receipt{Header: Header{
		Key: record.Key{ID: record.NewID(), CompanyID: by.Company}, Status: statusPosted, Date: date, WarehouseID: in.WarehouseID,
		SupplierID: in.SupplierID, PurchaseOrderID: in.PurchaseOrderID, Note: in.Note, CreatedByID: by.Actor, Meta: record.New(tx.Now()),
	}}
	if err := s.resolve(ctx, tx, &r, in.Items); err != nil {
		return Receipt{}, err
	}
	headers.Normalise(&r.Header)
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
	insertReceipt(tx, &r)
	return r, s.raise(ctx, tx, by, created.Name, &r)
}

// resolve reads the references of a new receipt in one round trip, and makes its lines.
func (s *Service) resolve(ctx context.Context, q db.Querier, r *Receipt, in []LineInput) error {
	var b lineBuilder
	var warehouses, suppliers, users map[uuid.UUID]string
	refs := make([]trade.ItemRef, len(in))
	keys := make([]trade.StockKey, len(in))
	for i := range in {
		refs[i], keys[i] = in[i].ref(), keyOf(in[i].ref())
	}
	reads := []batchloader.Read{func(ctx context.Context, q db.Querier) (err error) {
		warehouses, err = s.cfg.Stock.WarehouseNames(ctx, q, r.CompanyID, []uuid.UUID{r.WarehouseID})
		return err
	}, func(ctx context.Context, q db.Querier) (err error) {
		b.items, err = s.cfg.Catalog.OrderItems(ctx, q, r.CompanyID, refs)
		return err
	}, func(ctx context.Context, q db.Querier) (err error) {
		b.products, err = s.cfg.Catalog.StockProducts(ctx, q, r.CompanyID, keys)
		return err
	}, func(ctx context.Context, q db.Querier) (err error) {
		users, err = s.cfg.Users(ctx, q, r.CompanyID, []uuid.UUID{r.CreatedByID})
		return err
	}}
	if r.SupplierID != nil {
		reads = append(reads, func(ctx context.Context, q db.Querier) (err error) {
			suppliers, err = s.cfg.Suppliers(ctx, q, r.CompanyID, []uuid.UUID{*r.SupplierID})
			return err
		})
	}
	if err := batchloader.Load(ctx, q, reads...); err != nil {
		return err
	}
	var ok bool
	if r.WarehouseName, ok = warehouses[r.WarehouseID]; !ok {
		return apierr.ReferenceNotFound("WAREHOUSE", "warehouseId", r.WarehouseID.String())
	}
	if r.SupplierID != nil {
		name, ok := suppliers[*r.SupplierID]
		if !ok {
			return apierr.ReferenceNotFound("SUPPLIER", "supplierId", r.SupplierID.String())
		}
		r.SupplierName = &name
	}
	r.nameCreator(users)
	var err error
	r.Lines, err = b.lines(in)
	return err
}

// Cancel takes the goods of a receipt off stock again.
//
// Errors: 404, 412, 409 RECEIPT_ALREADY_CANCELLED, 409 WAREHOUSE_DELETED, 409 RECEIPT_STOCK_CONSUMED with meta.lines.
func (s *Service) Cancel(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (Receipt, error) {
	stored, err := table.Lock(ctx, tx, by, id)
	if err != nil {
		return Receipt{}, err
	}
	r := Receipt{Header: stored.Header}
	if r.Status == statusCancelled {
		return Receipt{}, errCancelled
	}
	if err := s.complete(ctx, tx, &r); err != nil {
		return Receipt{}, err
	}
	names, err := s.cfg.Stock.WarehouseNames(ctx, tx, by.Company, []uuid.UUID{r.WarehouseID})
	if err != nil {
		return Receipt{}, err
	}
	if _, ok := names[r.WarehouseID]; !ok {
		return Receipt{}, apierr.StateConflict("WAREHOUSE_DELETED", "the warehouse of the receipt was deleted; the receipt cannot be cancelled").
			With("warehouseId", r.WarehouseID)
	}
	if err := s.cfg.Stock.Withdraw(ctx, tx, by, r.document(trade.MovementReceiptCancel), r.deltas(-1), consumed); err != nil {
		return Receipt{}, err
	}
	at := jsontype.At(tx.Now())
	r.Status, r.CancelledAt = statusCancelled, &at
	r.Touch(tx.Now())
	table.Update(tx, rowOf(&r))
	return r, s.raise(ctx, tx, by, cancelled.Name, &r)
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

func (s *Service) raise(ctx context.Context, tx *db.Tx, by access.Caller, name string, r *Receipt) error {
	return outbox.Raise(ctx, tx, by.Company, outbox.Event{Name: name, Actor: by.Actor, Type: aggregate, ID: r.ID, Meta: r.Meta, Data: r})
}
