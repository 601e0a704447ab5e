package httpapi

import (
	_ "embed" // of scripts
	"fmt"
	"html/template"
	"mime"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi/transport"
)

// docsPages are the pages about an API that are made when they are first asked for, since operations are registered after the
// pages. The whole description takes Swagger UI seconds to show, so each tag has a page of its own, and the first page only
// lists the operations.
type docsPages struct {
	mu   sync.Mutex
	made map[string]*transport.Page // by the name below /docs/
}

// Scripts of the pages; a policy forbids scripts within pages.
var (
	//go:embed docs_index.js
	indexScript []byte
	//go:embed docs_tag.js
	tagScript []byte
)

const pageStyle = `body{font:16px/1.5 system-ui,sans-serif;max-width:68rem;margin:2rem auto;padding:0 1rem;color:#1b1f24}
a{color:#0550ae}td,th{text-align:left;vertical-align:top;padding:.4rem .8rem;border-bottom:1px solid #ddd}
pre,code{font:.9em ui-monospace,monospace;background:#f6f8fa}pre{padding:.8rem;overflow-x:auto}`

var indexTemplate = template.Must(template.New("index").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{{.Name}}</title>
<link rel="icon" type="image/png" href="{{.Base}}/docs/favicon-32x32.png" sizes="32x32">
<style>` + pageStyle + `
input{font:inherit;width:100%;box-sizing:border-box;padding:.5rem;margin:.5rem 0}
h2{margin:1.5rem 0 .3rem}ul{list-style:none;margin:0;padding:0}
.op a{display:flex;gap:.8rem;padding:.2rem .4rem;text-decoration:none;color:inherit}.op a:hover,.op a:focus{background:#eef4ff}
.op b{flex:0 0 4.2rem;font:600 .8rem/1.7 ui-monospace,monospace}.op code{flex:0 0 27rem;background:none;overflow-wrap:anywhere}
@media(max-width:50rem){.op a{flex-wrap:wrap}.op code{flex-basis:70%}}
.GET{color:#0550ae}.POST{color:#116329}.PUT,.PATCH{color:#8a4600}.DELETE{color:#a40e26}nav a{margin-right:1rem;white-space:nowrap}</style>
</head><body data-base="{{.Base}}"><h1>{{.Name}}</h1><p>{{.About}}</p>
<nav><a href="{{.Base}}/docs/errors">Error codes</a> <a href="{{.Base}}/openapi.json">OpenAPI</a>{{if .Events}} <a href="{{.Base}}/asyncapi.json">AsyncAPI of the events</a>{{end}}{{if .Changelog}} <a href="{{.Base}}/changelog">Changelog</a>{{end}}</nav>
{{if .Guide}}<nav>Reference: {{range .Guide}}<a href="{{$.Base}}/docs/{{.Path}}">{{.Title}}</a> {{end}}</nav>
{{end}}<input id="filter" type="search" placeholder="Filter by path, name or text" aria-label="Filter operations" autocomplete="off">
<p id="none" hidden>No operation matches.</p>
{{range .Tags}}<section><h2><a href="{{.URL}}">{{.Name}}</a></h2><ul>
{{range .Ops}}<li class="op" data-text="{{.Text}}"><a href="{{.URL}}" title="{{.Description}}"><b class="{{.Method}}">{{.Method}}</b><code>{{.Path}}</code><span>{{.Summary}}</span></a></li>
{{end}}</ul></section>
{{end}}<script src="{{.Base}}/docs/index.js"></script></body></html>
`))

var tagTemplate = template.Must(template.New("tag").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{{.Tag}}: {{.Name}}</title>
<link rel="stylesheet" href="{{.Base}}/docs/swagger-ui.css">
<link rel="icon" type="image/png" href="{{.Base}}/docs/favicon-32x32.png" sizes="32x32">
<style>body{margin:0;background:#fafafa}nav{font:14px/1.8 system-ui,sans-serif;padding:.5rem 1.5rem;background:#1b1f24}nav a{color:#fff;margin-right:1rem}</style>
</head><body data-description="{{.URL}}.json"><nav><a href="{{.Base}}/docs">All operations</a><a href="{{.Base}}/docs/errors">Error codes</a>{{range .Guide}}<a href="{{$.Base}}/docs/{{.Path}}">{{.Title}}</a>{{end}}</nav>
<div id="swagger-ui"></div>
<script src="{{.Base}}/docs/swagger-ui-bundle.js"></script>
<script src="{{.Base}}/docs/init.js"></script>
</body></html>
`))

// docsPage returns the page with a name below /docs/, "" for the first one; nil if there is none.
func (a *API) docsPage(name string) (*transport.Page, error) {
	a.docs.mu.Lock()
	defer a.docs.mu.Unlock()
	if p := a.docs.made[name]; p != nil {
		return p, nil
	}
	media, body, err := a.makeDocs(name)
	if err != nil || body == nil {
		return nil, err
	}
	if a.docs.made == nil {
		a.docs.made = map[string]*transport.Page{}
	}
	p := transport.NewPage(media, body)
	a.docs.made[name] = p
	return p, nil
}

func (a *API) makeDocs(name string) (media string, body []byte, err error) {
	switch name {
	case "":
		body, err = a.indexPage()
		return fiber.MIMETextHTMLCharsetUTF8, body, err
	case "index.js":
		return fiber.MIMETextJavaScriptCharsetUTF8, indexScript, nil
	case "init.js":
		return fiber.MIMETextJavaScriptCharsetUTF8, tagScript, nil
	}
	if strings.HasSuffix(name, ".md") {
		body, err = a.guidePage(name)
		return fiber.MIMETextHTMLCharsetUTF8, body, err
	}
	tag, described := strings.CutSuffix(name, ".json")
	switch {
	case !slices.Contains(a.tags(), tag):
		return "", nil, nil
	case described:
		body, err = a.descriptionOf(tag)
		return fiber.MIMEApplicationJSON, body, err
	}
	body, err = render(tagTemplate, map[string]any{"Tag": tag, "Name": a.variant.name, "Base": a.variant.base, "URL": a.tagURL(tag), "Guide": a.guideLinks()})
	return fiber.MIMETextHTMLCharsetUTF8, body, err
}

// tags are those of the operations, in the order of the alphabet.
func (a *API) tags() (all []string) {
	for _, op := range a.ops {
		all = append(all, op.Tag)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (a *API) tagURL(tag string) string { return a.variant.base + "/docs/" + url.PathEscape(tag) }

type indexTag struct {
	Name, URL string
	Ops       []indexOp
}

type indexOp struct {
	Method, Path, Summary, Description string

	URL  string
	Text string // what the filter looks at
}

func (a *API) indexPage() ([]byte, error) {
	tags := []indexTag{}
	for _, tag := range a.tags() {
		entry := indexTag{Name: tag, URL: a.tagURL(tag)}
		for _, op := range a.ops {
			if op.Tag == tag {
				entry.Ops = append(entry.Ops, indexOp{
					Method: op.Method, Path: op.Path, Summary: op.Summary, Description: op.Description,
					URL:  entry.URL + "#/" + url.PathEscape(tag) + "/" + op.ID,
					Text: strings.ToLower(strings.Join([]string{op.Method, op.Path, op.ID, op.Summary, op.Description}, " ")),
				})
			}
		}
		tags = append(tags, entry)
	}
	return render(indexTemplate, map[string]any{
		"Name": a.variant.name, "About": a.variant.about, "Base": a.variant.base, "Tags": tags, "Guide": a.guideLinks(),
		"Events": a.cfg.AsyncAPI != nil, "Changelog": len(a.cfg.Changelog) > 0,
	})
}

func render(t *template.Template, data any) ([]byte, error) {
	var page strings.Builder
	if err := t.Execute(&page, data); err != nil {
		return nil, fmt.Errorf("render page %s: %w", t.Name(), err)
	}
	return []byte(page.String()), nil
}

// Charset is the encoding of the text in the body, as the parameter of Content-Type names it; "" = it has none.
func (c *Call) Charset() string {
	_, params, err := mime.ParseMediaType(c.req.header(fiber.HeaderContentType))
	if err != nil {
		return "" // the media type was checked
	}
	return params["charset"]
}
