package sales

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/apierr"
	"github.com/tradegrid/tradegrid/pkg/batchloader"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/lineitem"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/trade"
)

// resolved holds the data of the records that a sale refers to.
type resolved struct {
	shift     Shift
	client    *trade.Client
	items     map[trade.ItemRef]trade.Item
	prices    map[trade.ItemRef]money.Amount
	warehouse *uuid.UUID // of the shift's branch, else the default one; nil if there is none
}

// resolve reads all referenced records. The first missing one is returned as a 404.
func (s *Service) resolve(ctx context.Context, company tenant.ID, in *Input) (resolved, error) {
	var out resolved
	var fallback *uuid.UUID
	reads := []batchloader.Read{
		func(ctx context.Context, q db.Querier) error {
			return s.resolveShift(ctx, q, company, in.ShiftID, &out)
		},
		func(ctx context.Context, q db.Querier) (err error) {
			fallback, err = found(s.cfg.Stock.FindWarehouse(ctx, q, company, nil))
			return err
		},
	}
	refs := lineitem.Refs(in.Items)
	if in.CustomerID != nil {
		reads = append(reads, func(ctx context.Context, q db.Querier) error {
			return s.resolveClient(ctx, q, company, *in.CustomerID, refs, &out)
		})
	}
	if len(refs) > 0 {
		reads = append(reads, func(ctx context.Context, q db.Querier) (err error) {
			out.items, err = s.cfg.Catalog.OrderItems(ctx, q, company, refs)
			return err
		})
	}
	if err := batchloader.Load(ctx, s.db, reads...); err != nil {
		return resolved{}, err
	}
	if out.warehouse == nil {
		out.warehouse = fallback
	}
	return out, nil
}

// resolveShift reads the shift, and the warehouse of its branch if it has one.
func (s *Service) resolveShift(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID, out *resolved) (err error) {
	out.shift, err = shifts.Get(ctx, q, company, id)
	if apierr.Is(err, "SHIFT_NOT_FOUND") {
		return apierr.ReferenceNotFound("SHIFT", "shiftId", id.String())
	}
	if err != nil || out.shift.BranchID == nil {
		return err
	}
	out.warehouse, err = found(s.cfg.Stock.WarehouseOfBranch(ctx, q, company, *out.shift.BranchID))
	return err
}

// resolveClient reads the client and, if the client has a price list, its prices.
func (s *Service) resolveClient(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID, refs []trade.ItemRef, out *resolved) error {
	c, ok, err := s.cfg.Clients.DocumentClient(ctx, q, company, id, false)
	if err != nil {
		return err
	}
	if !ok {
		return apierr.ReferenceNotFound("CLIENT", "customerId", id.String())
	}
	out.client = &c
	if c.PriceListID != nil && s.cfg.PriceLists != nil && len(refs) > 0 {
		out.prices, err = s.cfg.PriceLists.Prices(ctx, q, company, *c.PriceListID, refs)
	}
	return err
}

// found makes a pointer of what a look-up returns, nil if there is nothing.
func found(id uuid.UUID, ok bool, err error) (*uuid.UUID, error) {
	if err != nil || !ok {
		return nil, err
	}
	return &id, nil
}

// check returns a 409 if the shift is closed, the client is archived, or the client has fewer points than are redeemed.
func (r *resolved) check(redeem int64) error {
	if r.shift.Status == statusClosed {
		return closed(r.shift.ID)
	}
	if r.client == nil {
		return nil
	}
	if r.client.Archived {
		return apierr.StateConflict("CLIENT_ARCHIVED", "the client is archived; restore the client or choose another").
			With("field", "customerId").With("id", r.client.ID)
	}
	if redeem > max(0, r.client.Points) {
		return apierr.StateConflict("LOYALTY_POINTS_INSUFFICIENT", "redeemPoints: the client has %d points; redeem at most these", r.client.Points).
			With("redeemPoints", redeem).With("points", r.client.Points)
	}
	return nil
}

var errNoWarehouse = apierr.New(http.StatusNotFound, "WAREHOUSE_NOT_FOUND",
	"shiftId: the sale has items with stock, and neither the branch of the shift nor the company has a warehouse to take them from").With("field", "shiftId")
