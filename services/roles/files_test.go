package roles_test

import (
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// images walks the files.
func (w *walk) images(product string) {
	w.t.Helper()
	f := w.id(w.do(201, "POST /files", rolestest.APicture(), "?name=mill.png"))
	w.do(400, "POST /files", rolestest.APicture(), "?name=%2F")
	w.do(415, "POST /files", "{}")
	w.do(200, "GET /files", "", "?mediaType=image/png&search=mill&sort=name")
	w.do(200, "GET /files/{id}", "", f)
	w.do(200, "GET /files/{id}/content", "", f, "?size=small")
	w.do(200, "PATCH /catalog/products/{id}", `{"photoFileIds":["`+f+`"]}`, product)
	w.do(409, "DELETE /files/{id}", "", f)
	w.do(200, "PATCH /catalog/products/{id}", `{"photoFileId":null}`, product)
	w.do(204, "DELETE /files/{id}", "", f)
	w.do(404, "GET /files/{id}/content", "", f)
}
