package catalog

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/jsontype"
	"github.com/tradegrid/tradegrid/pkg/list"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// KnownProducts returns those ids that are products of the company.
var KnownProducts = products.Known

// KnownUnits returns those ids that are units of the company or built in.
func KnownUnits(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) ([]uuid.UUID, error) {
	return new(lookup).knownUnits(ctx, q, company, ids)
}

// CategoryPrefixes returns the SKU prefixes, nil for none, of those ids that are categories of the company.
func CategoryPrefixes(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) (map[uuid.UUID]*string, error) {
	prefixes, err := db.Map[uuid.UUID, *string](ctx, q, sqlSelectPrefixes, company, ids)
	if err != nil {
		return nil, fmt.Errorf("read prefixes of categories: %w", err)
	}
	return prefixes, nil
}

const sqlInCategory = `category_id IN (WITH RECURSIVE below (id) AS (
SELECT id FROM categories WHERE company_id = ? AND id = ?
UNION SELECT c.id FROM categories c JOIN below b ON c.parent_id = b.id WHERE c.company_id = ?
) SELECT id FROM below)`

// FilterCategory adds the filter categoryId to a list with a column category_id: the id of a category, for all items in it
// and below it, or null for items without one. It adds nothing if the value is empty.
func FilterCategory(q *list.Query, company tenant.ID, category jsontype.IDOrNull) {
	switch id := category.ID(); {
	case !category.Sent():
	case id == nil:
		q.Where("category_id IS NULL")
	default:
		q.Where(sqlInCategory, company, *id, company)
	}
}
