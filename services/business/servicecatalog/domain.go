package servicecatalog

import (
	"github.com/tradegrid/tradegrid/pkg/api/domain"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/services/business/sku"
)

// Services share the tag, scope and component of the catalog.
var group = httpapi.Group{Tag: "Catalog", Scope: "catalog", Component: "catalog"}

// Domain declares the domain.
func Domain() domain.Domain {
	return domain.Domain{
		Name:     "offerings",
		Events:   event.Declare(group.Component, group.Scope, created, updated, deleted),
		Errors:   sku.Errors(),
		Entities: []string{"SERVICE"},
		Tables:   []resource.Described{table},
		Lists:    []domain.Statements{items},
		Samples: []domain.Sample{{
			Entity: "SERVICE", Path: "/catalog/services", Change: `{"name":"Short safety check","durationMinutes":null,"priceModel":"per_item"}`,
			Create: `{"name":"Safety check","nameI18n":{"de":"Sicherheitscheck"},"categoryId":"CATEGORY","priceModel":"fixed","price":2900,"durationMinutes":45,
				"costItems":[{"label":"Grease","productId":"PRODUCT","qty":0.5,"unitCost":120},{"label":"Work","amount":900}]}`,
		}},
	}
}
