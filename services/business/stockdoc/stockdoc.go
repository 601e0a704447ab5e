// Package stockdoc holds what the documents about stock have in common: receipts, transfers, write-offs, counts, purchase orders and
// returns to suppliers. Each has a header with a number of its own and lines with products. What a document does to stock, it does in
// the transaction that changes its state, so a movement is stored exactly once. States and rules stay in the domain of each document.
//
// Locks are taken in one order by all of them: documents first, then the counter of numbers, then stock.
package stockdoc

import (
	"context"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/numbering"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Catalog reads products.
type Catalog interface {
	lineitem.Catalog
	// OrderItems reads the items of the refs. Unknown items are omitted.
	OrderItems(ctx context.Context, q db.Querier, company tenant.ID, refs []trade.ItemRef) (map[trade.ItemRef]trade.Item, error)
	// StockProducts reads the product data of stock records. Unknown keys are omitted.
	StockProducts(ctx context.Context, q db.Querier, company tenant.ID, keys []trade.StockKey) (map[trade.StockKey]trade.StockProduct, error)
}

// Stock is the warehouse as documents use it.
type Stock interface {
	// FindWarehouse returns the id of the given warehouse, or of the default one if id is nil. ok is false if there is none.
	FindWarehouse(ctx context.Context, q db.Querier, company tenant.ID, id *uuid.UUID) (found uuid.UUID, ok bool, err error)
	// WarehouseNames returns the names of those ids that are warehouses of the company.
	WarehouseNames(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) (map[uuid.UUID]string, error)
	// Move changes physical quantities and stores the movements of the document.
	Move(ctx context.Context, tx *db.Tx, by access.Caller, doc trade.StockDocument, deltas []trade.StockDelta) error
	// Withdraw is Move, but fails with what refuse makes of the shortages if a physical quantity would become negative.
	Withdraw(ctx context.Context, tx *db.Tx, by access.Caller, doc trade.StockDocument, deltas []trade.StockDelta, refuse func([]trade.StockShortage) error) error
}

// Sources are the domains whose records documents refer to.
type Sources struct {
	Catalog   Catalog
	Stock     Stock
	Suppliers reference.Names
	Users     reference.Names
}

// Header is what the header of every document has. Names are those at the time of the document.
type Header struct {
	record.Key
	Number        int64     `json:"number" db:",insert" doc:"sequential number per company, from 1, without gaps"`
	WarehouseID   uuid.UUID `json:"warehouseId" format:"uuid"`
	WarehouseName string    `json:"warehouseName"`
	Note          *string   `json:"note" search:"text"`
	record.External
	LinesCount    int32     `json:"linesCount"`
	CreatedByID   uuid.UUID `json:"createdById" format:"uuid" db:",insert"`
	CreatedByName *string   `json:"createdByName" db:"-" doc:"null for a token, or if the user was removed"`
	record.Meta

	Digits string `json:"-" db:"-" search:"text"` // the number, for searches
}

// NewHeader returns the header of a new document, without its number.
func NewHeader(tx *db.Tx, by access.Caller, warehouse uuid.UUID, note *string, external record.External) Header {
	return Header{
		Key: record.Key{ID: tx.NewID(), CompanyID: by.Company}, WarehouseID: warehouse, Note: note, External: external, CreatedByID: by.Actor,
	}
}

// Count sets what follows from the number and the lines of the document, as [record.Deriver] does.
func (h *Header) Count(lines int) {
	h.LinesCount, h.Digits = int32(lines), strconv.FormatInt(h.Number, 10)
}

// TakeNumber gives the document the next number of its kind. The row of the counter stays locked until the transaction ends.
func (h *Header) TakeNumber(ctx context.Context, tx *db.Tx, kind string) (err error) {
	h.Number, err = numbering.Take(ctx, tx, h.CompanyID, kind, 1)
	return err
}

// Moves is the document as the cause of movements.
func (h *Header) Moves(documentType, movement string) trade.StockDocument {
	return trade.StockDocument{Movement: movement, Type: documentType, ID: h.ID, Number: h.Number}
}

// OrDefault returns the warehouse of a new document: the given one, or the default one of the company if it is zero.
func (s Sources) OrDefault(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID) (uuid.UUID, error) {
	if id != uuid.Nil {
		return id, nil
	}
	found, ok, err := s.Stock.FindWarehouse(ctx, q, company, nil)
	return found, reference.Missing(err, ok, "WAREHOUSE", "warehouseId", id)
}

// nameCreators reads the names of those who created n documents.
func (s Sources) nameCreators(company tenant.ID, n int, at func(i int) *Header) batchloader.Read {
	return s.Users.Fill(company, n, func(i int) (*uuid.UUID, **string) { return &at(i).CreatedByID, &at(i).CreatedByName })
}

// NameCreator reads the name of who created a document.
func (s Sources) NameCreator(h *Header) batchloader.Read {
	return s.nameCreators(h.CompanyID, 1, func(int) *Header { return h })
}

// CheckWarehouses reads the name of who created a document, and returns a 409 if one of the warehouses was deleted.
func (s Sources) CheckWarehouses(ctx context.Context, q db.Querier, h *Header, ids ...uuid.UUID) error {
	var names map[uuid.UUID]string
	err := batchloader.Load(ctx, q, s.NameCreator(h), func(ctx context.Context, q db.Querier) (err error) {
		names, err = s.Stock.WarehouseNames(ctx, q, h.CompanyID, ids)
		return err
	})
	if err != nil {
		return err
	}
	for _, id := range ids {
		if _, ok := names[id]; !ok {
			return apierr.StateConflict("WAREHOUSE_DELETED", "the warehouse of the document was deleted; stock cannot move there").With("warehouseId", id)
		}
	}
	return nil
}

// Short returns what [Stock.Withdraw] makes of shortages: a 409 with the code, whose meta.lines has what is there and what is required.
func Short(code, message string) func([]trade.StockShortage) error {
	return func(short []trade.StockShortage) error {
		lines := make([]map[string]any, len(short))
		for i, l := range short {
			lines[i] = map[string]any{"productId": l.Product, "variantId": l.VariantID(), "qty": l.Qty, "required": l.Required}
		}
		return apierr.StateConflict(code, "%s", message).With("lines", lines)
	}
}

// States are the states of a document, each with those that may follow it.
type States map[string][]string

// Check returns a 409 if a document of the entity cannot change from one status to another.
func (s States) Check(entity, from, to string) error {
	if slices.Contains(s[from], to) {
		return nil
	}
	return apierr.StateConflict(entity+"_STATUS_TRANSITION_INVALID", "the status cannot change from %s to %s; use one of the statuses in meta.allowed", from, to).
		With("from", from).With("to", to).With("allowed", s[from])
}

// OnlyDrafts returns a 409 if a document of the entity is no draft any more; fields are those that only a draft can change.
func OnlyDrafts(entity, status, fields string) error {
	return apierr.StateConflict(entity+"_NOT_DRAFT", "the document is %s; %s can be changed in a draft only", status, fields).With("status", status)
}
