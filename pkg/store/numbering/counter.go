package numbering

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/groupcommit"
)

const counters = db.Table("counters")

var sqlTakeNumbers = counters.Insert(`(company_id, kind, n) VALUES ($1, $2, $3)
ON CONFLICT (company_id, kind) DO UPDATE SET n = counters.n + excluded.n RETURNING n`)

// Take takes the next count numbers of the company and kind, and returns the last of them. Other transactions that take
// numbers of the kind wait until this one ends. Documents take theirs with [Committer.Do], which spares most of that.
func Take(ctx context.Context, tx *db.Tx, company tenant.ID, kind string, count int) (last int64, err error) {
	if err := tx.ReturningRow(ctx, sqlTakeNumbers, company, kind, count).Scan(&last); err != nil {
		return 0, fmt.Errorf("take %s numbers: %w", kind, err)
	}
	return last, nil
}

// Lock makes the transaction wait for others that take numbers of the kind, at any node, and has them wait until it ends: one at READ COMMITTED
// sees afterwards what they have stored.
func Lock(ctx context.Context, tx *db.Tx, company tenant.ID, kind string) error {
	_, err := Take(ctx, tx, company, kind, 0)
	return err
}

var sqlTakeAll = counters.Insert(`(company_id, kind, n)
SELECT u.company, u.kind, u.n FROM unnest($1::UUID[], $2::TEXT[], $3::BIGINT[]) AS u(company, kind, n) ORDER BY u.company, u.kind
ON CONFLICT (company_id, kind) DO UPDATE SET n = counters.n + excluded.n RETURNING company_id, kind, n`)

// takeAll takes numbers of several companies and kinds, and returns the last one of each. The order of the rows is that of
// the locks, so transactions that take several do not deadlock.
func takeAll(ctx context.Context, tx *db.Tx, companies []tenant.ID, kinds []string, counts []int64) (map[groupcommit.Key]int64, error) {
	rows, err := tx.Returning(ctx, sqlTakeAll, companies, kinds, counts)
	if err != nil {
		return nil, fmt.Errorf("take numbers of several companies: %w", err)
	}
	last := make(map[groupcommit.Key]int64, len(companies))
	var k groupcommit.Key
	var n int64
	if _, err := pgx.ForEachRow(rows, []any{&k.Company, &k.Kind, &n}, func() error { last[k] = n; return nil }); err != nil {
		return nil, fmt.Errorf("take numbers of several companies: %w", err)
	}
	return last, nil
}

var sqlSkipNumbers = counters.Update(`SET n = $3 WHERE company_id = $1 AND kind = $2`)

// Skip queues that the numbers up to last, which is above the last number taken, are not used. The caller has taken a
// number of the kind in the same transaction.
func Skip(tx *db.Tx, company tenant.ID, kind string, last int64) {
	tx.Queue(sqlSkipNumbers, company, kind, last).Expect(1, nil)
}
