package catalog

import (
	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/domain"
	"github.com/tradegrid/tradegrid/pkg/event"
	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/httpapi"
	"github.com/tradegrid/tradegrid/pkg/resource"
)

var group = httpapi.Group{Tag: "Catalog", Scope: "catalog", Component: "catalog"}

// Domain is what the domain declares of itself.
func Domain() domain.Domain {
	return domain.Domain{
		Name:       "catalog",
		Scopes:     []access.Resource{{Name: "catalog"}},
		Components: []access.Component{{Alias: "catalog", AlwaysOn: true}},
		Events: event.Declare(group.Component, group.Scope,
			categoryCreated, categoryUpdated, categoryDeleted, productCreated, productUpdated, productDeleted),
		Errors: []fault.Doc{
			{Status: 409, Code: "SKU_TAKEN", Advice: "Another product, service or variant has this SKU, hidden ones included; meta says which."},
			{Status: 409, Code: "BARCODE_TAKEN", Advice: "Another active product or variant has this barcode."},
			{Status: 409, Code: "CATEGORY_IN_USE", Advice: "The category has child categories or active products or services. Move them first, or send reassignTo."},
			{Status: 409, Code: "CATEGORY_CYCLE", Advice: "A category cannot lie below itself."},
			{Status: 409, Code: "CATEGORY_DEPTH_EXCEEDED", Advice: "Categories may be nested ten levels deep."},
			{Status: 409, Code: "UNIT_CODE_TAKEN", Advice: "Another unit has this code."},
			{Status: 409, Code: "PRODUCT_VARIANT_REQUIRED", Advice: "The product has variants: name one in variantId."},
		},
		Entities: []string{"CATEGORY", "PRODUCT", "PRODUCT_VARIANT", "SERVICE", "UNIT"},
		Tables:   []resource.Described{categories, products, units},
		Lists:    []domain.Statements{productList},
		Samples: []domain.Sample{{
			Entity: "CATEGORY", Path: "/catalog/categories", Change: `{"name":"Whole beans","color":null,"sortOrder":2}`,
			Create: `{"name":"Beans","prefix":"BN","icon":"coffee","color":"#112233","bg":"#445566"}`,
		}, {
			Entity: "PRODUCT", Path: "/catalog/products", Change: `{"description":null,"price":1990,"nameI18n":{"de":"Espresso"}}`,
			Create: `{"name":"Espresso","price":1890,"cost":900,"barcode":"4006381333931","description":"dark","nameI18n":{"de":"Espresso, dunkel"},
				"descriptionI18n":{"de":"dunkel"},"categoryId":"CATEGORY","brand":"B","model":"M","unit":"kg","packQty":1.5,"minOrderQty":1,
				"orderStepQty":0.5,"hasStock":true,"emoji":"☕","costComponents":[{"label":"work","amount":5}],
				"modifierGroups":[{"name":"Grind","minSelect":0,"maxSelect":1,"options":[{"name":"Fine","surcharge":50}]}]}`,
		}},
	}
}
