package catalog

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/fileuse"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/sku"
)

// CreateProduct creates a product. Without a SKU it gets the next one with the prefix of its category, or P-NNNN.
//
// Errors: 404 for a reference, 409 SKU_TAKEN, 409 BARCODE_TAKEN.
func (s *Service) CreateProduct(ctx context.Context, tx *db.Tx, by access.Caller, in ProductInput) (Product, error) {
	p := Product{Key: record.Key{ID: tx.NewID()}, ProductFields: in.ProductFields}
	p.Status, p.Unit = cmp.Or(p.Status, StatusActive), cmp.Or(p.Unit, unitPieces)
	if err := p.take(in); err != nil {
		return Product{}, err
	}
	if p.SKU == "" {
		if err := sku.Prepare(ctx, tx, by.Company); err != nil {
			return Product{}, err
		}
	}
	prefix, err := s.settle(ctx, tx, by.Company, Product{}, &p, in)
	if err != nil {
		return Product{}, err
	}
	if p.SKU == "" {
		if p.SKU, err = sku.Next(ctx, tx, by.Company, prefix); err != nil {
			return Product{}, err
		}
	}
	if p, err = products.Create(ctx, tx, by, p, productCreated); err != nil {
		return Product{}, err
	}
	p.reserve(tx, Product{})
	return p, nil
}

// UpdateProduct changes a product; fields missing from the patch stay unchanged. If nothing differs, there is no event.
//
// Errors: 404, 412, 404 for a reference, 409 SKU_TAKEN, 409 BARCODE_TAKEN.
func (s *Service) UpdateProduct(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[ProductInput]) (Product, error) {
	if in.Value.refers() {
		tx.ReadsMore()
	}
	return s.changeProduct(ctx, tx, by, id, func(before Product, p *Product) error {
		v := ProductInput{ProductFields: p.ProductFields}
		in.Apply(&v)
		p.ProductFields = v.ProductFields
		if err := p.take(in.Value); err != nil {
			return err
		}
		_, err := s.settle(ctx, tx, by.Company, before, p, in.Value)
		return err
	}, productUpdated)
}

// HideProduct hides a product; see docs/reference/states.md#product. Hiding it again changes nothing.
func (s *Service) HideProduct(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (Product, error) {
	return s.changeProduct(ctx, tx, by, id, func(_ Product, p *Product) error { p.Status = StatusHidden; return nil }, productDeleted)
}

// changeProduct changes one product and its reservations of SKU and barcode.
func (s *Service) changeProduct(
	ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, mutate func(before Product, p *Product) error, e event.Event[Product],
) (Product, error) {
	var before Product
	p, err := products.Change(ctx, tx, by, id, func(b Product, p *Product) error {
		before = b
		if err := mutate(b, p); err != nil || p.AttributeValues != nil {
			return err
		}
		return s.showAttributes(ctx, tx, p)
	}, e)
	if err != nil {
		return p, err
	}
	p.reserve(tx, before)
	return p, nil
}

// reserve updates what the product reserves, the files that it refers to, and what filters find, to match its new state.
func (p Product) reserve(tx *db.Tx, before Product) {
	p.names().Claim(tx, p.CompanyID, before.names())
	fileuse.Record(tx, p.CompanyID, usedByProduct, "photoFileIds", p.ID, before.PhotoFileIDs, p.PhotoFileIDs)
	indexValues(tx, p.CompanyID, p.ID, p.ID, before.Attributes, p.Attributes)
}

var (
	productPlan               = record.PlanOf[Product]()
	sqlLockProducts           = "SELECT " + productPlan.SelectList("") + " FROM products WHERE company_id = $1"
	sqlLockProductsOfSupplier = sqlLockProducts + " AND default_supplier_id = $2 ORDER BY id FOR UPDATE"
	sqlLockProductsOfCategory = sqlLockProducts + " AND category_id = $2 AND status = 'active' ORDER BY id FOR UPDATE"
)

// changeProducts changes all products that refer to ref, as selected by sql, each as a separate change.
func (s *Service) changeProducts(ctx context.Context, tx *db.Tx, by access.Caller, sql string, ref uuid.UUID, mutate func(*Product)) error {
	all, err := db.Collect(ctx, tx, "select products to change", db.RowTo(func(p *Product) []any { return productPlan.Targets(p) }), sql, by.Company, ref)
	if err != nil {
		return err
	}
	each := make([]*Product, len(all))
	for i := range all {
		each[i] = &all[i]
	}
	if err := s.showAttributes(ctx, tx, each...); err != nil {
		return err
	}
	for _, p := range each {
		snapshot := products.Snapshot(*p)
		mutate(p)
		if err := products.Store(ctx, tx, by, snapshot, p, productUpdated); err != nil {
			return err
		}
	}
	return nil
}

// ForgetSupplier clears the default supplier of all products that have this one.
func (s *Service) ForgetSupplier(ctx context.Context, tx *db.Tx, by access.Caller, supplier uuid.UUID) error {
	return s.changeProducts(ctx, tx, by, sqlLockProductsOfSupplier, supplier, func(p *Product) { p.DefaultSupplierID = nil })
}

var sqlDetachHidden = productsTable.Update(`SET category_id = NULL, version = version + 1, ev_pos = GREATEST(ev_pos + 1, $3::BIGINT), updated_at = $4
WHERE company_id = $1 AND category_id = $2 AND status = 'hidden'`)

// emptyCategory removes the items from a category before it is deleted. Active items move to the other category; hidden
// items lose their category without an event.
func (s *Service) emptyCategory(ctx context.Context, tx *db.Tx, by access.Caller, category uuid.UUID, to *uuid.UUID) error {
	err := s.changeProducts(ctx, tx, by, sqlLockProductsOfCategory, category, func(p *Product) { p.CategoryID = to })
	if err != nil {
		return err
	}
	tx.Queue(sqlDetachHidden, by.Company, category, tx.Now().UnixMicro(), jsontype.At(tx.Now()))
	return s.cfg.Services.EmptyCategory(ctx, tx, by, category, to)
}

// settlePhotos makes photoFileId the first of photoFileIds, whichever of them has changed: a new list decides by itself; a new
// photoFileId takes the place of the first image, and null removes all. See docs/reference/files.md#products.
func (p *Product) settlePhotos(before Product) error {
	var faults apierr.Fields
	for i, id := range p.PhotoFileIDs {
		if slices.Contains(p.PhotoFileIDs[:i], id) {
			faults.Add(fmt.Sprintf("photoFileIds[%d]", i), apierr.Conflict, "is a duplicate; name each file once")
		}
	}
	changed := !record.Same(before.PhotoFileID, p.PhotoFileID)
	switch {
	case !slices.Equal(before.PhotoFileIDs, p.PhotoFileIDs):
		var first *uuid.UUID
		if len(p.PhotoFileIDs) > 0 {
			first = &p.PhotoFileIDs[0]
		}
		if changed && !record.Same(first, p.PhotoFileID) {
			faults.Add("photoFileId", apierr.Conflict, "must be the first of photoFileIds; send one of the two")
		}
		p.PhotoFileID = first
	case changed && p.PhotoFileID == nil:
		p.PhotoFileIDs = nil
	case changed:
		rest := slices.DeleteFunc(slices.Clone(before.PhotoFileIDs[min(1, len(before.PhotoFileIDs)):]), func(id uuid.UUID) bool { return id == *p.PhotoFileID })
		p.PhotoFileIDs = append([]uuid.UUID{*p.PhotoFileID}, rest...)
	}
	return faults.Err()
}

// entities of the references to files.
const (
	usedByProduct = "product"
	usedByVariant = "product_variant"
)

// photosOf are the files that a variant refers to.
func (v ProductVariant) photosOf() []uuid.UUID { return fileuse.One(v.PhotoFileID) }
