package orders

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/numbering"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

const shipmentCounter = "shipment"

// Ship posts a shipment of an order: its items leave the stock of a warehouse, and the delivery of the order is shipped. See
// docs/reference/rules.md#shipments.
func (s *Service) Ship(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in ShipmentFields) (Shipment, error) {
	o, err := table.Lock(ctx, tx, by, id)
	if err != nil {
		return Shipment{}, err
	}
	snapshot := table.Snapshot(o)
	sh := newShipment(tx, by, &o, &in)
	if sh.ShippedAt, err = happened(tx, by, "shippedAt", in.ShippedAt); err != nil {
		return Shipment{}, err
	}
	if err := batchloader.Load(ctx, tx, s.cfg.Methods(o.CompanyID, "deliveryMethod", o.DeliveryMethod, sh.DeliveryMethod)...); err != nil {
		return Shipment{}, err
	}
	if sh.WarehouseID, err = s.shipsFrom(ctx, tx, o.CompanyID, o.WarehouseID, in.WarehouseID); err != nil {
		return Shipment{}, err
	}
	parts, err := o.shipping(in.Items)
	if err != nil {
		return Shipment{}, err
	}
	if err := s.reserveLate(ctx, tx, by, &o); err != nil {
		return Shipment{}, err
	}
	released := o.reserved(-1)
	if err := o.applyShipment(&sh, &in, parts); err != nil {
		return Shipment{}, err
	}
	if err := s.moveShipped(ctx, tx, by, slices.Concat(released, o.reserved(1)), &sh); err != nil {
		return Shipment{}, err
	}
	shipments.Insert(tx, &sh)
	return sh, table.Store(ctx, tx, by, snapshot, &o, shipped.Carrying(withShipment{sh}))
}

// shipping returns what a shipment of the items contains: without items everything that is left.
func (o *Order) shipping(items []ShipmentItem) ([]part, error) {
	parts, err := o.partsOf(items)
	if err != nil {
		return nil, err
	}
	if err := o.checkShippable(); err != nil {
		return nil, err
	}
	left, err := o.left()
	if err != nil || len(parts) == 0 {
		return left, err
	}
	return parts, o.checkParts(parts, o.shippable)
}

func newShipment(tx *db.Tx, by access.Caller, o *Order, in *ShipmentFields) Shipment {
	sh := Shipment{
		Key: record.Key{ID: tx.NewID(), CompanyID: by.Company}, OrderID: o.ID, Status: shipmentPosted, DeliveryMethod: o.DeliveryMethod,
		Carrier: in.Carrier, TrackingNumber: in.TrackingNumber, Note: in.Note, CreatedByID: actor(by),
		Taken: []taken{}, Meta: record.New(tx.Now()),
	}
	if in.DeliveryMethod != nil {
		sh.DeliveryMethod = in.DeliveryMethod
	}
	return sh
}

// shipsFrom returns the warehouse of a shipment or return: the given one, or else that of the order, or else the default one.
func (s *Service) shipsFrom(ctx context.Context, q db.Querier, company tenant.ID, ofOrder, id *uuid.UUID) (uuid.UUID, error) {
	if id == nil && ofOrder != nil {
		return *ofOrder, nil
	}
	found, ok, err := s.cfg.Stock.FindWarehouse(ctx, q, company, id)
	if id == nil && err == nil && !ok {
		return found, errNoWarehouse
	}
	if id == nil {
		return found, err
	}
	return found, reference.Missing(err, ok, "WAREHOUSE", "warehouseId", *id)
}

// applyShipment applies the effects of the shipment to the order, and fills in the lines of the shipment.
func (o *Order) applyShipment(sh *Shipment, in *ShipmentFields, parts []part) error {
	var out []taken
	sh.Lines, out = o.ship(parts)
	sh.Taken = append(sh.Taken, out...)
	for _, l := range sh.Lines {
		sh.TotalQty += l.Qty
	}
	if o.DeliveryStatus == nil || *o.DeliveryStatus != deliveryShipped {
		o.DeliveryStatus = new(deliveryShipped)
	}
	o.DeliveryMethod = sh.DeliveryMethod
	if in.DeliveryAddressText != nil {
		o.DeliveryAddressText = in.DeliveryAddressText
	}
	if in.DeliveryCost != nil {
		if *in.DeliveryCost != o.DeliveryCost && o.hasReturns() {
			return errReturned
		}
		o.DeliveryCost = *in.DeliveryCost
	}
	plan.Normalise(o)
	return o.settle()
}

// moveShipped numbers the shipment and takes it out of stock, with the changes of what the order reserves.
func (s *Service) moveShipped(ctx context.Context, tx *db.Tx, by access.Caller, reserves []trade.StockDelta, sh *Shipment) (err error) {
	if sh.Number, err = numbering.Take(ctx, tx, by.Company, shipmentCounter, 1); err != nil {
		return err
	}
	names, err := s.cfg.Stock.WarehouseNames(ctx, tx, by.Company, []uuid.UUID{sh.WarehouseID})
	if err != nil {
		return err
	}
	sh.WarehouseName = names[sh.WarehouseID]
	doc := trade.StockDocument{Movement: trade.MovementShipment, Type: trade.DocumentShipment, ID: sh.ID, Number: sh.Number}
	return s.cfg.Stock.Move(ctx, tx, by, doc, append(sh.deltas(-1), reserves...))
}

// CancelShipment cancels a posted shipment: its items return to the warehouse that they left, and to what the order
// reserves unless it is completed. Without any other shipment the delivery of the order starts again.
func (s *Service) CancelShipment(ctx context.Context, tx *db.Tx, by access.Caller, order, id uuid.UUID) (Shipment, error) {
	o, err := table.Lock(ctx, tx, by.Unconditional(), order)
	if err != nil {
		return Shipment{}, err
	}
	sh, err := shipments.Lock(ctx, tx, by, id)
	switch {
	case err != nil:
		return Shipment{}, err
	case sh.OrderID != order:
		return Shipment{}, apierr.NotFound("SHIPMENT", id.String())
	case sh.Status == shipmentCancelled:
		return Shipment{}, errShipmentCancelled
	case o.hasReturns():
		return Shipment{}, errReturned
	case record.OrZero(o.DeliveryStatus) == deliveryReturned:
		return Shipment{}, deliveryConflict(o.DeliveryStatus, deliveryPending)
	}
	snapshot, released := table.Snapshot(o), o.reserved(-1)
	o.unship(&sh)
	o.reserve()
	if o.shipped() == 0 {
		o.DeliveryStatus = nil
		if o.DeliveryMethod != nil {
			o.DeliveryStatus = new(deliveryPending)
		}
	}
	sh.Status = shipmentCancelled
	sh.Touch(tx.Now())
	doc := trade.StockDocument{Movement: trade.MovementShipmentCancel, Type: trade.DocumentShipment, ID: sh.ID, Number: sh.Number}
	if err := s.cfg.Stock.Move(ctx, tx, by, doc, slices.Concat(sh.deltas(1), released, o.reserved(1))); err != nil {
		return Shipment{}, err
	}
	shipments.Update(tx, &sh)
	return sh, table.Store(ctx, tx, by, snapshot, &o, updated)
}

var errShipmentCancelled = apierr.StateConflict("SHIPMENT_ALREADY_CANCELLED", "the shipment is cancelled already")

// Shipments returns the shipments of an order, oldest first.
func (s *Service) Shipments(ctx context.Context, by access.Caller, order uuid.UUID) ([]Shipment, error) {
	if err := s.checkExists(ctx, by.Company, order); err != nil {
		return nil, err
	}
	return selectShipments(ctx, s.cfg.DB, by.Company, order)
}

// Shipment returns one shipment of an order.
func (s *Service) Shipment(ctx context.Context, by access.Caller, order, id uuid.UUID) (Shipment, error) {
	if err := s.checkExists(ctx, by.Company, order); err != nil {
		return Shipment{}, err
	}
	sh, err := shipments.Get(ctx, s.cfg.DB, by.Company, id)
	if err == nil && sh.OrderID != order {
		err = apierr.NotFound("SHIPMENT", id.String())
	}
	return sh, err
}

// checkExists returns a 404 if the company has no such order.
func (s *Service) checkExists(ctx context.Context, company tenant.ID, id uuid.UUID) error {
	found, err := table.Stored(company, id)(ctx, s.cfg.DB)
	if err != nil {
		return fmt.Errorf("look up order: %w", err)
	}
	if !found {
		return apierr.NotFound("ORDER", id.String())
	}
	return nil
}

var shipmentPlan = record.PlanOf[Shipment]()

var sqlSelectShipments = `SELECT ` + shipmentPlan.SelectList("") + ` FROM shipments WHERE company_id = $1 AND order_id = $2 ORDER BY number`

// selectShipments returns the shipments of an order by their numbers.
func selectShipments(ctx context.Context, q db.Querier, company tenant.ID, order uuid.UUID) ([]Shipment, error) {
	return db.Collect(ctx, q, "select shipments", func(row pgx.CollectableRow) (sh Shipment, err error) {
		return sh, row.Scan(shipmentPlan.Targets(&sh)...)
	}, sqlSelectShipments, company, order)
}
