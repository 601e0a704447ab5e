package catalog

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

const sqlSelectDefaultSuppliers = `SELECT id, default_supplier_id FROM products WHERE company_id = $1 AND id = ANY($2::UUID[]) AND default_supplier_id IS NOT NULL`

// DefaultSuppliers returns the suppliers of those products that have one.
func DefaultSuppliers(ctx context.Context, q db.Querier, company tenant.ID, products []uuid.UUID) (map[uuid.UUID]uuid.UUID, error) {
	return db.Map[uuid.UUID, uuid.UUID](ctx, q, "read suppliers of products", sqlSelectDefaultSuppliers, company, products)
}
