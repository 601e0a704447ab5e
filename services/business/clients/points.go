package clients

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// PointsEntry is one change of a client's loyalty points; see docs/reference/rules.md#loyalty-points.
type PointsEntry struct {
	ID        uuid.UUID     `json:"id" format:"uuid"`
	Delta     int64         `json:"delta"`
	Balance   int64         `json:"balance" doc:"points of the client after the entry"`
	Reason    string        `json:"reason" doc:"redeemed, earned, redemption_returned, accrual_reversed"`
	SaleID    *uuid.UUID    `json:"saleId" format:"uuid"`
	CreatedAt jsontype.Time `json:"createdAt"`
}

// PointsFilter sorts the entries of a ledger.
type PointsFilter struct {
	list.Params
	Sort string `query:"sort" enum:"createdAt"`
}

const clientPoints = db.Table("client_points")

var pointsItems = list.Of[PointsEntry, PointsFilter](clientPoints, list.Spec{Updated: "created_at"})

// Points returns a page of the client's ledger of points.
func (s *Service) Points(ctx context.Context, by access.Caller, client uuid.UUID, f PointsFilter) (*list.Page[PointsEntry], error) {
	return pageOf(ctx, s.cfg.DB, pointsItems, by.Company, client, f)
}

// The client is locked by its UPDATE, so the balances of its entries follow each other.
var sqlAddPoints = clientPoints.Insert(`(company_id, id, client_id, delta, balance, reason, sale_id, created_at)
SELECT $1, $7, $2, $3, c.points, $8, $9, $5 FROM c`).With("c", clients.Update(`SET points = points + $3, version = version + 1, ev_pos = GREATEST(ev_pos + 1, $4), updated_at = $5
WHERE company_id = $1 AND id = $2 AND (points + $3 >= 0 OR NOT $6) RETURNING points`))

// AddPoints queues an entry in the client's ledger, in the caller's transaction. It increments the client's version but raises
// no event. A delta of 0 changes nothing. Redeeming more points than the client has is 409 LOYALTY_POINTS_INSUFFICIENT; every
// other entry may leave them negative. The caller has checked that the client exists.
func (s *Service) AddPoints(tx *db.Tx, company tenant.ID, client uuid.UUID, delta int64, reason string, sale *uuid.UUID) {
	if delta == 0 {
		return
	}
	m := record.New(tx.Now())
	covered := reason == trade.PointsRedeemed
	fault := apierr.NotFound("CLIENT", client.String())
	if covered {
		fault = errPoints.With("redeemPoints", -delta)
	}
	tx.Queue(sqlAddPoints, company, client, delta, m.EvPos, m.UpdatedAt, covered, record.NewID(), reason, sale).Expect(1, fault)
}

var errPoints = apierr.StateConflict("LOYALTY_POINTS_INSUFFICIENT", "redeemPoints: the client has fewer points; read the client and redeem at most its points")
