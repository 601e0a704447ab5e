package calendar

import (
	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/domain"
	"github.com/tradegrid/tradegrid/pkg/event"
	"github.com/tradegrid/tradegrid/pkg/resource"
)

// The calendar has no scope of its own: it shows when the resources of scheduling are taken.
const (
	component = "calendar"
	scope     = "scheduling"
)

// Domain declares the domain.
func Domain() domain.Domain {
	return domain.Domain{
		Name:       "calendar",
		Components: []access.Component{{Alias: component, AlwaysOn: true}},
		Events:     event.Declare(component, scope, created, updated, deleted),
		Tables:     []resource.Described{table},
	}
}
