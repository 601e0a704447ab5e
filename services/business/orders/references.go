package orders

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
	"github.com/tradegrid/tradegrid/services/business/document"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
)

// resolved holds the data of the records that an order newly refers to.
type resolved struct {
	document.Found
	warehouse *uuid.UUID // a new order without one gets the default, if there is one
	duplicate *uuid.UUID // order that already has the external id
}

// resolve reads all records that the order refers to and did not before, and the items of new lines.
func (s *Service) resolve(ctx context.Context, q db.Querier, before, o *Order, items []LineInput) (out resolved, err error) {
	refs := document.References{Items: lineitem.Refs(items)}
	refs.Client("customerId", before.CustomerID, o.CustomerID)
	refs.Address(before.AddressID, o.AddressID)
	refs.Add("ASSET", "assetId", before.AssetID, o.AssetID, s.cfg.Assets)
	refs.Add("DEAL", "dealId", before.DealID, o.DealID, s.cfg.Deals)
	refs.Add("USER", "assignedToId", before.AssignedToID, o.AssignedToID, s.cfg.Users.KnownUsers)
	var others []batchloader.Read
	if before.ID == uuid.Nil || !record.Same(before.WarehouseID, o.WarehouseID) {
		others = append(others, func(ctx context.Context, q db.Querier) error { return s.resolveWarehouse(ctx, q, o, &out) })
	}
	if o.ExternalID != nil && (record.OrZero(before.Source) != record.OrZero(o.Source) || !record.Same(before.ExternalID, o.ExternalID)) {
		others = append(others, func(ctx context.Context, q db.Querier) (err error) {
			out.duplicate, err = table.FindExternal(ctx, q, o.CompanyID, record.OrZero(o.Source), *o.ExternalID)
			return err
		})
	}
	out.Found, err = s.sources.Load(ctx, q, o.CompanyID, refs, others...)
	return out, err
}

func (s *Service) resolveWarehouse(ctx context.Context, q db.Querier, o *Order, out *resolved) error {
	found, ok, err := s.cfg.Stock.FindWarehouse(ctx, q, o.CompanyID, o.WarehouseID)
	if ok {
		out.warehouse = &found
	}
	if o.WarehouseID == nil {
		return err // only items with stock require one, see needsWarehouse
	}
	return reference.Missing(err, ok, "WAREHOUSE", "warehouseId", *o.WarehouseID)
}

// lines builds the lines of the items; before are those that the order had, whose items may be hidden.
func (r *resolved) lines(items []LineInput, before []Line) ([]Line, error) {
	b := lineitem.Builder{Items: r.Items, Prices: r.Prices}
	if before != nil {
		b.Known = lineitem.RefsOf(before)
	}
	tiers, err := lineitem.Build(b, items, func(in LineInput, l lineitem.Line) Line { return Line{Line: l, LineFields: in.LineFields} })
	return lineitem.KeepIDs(before, tiers), err
}

// assignWarehouse assigns the default warehouse to an order that needs one. Orders of a company without a warehouse were
// stored without.
func (s *Service) assignWarehouse(ctx context.Context, q db.Querier, o *Order) error {
	if !o.needsWarehouse() {
		return nil
	}
	found, ok, err := s.cfg.Stock.FindWarehouse(ctx, q, o.CompanyID, nil)
	if err != nil {
		return err
	}
	if !ok {
		return errNoWarehouse
	}
	o.WarehouseID = &found
	return nil
}

var errNoWarehouse = apierr.New(http.StatusNotFound, "WAREHOUSE_NOT_FOUND",
	"warehouseId: is required, because the order has items with stock and the company has no default warehouse").With("field", "warehouseId")

// check returns a 409 if another order has the external id or the client is archived.
func (r *resolved) check() error {
	if r.duplicate != nil {
		return externalTaken(*r.duplicate)
	}
	return r.CheckClient()
}

func externalTaken(order uuid.UUID) error {
	return errExternalTaken.With("orderId", order)
}

var errExternalTaken = apierr.StateConflict("ORDER_EXTERNAL_ID_TAKEN", "externalId: another order from this source has this externalId; see meta.orderId")
