package codes

import (
	"github.com/tradegrid/tradegrid/pkg/api/domain"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

// The directories share the tag, scope and component of orders.
var group = httpapi.Group{Tag: "Orders", About: "Orders with their payments, shipments and returns.", Scope: "orders", Component: "orders"}

// Domain declares the domain.
func Domain() domain.Domain {
	d := domain.Domain{Name: "codes"}
	for _, of := range []*Directory{channels, methods} {
		d.Entities = append(d.Entities, of.entity)
		d.Tables = append(d.Tables, resource.Described(of.table))
		d.Errors = append(d.Errors,
			apierr.Doc{Status: 409, Code: of.entity + "_CODE_TAKEN", Advice: "Another " + of.noun + ", possibly a built-in one, has this code. Choose another code."},
			apierr.Doc{Status: 409, Code: of.entity + "_CODE_FIXED", Advice: "A " + of.noun + " keeps its code, because documents are stored with it. Create another one."},
			apierr.Doc{Status: 409, Code: of.entity + "_LIMIT_REACHED", Advice: "A company may add 200 of them. Rename one that is no longer used, or use another."})
	}
	d.Samples = []domain.Sample{
		{Entity: "CHANNEL", Path: "/channels", Create: `{"code":"market_square","name":"Market Square"}`, Change: `{"name":"Market Square, Berlin","isActive":false}`},
		{Entity: "DELIVERY_METHOD", Path: "/delivery-methods", Create: `{"code":"cargo_bike","name":"Cargo bike"}`, Change: `{"name":"Cargo bike, same day"}`},
	}
	return d
}
