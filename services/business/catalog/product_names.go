package catalog

import (
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/business/sku"
)

// namesFilter are the filters that find a product by a name of its own, or of one of its variants.
type namesFilter struct {
	sku, barcode       string
	source, externalID string
	patterns           []string // of LIKE, of the search
}

// names takes the filters by names from those that are conditions on products alone; the search stays one.
func (f *ProductFilter) names() namesFilter {
	n := namesFilter{sku: strings.TrimSpace(f.SKU), barcode: strings.TrimSpace(f.Barcode), externalID: f.ExternalID, patterns: f.Patterns()}
	if n.externalID != "" {
		n.source, f.Source, f.ExternalID = f.Source, "", ""
	}
	return n
}

// foundByName are the products that one of the filters finds.
type foundByName struct {
	asked    string
	products []uuid.UUID
}

// filterByNames adds the conditions of the filters by names. The products are read before the list, because each condition then is one
// on ids, whatever the names belong to. It adds the last conditions of a list.
func (s *Service) filterByNames(ctx context.Context, company tenant.ID, q *list.Query, f namesFilter) error {
	var found []*foundByName
	var reads []batchloader.Read
	add := func(asked string, read func(context.Context, db.Querier) ([]uuid.UUID, error)) {
		if asked == "" {
			return
		}
		one := &foundByName{asked: asked}
		found = append(found, one)
		reads = append(reads, func(ctx context.Context, q db.Querier) (err error) {
			one.products, err = read(ctx, q)
			return err
		})
	}
	add(f.sku, func(ctx context.Context, q db.Querier) ([]uuid.UUID, error) { return withSKU(ctx, q, company, f.sku) })
	add(f.barcode, func(ctx context.Context, q db.Querier) ([]uuid.UUID, error) {
		return withBarcode(ctx, q, company, f.barcode)
	})
	add(f.externalID, func(ctx context.Context, q db.Querier) ([]uuid.UUID, error) {
		return db.Collect(ctx, q, "find products by external id", pgx.RowTo[uuid.UUID], sqlSelectWithExternalID, company, f.externalID, f.source)
	})
	byText := make([][]uuid.UUID, len(f.patterns))
	for i, pattern := range f.patterns {
		reads = append(reads, func(ctx context.Context, q db.Querier) (err error) {
			byText[i], err = db.Collect(ctx, q, "search variants", pgx.RowTo[uuid.UUID], sqlSearchVariants, company, pattern)
			return err
		})
	}
	if err := batchloader.Load(ctx, s.cfg.DB, reads...); err != nil {
		return err
	}
	for _, one := range found {
		q.WhereFound(one.asked, "id = ANY(?::UUID[])", one.products)
	}
	orOfVariants(q, company, f.patterns, slices.Concat(byText...))
	return nil
}

const (
	sqlSelectWithExternalID = `SELECT id FROM products WHERE company_id = $1 AND external_id = $2 AND ($3::TEXT = '' OR source = $3::TEXT)
UNION SELECT product_id FROM product_variants WHERE company_id = $1 AND external_id = $2 AND ($3::TEXT = '' OR source = $3::TEXT)`
	sqlSelectWithBarcode = `SELECT id FROM products WHERE company_id = $1 AND barcode = $2 UNION SELECT product_id FROM product_variants WHERE company_id = $1 AND barcode = $2`
)

// withSKU returns the product with a SKU, or that of the variant that has it.
func withSKU(ctx context.Context, q db.Querier, company tenant.ID, text string) ([]uuid.UUID, error) {
	entity, id, err := sku.Owner(ctx, q, company, text)
	if err != nil {
		return nil, err
	}
	return productOfOwner(ctx, q, company, entity, id)
}

// withBarcode returns the products with a barcode, or with a variant that has it. Hidden ones reserve none, and are found as it is written.
func withBarcode(ctx context.Context, q db.Querier, company tenant.ID, text string) ([]uuid.UUID, error) {
	var written, reserved []uuid.UUID
	err := batchloader.Load(ctx, q, func(ctx context.Context, q db.Querier) (err error) {
		written, err = db.Collect(ctx, q, "find products by barcode", pgx.RowTo[uuid.UUID], sqlSelectWithBarcode, company, text)
		return err
	}, func(ctx context.Context, q db.Querier) error {
		entity, id, err := sku.BarcodeOwner(ctx, q, company, text)
		if err == nil {
			reserved, err = productOfOwner(ctx, q, company, entity, id)
		}
		return err
	})
	return append(written, reserved...), err
}

// productOfOwner returns the product that a SKU or barcode leads to, if it does.
func productOfOwner(ctx context.Context, q db.Querier, company tenant.ID, entity string, id uuid.UUID) ([]uuid.UUID, error) {
	switch {
	case id != uuid.Nil && entity == sku.Product:
		return []uuid.UUID{id}, nil
	case id != uuid.Nil && entity == sku.Variant:
		product, err := ProductOf(ctx, q, company, id)
		return []uuid.UUID{product}, err
	}
	return []uuid.UUID{}, nil
}

const (
	variantsSearched  = 500
	sqlSearchVariants = `SELECT product_id FROM product_variants WHERE company_id = $1 AND search_text LIKE $2 LIMIT 501`
	whereOfVariants   = `id IN (SELECT product_id FROM product_variants WHERE company_id = ? AND search_text LIKE ?)`
)

// orOfVariants widens the search of products by those of the variants that it finds. Many are left to the database: a search that finds so
// much is read in the order of the list.
func orOfVariants(q *list.Query, company tenant.ID, patterns []string, found []uuid.UUID) {
	switch {
	case len(found) == 0:
	case len(found) <= variantsSearched:
		q.OrFound("id = ANY(?::UUID[])", found)
	default:
		q.Reading(variantsTable)
		for _, pattern := range patterns {
			q.OrFound(whereOfVariants, company, pattern)
		}
	}
}
