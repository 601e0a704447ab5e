package catalog

import (
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/translation"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/sku"
)

const productsTable = db.Table("products")

// States of a product; see docs/reference/states.md#product.
const (
	StatusActive = "active"
	StatusHidden = "hidden"
)

// Product is a product of the catalog; see docs/reference/rules.md#products.
type Product struct {
	record.Key
	ProductFields
	CostComponents  []CostComponent         `json:"costComponents"`
	ComponentIDs    []uuid.UUID             `json:"-"` // products in CostComponents
	ModifierGroups  []ModifierGroup         `json:"modifierGroups"`
	ThumbnailFileID *uuid.UUID              `json:"thumbnailFileId" format:"uuid"`
	Attributes      []attributeValue        `json:"-" db:"attribute_values,as=attributeValues"`
	AttributeValues []ProductAttributeValue `json:"attributeValues" db:"-"`
	VariantChanges  int64                   `json:"-" db:"variant_changes,as=variants"` // counts changes of the variants
	VariantsCount   int64                   `json:"variantsCount" doc:"active variants"`
	HasVariants     bool                    `json:"hasVariants" db:"-" doc:"documents name one of the variants"`
	Variants        *[]ProductVariant       `json:"variants,omitempty" db:"-" doc:"hidden ones included; only with include=variants"`
	StockQty        *money.Qty              `json:"stockQty,omitempty" db:"-" doc:"total of all warehouses; only with include=stock and if hasStock"`
	StockAvailable  *money.Qty              `json:"stockAvailable,omitempty" db:"-" doc:"stockQty minus reserved quantities; only with include=stock and if hasStock"`
	IsLowStock      *bool                   `json:"isLowStock,omitempty" db:"-" doc:"stockQty is at or below the sum of the reorder points; only with include=stock and if hasStock"`
	record.Meta
}

// ProductFields are the fields that API clients set and that are stored unchanged.
type ProductFields struct {
	SKU               string            `json:"sku" minLength:"1" maxLength:"64" search:"text" doc:"unique, ignoring case; generated if omitted"`
	Barcode           *string           `json:"barcode" maxLength:"64" search:"text"`
	Name              string            `json:"name" required:"true" minLength:"1" maxLength:"255" search:"text"`
	Description       *string           `json:"description" maxLength:"20000"`
	NameI18n          translation.Names `json:"nameI18n" maxProperties:"30" doc:"translations by locale"`
	DescriptionI18n   translation.Texts `json:"descriptionI18n" maxProperties:"30" doc:"translations by locale"`
	CategoryID        *uuid.UUID        `json:"categoryId" format:"uuid"`
	Brand             *string           `json:"brand" maxLength:"255"`
	Model             *string           `json:"model" maxLength:"255"`
	Price             money.Amount      `json:"price" required:"true" minimum:"0"`
	Cost              money.Amount      `json:"cost" minimum:"0"`
	TaxRateID         *uuid.UUID        `json:"taxRateId" format:"uuid" doc:"of lines of documents that name the product; null = no tax"`
	Unit              string            `json:"unit" minLength:"1" maxLength:"16" doc:"unit code; default pcs"`
	UnitID            *uuid.UUID        `json:"unitId" format:"uuid" doc:"takes precedence over unit"`
	PackQty           *money.Qty        `json:"packQty" exclusiveMinimum:"0" maximum:"1000000" doc:"quantity of packUnitId in one unit"`
	PackUnitID        *uuid.UUID        `json:"packUnitId" format:"uuid"`
	MinOrderQty       *money.Qty        `json:"minOrderQty" exclusiveMinimum:"0" maximum:"1000000" doc:"null = no limit"`
	OrderStepQty      *money.Qty        `json:"orderStepQty" exclusiveMinimum:"0" maximum:"1000000" doc:"order quantities must be a multiple of this; null = any quantity"`
	IsBundle          bool              `json:"isBundle"`
	Status            string            `json:"status" enum:"active,hidden" default:"active"`
	HasStock          bool              `json:"hasStock"`
	DefaultSupplierID *uuid.UUID        `json:"defaultSupplierId" format:"uuid"`
	Emoji             *string           `json:"emoji" maxLength:"16"`
	PhotoFileID       *uuid.UUID        `json:"photoFileId" format:"uuid" doc:"the first of photoFileIds; a new one takes its place, null removes all"`
	PhotoFileIDs      []uuid.UUID       `json:"photoFileIds" format:"uuid" maxItems:"20" doc:"images in their order"`
	record.External
}

// IsHidden implements [httpapi.Hideable].
func (p Product) IsHidden() bool { return p.Status == StatusHidden }

// CostComponent is one component of the cost of a product.
type CostComponent struct {
	Label     string        `json:"label"`
	ProductID *uuid.UUID    `json:"productId" format:"uuid"`
	Qty       *money.Qty    `json:"qty"`
	UnitID    *uuid.UUID    `json:"unitId" format:"uuid"`
	UnitCost  *money.Amount `json:"unitCost"`
	Amount    money.Amount  `json:"amount"`
}

// ModifierGroup is a group of options that a buyer chooses from.
type ModifierGroup struct {
	ID        uuid.UUID        `json:"id" format:"uuid"`
	Name      string           `json:"name"`
	MinSelect int32            `json:"minSelect"`
	MaxSelect *int32           `json:"maxSelect" doc:"null = any number"`
	Options   []ModifierOption `json:"options"`
	SortOrder int32            `json:"sortOrder"`
}

// ModifierOption is an option of a [ModifierGroup].
type ModifierOption struct {
	ID        uuid.UUID    `json:"id" format:"uuid"`
	Name      string       `json:"name"`
	Surcharge money.Amount `json:"surcharge"`
	ProductID *uuid.UUID   `json:"productId" format:"uuid"`
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
	ValueNumber   *money.Qty            `json:"valueNumber"`
	ValueBool     *bool                 `json:"valueBool"`
	Options       []ProductAttributeOpt `json:"options"`
	Unit          *string               `json:"unit"`
	DisplayValue  string                `json:"displayValue"`
}

// ProductAttributeOpt is an option selected as the value of an attribute.
type ProductAttributeOpt struct {
	OptionID uuid.UUID `json:"optionId" format:"uuid"`
	Label    string    `json:"label"`
}

// Extras selects additional data in responses.
type Extras struct {
	Include []string `query:"include" enum:"stock,variants,attributes" maxItems:"10" doc:"attributes: the attributeValues of variants; products always have theirs"`
}

func (e Extras) stock() bool { return slices.Contains(e.Include, "stock") }

func (e Extras) attributes() bool { return slices.Contains(e.Include, "attributes") }

func (e Extras) variants() bool { return slices.Contains(e.Include, "variants") }

// ProductFilter filters and sorts products.
type ProductFilter struct {
	list.Params
	CategoryID jsontype.IDOrNull `query:"categoryId" doc:"id of a category, including those below it, or null for products without one"`
	Status     []string          `query:"status" enum:"active,hidden,all" maxItems:"3" doc:"default active, or all if updatedSince is set, so that incremental reads include hidden products"`
	PriceMin   *money.Amount     `query:"priceMin" minimum:"0" where:"price >= ?" doc:"minor units, inclusive"`
	PriceMax   *money.Amount     `query:"priceMax" minimum:"0" where:"price <= ?" doc:"minor units, inclusive"`
	Brand      string            `query:"brand" maxLength:"255" where:"brand COLLATE und = ?::TEXT COLLATE und" doc:"exact"`
	Attr       AttributeFilters  `query:"attr" doc:"attr[<attributeId>]=<value>: the text, the number or min:max, true or false, or comma-separated ids of options; all filters must match"`
	list.ByExternal
	SKU     string `query:"sku" maxLength:"64" doc:"exact, ignoring case; of the product or of one of its variants"`
	Barcode string `query:"barcode" maxLength:"64" doc:"exact, ignoring case if the product is active; of the product or of one of its variants"`
	Sort    string `query:"sort" enum:"name,sku,price,brand,model,createdAt"`
	Extras
}

var (
	products     = resource.Of[Product](productsTable, "PRODUCT")
	productItems = list.Of[Product, ProductFilter](productsTable, list.Spec{Permanent: true})
)

// Derive implements [record.Deriver].
func (p *Product) Derive() { p.HasVariants = p.VariantsCount > 0 }

// Normalise copies the product ids in the cost components to their own column, which queries use.
func (p *Product) Normalise() {
	p.ComponentIDs = nil
	for _, c := range p.CostComponents {
		if c.ProductID != nil {
			p.ComponentIDs = append(p.ComponentIDs, *c.ProductID)
		}
	}
}

// names is what the product reserves.
func (p Product) names() sku.Item {
	return sku.Item{Entity: sku.Product, ID: p.ID, SKU: p.SKU, Barcode: p.Barcode, Status: p.Status}
}
