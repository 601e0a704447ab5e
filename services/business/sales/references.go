package sales

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/document"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
)

// resolved holds the data of the records that a sale refers to.
type resolved struct {
	document.Found
	shift     Shift
	cashier   cashier
	warehouse *uuid.UUID // of the shift's branch, else the default one; nil if there is none
}

// resolve reads all referenced records. The first missing one is returned as a 404.
func (s *Service) resolve(ctx context.Context, by access.Caller, v *Sale, in *Input) (out resolved, err error) {
	var fallback *uuid.UUID
	company := by.Company
	refs := document.References{Items: lineitem.Refs(in.Items), Taxes: lineitem.TaxRates(in.Items)}
	refs.Client("customerId", nil, in.CustomerID)
	others := append([]batchloader.Read{table.NotTaken(nil, v), func(ctx context.Context, q db.Querier) error {
		return s.resolveShift(ctx, q, company, in.ShiftID, &out)
	}, func(ctx context.Context, q db.Querier) (err error) {
		fallback, err = found(s.cfg.Stock.FindWarehouse(ctx, q, company, nil))
		return err
	}}, s.readCashier(by, in.CashierID, &out.cashier)...)
	out.Found, err = s.sources.Load(ctx, s.cfg.DB, company, refs, others...)
	if out.warehouse == nil {
		out.warehouse = fallback
	}
	return out, err
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

// found makes a pointer of what a look-up returns, nil if there is nothing.
func found(id uuid.UUID, ok bool, err error) (*uuid.UUID, error) {
	if err != nil || !ok {
		return nil, err
	}
	return &id, nil
}

// check returns a 409 if the client is archived, or has fewer points than are redeemed.
func (r *resolved) check(redeem int64) error {
	if err := r.CheckClient(); err != nil {
		return err
	}
	if r.Client != nil && redeem > max(0, r.Client.Points) {
		return apierr.StateConflict("LOYALTY_POINTS_INSUFFICIENT", "redeemPoints: the client has %d points; redeem at most these", r.Client.Points).
			With("redeemPoints", redeem).With("points", r.Client.Points)
	}
	return nil
}

var errNoWarehouse = apierr.New(http.StatusNotFound, "WAREHOUSE_NOT_FOUND",
	"shiftId: the sale has items with stock, and neither the branch of the shift nor the company has a warehouse to take them from").With("field", "shiftId")

// OfClient gives the sales of a client to the one that it is merged into.
func OfClient() document.Follow { return document.FollowIn("sales", "customer_id") }
