package document

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// Follow gives the records of a table that belong to a client to the one that it is merged into. Each gets another version, and no event.
type Follow struct {
	table  db.Table
	column string
	sql    db.Write
}

// FollowIn returns the one for a table whose column names the client.
func FollowIn(table db.Table, column string) Follow {
	return Follow{table, column, table.Update(fmt.Sprintf(`SET %[1]s = $3, version = version + 1, ev_pos = GREATEST(ev_pos + 1, $4), updated_at = $5
WHERE company_id = $1 AND %[1]s = $2 AND id IN (SELECT id FROM %[2]s WHERE company_id = $1 AND %[1]s = $2 LIMIT $6)`, column, table))}
}

// Forget returns a write that removes personal data which is kept beside the records of clients; $1 is the company, $2 the ids of the
// clients. It is made of the SELECT of the ids of the records.
func (f Follow) Forget(write func(ids string) db.Write) db.Write {
	return write(fmt.Sprintf(`SELECT id FROM %s WHERE company_id = $1 AND %s = ANY($2::UUID[])`, f.table, f.column)).Reading(f.table)
}

// Move moves at most so many records, and returns how many.
func (f Follow) Move(ctx context.Context, tx *db.Tx, company tenant.ID, from, into uuid.UUID, limit int64) (int64, error) {
	m := record.New(tx.Now())
	tag, err := tx.Write(ctx, f.sql, company, from, into, m.EvPos, m.UpdatedAt, limit)
	if err != nil {
		return 0, fmt.Errorf("move %s of client: %w", f.table, err)
	}
	return tag.RowsAffected(), nil
}
