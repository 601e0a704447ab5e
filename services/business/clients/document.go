package clients

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

const sqlSelectDocumentClient = `SELECT c.id, c.display_name, c.phone, c.email, c.status = 'archived', c.payment_terms_days, c.credit_limit, c.balance, c.points,
COALESCE(c.price_list_id, (SELECT g.price_list_id FROM client_groups g WHERE g.company_id = c.company_id AND g.id = c.group_id))
FROM clients c WHERE c.company_id = $1 AND c.id = $2`

const sqlLockDocumentClient = sqlSelectDocumentClient + ` FOR UPDATE OF c`

// DocumentClient reads the client of a document; found is false if there is none. lock locks the client until the
// transaction ends; q must then be a transaction.
func (s *Service) DocumentClient(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID, lock bool) (c trade.Client, found bool, err error) {
	sql := sqlSelectDocumentClient
	if lock {
		sql = sqlLockDocumentClient
	}
	err = q.QueryRow(ctx, sql, company, id).Scan(
		&c.ID, &c.DisplayName, &c.Phone, &c.Email, &c.Archived, &c.PaymentTermsDays, &c.CreditLimit, &c.Balance, &c.Points, &c.PriceListID)
	if db.IsNoRows(err) {
		return trade.Client{}, false, nil
	}
	if err != nil {
		return trade.Client{}, false, fmt.Errorf("select client of document: %w", err)
	}
	return c, true, nil
}

var sqlAddBalance = clients.Update(`SET balance = balance + $3, version = version + 1, ev_pos = GREATEST(ev_pos + 1, $4), updated_at = $5
WHERE company_id = $1 AND id = $2`)

var errBalance = apierr.StateConflict("CLIENT_BALANCE_OUT_OF_RANGE", "the client's balance would exceed %d minor units; check the amounts of the order", money.MaxAmount)

// AddBalance queues a payment (positive) or a debt (negative) in the caller's transaction. It increments the client's
// version but raises no event. A delta of 0 changes nothing.
func (s *Service) AddBalance(tx *db.Tx, company tenant.ID, id uuid.UUID, delta money.Amount) {
	if delta == 0 {
		return
	}
	m := record.New(tx.Now())
	tx.Queue(sqlAddBalance, company, id, delta, m.EvPos, m.UpdatedAt).
		Expect(1, apierr.NotFound("CLIENT", id.String())).OnConstraint("clients_balance_chk", errBalance)
}
