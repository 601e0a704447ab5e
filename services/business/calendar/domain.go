package calendar

import (
	"github.com/tradegrid/tradegrid/pkg/api/domain"
	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
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
