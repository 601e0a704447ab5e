package orders

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/batchloader"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// references are the records that a body names; nil and empty ones are not looked for.
type references struct {
	items     []ItemRef
	customer  *uuid.UUID
	asset     *uuid.UUID
	address   *uuid.UUID
	deal      *uuid.UUID
	assigned  *uuid.UUID
	warehouse *uuid.UUID
	standard  bool // the default warehouse is wanted when none is named
	source    *string
	external  *string // to be unique among the orders of source
}

// facts are what the references say.
type facts struct {
	items     map[ItemRef]Item
	prices    map[ItemRef]money.Amount
	client    *Client
	address   *string // label
	warehouse *uuid.UUID
	twin      *uuid.UUID // the order that has the external id
}

// look reads everything that the references name; the first that does not exist is a 404.
func (s *Service) look(ctx context.Context, q db.Querier, company tenant.ID, r references) (facts, error) {
	var f facts
	var reads []batchloader.Read
	add := func(wanted bool, read batchloader.Read) {
		if wanted {
			reads = append(reads, read)
		}
	}
	add(r.customer != nil, func(ctx context.Context, q db.Querier) error { return s.lookClient(ctx, q, company, r, &f) })
	add(r.asset != nil, func(ctx context.Context, q db.Querier) error { return s.lookAsset(ctx, q, company, *r.asset) })
	add(r.address != nil, func(ctx context.Context, q db.Querier) error { return s.lookAddress(ctx, q, company, *r.address, &f) })
	add(r.deal != nil, func(ctx context.Context, q db.Querier) error { return s.lookDeal(ctx, q, company, *r.deal) })
	add(r.assigned != nil, func(ctx context.Context, q db.Querier) error { return s.lookUser(ctx, q, company, *r.assigned) })
	add(r.warehouse != nil || r.standard, func(ctx context.Context, q db.Querier) error {
		return s.lookWarehouse(ctx, q, company, r.warehouse, &f)
	})
	add(len(r.items) > 0, func(ctx context.Context, q db.Querier) (err error) {
		f.items, err = s.cfg.Catalog.OrderItems(ctx, q, company, r.items)
		return err
	})
	add(r.external != nil, func(ctx context.Context, q db.Querier) (err error) {
		f.twin, err = selectExternal(ctx, q, company, r.source, *r.external)
		return err
	})
	if len(reads) == 0 {
		return f, nil
	}
	return f, batchloader.Load(ctx, q, reads...)
}

// lookClient reads the client and, where the client has a price list, its prices.
func (s *Service) lookClient(ctx context.Context, q db.Querier, company tenant.ID, r references, f *facts) error {
	c, found, err := s.cfg.Clients.OrderClient(ctx, q, company, *r.customer, false)
	if err != nil {
		return err
	}
	if !found {
		return fault.ReferenceNotFound("CLIENT", "customerId", r.customer.String())
	}
	f.client = &c
	if c.PriceListID != nil && s.cfg.PriceLists != nil && len(r.items) > 0 {
		f.prices, err = s.cfg.PriceLists.Prices(ctx, q, company, *c.PriceListID, r.items)
	}
	return err
}

func (s *Service) lookAsset(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID) (err error) {
	found := false
	if s.cfg.Places != nil {
		found, err = s.cfg.Places.HasAsset(ctx, q, company, id)
	}
	return missing(err, found, "ASSET", "assetId", id)
}

func (s *Service) lookAddress(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID, f *facts) (err error) {
	found, label := false, ""
	if s.cfg.Places != nil {
		label, found, err = s.cfg.Places.AddressLabel(ctx, q, company, id)
		f.address = &label
	}
	return missing(err, found, "ADDRESS", "addressId", id)
}

func (s *Service) lookDeal(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID) (err error) {
	found := false
	if s.cfg.Deals != nil {
		found, err = s.cfg.Deals.HasDeal(ctx, q, company, id)
	}
	return missing(err, found, "DEAL", "dealId", id)
}

func (s *Service) lookUser(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID) error {
	names, err := s.cfg.Users.UserNames(ctx, q, company, []uuid.UUID{id})
	_, found := names[id]
	return missing(err, found, "USER", "assignedToId", id)
}

func (s *Service) lookWarehouse(ctx context.Context, q db.Querier, company tenant.ID, id *uuid.UUID, f *facts) error {
	found, ok, err := s.cfg.Stock.FindWarehouse(ctx, q, company, id)
	if ok {
		f.warehouse = &found
	}
	if id == nil {
		return err // only goods that are kept in stock need one, see needsWarehouse
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

// check are the states of what the facts tell that an order cannot have.
func (f facts) check(customer *uuid.UUID) error {
	if f.twin != nil {
		return externalTaken(*f.twin)
	}
	if f.client != nil && f.client.Archived {
		return fault.StateConflict("CLIENT_ARCHIVED", "the client is archived; restore the client or choose another").
			With("field", "customerId").With("id", customer)
	}
	return nil
}

func externalTaken(order uuid.UUID) error {
	return errExternalTaken.With("orderId", order)
}

var errExternalTaken = fault.StateConflict("ORDER_EXTERNAL_ID_TAKEN", "an order of this source has the externalId already; see meta.orderId")
