package httpapi

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"
	"github.com/swaggest/swgui/v5emb"
	"github.com/valyala/fasthttp"

	"github.com/tradegrid/tradegrid/pkg/apierr"
)

// docsPolicy lets the pages load only their own scripts, styles and data, and forbids framing. Swagger UI writes style attributes.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// docsScript starts Swagger UI; %s is the root of the API.
const docsScript = `window.onload = function () {
  window.ui = SwaggerUIBundle({
    url: "%s/openapi.json", dom_id: "#swagger-ui", deepLinking: true, layout: "BaseLayout", presets: [SwaggerUIBundle.presets.apis],
    showExtensions: true, showCommonExtensions: true, validatorUrl: null, defaultModelsExpandDepth: -1,
  });
};
`

// docsPage has the name and the root of the API in place of {name} and {base}.
const docsPage = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{name}</title>
<link rel="stylesheet" href="{base}/docs/swagger-ui.css">
<link rel="icon" type="image/png" href="{base}/docs/favicon-32x32.png" sizes="32x32">
<style>body{margin:0;background:#fafafa}</style>
</head><body><div id="swagger-ui"></div>
<script src="{base}/docs/swagger-ui-bundle.js"></script>
<script src="{base}/docs/init.js"></script>
</body></html>
`

var errorPageTemplate = template.Must(template.New("errors").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{{.Name}}: error codes</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}td,th{text-align:left;vertical-align:top;padding:.4rem .8rem;border-bottom:1px solid #ddd}tr:target{background:#fff3c4}code{white-space:nowrap}</style>
</head><body><h1>Error codes</h1><p><a href="../docs">API description</a></p>
<table><tr><th>Status</th><th>Code</th><th>What to do</th></tr>
{{range .Docs}}<tr id="{{.Code}}"><td>{{.Status}}</td><td><code>{{.Code}}</code></td><td>{{.Advice}}</td></tr>
{{end}}</table>
<h2 id="reasons">Reasons of SERVICE_UNAVAILABLE</h2>
<table><tr><th>meta.reason</th><th>Meaning</th></tr>
{{range .Reasons}}<tr><td><code>{{.Reason}}</code></td><td>{{.Meaning}}</td></tr>
{{end}}</table></body></html>
`))

// page is a static response, compressed once.
type page struct {
	media string
	forms map[string][]byte // by Content-Encoding
	tag   string
}

func newPage(media string, body []byte) *page {
	sum := sha256.Sum256(body)
	p := &page{media: media, forms: map[string][]byte{"": body}, tag: base64.RawURLEncoding.EncodeToString(sum[:12])}
	if len(body) > minCompressed {
		p.forms["br"] = fasthttp.AppendBrotliBytesLevel(nil, body, fasthttp.CompressBrotliDefaultCompression)
		p.forms["gzip"] = fasthttp.AppendGzipBytesLevel(nil, body, fasthttp.CompressBestCompression)
	}
	return p
}

// write sends the encoding that the client accepts; each encoding has its own ETag.
func (p *page) write(fc *fiber.Ctx) error {
	encoding := ""
	if len(p.forms) > 1 {
		fc.Vary(fiber.HeaderAcceptEncoding)
		encoding = accepted(fc.Get(fiber.HeaderAcceptEncoding))
	}
	tag := `"` + strings.TrimSuffix(p.tag+"-"+encoding, "-") + `"`
	fc.Set(fiber.HeaderETag, tag)
	fc.Set(fiber.HeaderCacheControl, "no-cache") // revalidate each time; 304 while unchanged
	if matches(fc.Get(fiber.HeaderIfNoneMatch), tag) {
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

// mountDocs serves the API description, a page to browse it offline, the list of error codes, and an index of these.
func (a *API) mountDocs() {
	a.mountDocument("/openapi.json", a.Description)
	if a.cfg.AsyncAPI != nil {
		a.mountDocument("/asyncapi.json", a.cfg.AsyncAPI)
	}
	if len(a.cfg.Changelog) > 0 {
		a.mountPage("/changelog", newPage("text/markdown; charset=utf-8", a.cfg.Changelog))
	}
	a.route(http.MethodGet, "/health", func(fc *fiber.Ctx) error { return fc.JSON(fiber.Map{"status": "ok", "release": a.cfg.Release}) })
	a.mountPage("/docs/errors", newPage(fiber.MIMETextHTMLCharsetUTF8, a.errorPage()))
	a.mountPage("/docs/init.js", newPage(fiber.MIMETextJavaScriptCharsetUTF8, []byte(fmt.Sprintf(docsScript, a.of.base))))
	a.mountPage("/docs", newPage(fiber.MIMETextHTMLCharsetUTF8, []byte(strings.NewReplacer("{name}", a.of.name, "{base}", a.of.base).Replace(docsPage))))
	assets := adaptor.HTTPHandler(v5emb.New(a.of.name, a.of.base+"/openapi.json", a.of.base+"/docs/"))
	a.route(http.MethodGet, "/docs/*", func(fc *fiber.Ctx) error {
		incomingOf(fc).body.drop() // the adaptor would read the whole body
		setDocsHeaders(fc)
		if fc.Context().IsHead() { // the file server would omit Content-Length
			fc.Request().Header.SetMethod(fiber.MethodGet)
			fc.Response().SkipBody = true
		}
		return assets(fc)
	})
	index := newPage(fiber.MIMEApplicationJSON, a.index())
	a.route(http.MethodGet, "", index.write)
	a.app.Get("/", index.write)
	a.paths.add("/", http.MethodGet, http.MethodHead)
}

// mountDocument serves a JSON document that is made at its first request, when all operations are registered.
func (a *API) mountDocument(path string, render func() ([]byte, error)) {
	document := sync.OnceValues(func() (*page, error) {
		raw, err := render()
		if err != nil {
			return nil, err
		}
		return newPage(fiber.MIMEApplicationJSON, raw), nil
	})
	a.route(http.MethodGet, path, func(fc *fiber.Ctx) error {
		p, err := document()
		if err != nil {
			return err
		}
		return p.write(fc)
	})
}

func (a *API) mountPage(path string, p *page) {
	a.route(http.MethodGet, path, func(fc *fiber.Ctx) error {
		setDocsHeaders(fc)
		return p.write(fc)
	})
}

func setDocsHeaders(fc *fiber.Ctx) {
	fc.Set(fiber.HeaderContentSecurityPolicy, docsPolicy)
	fc.Set(fiber.HeaderXFrameOptions, "DENY")
	fc.Set(fiber.HeaderReferrerPolicy, "no-referrer")
}

// index is the body of the root path: links to the documentation.
func (a *API) index() []byte {
	root := a.cfg.PublicURL + a.of.base
	links := map[string]string{
		"api": root, "description": root + "/openapi.json", "docs": root + "/docs", "errors": root + "/docs/errors", "health": root + "/health",
	}
	if a.cfg.AsyncAPI != nil {
		links["events"] = root + "/asyncapi.json"
	}
	if len(a.cfg.Changelog) > 0 {
		links["changelog"] = root + "/changelog"
	}
	raw, err := json.MarshalIndent(struct {
		Name    string            `json:"name"`
		Release string            `json:"release"`
		Links   map[string]string `json:"links"`
	}{a.of.name, a.cfg.Release, links}, "", "  ")
	if err != nil {
		panic(err) // strings
	}
	return append(raw, '\n')
}

func (a *API) errorPage() []byte {
	var page strings.Builder
	err := errorPageTemplate.Execute(&page, struct {
		Name    string
		Docs    []apierr.Doc
		Reasons []apierr.ReasonDoc
	}{a.of.name, a.errorDocs(), apierr.Reasons()})
	if err != nil {
		panic(fmt.Errorf("render page of error codes: %w", err)) // writes constants to memory
	}
	return []byte(page.String())
}
