package taxes

import (
	"github.com/tradegrid/tradegrid/pkg/api/domain"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/events/resource"
)

// Tax rates share the tag, scope and component of the catalog.
var group = httpapi.Group{Tag: "Catalog", Scope: "catalog", Component: "catalog"}

// Domain declares the domain.
func Domain() domain.Domain {
	return domain.Domain{
		Name:     "taxes",
		Entities: []string{"TAX_RATE"},
		Tables:   []resource.Described{table},
		Lists:    []domain.Statements{items},
		Samples: []domain.Sample{{
			Entity: "TAX_RATE", Path: "/catalog/tax-rates", Change: `{"name":"Reduced rate","percent":5.5,"kind":"other"}`,
			Create: `{"name":"Food","percent":7,"kind":"reduced","source":"erp","externalId":"V7"}`,
		}},
	}
}
