package catalog

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
)

// KnownProducts returns those ids that are products of the company.
var KnownProducts = products.Known

const sqlSelectProductOf = `SELECT product_id FROM product_variants WHERE company_id = $1 AND id = $2`

// ProductOf returns the product of a variant; 404 if there is no such variant.
func ProductOf(ctx context.Context, q db.Querier, company tenant.ID, variant uuid.UUID) (product uuid.UUID, err error) {
	err = q.QueryRow(ctx, sqlSelectProductOf, company, variant).Scan(&product)
	if db.IsNoRows(err) {
		return product, apierr.NotFound("PRODUCT_VARIANT", variant.String())
	}
	if err != nil {
		return product, fmt.Errorf("read the product of a variant: %w", err)
	}
	return product, nil
}

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

const sqlSelectBelow = `WITH RECURSIVE below (id) AS (
SELECT id FROM categories WHERE company_id = $1 AND id = $2
UNION SELECT c.id FROM categories c JOIN below b ON c.parent_id = b.id WHERE c.company_id = $1
) SELECT id FROM below`

// FilterCategory adds the filter categoryId to a list with a column category_id: the id of a category, for all items in it
// and below it, or null for items without one. It adds nothing if the value is empty. The categories are read before the list,
// because the best way to read it depends on how many items they have.
func FilterCategory(ctx context.Context, d db.Querier, q *list.Query, company tenant.ID, category jsontype.IDOrNull) error {
	switch id := category.ID(); {
	case !category.Sent():
	case id == nil:
		q.Where("category_id IS NULL")
	default:
		rows, err := d.Query(ctx, sqlSelectBelow, company, *id)
		if err != nil {
			return fmt.Errorf("select categories below: %w", err)
		}
		below, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
		if err != nil {
			return fmt.Errorf("read categories below: %w", err)
		}
		q.WhereFound(id, "category_id = ANY(?::UUID[])", below)
	}
	return nil
}
