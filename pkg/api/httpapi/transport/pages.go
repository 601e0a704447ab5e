package transport

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"
	"github.com/valyala/fasthttp"
)

// docsPolicy lets the pages load only their own scripts, styles and data, and forbids framing. Swagger UI writes style attributes.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Page is a static response, compressed once.
type Page struct {
	media string
	forms map[string][]byte // by Content-Encoding
	tag   string
}

// NewPage returns a page with this media type.
func NewPage(media string, body []byte) *Page {
	sum := sha256.Sum256(body)
	p := &Page{media: media, forms: map[string][]byte{"": body}, tag: base64.RawURLEncoding.EncodeToString(sum[:12])}
	if len(body) > MinCompressed {
		p.forms["br"] = fasthttp.AppendBrotliBytesLevel(nil, body, fasthttp.CompressBrotliDefaultCompression)
		p.forms["gzip"] = fasthttp.AppendGzipBytesLevel(nil, body, fasthttp.CompressBestCompression)
	}
	return p
}

// write sends the encoding that the client accepts; each encoding has its own ETag.
func (p *Page) write(fc *fiber.Ctx) error {
	encoding := ""
	if len(p.forms) > 1 {
		fc.Vary(fiber.HeaderAcceptEncoding)
		encoding = accepted(fc.Get(fiber.HeaderAcceptEncoding))
	}
	tag := `"` + strings.TrimSuffix(p.tag+"-"+encoding, "-") + `"`
	fc.Set(fiber.HeaderETag, tag)
	fc.Set(fiber.HeaderCacheControl, "no-cache") // revalidate each time; 304 while unchanged
	if Matches(fc.Get(fiber.HeaderIfNoneMatch), tag) {
		fc.Status(http.StatusNotModified)
		return nil
	}
	fc.Set(fiber.HeaderContentType, p.media)
	if encoding != "" {
		fc.Set(fiber.HeaderContentEncoding, encoding)
	}
	fc.Response().SetBodyRaw(p.forms[encoding])
	return nil
}

// Document serves a JSON document that is made at its first request, when all operations are registered.
func (s *Server) Document(path string, render func() ([]byte, error)) {
	document := sync.OnceValues(func() (*Page, error) {
		raw, err := render()
		if err != nil {
			return nil, err
		}
		return NewPage(fiber.MIMEApplicationJSON, raw), nil
	})
	s.Route(http.MethodGet, path, func(fc *fiber.Ctx) error {
		p, err := document()
		if err != nil {
			return err
		}
		return p.write(fc)
	})
}

// Page serves a page.
func (s *Server) Page(path string, p *Page) {
	s.LatePage(path, func() (*Page, error) { return p, nil })
}

// LatePage serves a page that is made when it is asked for; whoever makes it keeps it.
func (s *Server) LatePage(path string, page func() (*Page, error)) {
	s.Route(http.MethodGet, path, func(fc *fiber.Ctx) error {
		p, err := page()
		if err != nil {
			return err
		}
		setDocsHeaders(fc)
		return p.write(fc)
	})
}

func setDocsHeaders(fc *fiber.Ctx) {
	fc.Set(fiber.HeaderContentSecurityPolicy, docsPolicy)
	fc.Set(fiber.HeaderXFrameOptions, "DENY")
	fc.Set(fiber.HeaderReferrerPolicy, "no-referrer")
}

// Assets serves pages by their name below a path that ends in *, and the files of a handler for a name of which there is no page.
func (s *Server) Assets(path string, page func(name string) (*Page, error), files http.Handler) {
	serve := adaptor.HTTPHandler(files)
	s.Route(http.MethodGet, path, func(fc *fiber.Ctx) error {
		name, err := url.PathUnescape(fc.Params("*"))
		if err != nil {
			name = ""
		}
		switch p, err := page(name); {
		case err != nil:
			return err
		case p != nil:
			setDocsHeaders(fc)
			return p.write(fc)
		}
		incomingOf(fc).body.drop() // the adaptor would read the whole body
		setDocsHeaders(fc)
		if fc.Context().IsHead() { // the file server would omit Content-Length
			fc.Request().Header.SetMethod(fiber.MethodGet)
			fc.Response().SkipBody = true
		}
		return serve(fc)
	})
}

// Index serves a page at the root, and at the root of the host, too.
func (s *Server) Index(p *Page) {
	s.Route(http.MethodGet, "", p.write)
	s.app.Get("/", p.write)
	s.paths.add("/", http.MethodGet, http.MethodHead)
}
