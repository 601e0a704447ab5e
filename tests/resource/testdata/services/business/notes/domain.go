package notes

import (
	"github.com/tradegrid/tradegrid/pkg/api/domain"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/resource"
)

// Notes share the tag, scope and component of the clients.
var group = httpapi.Group{Tag: "Clients", Scope: "clients", Component: "clients"}

// Domain declares the domain.
func Domain() domain.Domain {
	return domain.Domain{
		Name:     "notes",
		Events:   event.Declare(group.Component, group.Scope, created),
		Entities: []string{"NOTE"},
		Tables:   []resource.Described{table},
		Lists:    []domain.Statements{items},
		Samples:  []domain.Sample{{Entity: "NOTE", Path: "/notes", Create: `{"title":"Call back","body":"before noon"}`, Change: `{"title":"Called","body":null}`}},
	}
}
