package leads

import (
	"context"
	"fmt"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

var (
	plan            = record.PlanOf[Lead]()
	sqlFindExternal = `SELECT ` + plan.SelectList("") + ` FROM leads WHERE company_id = $1 AND source = $2 AND external_id = $3`
)

// findExternal reads the lead with an external id. Requests with the same one wait for each other in this process, so that
// they need not try again.
func findExternal(ctx context.Context, tx *db.Tx, company tenant.ID, source, external string) (l Lead, found bool, err error) {
	if err := tx.LockInProcess(ctx, "lead", company, source, external); err != nil {
		return l, false, err
	}
	err = tx.QueryRow(ctx, sqlFindExternal, company, source, external).Scan(plan.Targets(&l)...)
	if db.IsNoRows(err) {
		return l, false, nil
	}
	if err != nil {
		return l, false, fmt.Errorf("find lead by external id: %w", err)
	}
	return l, true, nil
}
