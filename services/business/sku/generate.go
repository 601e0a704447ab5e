package sku

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/numbering"
)

// Prepare makes a transaction that will call [Next] wait for those of this process that do so, since they all change the
// same counter. Call it before the first statement.
func Prepare(ctx context.Context, tx *db.Tx, company tenant.ID) error {
	return tx.LockInProcess(ctx, "sku", company)
}

const sqlSelectTakenSKUs = `SELECT sku_key FROM skus WHERE company_id = $1 AND sku_key = ANY($2::TEXT[])`

// window is how many generated SKUs are checked at a time against SKUs set by clients.
const window = 20

// Next takes the next SKU PREFIX-NNNN of the company, skipping SKUs set by clients.
func Next(ctx context.Context, tx *db.Tx, company tenant.ID, prefix string) (string, error) {
	kind := "sku:" + prefix
	n, err := numbering.Take(ctx, tx, company, kind, 1)
	if err != nil {
		return "", err
	}
	for from := n; ; from += window {
		keys := make([]string, window)
		for i := range keys {
			keys[i] = list.Key(format(prefix, from+int64(i)))
		}
		taken, err := db.Collect(ctx, tx, "select taken SKUs", pgx.RowTo[string], sqlSelectTakenSKUs, company, keys)
		if err != nil {
			return "", err
		}
		i := slices.IndexFunc(keys, func(k string) bool { return !slices.Contains(taken, k) })
		if i < 0 {
			continue
		}
		free := from + int64(i)
		if free != n {
			numbering.Skip(tx, company, kind, free)
		}
		return format(prefix, free), nil
	}
}

func format(prefix string, n int64) string { return fmt.Sprintf("%s-%04d", prefix, n) }
