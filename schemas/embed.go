// Package schemas holds the examples of the API descriptions and of the events, which `make examples` records.
package schemas

import (
	"embed"
	"io/fs"
)

// Folders of the examples below schemas/.
const (
	ExternalExamples = "openapi/examples/external" // a file of each tag: examples by operationId
	AdminExamples    = "openapi/examples/admin"
	EventExamples    = "events" // <event>.example.json
)

//go:embed openapi/examples events/*.example.json
var files embed.FS

// Examples returns the examples in a folder.
func Examples(folder string) fs.FS {
	sub, err := fs.Sub(files, folder)
	if err != nil {
		panic(err) // a constant
	}
	return sub
}
