package orders

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// HistoryEntry is the change of one field.
type HistoryEntry struct {
	Field   string        `json:"field" doc:"name of the field of the order; lines if they were replaced, shippedQty for shipments, mail for a document that was sent"`
	From    any           `json:"from" doc:"previous value; for lines their number, for shippedQty the sum of all lines"`
	To      any           `json:"to" doc:"new value; for lines their number, for shippedQty the sum of all lines, for mail the document and the address"`
	ActorID string        `json:"actorId"`
	At      jsontype.Time `json:"at"`
}

// change is the change of a top-level field, with its JSON before and after.
type change struct{ field, from, to string }

// changesOf returns the entries of the history for a change of the named fields: of a move only the status, of shipments the
// shipped quantity and not the lines.
func changesOf(before, after *Order, names []string) (changes []change) {
	if before.Status != after.Status {
		names = []string{"status"}
		if after.CancelReason != nil {
			names = append(names, "cancelReason")
		}
	}
	for _, name := range slices.Sorted(slices.Values(names)) {
		if name != "lines" {
			changes = append(changes, change{name, text(plan.Value(before, name)), text(plan.Value(after, name))})
		} else if !slices.EqualFunc(before.Lines, after.Lines, func(a, b Line) bool { return a.ID == b.ID }) {
			changes = append(changes, change{name, strconv.Itoa(len(before.Lines)), strconv.Itoa(len(after.Lines))})
		}
	}
	if from, to := before.shipped(), after.shipped(); from != to {
		changes = append(changes, change{"shippedQty", from.String(), to.String()})
	}
	return changes
}

// text is the JSON of the value of a field.
func text(v any) string {
	raw, err := jsontype.Marshal(v)
	if err != nil {
		panic(err) // fields of orders are numbers, texts and times
	}
	return string(raw)
}

const orderHistory = db.Table("order_history")

var sqlInsertHistory = orderHistory.Insert(`(company_id, order_id, id, position, field, from_value, to_value, actor_id, created_at)
SELECT $1, $2, $3, u.n, u.f, u.a, u.b, $8, $9 FROM unnest($4::INT4[], $5::TEXT[], $6::TEXT[], $7::TEXT[]) AS u(n, f, a, b)`)

// insertHistory queues the history entries of a change.
func insertHistory(tx *db.Tx, by access.Caller, before, o *Order, names []string) {
	changes := changesOf(before, o, names)
	positions, fields := make([]int32, len(changes)), make([]string, len(changes))
	from, to := make([]string, len(changes)), make([]string, len(changes))
	for i, c := range changes {
		positions[i], fields[i], from[i], to[i] = int32(i), c.field, c.from, c.to
	}
	tx.Queue(sqlInsertHistory, o.CompanyID, o.ID, record.NewID(), positions, fields, from, to, by.ActorID(), o.UpdatedAt)
}

const sqlSelectHistory = `SELECT field, from_value, to_value, actor_id, created_at FROM order_history
WHERE company_id = $1 AND order_id = $2 ORDER BY id, position`

const sqlSelectOrderID = `SELECT id FROM orders WHERE company_id = $1 AND id = $2`

// History returns the changes of an order, oldest first.
func (s *Service) History(ctx context.Context, by access.Caller, id uuid.UUID) ([]HistoryEntry, error) {
	entries := []HistoryEntry{}
	b := &pgx.Batch{}
	b.Queue(sqlSelectOrderID, by.Company, id).QueryRow(func(row pgx.Row) error { return row.Scan(&id) })
	b.Queue(sqlSelectHistory, by.Company, id).Query(func(rows pgx.Rows) (err error) {
		entries, err = pgx.CollectRows(rows, scanHistory)
		return err
	})
	err := s.cfg.DB.SendBatch(ctx, b).Close()
	if db.IsNoRows(err) {
		return nil, apierr.NotFound("ORDER", id.String())
	}
	if err != nil {
		return nil, fmt.Errorf("read history of order: %w", err)
	}
	return entries, nil
}

func scanHistory(row pgx.CollectableRow) (e HistoryEntry, err error) {
	var from, to string
	if err := row.Scan(&e.Field, &from, &to, &e.ActorID, &e.At); err != nil {
		return e, err
	}
	e.From, e.To = json.RawMessage(from), json.RawMessage(to)
	return e, nil
}
