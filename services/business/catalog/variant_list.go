package catalog

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/list"
)

// What a variant takes as JSON besides its texts. Its attribute values take $3 times what they take as they are stored.
const variantBytes = `sum(900 + octet_length(sku) + coalesce(octet_length(name), 0) + $3::INT8 * octet_length(attribute_values::TEXT) + octet_length(metadata::TEXT))::INT8`

// shownValues is about how many times larger attribute values are with the names and labels that include=attributes adds.
const shownValues = 9

const (
	fromVariantsOf  = ` FROM product_variants WHERE company_id = $1 AND product_id = ANY($2::UUID[])`
	sqlSelectSizes  = `SELECT product_id, ` + variantBytes + fromVariantsOf + ` GROUP BY product_id`
	orderOfVariants = ` ORDER BY product_id, sort_order, id`
	onlySmall       = ` AND (SELECT ` + variantBytes + fromVariantsOf + `) <= $4::INT8`
)

var (
	sqlSelectVariantsOf      = "SELECT " + variantPlan.SelectList("") + fromVariantsOf + orderOfVariants
	sqlSelectSmallVariantsOf = "SELECT " + variantPlan.SelectList("") + fromVariantsOf + onlySmall + orderOfVariants
)

// listedVariants are the variants of the products of a page, hidden ones included. It implements [list.Children].
type listedVariants struct {
	of    map[uuid.UUID][]ProductVariant
	times int // size of attribute values against what is stored
}

// QueueSizes implements [list.Children].
func (l *listedVariants) QueueSizes(b *pgx.Batch, company tenant.ID, products []uuid.UUID, each func(product uuid.UUID, bytes int)) {
	b.Queue(sqlSelectSizes, company, products, l.times).Query(func(rows pgx.Rows) error {
		var product uuid.UUID
		var bytes int
		_, err := pgx.ForEachRow(rows, []any{&product, &bytes}, func() error {
			each(product, bytes)
			return nil
		})
		return err
	})
}

// QueueRead implements [list.Children].
func (l *listedVariants) QueueRead(b *pgx.Batch, company tenant.ID, products []uuid.UUID, limit int) (read *int) {
	sql, args := sqlSelectVariantsOf, []any{company, products}
	if limit > 0 {
		sql, args = sqlSelectSmallVariantsOf, append(args, l.times, limit)
	}
	read = new(int)
	b.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		defer rows.Close()
		for rows.Next() {
			var v ProductVariant
			if err := rows.Scan(variantPlan.Targets(&v)...); err != nil {
				return err
			}
			l.of[v.ProductID] = append(l.of[v.ProductID], v)
			*read++
		}
		return rows.Err()
	})
	return read
}

// listVariants shows the variants of the products of a page.
func (s *Service) listVariants(ctx context.Context, page *list.Page[Product], with Extras) error {
	found := &listedVariants{of: map[uuid.UUID][]ProductVariant{}, times: 1}
	if with.attributes() {
		found.times += shownValues
	}
	if err := page.ReadChildren(ctx, s.cfg.DB, found); err != nil {
		return err
	}
	return s.showVariants(ctx, page.Items, found.of, with)
}

// showVariants completes the variants of products, and shows them.
func (s *Service) showVariants(ctx context.Context, all []Product, of map[uuid.UUID][]ProductVariant, with Extras) error {
	owners := make(map[uuid.UUID]*Product, len(all))
	var each []*ProductVariant
	for i := range all {
		p := &all[i]
		owners[p.ID] = p
		own := append([]ProductVariant{}, of[p.ID]...)
		p.Variants = &own
		for j := range own {
			each = append(each, &own[j])
		}
	}
	return s.completeVariants(ctx, s.cfg.DB, owners, each, with)
}
