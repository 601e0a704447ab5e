package deals

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

var sqlSelectStagesOfType = "SELECT " + record.PlanOf[Stage]().SelectList("") + " FROM deal_stages WHERE company_id = $1 AND type_id = $2 ORDER BY sort_order, id"

// selectStages reads the stages of a type, the inactive ones included.
func selectStages(ctx context.Context, q db.Querier, company tenant.ID, typeID uuid.UUID) ([]Stage, error) {
	return readAll[Stage](ctx, q, sqlSelectStagesOfType, company, typeID)
}
