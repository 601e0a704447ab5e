package company

import (
	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/domain"
	"github.com/tradegrid/tradegrid/pkg/event"
	"github.com/tradegrid/tradegrid/pkg/httpapi"
	"github.com/tradegrid/tradegrid/pkg/resource"
)

var (
	group = httpapi.Group{Tag: "Company", Scope: "company", Component: "core"}
	self  = httpapi.Group{Tag: "Company"} // every token may ask about itself
)

// Domain is what the domain declares of itself.
func Domain() domain.Domain {
	return domain.Domain{
		Name:     "company",
		Events:   event.Declare(group.Component, group.Scope, userInvited, userActivated, userBlocked),
		Entities: []string{"USER", "BRANCH"},
		Tables:   []resource.Described{users, branches},
		Scopes:   []access.Resource{{Name: "company", ReadOnly: true}},
	}
}
