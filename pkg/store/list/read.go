package list

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// begin returns the sort of the list and reads the cursor.
func (q *Query) begin() (s Sort, err error) {
	s, ok := q.spec.Sorts[q.sort]
	if !ok {
		return s, apierr.InvalidField("sort", apierr.Enum, "%s is not a sort of this list; use one from the API description", q.sort)
	}
	if q.params.Cursor != "" {
		q.seekFrom, err = q.place(s)
	}
	return s, err
}

// read reads the parts of the page until it is full. queue adds the statement of a part to a batch, and end tells
// how the page ends so far.
func (q *Query) read(ctx context.Context, d db.Querier, s Sort, queue func(*pgx.Batch, part), end *lastRow) error {
	n, pool := q.sharedNode(d)
	if n == nil {
		return q.readAlone(ctx, d, s, queue, end)
	}
	if exists, err := q.seek(ctx, pool, s); err != nil || !exists {
		return err
	}
	began := time.Now()
	for _, p := range q.parts(s) {
		if end.more {
			break
		}
		b := &pgx.Batch{}
		queue(b, p)
		if err := n.page(db.DeclareReads(ctx, pool, b, q.reads), pool, q.keyOf(b), q.plan(), b); err != nil {
			return err
		}
	}
	if end.more && !end.cut && q.params.Cursor == "" && q.params.Page > 0 && q.params.Page*q.params.PageSize > n.cfg.Skip {
		n.learn(q.orderKey(), place{page: q.params.Page, id: end.id, sort: end.sort, began: began})
	}
	return nil
}

// plan is how the page is planned: once for all companies, if nothing but its order decides how to read it.
func (q *Query) plan() db.Plan {
	if len(q.where) == 1 && !q.spec.Platform && !q.spec.Summed {
		return db.PlanInOrder
	}
	return db.PlanForValues
}

// readAlone counts along with the first part, on one snapshot.
func (q *Query) readAlone(ctx context.Context, d db.Querier, s Sort, queue func(*pgx.Batch, part), end *lastRow) error {
	for i, p := range q.parts(s) {
		if end.more {
			break
		}
		b := &pgx.Batch{}
		queue(b, p)
		if i == 0 && q.totalWanted() {
			q.counted = new(int64)
			b.Queue(q.countSQL(), q.args...).QueryRow(func(row pgx.Row) error { return row.Scan(q.counted) })
		}
		if err := d.SendBatch(db.DeclareReads(ctx, d, b, q.reads), b).Close(); err != nil {
			return err
		}
	}
	return nil
}

// sharedNode returns the node that serves the list and its pool, or nil for a list without a node or within a transaction.
func (q *Query) sharedNode(d db.Querier) (*Node, *db.DB) {
	if pool, ok := d.(*db.DB); ok {
		return q.params.node, pool
	}
	return nil, nil
}

func (q *Query) totalWanted() bool { return q.params.Cursor == "" || q.params.WithTotal }

// total returns the number of matching records if the client wants it. The last page says it by itself.
func (q *Query) total(ctx context.Context, d db.Querier, items int, more bool) (*int64, error) {
	n, pool := q.sharedNode(d)
	switch {
	case !q.totalWanted() || n == nil:
		return q.counted, nil
	case q.seekFrom == nil && !more && (items > 0 || q.skip == 0):
		all := q.skip + int64(items)
		return &all, nil
	}
	k := key{q.company, hashOf([]string{q.countSQL()}, q.args)}
	all, err := n.total(ctx, k, q.notBefore(), func(ctx context.Context) (int64, error) { return q.count(ctx, pool, k) })
	return &all, err
}

// notBefore is the earliest time at which what the node remembers may have been read.
func (q *Query) notBefore() time.Time {
	if q.params.fresh {
		return q.now
	}
	return q.params.node.cfg.Writes.Last(q.company, q.reads)
}

func (q *Query) countSQL() string {
	return `SELECT count(*) FROM ` + cmp.Or(q.spec.Count, q.spec.From) + ` WHERE ` + strings.Join(q.where, " AND ")
}

// orderKey identifies the list with its filters, order and page size.
func (q *Query) orderKey() key {
	return key{q.company, hashOf(append([]string{q.spec.From, q.sort, fmt.Sprint(q.desc, q.params.PageSize)}, q.where...), q.args)}
}

// keyOf identifies the statements of a batch.
func (q *Query) keyOf(b *pgx.Batch) key {
	var statements []string
	var args []any
	for _, s := range b.QueuedQueries {
		statements, args = append(statements, s.SQL), append(args, s.Arguments...)
	}
	return key{q.company, hashOf(statements, args)}
}
