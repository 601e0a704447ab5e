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
}

// resolve reads all records that the order refers to and did not before, and the items of new lines.
func (s *Service) resolve(ctx context.Context, q db.Querier, before, o *Order, items []LineInput) (out resolved, err error) {
	refs := document.References{Items: lineitem.Refs(items), Taxes: lineitem.TaxRates(items)}
	refs.Client("customerId", before.CustomerID, o.CustomerID)
	refs.Address(before.AddressID, o.AddressID)
	refs.Add("ASSET", "assetId", before.AssetID, o.AssetID, s.cfg.Assets)
	refs.Add("DEAL", "dealId", before.DealID, o.DealID, s.cfg.Deals)
	refs.Add("USER", "assignedToId", before.AssignedToID, o.AssignedToID, s.cfg.Users.KnownUsers)
	if err := o.LookUp(&refs.Set, before.Attached); err != nil {
		return out, err
	}
	others := []batchloader.Read{table.NotTaken(before, o)}
	others = append(others, s.cfg.Channels(o.CompanyID, "channel", before.Channel, o.Channel)...)
	others = append(others, s.cfg.Methods(o.CompanyID, "deliveryMethod", before.DeliveryMethod, o.DeliveryMethod)...)
	if before.ID == uuid.Nil || !record.Same(before.WarehouseID, o.WarehouseID) {
		others = append(others, func(ctx context.Context, q db.Querier) error { return s.resolveWarehouse(ctx, q, o, &out) })
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

// lines builds the lines of the items; before are those that the order had, which keep their prices unless they are to be priced anew.
func (r *resolved) lines(items []LineInput, before []Line, reprice bool) ([]Line, error) {
	b := lineitem.Builder{Items: r.Items, Prices: r.Prices, Taxes: r.Taxes, Had: lineitem.Of(before), Reprice: reprice}
	tiers, err := lineitem.Build(b, items, func(in LineInput, l lineitem.Line, had int) Line {
		out := Line{Line: l, LineFields: in.LineFields}
		if ref, _ := in.Ref(); had < 0 {
			out.Costing = lineitem.NewCosting(r.Items[ref], l.Qty)
		} else {
			out.UnitCost = before[had].UnitCost
		}
		return out
	})
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
