// Package domain describes domains: their events, scopes, error codes, tables and samples. Code that iterates over all
// domains (registries, page of error codes, table checks, access tests) uses this description instead of lists of its own.
package domain

import (
	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/cleanup"
)

// Domain is the declaration of one domain.
type Domain struct {
	Name     string // of its package
	Events   []event.Type
	Errors   []apierr.Doc // error codes of the domain
	Entities []string     // records that an <ENTITY>_NOT_FOUND can be about, such as CLIENT
	Tables   []resource.Described
	Lists    []Statements
	Cleanup  []cleanup.Job // cleanup jobs for expired rows
	Samples  []Sample

	Scopes     []access.Resource  // what its operations and events ask for
	Components []access.Component // parts of the platform that a company enables
}

// Statements returns SQL derived from struct tags, which tests check against the database and the rules of both dialects.
type Statements interface{ Statements() []string }

// Sample is an example of a resource with the usual operations. Tests run all of them on it, and check that another
// company cannot see it. One of the admin API may precede samples of the external API that refer to it.
type Sample struct {
	Entity string // such as CLIENT
	Path   string // path of its list, such as /clients
	Create string // body of POST; a quoted entity such as "CLIENT" is replaced by the id of its sample
	Change string // body of PATCH; "" = no PATCH
	Admin  bool   // its operations belong to the admin API; Path is relative to the company

	CreatePath string // path of POST; "" = Path
}
