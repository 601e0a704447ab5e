package clients

import (
	"context"
	"fmt"

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
	Reason    string        `json:"reason" doc:"redeemed, earned, redemption_returned, accrual_reversed, adjusted, merged"`
	SaleID    *uuid.UUID    `json:"saleId" format:"uuid"`
	Note      *string       `json:"note" doc:"of an adjustment"`
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

// PointsInput is an adjustment of a client's points.
type PointsInput struct {
	Delta int64   `json:"delta" required:"true" minimum:"-9007199254740991" maximum:"9007199254740991" doc:"points to add; negative to take them"`
	Note  *string `json:"note" maxLength:"500" doc:"why, for people"`
}

const maxPoints = 1<<53 - 1

const sqlSelectPoints = `SELECT points FROM clients WHERE company_id = $1 AND id = $2`

// AdjustPoints adds points to a client, or takes them, and returns the entry of the ledger.
func (s *Service) AdjustPoints(ctx context.Context, tx *db.Tx, by access.Caller, client uuid.UUID, in PointsInput) (PointsEntry, error) {
	if in.Delta == 0 {
		return PointsEntry{}, apierr.InvalidField("delta", apierr.Min, "must not be 0: it is what the points change by")
	}
	if _, err := hold(ctx, tx, by.Company, client); err != nil {
		return PointsEntry{}, err
	}
	var points int64
	if err := tx.QueryRow(ctx, sqlSelectPoints, by.Company, client).Scan(&points); err != nil {
		return PointsEntry{}, fmt.Errorf("read points of client: %w", err)
	}
	e := PointsEntry{ID: tx.NewID(), Delta: in.Delta, Balance: points + in.Delta, Reason: trade.PointsAdjusted, Note: in.Note, CreatedAt: jsontype.At(tx.Now())}
	switch {
	case in.Delta < 0 && e.Balance < 0:
		return PointsEntry{}, apierr.StateConflict("LOYALTY_POINTS_INSUFFICIENT", "delta: the client has %d points; take at most these", points).
			With("points", points)
	case e.Balance > maxPoints:
		return PointsEntry{}, apierr.StateConflict("LOYALTY_POINTS_OUT_OF_RANGE", "delta: the client has %d points and can have at most %d; add less", points, int64(maxPoints)).With("points", points)
	}
	e.add(tx, sqlAddPoints, by.Company, client, false, apierr.NotFound("CLIENT", client.String()))
	return e, nil
}

// add queues the entry, whose balance follows from the points. The client must have them, if covered.
func (e PointsEntry) add(tx *db.Tx, change db.Write, company tenant.ID, client uuid.UUID, covered bool, fault error) {
	tx.Queue(change, company, client, e.Delta, record.New(tx.Now()).EvPos, e.CreatedAt, covered, e.ID, e.Reason, e.SaleID, e.Note).Expect(1, fault)
}

var (
	sqlAddPoints   = changePoints(sqlNowLocked)
	sqlMergePoints = changePoints(`$2`)
)

var sqlWaitFor = clients.Update(`SET ev_pos = ev_pos WHERE company_id = $1 AND id = $2`)

// changePoints makes the statement for an entry of the client with the id. The client is locked by its UPDATE, so the balances of its entries
// follow each other.
func changePoints(id string) db.Write {
	return clientPoints.Insert(`(company_id, id, client_id, delta, balance, reason, sale_id, note, created_at)
SELECT $1, $7, c.id, $3, c.points, $8, $9, $10, $5 FROM c`).With("c", clients.Update(`SET points = points + $3, version = version + 1, ev_pos = GREATEST(ev_pos + 1, $4), updated_at = $5
WHERE company_id = $1 AND id = `+id+` AND (points + $3 >= 0 OR NOT $6) RETURNING id, points`))
}

// AddPoints queues an entry in the ledger of the client, or of the one that it was merged into, in the caller's transaction. It increments the client's version but raises
// no event. A delta of 0 changes nothing. Redeeming more points than the client has is 409 LOYALTY_POINTS_INSUFFICIENT; every
// other entry may leave them negative. The caller has checked that the client exists.
func (s *Service) AddPoints(tx *db.Tx, company tenant.ID, client uuid.UUID, delta int64, reason string, sale *uuid.UUID) {
	if delta == 0 {
		return
	}
	covered := reason == trade.PointsRedeemed
	fault := apierr.NotFound("CLIENT", client.String())
	if covered {
		fault = errPoints.With("redeemPoints", -delta)
		// A statement sees the points as they were when it began, so it begins when nobody else changes the client, or merges it.
		tx.Queue(sqlWaitFor, company, client)
	}
	PointsEntry{ID: record.NewID(), Delta: delta, Reason: reason, SaleID: sale, CreatedAt: jsontype.At(tx.Now())}.add(tx, sqlAddPoints, company, client, covered, fault)
}

var errPoints = apierr.StateConflict("LOYALTY_POINTS_INSUFFICIENT", "redeemPoints: the client has fewer points; read the client and redeem at most its points")
