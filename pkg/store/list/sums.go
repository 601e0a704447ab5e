package list

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// maxSum bounds a sum: JSON keeps whole numbers exact up to here.
const maxSum = 1<<53 - 1

// Sums counts the records that match and adds up expressions over them, as totals are counted: in a slot of the company and within
// the limit of a statement, with the error of a list that is too expensive. The page does not matter. A sum beyond 2^53 - 1 ends there.
func (q *Query) Sums(ctx context.Context, d db.Querier, expressions ...string) (count int64, sums []int64, err error) {
	sums = make([]int64, len(expressions))
	columns, targets := []string{"count(*)"}, []any{&count}
	for i, e := range expressions {
		columns = append(columns, fmt.Sprintf("GREATEST(LEAST(COALESCE(sum(%s), 0), %d), %d)::BIGINT", e, int64(maxSum), -int64(maxSum)))
		targets = append(targets, &sums[i])
	}
	b := &pgx.Batch{}
	b.Queue(`SELECT `+strings.Join(columns, ", ")+` FROM `+q.spec.From+` WHERE `+strings.Join(q.where, " AND "), q.args...).QueryRow(func(row pgx.Row) error { return row.Scan(targets...) })
	n, pool := q.sharedNode(d)
	if n == nil {
		err = d.SendBatch(db.DeclareReads(ctx, d, b, q.reads), b).Close()
	} else {
		err = n.read(db.DeclareReads(ctx, pool, b, q.reads), n.counts, pool, q.keyOf(b), db.PlanForValues, b)
	}
	if err != nil {
		return 0, nil, fmt.Errorf("add up %s: %w", q.spec.From, err)
	}
	return count, sums, nil
}
