package httpapi

import (
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/swaggest/swgui/v5emb"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi/transport"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

var errorPageTemplate = template.Must(template.New("errors").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{{.Name}}: error codes</title>
<style>` + pageStyle + `tr:target{background:#fff3c4}td code{white-space:nowrap}</style>
</head><body><h1>Error codes</h1><p><a href="../docs">API description</a></p>
<table><tr><th>Status</th><th>Code</th><th>What to do</th></tr>
{{range .Docs}}<tr id="{{.Code}}"><td>{{.Status}}</td><td><code>{{.Code}}</code></td><td>{{.Advice}}</td></tr>
{{end}}</table>
<h2 id="reasons">Reasons of SERVICE_UNAVAILABLE</h2>
<table><tr><th>meta.reason</th><th>Meaning</th></tr>
{{range .Reasons}}<tr><td><code>{{.Reason}}</code></td><td>{{.Meaning}}</td></tr>
{{end}}</table></body></html>
`))

// mountDocs serves the API description, pages to browse it offline, the list of error codes, and an index of these.
func (a *API) mountDocs() {
	s := a.server
	s.Document("/openapi.json", a.Description)
	if a.cfg.AsyncAPI != nil {
		s.Document("/asyncapi.json", a.cfg.AsyncAPI)
	}
	if len(a.cfg.Changelog) > 0 {
		s.Page("/changelog", transport.NewPage("text/markdown; charset=utf-8", a.cfg.Changelog))
	}
	s.Route(http.MethodGet, "/health", func(fc *fiber.Ctx) error { return fc.JSON(fiber.Map{"status": "ok", "release": a.cfg.Release}) })
	s.Page("/docs/errors", transport.NewPage(fiber.MIMETextHTMLCharsetUTF8, a.errorPage()))
	s.LatePage("/docs", func() (*transport.Page, error) { return a.docsPage("") })
	s.Assets("/docs/*", a.docsPage, v5emb.New(a.variant.name, a.variant.base+"/openapi.json", a.variant.base+"/docs/"))
	s.Index(transport.NewPage(fiber.MIMEApplicationJSON, a.index()))
}

// index is the body of the root path: links to the documentation.
func (a *API) index() []byte {
	root := a.cfg.Root() + a.variant.base
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
	}{a.variant.name, a.cfg.Release, links}, "", "  ")
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
	}{a.variant.name, a.errorDocs(), apierr.Reasons()})
	if err != nil {
		panic(fmt.Errorf("render page of error codes: %w", err)) // writes constants to memory
	}
	return []byte(page.String())
}
