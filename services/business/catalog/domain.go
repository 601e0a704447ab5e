package catalog

import (
	"slices"

	"github.com/tradegrid/tradegrid/pkg/api/domain"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/services/business/sku"
)

var group = httpapi.Group{Tag: "Catalog", About: "Products with variants, services, categories, attributes, units, price lists and tax rates.", Scope: "catalog", Component: "catalog"}

// Domain declares the domain.
func Domain() domain.Domain {
	return domain.Domain{
		Name:       "catalog",
		Scopes:     []access.Resource{{Name: "catalog"}},
		Components: []access.Component{{Alias: "catalog", AlwaysOn: true}},
		Events: event.Declare(group.Component, group.Scope,
			categoryCreated, categoryUpdated, categoryDeleted, productCreated, productUpdated, productDeleted, productsRepriced),
		Errors: slices.Concat(sku.Errors(), []apierr.Doc{
			{Status: 409, Code: "CATEGORY_IN_USE", Advice: "The category has child categories or active products or services. Move them first, or set reassignTo."},
			{Status: 409, Code: "CATEGORY_CYCLE", Advice: "A category cannot be moved below itself. Choose another parent."},
			{Status: 409, Code: "CATEGORY_DEPTH_EXCEEDED", Advice: "Categories can be nested at most ten levels deep. Choose a parent closer to the root."},
			{Status: 409, Code: "CATEGORY_LIMIT_REACHED", Advice: "A company has at most 10 000 categories. Change or delete one that is no longer used."},
			{Status: 409, Code: "CATEGORY_NAME_AMBIGUOUS", Advice: "Several categories of one parent, in meta.ids, have the name of the node in meta.field. Name the category by externalId."},
			{Status: 409, Code: "CATEGORY_TREE_TOO_LARGE", Advice: "The tree has more than 5 000 categories, or takes more than 4 MiB. Read parts of it with rootId, or the list of categories."},
			{Status: 409, Code: "UNIT_CODE_TAKEN", Advice: "Another unit has this code. Choose another code."},
			{Status: 409, Code: "UNIT_CODE_FIXED", Advice: "A unit keeps its code, because records are stored with it. Create another unit."},
			{Status: 409, Code: "ATTRIBUTE_CODE_TAKEN", Advice: "Another attribute has this code. Choose another code."},
			{Status: 409, Code: "ATTRIBUTE_IN_USE", Advice: "Products or variants have values of the attribute. Remove the values first."},
			{Status: 409, Code: "ATTRIBUTE_LIMIT_REACHED", Advice: "A company has at most 1 000 attributes. Change or delete one that is no longer used."},
			{Status: 409, Code: "ATTRIBUTE_OPTION_LIMIT_REACHED", Advice: "An attribute has at most 2 000 options, and all attributes of a company 20 000. Delete one that no product or variant has, or use an attribute of type text."},
			{Status: 409, Code: "ATTRIBUTE_OPTION_IN_USE", Advice: "Products or variants have the option as a value. Choose another option for them first."},
			{Status: 409, Code: "PRODUCT_VARIANT_EXISTS", Advice: "Another active variant of the product, identified in meta, has the same attribute values. Change them, or hide that variant."},
			{Status: 409, Code: "PRODUCT_VARIANT_LIMIT_REACHED", Advice: "A product has at most 1 000 variants, hidden ones included. Change a hidden one that no document needs, or make another product."},
			{Status: 409, Code: "PRODUCT_VARIANT_REQUIRED", Advice: "The product has variants. Set variantId, or name the variant by its sku, barcode or externalId."},
			{Status: 409, Code: "CATALOG_ITEM_AMBIGUOUS", Advice: "Several items, in meta.items, have the barcode or external id in meta.field. Name the item by its id or sku, or send the source of the external id."},
		}),
		Entities: []string{"ATTRIBUTE", "ATTRIBUTE_OPTION", "CATEGORY", "PRODUCT", "PRODUCT_VARIANT", "UNIT"},
		Tables:   []resource.Described{attributes, attributeOptions, categories, products, units, variants},
		Lists:    []domain.Statements{productItems},
		Samples: []domain.Sample{{
			Entity: "UNIT", Path: "/catalog/units", Admin: true, Change: `{"name":"Pair of two","nameI18n":{},"isActive":false}`,
			Create: `{"code":"pair","name":"Pair","nameI18n":{"de":"Paar"},"shortName":"pr","precision":0}`,
		}, {
			Entity: "ATTRIBUTE", Path: "/catalog/attributes", Change: `{"name":"Material of the frame","isFilterable":false,"code":null}`,
			Create: `{"code":"frame","name":"Frame material","nameI18n":{"de":"Rahmenmaterial"},"type":"select","isPrimary":true,"isFilterable":true,"sortOrder":1}`,
		}, {
			Entity: "CATEGORY", Path: "/catalog/categories", Change: `{"name":"City bicycles","color":null,"sortOrder":2}`,
			Create: `{"name":"City bikes","prefix":"CB","icon":"bike","color":"#112233","bg":"#445566"}`,
		}, {
			Entity: "PRODUCT", Path: "/catalog/products", Change: `{"description":null,"price":179900,"nameI18n":{"de":"Volta City"}}`,
			Create: `{"name":"Volta City","price":189900,"cost":121000,"taxRateId":"TAX_RATE","barcode":"4006381333931","description":"City bicycle with hub gears","nameI18n":{"de":"Volta City Stadtrad"},
				"descriptionI18n":{"de":"Stadtrad mit Nabenschaltung"},"categoryId":"CATEGORY","brand":"Volta","model":"City 8","unit":"pcs","packQty":1,"minOrderQty":1,
				"orderStepQty":0.5,"hasStock":true,"emoji":"🚲","costComponents":[{"label":"Assembly","amount":6900}],
				"modifierGroups":[{"name":"Lights","minSelect":0,"maxSelect":1,"options":[{"name":"Dynamo set","surcharge":4900}]}]}`,
		}},
	}
}
