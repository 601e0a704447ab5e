// Package writeoffs manages write-offs: goods that leave stock because they are damaged, expired, lost or used, with what they cost. A
// write-off is immutable, except that it can be cancelled. Products, stock and users belong to other domains, which it uses through
// [stockdoc.Sources].
package writeoffs

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
}

// Service manages the write-offs of all companies.
type Service struct {
	stockdoc.Reads[Writeoff, ListItem, Filter]
	cfg Config
}

// New returns a service.
func New(cfg Config) *Service {
	return &Service{stockdoc.NewReads(cfg.DB, cfg.Sources, table, items), cfg}
}

// Create posts a write-off: its goods leave stock at once.
//
// Errors: 404 for a reference, 409 PRODUCT_VARIANT_REQUIRED, 409 STOCK_ACCOUNTING_DISABLED, 409 STOCK_INSUFFICIENT.
func (s *Service) Create(ctx context.Context, tx *db.Tx, by access.Caller, in Input) (Writeoff, error) {
	if err := tx.LockInProcess(ctx, "write_offs", by.Company); err != nil {
		return Writeoff{}, err
	}
	warehouse, err := s.cfg.OrDefault(ctx, tx, by.Company, in.WarehouseID)
	if err != nil {
		return Writeoff{}, err
	}
	w := Writeoff{ListItem: ListItem{Header: stockdoc.NewHeader(tx, by, warehouse, in.Note, in.External), Status: statusPosted, Reason: in.Reason}}
	record.PlanOf[Writeoff]().Normalise(&w)
	if in.Items, err = stockdoc.Identify(ctx, tx, s.cfg.Sources, by.Company, in.Items); err != nil {
		return Writeoff{}, err
	}
	var refs reference.Set
	refs.AddNamed("WAREHOUSE", "warehouseId", &w.WarehouseID, s.cfg.Stock.WarehouseNames, &w.WarehouseName)
	goods, err := stockdoc.Load(ctx, tx, s.cfg.Sources, &w.Header, refs, in.Items, table.NotTaken(nil, &w))
	if err != nil {
		return Writeoff{}, err
	}
	w.Lines, err = stockdoc.Build(goods, in.Items, func(i int, in stockdoc.CostInput, item stockdoc.Item, of trade.Item) (Line, error) {
		l, err := in.Stocked(i, item, of, &w.Totals)
		return Line{l}, err
	})
	if err != nil {
		return Writeoff{}, err
	}
	if err := w.TakeNumber(ctx, tx, trade.DocumentWriteOff); err != nil {
		return Writeoff{}, err
	}
	if err := s.cfg.Stock.Move(ctx, tx, by, w.document(trade.MovementWriteOff), w.deltas(-1)); err != nil {
		return Writeoff{}, err
	}
	return table.Create(ctx, tx, by, w, created)
}

// Update changes the external id and the metadata of a write-off.
func (s *Service) Update(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[ChangeFields]) (Writeoff, error) {
	return table.Change(ctx, tx, by, id, func(_ Writeoff, w *Writeoff) error {
		v := ChangeFields{w.External}
		in.Apply(&v)
		w.External = v.External
		return s.cfg.NameCreator(&w.Header)(ctx, tx)
	}, updated)
}

// Cancel puts the goods of a write-off back on stock.
//
// Errors: 404, 412, 409 WRITE_OFF_STATUS_TRANSITION_INVALID, 409 WAREHOUSE_DELETED.
func (s *Service) Cancel(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (Writeoff, error) {
	return table.Change(ctx, tx, by, id, func(before Writeoff, w *Writeoff) error {
		if err := states.Check(entity, before.Status, statusCancelled); err != nil {
			return err
		}
		if err := s.cfg.CheckWarehouses(ctx, tx, &w.Header, w.WarehouseID); err != nil {
			return err
		}
		w.Status, w.CancelledAt = statusCancelled, new(jsontype.At(tx.Now()))
		return s.cfg.Stock.Move(ctx, tx, by, w.document(trade.MovementWriteOffCancel), w.deltas(1))
	}, cancelled)
}
