package catalog

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/event"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/outbox"
	"github.com/tradegrid/tradegrid/pkg/record"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/wire"
)

// States of a product.
const (
	StatusActive = "active"
	StatusHidden = "hidden"
)

// Product is what a company sells by the piece or by measure (specification, section 2).
type Product struct {
	ID                uuid.UUID               `json:"id" format:"uuid"`
	CompanyID         tenant.ID               `json:"companyId" format:"uuid"`
	SKU               string                  `json:"sku" doc:"article"`
	Barcode           *string                 `json:"barcode"`
	Name              string                  `json:"name"`
	Description       *string                 `json:"description"`
	NameI18n          map[string]string       `json:"nameI18n" doc:"translations by locale"`
	DescriptionI18n   map[string]string       `json:"descriptionI18n" doc:"translations by locale"`
	CategoryID        *uuid.UUID              `json:"categoryId" format:"uuid" nullable:"true"`
	Brand             *string                 `json:"brand"`
	Model             *string                 `json:"model"`
	Price             money.Amount            `json:"price"`
	Cost              money.Amount            `json:"cost"`
	Unit              string                  `json:"unit" doc:"unit code"`
	UnitID            *uuid.UUID              `json:"unitId" format:"uuid" nullable:"true"`
	PackQty           *money.Qty              `json:"packQty" nullable:"true" doc:"quantity of the pack unit in one unit"`
	PackUnitID        *uuid.UUID              `json:"packUnitId" format:"uuid" nullable:"true"`
	MinOrderQty       *money.Qty              `json:"minOrderQty" nullable:"true" doc:"null = no limit"`
	OrderStepQty      *money.Qty              `json:"orderStepQty" nullable:"true" doc:"shipping multiple; null = any"`
	CostComponents    []CostComponent         `json:"costComponents"`
	IsBundle          bool                    `json:"isBundle"`
	ModifierGroups    []ModifierGroup         `json:"modifierGroups"`
	Status            string                  `json:"status" enum:"active,hidden"`
	HasStock          bool                    `json:"hasStock"`
	DefaultSupplierID *uuid.UUID              `json:"defaultSupplierId" format:"uuid" nullable:"true"`
	Emoji             *string                 `json:"emoji"`
	PhotoFileID       *uuid.UUID              `json:"photoFileId" format:"uuid" nullable:"true"`
	ThumbnailFileID   *uuid.UUID              `json:"thumbnailFileId" format:"uuid" nullable:"true"`
	AttributeValues   []ProductAttributeValue `json:"attributeValues"`
	StockQty          *money.Qty              `json:"stockQty,omitempty" doc:"total over the warehouses; only with include=stock and hasStock"`
	StockAvailable    *money.Qty              `json:"stockAvailable,omitempty" doc:"stockQty minus reserves; only with include=stock and hasStock"`
	IsLowStock        *bool                   `json:"isLowStock,omitempty" doc:"stockQty is at or below the sum of the reorder thresholds; only with include=stock and hasStock"`
	record.Meta
}

// CostComponent is one part of what a product costs.
type CostComponent struct {
	Label     string        `json:"label"`
	ProductID *uuid.UUID    `json:"productId" format:"uuid" nullable:"true"`
	Qty       *money.Qty    `json:"qty" nullable:"true"`
	UnitID    *uuid.UUID    `json:"unitId" format:"uuid" nullable:"true"`
	UnitCost  *money.Amount `json:"unitCost" nullable:"true"`
	Amount    money.Amount  `json:"amount"`
}

// ModifierGroup is a choice that a buyer makes with a product.
type ModifierGroup struct {
	ID        uuid.UUID        `json:"id" format:"uuid"`
	Name      string           `json:"name"`
	MinSelect int32            `json:"minSelect"`
	MaxSelect *int32           `json:"maxSelect" nullable:"true" doc:"null = any number"`
	Options   []ModifierOption `json:"options"`
	SortOrder int32            `json:"sortOrder"`
}

// ModifierOption is one answer to the choice of a [ModifierGroup].
type ModifierOption struct {
	ID        uuid.UUID    `json:"id" format:"uuid"`
	Name      string       `json:"name"`
	Surcharge money.Amount `json:"surcharge"`
	ProductID *uuid.UUID   `json:"productId" format:"uuid" nullable:"true"`
	IsDefault bool         `json:"isDefault"`
	SortOrder int32        `json:"sortOrder"`
}

// ProductAttributeValue is the value of one attribute of a product.
type ProductAttributeValue struct {
	AttributeID   uuid.UUID             `json:"attributeId" format:"uuid"`
	AttributeName string                `json:"attributeName"`
	AttributeCode *string               `json:"attributeCode"`
	Type          string                `json:"type" enum:"text,number,boolean,select,multiselect"`
	ValueText     *string               `json:"valueText"`
	ValueNumber   *money.Qty            `json:"valueNumber" nullable:"true"`
	ValueBool     *bool                 `json:"valueBool"`
	Options       []ProductAttributeOpt `json:"options"`
	Unit          *string               `json:"unit"`
	DisplayValue  string                `json:"displayValue"`
}

// ProductAttributeOpt is an option that was chosen as the value of an attribute.
type ProductAttributeOpt struct {
	OptionID uuid.UUID `json:"optionId" format:"uuid"`
	Label    string    `json:"label"`
}

// ProductVariant is one form in which a product is sold, such as a size.
type ProductVariant struct {
	ID             uuid.UUID         `json:"id" format:"uuid"`
	ProductID      uuid.UUID         `json:"productId" format:"uuid"`
	SKU            string            `json:"sku"`
	Barcode        *string           `json:"barcode"`
	Name           *string           `json:"name"`
	Attributes     map[string]string `json:"attributes" doc:"label to value"`
	Price          *money.Amount     `json:"price" nullable:"true" doc:"null = the price of the product"`
	Cost           *money.Amount     `json:"cost" nullable:"true"`
	EffectivePrice money.Amount      `json:"effectivePrice"`
	PhotoFileID    *uuid.UUID        `json:"photoFileId" format:"uuid" nullable:"true"`
	Status         string            `json:"status" enum:"active,hidden"`
	SortOrder      int32             `json:"sortOrder"`
	CreatedAt      wire.Time         `json:"createdAt"`
	UpdatedAt      wire.Time         `json:"updatedAt"`
}

// RecordID is the last segment of the product's address.
func (p Product) RecordID() string { return p.ID.String() }

// activeBarcode is the barcode that the product claims for itself, if any.
func (p Product) activeBarcode() string {
	if p.Barcode == nil || p.Status != StatusActive {
		return ""
	}
	return *p.Barcode
}

// Product reads one product, hidden or not; withStock adds the totals of its stock.
func (s *Service) Product(ctx context.Context, company tenant.ID, id uuid.UUID, withStock bool) (Product, error) {
	p, err := selectProduct(ctx, s.db, company, id)
	if err != nil || !withStock {
		return p, err
	}
	one := []Product{p}
	err = s.addStock(ctx, company, one)
	return one[0], err
}

// ProductVariants lists the variants of a product; the product must exist.
func (s *Service) ProductVariants(ctx context.Context, company tenant.ID, id uuid.UUID) ([]ProductVariant, error) {
	if _, err := selectProduct(ctx, s.db, company, id); err != nil {
		return nil, err
	}
	return []ProductVariant{}, nil
}

// CreateProduct adds a product. Without an article it gets the next one of its category's prefix, or P-NNNN.
// Faults: 404 of a reference, 409 SKU_TAKEN, 409 BARCODE_TAKEN.
func (s *Service) CreateProduct(ctx context.Context, tx *db.Tx, by access.Caller, in ProductInput) (Product, error) {
	p := Product{
		ID: record.NewID(), CompanyID: by.Company, NameI18n: map[string]string{}, DescriptionI18n: map[string]string{},
		Unit: unitPieces, CostComponents: []CostComponent{}, ModifierGroups: []ModifierGroup{},
		Status: StatusActive, AttributeValues: []ProductAttributeValue{}, Meta: record.New(s.now()),
	}
	patch := in.patch()
	if err := patch.apply(&p); err != nil {
		return Product{}, err
	}
	if p.SKU == "" {
		// All of them change one counter row.
		if err := tx.LockInProcess(ctx, "sku of "+by.Company.String()); err != nil {
			return Product{}, err
		}
	}
	found, err := s.lookUp(ctx, tx, by.Company, patch.references(p))
	if err != nil {
		return Product{}, err
	}
	if err := found.check(&p, patch); err != nil {
		return Product{}, err
	}
	if p.SKU == "" {
		if p.SKU, err = nextSKU(ctx, tx, by.Company, found.prefix(defaultProductPrefix)); err != nil {
			return Product{}, err
		}
	}
	insertProduct(tx, p)
	claimSKU(tx, p.CompanyID, entityProduct, p.ID, p.SKU)
	claimBarcode(tx, p.CompanyID, entityProduct, p.ID, p.activeBarcode())
	return p, raiseProduct(ctx, tx, by, eventProductCreated, p, nil)
}

// UpdateProduct changes a product; what the patch leaves out stays. A change of nothing raises no event.
// Faults: 404, 412, 404 of a reference, 409 SKU_TAKEN, 409 BARCODE_TAKEN.
func (s *Service) UpdateProduct(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in ProductPatch) (Product, error) {
	before, err := lockProduct(ctx, tx, by.Company, id)
	if err != nil {
		return Product{}, err
	}
	if err := by.Expect(before.Version); err != nil {
		return Product{}, err
	}
	p := before
	if err := in.apply(&p); err != nil {
		return Product{}, err
	}
	found, err := s.lookUp(ctx, tx, by.Company, in.references(p))
	if err != nil {
		return Product{}, err
	}
	if err := found.check(&p, in); err != nil {
		return Product{}, err
	}
	changes := productChanges(before, p)
	if len(changes) == 0 {
		return before, nil
	}
	p.Touch(s.now())
	storeProduct(tx, before, p)
	return p, raiseProduct(ctx, tx, by, eventProductUpdated, p, event.Changed{ChangedFields: changes})
}

// HideProduct takes a product out of sale (specification, section 1: delete). A hidden product stays as it is.
func (s *Service) HideProduct(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (Product, error) {
	before, err := lockProduct(ctx, tx, by.Company, id)
	if err != nil {
		return Product{}, err
	}
	if err := by.Expect(before.Version); err != nil {
		return Product{}, err
	}
	if before.Status == StatusHidden {
		return before, nil
	}
	p := before
	p.Status = StatusHidden
	p.Touch(s.now())
	storeProduct(tx, before, p)
	return p, raiseProduct(ctx, tx, by, eventProductDeleted, p, nil)
}

// storeProduct writes a changed product and moves its claims on article and barcode.
func storeProduct(tx *db.Tx, before, p Product) {
	updateProduct(tx, p)
	if before.SKU != p.SKU {
		releaseSKU(tx, p.CompanyID, p.ID, before.SKU)
		claimSKU(tx, p.CompanyID, entityProduct, p.ID, p.SKU)
	}
	if before.activeBarcode() != p.activeBarcode() {
		releaseBarcode(tx, p.CompanyID, p.ID, before.activeBarcode())
		claimBarcode(tx, p.CompanyID, entityProduct, p.ID, p.activeBarcode())
	}
}

// moveItems takes the items out of a category that is deleted. Active ones go to the new category, each as a
// change of its own; hidden ones lose their category without an event.
func (s *Service) moveItems(ctx context.Context, tx *db.Tx, by access.Caller, c Category, to *uuid.UUID) error {
	active, err := lockProductsOf(ctx, tx, c.CompanyID, c.ID)
	if err != nil {
		return err
	}
	now := s.now()
	for _, p := range active {
		p.CategoryID = to
		p.Touch(now)
		updateProduct(tx, p)
		if err := raiseProduct(ctx, tx, by, eventProductUpdated, p, event.Changed{ChangedFields: []string{"categoryId"}}); err != nil {
			return err
		}
	}
	detachHidden(tx, c.CompanyID, c.ID, now)
	return nil
}

func raiseProduct(ctx context.Context, tx *db.Tx, by access.Caller, name string, p Product, extra any) error {
	return outbox.Raise(ctx, tx, by.Company, outbox.Event{
		Name: name, Actor: by.Actor, Type: "product", ID: p.ID, Meta: p.Meta, Data: p, Extra: extra,
	})
}
