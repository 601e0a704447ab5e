package httpapi

import (
	"io"
	"net"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"
)

// File is the body of an operation that returns something else than JSON, such as the result of an export. It is sent
// while it is read, so that it needs little memory. It is never stored for replays.
type File struct {
	Media string // media type
	Name  string // under which browsers save it
	Size  int64  // bytes
	Body  io.Reader
}

// fileContent describes the body of an operation that returns a [File].
func fileContent() map[string]*huma.MediaType {
	return map[string]*huma.MediaType{fiber.MIMEOctetStream: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}
}

// sendFile answers with a file. If its reader fails, the connection is closed before Content-Length is reached, so that
// the client notices.
func sendFile(fc *fiber.Ctx, f *File) {
	fc.Set(fiber.HeaderContentType, f.Media)
	fc.Set(fiber.HeaderContentDisposition, "attachment; filename="+strconv.Quote(f.Name))
	fc.Context().SetBodyStream(&patientReader{f.Body, fc.Context().Conn()}, int(f.Size))
}

// patientReader gives each piece of a file as much time to be written as other responses have as a whole.
type patientReader struct {
	io.Reader
	conn net.Conn
}

func (r *patientReader) Read(p []byte) (int, error) {
	if r.conn != nil {
		_ = r.conn.SetWriteDeadline(time.Now().Add(writeTimeout)) // writing to a broken connection fails soon enough
	}
	return r.Reader.Read(p)
}
