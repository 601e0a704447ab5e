// Package tradegrid holds the changelog and the documentation of the platform, which the APIs serve.
package tradegrid

import (
	"embed"
	"io/fs"
)

// Changelog is CHANGELOG.md.
//
//go:embed CHANGELOG.md
var Changelog []byte

//go:embed docs/*.md docs/reference/*.md
var docs embed.FS

// Docs are the pages of docs/.
func Docs() fs.FS {
	pages, err := fs.Sub(docs, "docs")
	if err != nil {
		panic(err) // a constant
	}
	return pages
}
