package clients

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

const documentClient = `c.id, c.display_name, c.phone, c.email, c.status = 'archived', c.payment_terms_days, c.credit_limit, c.balance, c.points, c.merged_into_id,
COALESCE(c.price_list_id, (SELECT g.price_list_id FROM client_groups g WHERE g.company_id = c.company_id AND g.id = c.group_id))
FROM clients c WHERE c.company_id = $1 AND c.id = `

const (
	sqlSelectDocumentClient = `SELECT ` + documentClient + `$2`
	sqlLockDocumentClient   = `SELECT ` + documentClient + sqlNowLocked + ` FOR UPDATE OF c`
)

// DocumentClient reads the client of a document; found is false if there is none. lock locks the client until the
// transaction ends, or the one that it was merged into; q must then be a transaction.
func (s *Service) DocumentClient(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID, lock bool) (c trade.Client, found bool, err error) {
	sql := sqlSelectDocumentClient
	if lock {
		sql = sqlLockDocumentClient
	}
	err = q.QueryRow(ctx, sql, company, id).Scan(
		&c.ID, &c.DisplayName, &c.Phone, &c.Email, &c.Archived, &c.PaymentTermsDays, &c.CreditLimit, &c.Balance, &c.Points, &c.MergedIntoID, &c.PriceListID)
	if db.IsNoRows(err) {
		return trade.Client{}, false, nil
	}
	if err != nil {
		return trade.Client{}, false, fmt.Errorf("select client of document: %w", err)
	}
	return c, true, nil
}
