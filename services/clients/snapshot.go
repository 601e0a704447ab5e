package clients

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/record"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// Snapshot is what a document of a client copies or checks.
type Snapshot struct {
	ID               uuid.UUID
	DisplayName      string
	Phone            *string
	Email            *string
	Status           string // StatusActive or StatusArchived
	PaymentTermsDays *int32
	CreditLimit      money.Amount // 0 = no limit
	Balance          money.Amount // negative = the client owes
	GroupID          *uuid.UUID
	PriceListID      *uuid.UUID // the client's own; goes before the group's
	GroupPriceListID *uuid.UUID
}

// Archived reports whether the client may not enter a new document.
func (s Snapshot) Archived() bool { return s.Status == StatusArchived }

const sqlSelectSnapshot = `SELECT c.id, c.display_name, c.phone, c.email, c.status, c.payment_terms_days, c.credit_limit, c.balance, c.group_id, c.price_list_id,
(SELECT g.price_list_id FROM client_groups g WHERE g.company_id = c.company_id AND g.id = c.group_id)
FROM clients c WHERE c.company_id = $1 AND c.id = $2`

const sqlLockSnapshot = sqlSelectSnapshot + ` FOR UPDATE OF c`

// Snapshot reads a client for a document. An unknown client is 404 CLIENT_NOT_FOUND.
func (s *Service) Snapshot(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID) (Snapshot, error) {
	return scanSnapshot(q.QueryRow(ctx, sqlSelectSnapshot, company, id), id)
}

// LockSnapshot is [Service.Snapshot] that keeps others from changing the client until the transaction ends.
// q must be that transaction.
func (s *Service) LockSnapshot(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID) (Snapshot, error) {
	return scanSnapshot(q.QueryRow(ctx, sqlLockSnapshot, company, id), id)
}

func scanSnapshot(row pgx.Row, id uuid.UUID) (Snapshot, error) {
	return record.One(row, func(v *Snapshot) []any {
		return []any{&v.ID, &v.DisplayName, &v.Phone, &v.Email, &v.Status, &v.PaymentTermsDays, &v.CreditLimit, &v.Balance, &v.GroupID, &v.PriceListID, &v.GroupPriceListID}
	}, "CLIENT", id)
}

const sqlAddBalance = `UPDATE clients SET balance = balance + $3, version = version + 1, ev_pos = GREATEST(ev_pos + 1, $4), updated_at = $5
WHERE company_id = $1 AND id = $2`

var errBalance = fault.StateConflict("CLIENT_BALANCE_OUT_OF_RANGE", "the client's balance would exceed %d minor units", money.MaxAmount)

// AddBalance books a payment (positive) or a debt (negative) in the caller's transaction. It counts as a change
// of the client without an event of its own; a delta of 0 changes nothing.
func (s *Service) AddBalance(tx *db.Tx, company tenant.ID, id uuid.UUID, delta money.Amount) {
	if delta == 0 {
		return
	}
	m := record.New(tx.Now())
	tx.Queue(sqlAddBalance, company, id, delta, m.EvPos, m.UpdatedAt).
		Expect(1, fault.NotFound("CLIENT", id.String())).OnConstraint("clients_balance_chk", errBalance)
}
