package catalog

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// namedRef is a field of a body that names another record.
type namedRef struct {
	field string
	id    uuid.UUID
}

// references are what one body of a product refers to, and the names that it wants for itself.
type references struct {
	self      uuid.UUID
	category  *uuid.UUID
	supplier  *uuid.UUID
	units     []namedRef
	products  []namedRef
	sku       string
	barcode   string
	needUnits bool
}

// references lists what has to be looked up for the patch. p is the product after the patch was applied to it.
func (in ProductPatch) references(p Product) references {
	r := references{self: p.ID, category: in.CategoryID.Ptr(), supplier: in.DefaultSupplierID.Ptr(), sku: in.SKU.Value}
	if in.Barcode.Set || in.Status.Set {
		r.barcode = p.activeBarcode()
	}
	addUnit := func(field string, id *uuid.UUID) {
		if id != nil {
			r.units = append(r.units, namedRef{field, *id})
		}
	}
	addProduct := func(field string, id *uuid.UUID) {
		if id != nil {
			r.products = append(r.products, namedRef{field, *id})
		}
	}
	addUnit("unitId", in.UnitID.Ptr())
	addUnit("packUnitId", in.PackUnitID.Ptr())
	for i, c := range in.CostComponents.Value {
		addProduct(fmt.Sprintf("costComponents[%d].productId", i), c.ProductID)
		addUnit(fmt.Sprintf("costComponents[%d].unitId", i), c.UnitID)
	}
	for i, g := range in.ModifierGroups.Value {
		for j, o := range g.Options {
			addProduct(fmt.Sprintf("modifierGroups[%d].options[%d].productId", i, j), o.ProductID)
		}
	}
	r.needUnits = len(r.units) > 0 || in.Unit.Set
	return r
}

// found is what the database knows of the references of one body.
type found struct {
	references
	hasCategory    bool
	categoryPrefix *string
	hasSupplier    bool
	directory      []Unit
	existing       []uuid.UUID // products
	skuHolder      *skuHolder
	barcodeHolder  *barcodeHolder
}

const (
	sqlSelectCategoryPrefix = `SELECT prefix FROM categories WHERE company_id = $1 AND id = $2`
	sqlSelectExisting       = `SELECT id FROM products WHERE company_id = $1 AND id = ANY($2::UUID[])`
)

// lookUp reads all references in one round trip.
func (s *Service) lookUp(ctx context.Context, tx *db.Tx, company tenant.ID, r references) (*found, error) {
	f := &found{references: r, directory: builtInUnits}
	b := &pgx.Batch{}
	if r.category != nil {
		b.Queue(sqlSelectCategoryPrefix, company, *r.category).QueryRow(func(row pgx.Row) error {
			return ifRow(row.Scan(&f.categoryPrefix), &f.hasCategory)
		})
	}
	if r.needUnits {
		b.Queue(sqlSelectUnits, company).Query(func(rows pgx.Rows) error {
			own, err := pgx.CollectRows(rows, db.RowTo(unitTargets))
			f.directory = slices.Concat(builtInUnits, own)
			return err
		})
	}
	if len(r.products) > 0 {
		b.Queue(sqlSelectExisting, company, idsOf(r.products)).Query(func(rows pgx.Rows) (err error) {
			f.existing, err = pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
			return err
		})
	}
	f.queueHolders(b, company)
	if b.Len() > 0 {
		if err := tx.SendBatch(ctx, b).Close(); err != nil {
			return nil, fmt.Errorf("look up references of a product: %w", err)
		}
	}
	if r.supplier == nil || s.suppliers == nil {
		return f, nil
	}
	known, err := s.suppliers(ctx, tx, company, []uuid.UUID{*r.supplier})
	f.hasSupplier = len(known) > 0
	return f, err
}

func ifRow(err error, ok *bool) error {
	*ok = err == nil
	if db.IsNoRows(err) {
		return nil
	}
	return err
}

func idsOf(refs []namedRef) []uuid.UUID {
	ids := make([]uuid.UUID, len(refs))
	for i, r := range refs {
		ids[i] = r.id
	}
	return ids
}

// check refuses references to nothing and names that are taken, and settles the unit of the product.
func (f *found) check(p *Product, in ProductPatch) error {
	if err := f.settleUnit(p, in); err != nil {
		return err
	}
	if f.category != nil && !f.hasCategory {
		return fault.ReferenceNotFound("CATEGORY", "categoryId", f.category.String())
	}
	for _, r := range f.units {
		if !slices.ContainsFunc(f.directory, func(u Unit) bool { return u.ID == r.id }) {
			return fault.ReferenceNotFound("UNIT", r.field, r.id.String())
		}
	}
	for _, r := range f.products {
		if !slices.Contains(f.existing, r.id) {
			return fault.ReferenceNotFound("PRODUCT", r.field, r.id.String())
		}
	}
	if f.supplier != nil && !f.hasSupplier {
		return fault.ReferenceNotFound("SUPPLIER", "defaultSupplierId", f.supplier.String())
	}
	return f.checkHolders()
}

// settleUnit keeps unit and unitId in step: a unitId decides about the code, and a code alone drops a unitId of another code.
func (f *found) settleUnit(p *Product, in ProductPatch) error {
	if id := in.UnitID.Ptr(); id != nil {
		p.UnitID = id
		for _, u := range f.directory {
			if u.ID == *id {
				p.Unit = u.Code
			}
		}
		return nil
	}
	if in.UnitID.Set {
		p.UnitID = nil
	}
	if !in.Unit.Set || in.Unit.Value == p.Unit {
		return nil
	}
	if !slices.ContainsFunc(f.directory, func(u Unit) bool { return u.Code == in.Unit.Value }) {
		return fault.Invalid(fault.Field{
			Field: "unit", Code: fault.Enum,
			Message: "unit: must be the code of a unit of GET /catalog/units, such as pcs or kg",
		})
	}
	p.Unit, p.UnitID = in.Unit.Value, nil
	return nil
}

// prefix is that of the category of the product, else the given one.
func (f *found) prefix(def string) string {
	if f.categoryPrefix != nil {
		return *f.categoryPrefix
	}
	return def
}
