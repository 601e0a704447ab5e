package main

import (
	"bytes"
	"image"
	"image/png"
	"strings"
	"sync"
)

// aPicture is an image as a body.
var aPicture = sync.OnceValue(func() string { //nolint:gochecknoglobals // made once
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 4, 3))); err != nil {
		panic(err)
	}
	return b.String()
})

// aTable is a CSV file as a body.
const aTable = "id,name\n,Mill\n"

// mediaOf is the media type of a body.
func mediaOf(body string) string {
	switch {
	case strings.HasPrefix(body, "\x89PNG"):
		return "image/png"
	case body == aTable:
		return "text/csv"
	}
	return "application/json"
}

// images walks the files.
func (w *walk) images(product string) {
	w.t.Helper()
	f := w.id(w.do(201, "POST /files", aPicture(), "?name=mill.png"))
	w.do(400, "POST /files", aPicture(), "?name=%2F")
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
