package list

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// hitsRead is how many records a search may find so that its page and its total are read at once.
const hitsRead = 500

// readHits reads the page of a search together with its total, so that the index of the text is read once: that is most of what a search
// costs. read is false if there are too many hits, which are found sooner in the order of the list, or if the total is known. It holds
// for lists of one table, as those of permanent records are: there, the id of a hit says which row it is.
func (q *Query) readHits(ctx context.Context, d db.Querier, queue func(*pgx.Batch, part)) (read bool, err error) {
	n, pool := q.sharedNode(d)
	if n == nil || !q.searching || !q.spec.Permanent || q.params.Cursor != "" || q.skip >= hitsRead {
		return false, nil
	}
	k, began := q.totalKey(), time.Now()
	if t, ok := n.totals.Get(k); ok && (t.n > hitsRead || t.usable(q.notBefore())) {
		return false, nil
	}
	q.hits = new(int64)
	if q.skip > 0 {
		*q.hits = hitsRead + 1 // a page without records does not tell
	}
	b := &pgx.Batch{}
	queue(b, hits)
	err = n.read(db.DeclareReads(ctx, pool, b, q.reads), n.pages, pool, k, db.PlanForValues, b)
	read = err == nil && *q.hits <= hitsRead
	if read {
		n.totals.Add(k, total{*q.hits, began})
	}
	q.hits = nil
	return read, err
}

// hitsSQL selects the page among the hits of a search, and how many there are.
func (q *Query) hitsSQL(s Sort, limit int) string {
	return fmt.Sprintf(`WITH hits AS MATERIALIZED (SELECT %[1]s AS hit FROM %[2]s WHERE %[3]s LIMIT %[4]d)
SELECT %[5]s, (SELECT count(*) FROM hits) AS all_hits FROM %[2]s WHERE %[6]s AND %[1]s IN (SELECT hit FROM hits) ORDER BY %[7]s LIMIT %[8]d`,
		q.spec.ID, q.spec.From, strings.Join(q.where, " AND "), hitsRead+1, q.columns(s), q.where[0], q.orderBy(s, whole), limit)
}
