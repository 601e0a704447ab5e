package resources

import (
	"github.com/tradegrid/tradegrid/services/console/web"
)

func notes() Resource {
	return Resource{
		Name: "notes", Area: web.Clients, Scope: "clients", Component: "clients",
		Address: "/notes", Page: "/notes", Title: "title",
		List: "listNotes", Get: "getNote", Export: true,
		Find:   &Find{Names: true},
		Create: "createNote", Asks: []string{"title", "body"},
		Columns: []Column{text("title"), moment("createdAt"), moment("updatedAt").Less()},
		Commands: []Command{
			{Name: "edit", Op: "updateNote", Form: true},
			{Name: "delete", Op: "deleteNote", Danger: true, Ends: true},
		},
	}
}
