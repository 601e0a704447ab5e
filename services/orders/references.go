package orders

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/apierr"
	"github.com/tradegrid/tradegrid/pkg/batchloader"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/lineitem"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/reference"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/trade"
)

// references holds the new references of an order; nil and empty ones are skipped.
type references struct {
	known            reference.Set // records that only need to exist
	items            []trade.ItemRef
	customer         *uuid.UUID
	address          *uuid.UUID
	warehouse        *uuid.UUID
	defaultWarehouse bool // look up the default warehouse if none is set
	source           *string
	external         *string // must be unique among the orders of source
}

// resolved holds the data of the referenced records.
type resolved struct {
	items     map[trade.ItemRef]trade.Item
	prices    map[trade.ItemRef]money.Amount
	client    *trade.Client
	address   *string // label
	warehouse *uuid.UUID
	duplicate *uuid.UUID // order that already has the external id
}

// refer returns the changed references to records that only need to exist.
func (s *Service) refer(before, o *Header) (set reference.Set) {
	set.Add("ASSET", "assetId", before.AssetID, o.AssetID, s.cfg.Assets)
	set.Add("DEAL", "dealId", before.DealID, o.DealID, s.cfg.Deals)
	set.Add("USER", "assignedToId", before.AssignedToID, o.AssignedToID, s.cfg.Users.KnownUsers)
	return set
}

// resolve reads all referenced records, in one round trip unless the client has a price list. The first missing one is
// returned as a 404.
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

// resolveClient reads the client and, if the client has a price list, its prices.
func (s *Service) resolveClient(ctx context.Context, q db.Querier, company tenant.ID, r references, out *resolved) error {
	c, found, err := s.cfg.Clients.DocumentClient(ctx, q, company, *r.customer, false)
	if err := missing(err, found, "CLIENT", "customerId", r.customer); err != nil {
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
	return missing(err, found, "ADDRESS", "addressId", &id)
}

func (s *Service) resolveWarehouse(ctx context.Context, q db.Querier, company tenant.ID, id *uuid.UUID, out *resolved) error {
	found, ok, err := s.cfg.Stock.FindWarehouse(ctx, q, company, id)
	if ok {
		out.warehouse = &found
	}
	if id == nil {
		return err // only items with stock require one, see needsWarehouse
	}
	return missing(err, ok, "WAREHOUSE", "warehouseId", id)
}

// lines builds the lines of the items; before are those that the order had, whose items may be hidden.
func (r *resolved) lines(items []LineInput, before []Line) ([]Line, error) {
	b := lineitem.Builder{Items: r.items, Prices: r.prices}
	if before != nil {
		b.Known = lineitem.RefsOf(before)
	}
	return lineitem.Build(b, items, func(in LineInput, l lineitem.Line) Line { return Line{Line: l, Note: in.Note} })
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

func missing(err error, found bool, entity, field string, id *uuid.UUID) error {
	if err != nil || found {
		return err
	}
	return apierr.ReferenceNotFound(entity, field, id.String())
}

// check returns a 409 if another order has the external id or the client is archived.
func (r *resolved) check(customer *uuid.UUID) error {
	if r.duplicate != nil {
		return externalTaken(*r.duplicate)
	}
	if r.client != nil && r.client.Archived {
		return apierr.StateConflict("CLIENT_ARCHIVED", "the client is archived; restore the client or choose another").
			With("field", "customerId").With("id", customer)
	}
	return nil
}

func externalTaken(order uuid.UUID) error {
	return errExternalTaken.With("orderId", order)
}

var errExternalTaken = apierr.StateConflict("ORDER_EXTERNAL_ID_TAKEN", "externalId: another order from this source has this externalId; see meta.orderId")
