// Package transfers manages transfers of goods between the warehouses of a company. Sending takes the goods out of one warehouse,
// receiving puts into the other what arrived, which may be less or more. Products, stock and users belong to other domains, which
// it uses through [stockdoc.Sources].
package transfers

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

// Service manages the transfers of all companies.
type Service struct {
	stockdoc.Reads[Transfer, ListItem, Filter]
	cfg Config
}

// New returns a service.
func New(cfg Config) *Service {
	return &Service{stockdoc.NewReads(cfg.DB, cfg.Sources, table, items), cfg}
}

// Create makes a draft, which moves nothing.
//
// Errors: 400 for a transfer within one warehouse, 404 for a reference, 409 PRODUCT_VARIANT_REQUIRED, 409 STOCK_ACCOUNTING_DISABLED.
func (s *Service) Create(ctx context.Context, tx *db.Tx, by access.Caller, in Input) (Transfer, error) {
	if err := tx.LockInProcess(ctx, "transfers", by.Company); err != nil {
		return Transfer{}, err
	}
	items, err := stockdoc.Identify(ctx, tx, s.cfg.Sources, by.Company, in.Items)
	if err != nil {
		return Transfer{}, err
	}
	from, err := s.cfg.OrDefault(ctx, tx, by.Company, in.WarehouseID)
	if err != nil {
		return Transfer{}, err
	}
	t := Transfer{ListItem: ListItem{
		Header: stockdoc.NewHeader(tx, by, from, in.Note, in.External), Status: statusDraft, ToWarehouseID: in.ToWarehouseID,
	}}
	record.PlanOf[Transfer]().Normalise(&t)
	if err := s.settle(ctx, tx, nil, &t, items); err != nil {
		return Transfer{}, err
	}
	if err := t.TakeNumber(ctx, tx, trade.DocumentTransfer); err != nil {
		return Transfer{}, err
	}
	return table.Create(ctx, tx, by, t, created)
}

// Update changes a draft. Of a transfer that was sent, only the note, the external id and the metadata can change.
//
// Errors: 404, 412, those of [Service.Create], 409 TRANSFER_NOT_DRAFT.
func (s *Service) Update(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[Input]) (Transfer, error) {
	return table.Change(ctx, tx, by, id, func(before Transfer, t *Transfer) (err error) {
		v := Input{WarehouseID: t.WarehouseID, ToWarehouseID: t.ToWarehouseID, Note: t.Note, External: t.External}
		in.Apply(&v)
		t.WarehouseID, t.ToWarehouseID, t.Note, t.External = v.WarehouseID, v.ToWarehouseID, v.Note, v.External
		if v.Items, err = stockdoc.Identify(ctx, tx, s.cfg.Sources, by.Company, v.Items); err != nil {
			return err
		}
		if t.described(v.Items) {
			v.Items = nil
		}
		if before.Status != statusDraft && (v.Items != nil || t.WarehouseID != before.WarehouseID || t.ToWarehouseID != before.ToWarehouseID) {
			return stockdoc.OnlyDrafts(entity, before.Status, "warehouseId, toWarehouseId and items")
		}
		return s.settle(ctx, tx, &before, t, v.Items)
	}, updated)
}

// settle reads what the transfer newly refers to, and makes the lines of the items; without items they stay.
func (s *Service) settle(ctx context.Context, q db.Querier, before, t *Transfer, in []stockdoc.QtyInput) error {
	if t.WarehouseID == t.ToWarehouseID {
		return errSameWarehouse
	}
	var refs reference.Set
	if before == nil || t.WarehouseID != before.WarehouseID {
		refs.AddNamed("WAREHOUSE", "warehouseId", &t.WarehouseID, s.cfg.Stock.WarehouseNames, &t.WarehouseName)
	}
	if before == nil || t.ToWarehouseID != before.ToWarehouseID {
		refs.AddNamed("WAREHOUSE", "toWarehouseId", &t.ToWarehouseID, s.cfg.Stock.WarehouseNames, &t.ToWarehouseName)
	}
	goods, err := stockdoc.Load(ctx, q, s.cfg.Sources, &t.Header, refs, in, table.NotTaken(before, t))
	if err != nil || in == nil {
		return err
	}
	t.Lines, err = stockdoc.Build(goods, in, func(i int, in stockdoc.QtyInput, item stockdoc.Item, of trade.Item) (Line, error) {
		return Line{Item: item, Qty: in.Qty}, stockdoc.CheckStocked(i, item, of)
	})
	t.total()
	return err
}

// Send takes the goods out of the warehouse that sends.
//
// Errors: 404, 412, 409 TRANSFER_STATUS_TRANSITION_INVALID, 409 WAREHOUSE_DELETED, 409 STOCK_INSUFFICIENT.
func (s *Service) Send(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (Transfer, error) {
	return table.Change(ctx, tx, by, id, func(before Transfer, t *Transfer) error {
		if err := s.move(ctx, tx, before.Status, statusSent, t, t.WarehouseID, t.ToWarehouseID); err != nil {
			return err
		}
		t.SentAt = new(jsontype.At(tx.Now()))
		return s.cfg.Stock.Move(ctx, tx, by, t.Moves(trade.DocumentTransfer, trade.MovementTransferOut), t.sent(-1))
	}, sent)
}

// Receive puts what arrived into the warehouse that receives. What is missing stays out of stock, and the transfer says so.
//
// Errors: 400 for a line that is named twice, 404, 404 TRANSFER_LINE_NOT_FOUND, 412, 409 TRANSFER_STATUS_TRANSITION_INVALID, 409
// WAREHOUSE_DELETED unless nothing arrived.
func (s *Service) Receive(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in Arrival) (Transfer, error) {
	return table.Change(ctx, tx, by, id, func(before Transfer, t *Transfer) error {
		if err := s.move(ctx, tx, before.Status, statusReceived, t); err != nil {
			return err
		}
		if err := t.receive(in.Items); err != nil {
			return err
		}
		t.ReceivedAt = new(jsontype.At(tx.Now()))
		return s.cfg.Stock.Move(ctx, tx, by, t.Moves(trade.DocumentTransfer, trade.MovementTransferIn), t.arrived())
	}, received)
}

// Cancel cancels a transfer that has not arrived. What was sent goes back to the warehouse that sent it.
//
// Errors: 404, 412, 409 TRANSFER_STATUS_TRANSITION_INVALID, 409 WAREHOUSE_DELETED.
func (s *Service) Cancel(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (Transfer, error) {
	return table.Change(ctx, tx, by, id, func(before Transfer, t *Transfer) error {
		if err := s.move(ctx, tx, before.Status, statusCancelled, t); err != nil {
			return err
		}
		t.CancelledAt = new(jsontype.At(tx.Now()))
		if before.Status == statusDraft {
			return nil
		}
		return s.cfg.Stock.Move(ctx, tx, by, t.Moves(trade.DocumentTransfer, trade.MovementTransferCancel), t.sent(1))
	}, cancelled)
}

// move changes the status, if it may follow that before and the warehouses are still there.
func (s *Service) move(ctx context.Context, q db.Querier, from, to string, t *Transfer, warehouses ...uuid.UUID) error {
	if err := states.Check(entity, from, to); err != nil {
		return err
	}
	t.Status = to
	return s.cfg.CheckWarehouses(ctx, q, &t.Header, warehouses...)
}
