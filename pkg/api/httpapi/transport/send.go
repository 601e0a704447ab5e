package transport

import (
	"bytes"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/tradegrid/tradegrid/pkg/api/loadshed"
)

// Matches compares If-None-Match, a list of ETags or *, with the ETag of the record.
func Matches(condition, etag string) bool {
	if condition == "" || etag == "" {
		return false
	}
	for tag := range strings.SplitSeq(condition, ",") {
		if tag = strings.TrimSpace(tag); tag == "*" || strings.TrimPrefix(tag, "W/") == etag {
			return true
		}
	}
	return false
}

// MinCompressed is the size of a body, in bytes, up to which it is not compressed: smaller bodies fit into a few packets, and
// cost more time than they save.
const MinCompressed = 4 << 10

// Send writes a body in the best encoding that the client accepts. reserved is released when the body is sent or the connection
// is closed.
func Send(fc *fiber.Ctx, body []byte, reserved *loadshed.Reservation) {
	if len(body) > MinCompressed {
		fc.Vary(fiber.HeaderAcceptEncoding)
		switch accepted(fc.Get(fiber.HeaderAcceptEncoding)) {
		case "br":
			fc.Set(fiber.HeaderContentEncoding, "br")
			body = fasthttp.AppendBrotliBytesLevel(nil, body, fasthttp.CompressBrotliBestSpeed)
		case "gzip":
			fc.Set(fiber.HeaderContentEncoding, "gzip")
			body = fasthttp.AppendGzipBytesLevel(nil, body, fasthttp.CompressBestSpeed)
		}
	}
	reserved.Set(len(body))
	if len(body) <= loadshed.Large {
		fc.Response().SetBody(body)
		return
	}
	// The server copies other bodies into buffers that it keeps, at the size of the largest one.
	fc.Context().SetBodyStream(&largeBody{*bytes.NewReader(body), reserved}, len(body))
}

// largeBody is a body that the server writes without a copy, within [writeTimeout] as all others. The server closes it when it is
// written, and also if that fails.
type largeBody struct {
	bytes.Reader
	reserved *loadshed.Reservation
}

// Close implements [io.Closer].
func (b *largeBody) Close() error {
	b.Reset(nil)
	b.reserved.Release()
	return nil
}

// accepted picks the encoding with the highest weight in an Accept-Encoding header, preferring br to gzip, or "" for none.
func accepted(header string) string {
	br, gzip := weight(header, "br"), weight(header, "gzip")
	switch {
	case br > 0 && br >= gzip:
		return "br"
	case gzip > 0:
		return "gzip"
	}
	return ""
}

// weight is the quality value, 0 to 1, that a header such as Accept gives a name; 0 if the name is missing.
func weight(header, name string) float64 {
	for part := range strings.SplitSeq(header, ",") {
		got, params, _ := strings.Cut(part, ";")
		if !strings.EqualFold(strings.TrimSpace(got), name) {
			continue
		}
		for p := range strings.SplitSeq(params, ";") {
			if text, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(p)), "q="); ok {
				q, err := strconv.ParseFloat(text, 64)
				if err != nil {
					return 0
				}
				return q
			}
		}
		return 1
	}
	return 0
}

// Disposition is a Content-Disposition: whether browsers show a file or save it, and under which name (RFC 6266).
func Disposition(inline bool, name string) string {
	kind := "attachment"
	if inline {
		kind = "inline"
	}
	ascii := strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			return '_'
		}
		return c
	}, name)
	if kind += `; filename="` + ascii + `"`; ascii != name {
		kind += "; filename*=UTF-8''" + strings.ReplaceAll(url.QueryEscape(name), "+", "%20")
	}
	return kind
}

// SendFile answers with a file of size bytes. If its reader fails, or the client is too slow, the connection is closed before
// Content-Length is reached, so that the client notices. The file is closed and reserved released when it is sent, or the
// connection is closed.
func SendFile(fc *fiber.Ctx, media, disposition string, size int64, body io.ReadCloser, reserved *loadshed.Reservation) {
	fc.Set(fiber.HeaderContentType, media)
	fc.Set(fiber.HeaderContentDisposition, disposition)
	fc.Context().SetBodyStream(&fileBody{body, reserved, fc.Context().Conn(), sendUntil(size)}, int(size))
}

// slowestRead is how many bytes per second a client must read of a file.
const slowestRead = 64 << 10

func sendUntil(size int64) time.Time {
	return time.Now().Add(writeTimeout + time.Duration(size/slowestRead)*time.Second)
}

// fileBody gives each piece of a file as much time to be written as other responses have as a whole, and the file as much as a
// slow client needs.
type fileBody struct {
	io.ReadCloser
	reserved *loadshed.Reservation
	conn     net.Conn
	until    time.Time
}

func (b *fileBody) Read(p []byte) (int, error) {
	deadline := time.Now().Add(writeTimeout)
	if deadline.After(b.until) {
		deadline = b.until
	}
	if b.conn != nil {
		_ = b.conn.SetWriteDeadline(deadline) // writing to a broken connection fails soon enough
	}
	return b.ReadCloser.Read(p)
}

// Close implements [io.Closer].
func (b *fileBody) Close() error {
	b.reserved.Release()
	return b.ReadCloser.Close()
}
