package httpapi

import (
	"io"

	"github.com/danielgtaylor/huma/v2"
)

// File is the body of an operation that returns something else than JSON, such as the result of an export. It is sent
// while it is read, so that it needs little memory. It is never stored for replays.
type File struct {
	Media  string // media type
	Name   string // under which browsers save it
	Size   int64  // bytes
	Memory int    // bytes that reading it holds
	Inline bool   // browsers show it, instead of saving it
	Body   io.ReadCloser

	Headers map[string]string // besides those of all responses

	// Open opens Body, unless the client has the file already, by its ETag.
	Open func() (io.ReadCloser, error)
}

// unsent is the body of a response to HEAD.
type unsent struct{ io.Reader }

// Close implements [io.Closer].
func (unsent) Close() error { return nil }

// fileContent describes the body of an operation that returns a [File].
func fileContent(media []string) map[string]*huma.MediaType {
	content := map[string]*huma.MediaType{}
	for _, name := range media {
		content[name] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
	}
	return content
}
