package roles_test

import (
	"context"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/business/files"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// download has the picture at one URL.
func download(_ context.Context, address string, _ int64) ([]byte, error) {
	if address != "https://pictures.example.com/bell.png" {
		return nil, &files.FetchError{Reason: "http_status", Text: "the host answered with the status 404"}
	}
	return []byte(rolestest.APicture()), nil
}

// images walks the files.
func (w *walk) images(product string) {
	w.t.Helper()
	f := w.id(w.do(201, "POST /files", rolestest.APicture(), "?name=mill.png"))
	w.do(400, "POST /files", rolestest.APicture(), "?name=%2F")
	w.do(415, "POST /files", "{}")
	fetched := w.id(w.do(201, "POST /files/fetch", `{"url":"https://pictures.example.com/bell.png"}`))
	w.do(409, "POST /files/fetch", `{"url":"https://pictures.example.com/gone.png"}`)
	w.do(400, "POST /files/fetch", `{"url":"https://pictures.example.com/bell.png","name":"/"}`)
	require.Equal(w.t, f, fetched, "the same image")
	w.do(200, "GET /files", "", "?mediaType=image/png&search=mill&sort=name")
	w.do(200, "GET /files/{id}", "", f)
	w.do(200, "GET /files/{id}/content", "", f, "?size=small")
	w.do(200, "PATCH /catalog/products/{id}", `{"photoFileIds":["`+f+`"]}`, product)
	w.do(409, "DELETE /files/{id}", "", f)
	w.do(200, "PATCH /catalog/products/{id}", `{"photoFileId":null}`, product)
	w.do(204, "DELETE /files/{id}", "", f)
	w.do(404, "GET /files/{id}/content", "", f)
}
