// Package leads holds the inbox of leads: who waits for an answer at the left, and what was said with one of them at the right. The list
// with filters, views and exports is that of package records.
//
// The inbox makes 3 calls of the API, and one more for the client of the lead that is open.
package leads

import (
	"embed"

	"github.com/tradegrid/tradegrid/services/console/web"
)

//go:embed *.html
var files embed.FS

// scope is that of the operations of the API on leads, component what the company must have.
const (
	scope     = "leads"
	component = "marketing"
)

// Pages are the pages of the area.
type Pages struct{}

// Folder implements [web.Pages].
func (pages *Pages) Folder() web.Folder {
	return web.Folder{Name: "leads", Templates: files, Routes: web.Within(component, web.Get(web.Leads, scope, "/leads", pages.inbox), web.Post(web.Leads, scope, "/leads/{id}/command", pages.command))}
}
