package notes

import "github.com/tradegrid/tradegrid/pkg/api/httpapi"

// Register adds the operations on notes.
func (s *Service) Register(api *httpapi.API) {
	r := group.On(api, s.db)
	httpapi.List(r, "/notes", "listNotes", "List notes", s.List,
		httpapi.Doc("Newest first. "+
			"Fails with `VALIDATION_ERROR` for a filter, sort or cursor that does not fit."))
	httpapi.Create(r, "/notes", "createNote", "Create a note", s.Create,
		httpapi.Doc("A note has a title and a text of its own. "+
			"Fails with `VALIDATION_ERROR` if the title is missing."))
	httpapi.Get(r, "/notes/{id}", "getNote", "Read a note", table.GetFrom(s.db),
		httpapi.Doc("The note as it stands, with its version as the ETag. "+
			"Fails with `NOTE_NOT_FOUND`."))
	httpapi.Update(r, "/notes/{id}", "updateNote", "Update a note", s.Update,
		httpapi.Doc("Fields that are not sent stay as they are. "+
			"Fails with `NOTE_NOT_FOUND`, and with `PRECONDITION_FAILED` if the note has changed since."))
	httpapi.Delete(r, "/notes/{id}", "deleteNote", "Delete a note", s.Delete,
		httpapi.Doc("Removes the note for good. "+
			"Fails with `NOTE_NOT_FOUND`."))
}
