package orders

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/batchloader"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/reference"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/trade"
)

// references are the records that an order names anew; nil and empty ones are not looked for.
type references struct {
	known            reference.Set // records that only have to exist
	items            []trade.ItemRef
	customer         *uuid.UUID
	address          *uuid.UUID
	warehouse        *uuid.UUID
	defaultWarehouse bool // is wanted when none is named
	source           *string
	external         *string // to be unique among the orders of source
}

// resolved is what the references stand for.
type resolved struct {
	items     map[trade.ItemRef]trade.Item
	prices    map[trade.ItemRef]money.Amount
	client    *trade.Client
	address   *string // label
	warehouse *uuid.UUID
	duplicate *uuid.UUID // the order that has the external id
}

// refer collects the references of an order to records that only have to exist, where they differ from before.
func (s *Service) refer(before, o *Header) (set reference.Set) {
	set.Add("ASSET", "assetId", before.AssetID, o.AssetID, s.cfg.Assets)
	set.Add("DEAL", "dealId", before.DealID, o.DealID, s.cfg.Deals)
	set.Add("USER", "assignedToId", before.AssignedToID, o.AssignedToID, s.cfg.Users.KnownUsers)
	return set
}

// resolve reads everything that the references name, all of it in one round trip unless the client has a price list.
// The first that does not exist is a 404.
func (s *Service) resolve(ctx context.Context, q db.Querier, company tenant.ID, r references) (resolved, error) {
	var out resolved
	var reads []batchloader.Read
	add := func(wanted bool, read batchloader.Read) {
		if wanted {
			reads = append(reads, read)
		}
	}
	add(r.customer != nil, func(ctx context.Context, q db.Querier) error { return s.resolveClient(ctx, q, company, r, &out) })
	add(r.address != nil, func(ctx context.Context, q db.Querier) error {
		return s.resolveAddress(ctx, q, company, *r.address, &out)
	})
	reads = append(reads, r.known.Reads(company)...)
	add(r.warehouse != nil || r.defaultWarehouse, func(ctx context.Context, q db.Querier) error {
		return s.resolveWarehouse(ctx, q, company, r.warehouse, &out)
	})
	add(len(r.items) > 0, func(ctx context.Context, q db.Querier) (err error) {
		out.items, err = s.cfg.Catalog.OrderItems(ctx, q, company, r.items)
		return err
	})
	add(r.external != nil, func(ctx context.Context, q db.Querier) (err error) {
		out.duplicate, err = selectExternal(ctx, q, company, r.source, *r.external)
		return err
	})
	if len(reads) == 0 {
		return out, nil
	}
	return out, batchloader.Load(ctx, q, reads...)
}

// resolveClient reads the client and, where the client has a price list, its prices.
func (s *Service) resolveClient(ctx context.Context, q db.Querier, company tenant.ID, r references, out *resolved) error {
	c, found, err := s.cfg.Clients.DocumentClient(ctx, q, company, *r.customer, false)
	if err := missing(err, found, "CLIENT", "customerId", *r.customer); err != nil {
		return err
	}
	out.client = &c
	if c.PriceListID != nil && s.cfg.PriceLists != nil && len(r.items) > 0 {
		out.prices, err = s.cfg.PriceLists.Prices(ctx, q, company, *c.PriceListID, r.items)
	}
	return err
}

func (s *Service) resolveAddress(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID, out *resolved) (err error) {
	found, label := false, ""
	if s.cfg.Addresses != nil {
		label, found, err = s.cfg.Addresses.AddressLabel(ctx, q, company, id)
		out.address = &label
	}
	return missing(err, found, "ADDRESS", "addressId", id)
}

func (s *Service) resolveWarehouse(ctx context.Context, q db.Querier, company tenant.ID, id *uuid.UUID, out *resolved) error {
	found, ok, err := s.cfg.Stock.FindWarehouse(ctx, q, company, id)
	if ok {
		out.warehouse = &found
	}
	if id == nil {
		return err // only items with stock need one, see needsWarehouse
	}
	return missing(err, ok, "WAREHOUSE", "warehouseId", *id)
}

// assignWarehouse gives the default warehouse to an order that needs one: orders were stored without while their company had none.
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

var errNoWarehouse = fault.New(http.StatusNotFound, "WAREHOUSE_NOT_FOUND",
	"warehouseId: the order has items with stock and the company has no default warehouse; name a warehouse").With("field", "warehouseId")

func missing(err error, found bool, entity, field string, id uuid.UUID) error {
	if err != nil || found {
		return err
	}
	return fault.ReferenceNotFound(entity, field, id.String())
}

// check is the 409 of an external id that another order has, and of an archived client.
func (r *resolved) check(customer *uuid.UUID) error {
	if r.duplicate != nil {
		return externalTaken(*r.duplicate)
	}
	if r.client != nil && r.client.Archived {
		return fault.StateConflict("CLIENT_ARCHIVED", "the client is archived; restore the client or choose another").
			With("field", "customerId").With("id", customer)
	}
	return nil
}

func externalTaken(order uuid.UUID) error {
	return errExternalTaken.With("orderId", order)
}

var errExternalTaken = fault.StateConflict("ORDER_EXTERNAL_ID_TAKEN", "an order of this source already has the externalId; see meta.orderId")
