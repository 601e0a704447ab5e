package warehouse

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// WarehouseNames returns the names of those ids that are warehouses of the company.
func (s *Service) WarehouseNames(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) (map[uuid.UUID]string, error) {
	return selectNames(ctx, q, company, ids)
}
