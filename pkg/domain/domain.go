// Package domain is what a domain says of itself, so that everything that walks over all domains (the registries of events,
// scopes and components, the page of error codes, the check of tables, the tests of access) needs no list of its own.
package domain

import (
	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/cleanup"
	"github.com/tradegrid/tradegrid/pkg/event"
	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/resource"
)

// Domain declares what a domain brings into the platform.
type Domain struct {
	Name     string // of its package
	Events   []event.Type
	Errors   []fault.Doc // codes of its own
	Entities []string    // records that an <ENTITY>_NOT_FOUND can be about, such as CLIENT
	Tables   []resource.Described
	Lists    []Statements
	Cleanup  []cleanup.Job // rows that expire
	Samples  []Sample

	Scopes     []access.Resource  // what its operations and events ask for
	Components []access.Component // parts of the platform that a company enables
}

// Statements are made from tags, and checked against the database and the rules of both SQL dialects by tests.
type Statements interface{ Statements() []string }

// Sample is an example of a resource that is created, read, changed and listed over the API in the usual way. Tests walk
// it through all of its operations, and look at them with the eyes of another company.
type Sample struct {
	Entity string // such as CLIENT
	Path   string // of its list, such as /clients
	Create string // body of POST; a quoted entity such as "CLIENT" stands for the id of its sample
	Change string // body of PATCH; "" = the resource has none
}
