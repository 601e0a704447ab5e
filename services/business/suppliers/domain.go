package suppliers

import (
	"github.com/tradegrid/tradegrid/pkg/api/domain"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/events/resource"
)

// Suppliers share the tag, scope and component of the warehouse.
var group = httpapi.Group{Tag: "Warehouse", Scope: "warehouse", Component: "warehouse"}

// Domain declares the domain.
func Domain() domain.Domain {
	return domain.Domain{
		Name:     "suppliers",
		Entities: []string{"SUPPLIER"},
		Tables:   []resource.Described{table},
		Lists:    []domain.Statements{items},
		Samples: []domain.Sample{{
			Entity: "SUPPLIER", Path: "/warehouse/suppliers", Change: `{"name":"North Wheel","phone":null}`,
			Create: `{"name":"North Wheel Ltd","contactName":"Ada Moss","phone":"+44 20 7946 0000","email":"sales@example.com","inn":"7701234","address":"1 Harbour Lane","note":"delivers on Mondays"}`,
		}},
	}
}
