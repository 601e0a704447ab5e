package notes

import "github.com/tradegrid/tradegrid/pkg/httpapi"

// Register adds the operations on notes.
func (s *Service) Register(api *httpapi.API) {
	r := group.On(api, s.db)
	httpapi.List(r, "/notes", "listNotes", "List notes", s.List)
	httpapi.Create(r, "/notes", "createNote", "Create a note", s.Create)
	httpapi.Get(r, "/notes/{id}", "getNote", "Read a note", s.Get)
	httpapi.Update(r, "/notes/{id}", "updateNote", "Update a note", s.Update)
	httpapi.Delete(r, "/notes/{id}", "deleteNote", "Delete a note", s.Delete)
}
