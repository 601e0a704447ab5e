package clients

import (
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

const clientLedger = db.Table("client_ledger")

// sqlNow is the id of the client that a client, the second parameter, is now: the one that it was merged into, or itself. A change locks the
// client for it: while it is being merged, one that runs at READ COMMITTED would go on to change what it was.
const (
	sqlMergedInto = `(SELECT m.merged_into_id FROM clients m WHERE m.company_id = $1 AND m.id = $2`
	sqlNow        = `COALESCE(` + sqlMergedInto + `), $2)`
	sqlNowLocked  = `COALESCE(` + sqlMergedInto + ` FOR UPDATE), $2)`
)

var (
	sqlEnter = clientLedger.InsertRow("company_id", "client_id", "occurred_at", "id", "kind", "charged", "paid", "order_id", "sale_id", "number",
		"payment_id", "return_id", "other_id", "client_version", "created_at")

	sqlEnterChange = changeBalance(sqlNowLocked)
	sqlEnterMerge  = changeBalance(`$2`)
)

// changeBalance makes the statement for an entry that changes the balance of the client with the id.
func changeBalance(id string) db.Write {
	return clientLedger.Insert(`(company_id, client_id, occurred_at, id, kind, charged, paid, order_id, sale_id, number, payment_id, return_id, other_id, client_version, created_at)
SELECT $1, c.id, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, c.version, $5 FROM c`).With("c", clients.Update(`SET balance = balance + $3, version = version + 1,
ev_pos = GREATEST(ev_pos + 1, $4), updated_at = $5 WHERE company_id = $1 AND id = `+id+` RETURNING id, version`))
}

var errBalance = apierr.StateConflict("CLIENT_BALANCE_OUT_OF_RANGE", "the client's balance would exceed %d minor units; check the amounts of the order", money.MaxAmount)

// Enter queues an entry in the ledger of a client, or of the one that it was merged into, and the change of the balance that it makes, in
// the caller's transaction. A change of the balance increments the client's version but raises no event. An entry without amounts changes
// nothing. The caller has checked that the client exists.
func (s *Service) Enter(tx *db.Tx, company tenant.ID, client uuid.UUID, e trade.LedgerEntry) {
	enter(tx, sqlEnterChange, company, client, e)
}

func enter(tx *db.Tx, change db.Write, company tenant.ID, client uuid.UUID, e trade.LedgerEntry) {
	delta, m, id := e.Delta(), record.New(tx.Now()), tx.NewID()
	switch {
	case e.Charged == 0 && e.Paid == 0:
	case delta == 0:
		tx.QueueRow(sqlEnter, company, client, e.At, id, e.Kind, e.Charged, e.Paid, e.OrderID, e.SaleID, e.Number, e.PaymentID, e.ReturnID, e.OtherID, 0, m.CreatedAt)
	default:
		tx.Queue(change, company, client, delta, m.EvPos, m.CreatedAt, e.At, id, e.Kind, e.Charged, e.Paid, e.OrderID, e.SaleID, e.Number, e.PaymentID, e.ReturnID,
			e.OtherID).Expect(1, apierr.NotFound("CLIENT", client.String())).OnConstraint("clients_balance_chk", errBalance)
	}
}
