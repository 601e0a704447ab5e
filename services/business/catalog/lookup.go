package catalog

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/fileuse"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
)

// defaultProductPrefix is the prefix of generated SKUs if the category has none.
const defaultProductPrefix = "P"

// lookup holds data of the records that a product newly refers to.
type lookup struct {
	prefix *string              // of the category
	codes  map[uuid.UUID]string // of units
	defs   map[uuid.UUID]AttributeDefinition
}

// settle checks new references, the SKU and the barcode, and keeps unit and unitId consistent, in at most one round trip.
// prefix is the prefix for a generated SKU.
func (s *Service) settle(ctx context.Context, tx *db.Tx, company tenant.ID, before Product, p *Product, sent ProductInput) (prefix string, err error) {
	if err := p.settlePhotos(before); err != nil {
		return "", err
	}
	var l lookup
	var reads []batchloader.Read
	add := func(wanted bool, check func(context.Context, db.Querier, tenant.ID, Product) error) {
		if wanted {
			reads = append(reads, func(ctx context.Context, q db.Querier) error { return check(ctx, q, company, *p) })
		}
	}
	if sent.UnitID == nil && p.Unit != before.Unit {
		p.UnitID = nil // a code alone clears the unitId of another code
		add(true, checkUnitCode)
	}
	refs := s.references(&l, before, *p, sent)
	reads = append(reads, refs.Reads(company)...)
	reads = append(reads, p.names().Checks(company, before.names())...)
	reads = append(reads, l.attributes(company, before, *p, sent)...)
	if err := batchloader.Load(ctx, tx, reads...); err != nil {
		return "", err
	}
	if sent.Attributes != nil {
		if p.Attributes, err = takeValues(sent.Attributes, l.defs); err != nil {
			return "", err
		}
	}
	p.AttributeValues = show(p.Attributes, l.defs)
	if sent.UnitID != nil {
		p.Unit = before.Unit
		if code, ok := l.codes[*sent.UnitID]; ok {
			p.Unit = code
		}
	}
	if l.prefix != nil {
		return *l.prefix, nil
	}
	return defaultProductPrefix, nil
}

// attributes are the reads of the definitions that the product has values of, and for a new product of those that it must have.
func (l *lookup) attributes(company tenant.ID, before, p Product, sent ProductInput) []batchloader.Read {
	var reads []batchloader.Read
	ids := attributeIDs(p.Attributes)
	for _, v := range sent.Attributes {
		ids = append(ids, v.AttributeID)
	}
	if len(ids) > 0 {
		reads = append(reads, func(ctx context.Context, q db.Querier) (err error) {
			l.defs, err = readAttributes(ctx, q, company, ids)
			return err
		})
	}
	if before.ID == uuid.Nil {
		reads = append(reads, func(ctx context.Context, q db.Querier) error {
			return checkRequired(ctx, q, company, p, sent.Attributes)
		})
	}
	return reads
}

// refers reports whether anything is to be looked up, as a rule.
func (in ProductInput) refers() bool {
	return in.SKU != "" || in.Barcode != nil || in.CategoryID != nil || in.Unit != "" || in.UnitID != nil || in.PackUnitID != nil ||
		in.CostComponents != nil || in.ModifierGroups != nil || in.DefaultSupplierID != nil || in.Attributes != nil ||
		in.PhotoFileID != nil || in.PhotoFileIDs != nil
}

// references are the records that the product refers to and did not before, and all of the lists that were sent.
func (s *Service) references(l *lookup, before, p Product, sent ProductInput) reference.Set {
	var refs reference.Set
	refs.Add("CATEGORY", "categoryId", before.CategoryID, p.CategoryID, l.knownCategories)
	refs.Add("UNIT", "unitId", before.UnitID, p.UnitID, l.knownUnits)
	refs.Add("UNIT", "packUnitId", before.PackUnitID, p.PackUnitID, l.knownUnits)
	for i, c := range sent.CostComponents {
		refs.Add("PRODUCT", fmt.Sprintf("costComponents[%d].productId", i), nil, c.ProductID, products.Known)
		refs.Add("UNIT", fmt.Sprintf("costComponents[%d].unitId", i), nil, c.UnitID, l.knownUnits)
	}
	for i, g := range sent.ModifierGroups {
		for j, o := range g.Options {
			refs.Add("PRODUCT", fmt.Sprintf("modifierGroups[%d].options[%d].productId", i, j), nil, o.ProductID, products.Known)
		}
	}
	refs.Add("TAX_RATE", "taxRateId", before.TaxRateID, p.TaxRateID, s.cfg.TaxRates)
	refs.Add("SUPPLIER", "defaultSupplierId", before.DefaultSupplierID, p.DefaultSupplierID, s.cfg.Suppliers)
	if sent.PhotoFileIDs != nil {
		fileuse.CheckImages(&refs, "photoFileIds", before.PhotoFileIDs, p.PhotoFileIDs)
	} else {
		fileuse.CheckImage(&refs, "photoFileId", before.PhotoFileID, p.PhotoFileID)
	}
	return refs
}

const sqlSelectPrefixes = `SELECT id, prefix FROM categories WHERE company_id = $1 AND id = ANY($2::UUID[])`

// knownCategories is a [reference.Known] that also reads the prefix of the one category.
func (l *lookup) knownCategories(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) ([]uuid.UUID, error) {
	prefixes, err := CategoryPrefixes(ctx, q, company, ids)
	if err != nil {
		return nil, err
	}
	l.prefix = prefixes[ids[0]]
	return slices.Collect(maps.Keys(prefixes)), nil
}

const sqlSelectUnitCodes = `SELECT id, code FROM units WHERE company_id = $1 AND id = ANY($2::UUID[])`

// knownUnits is a [reference.Known] that also reads the codes of the units.
func (l *lookup) knownUnits(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) ([]uuid.UUID, error) {
	l.codes = map[uuid.UUID]string{}
	for _, u := range builtInUnits {
		l.codes[u.ID] = u.Code
	}
	if slices.ContainsFunc(ids, func(id uuid.UUID) bool { return l.codes[id] == "" }) {
		own, err := db.Map[uuid.UUID, string](ctx, q, "read codes of units", sqlSelectUnitCodes, company, ids)
		if err != nil {
			return nil, err
		}
		maps.Copy(l.codes, own)
	}
	return slices.Collect(maps.Keys(l.codes)), nil
}

const sqlSelectUnitByCode = `SELECT id FROM units WHERE company_id = $1 AND code = $2`

func checkUnitCode(ctx context.Context, q db.Querier, company tenant.ID, p Product) error {
	if slices.ContainsFunc(builtInUnits, func(u Unit) bool { return u.Code == p.Unit }) {
		return nil
	}
	var id uuid.UUID
	err := q.QueryRow(ctx, sqlSelectUnitByCode, company, p.Unit).Scan(&id)
	if db.IsNoRows(err) {
		return apierr.InvalidField("unit", apierr.Enum, "must be the code of a unit from GET /catalog/units, such as pcs or kg")
	}
	if err != nil {
		return fmt.Errorf("look up unit: %w", err)
	}
	return nil
}

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
	return db.Map[uuid.UUID, *string](ctx, q, "read prefixes of categories", sqlSelectPrefixes, company, ids)
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
		below, err := db.Collect(ctx, d, "select categories below", pgx.RowTo[uuid.UUID], sqlSelectBelow, company, *id)
		if err != nil {
			return err
		}
		q.WhereFound(id, "category_id = ANY(?::UUID[])", below)
	}
	return nil
}

const sqlSelectCategoryNames = `SELECT id, name FROM categories WHERE company_id = $1 AND id = ANY($2::UUID[])`

// CategoryNames returns the names of those ids that are categories of the company.
func CategoryNames(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) (map[uuid.UUID]string, error) {
	return db.Map[uuid.UUID, string](ctx, q, "read names of categories", sqlSelectCategoryNames, company, ids)
}
