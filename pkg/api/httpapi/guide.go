package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

var guideTemplate = template.Must(template.New("guide").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{{.Title}}: {{.Name}}</title>
<style>` + pageStyle + `</style></head><body><p><a href="{{.Base}}/docs">API description</a></p>
{{.Body}}</body></html>
`))

type guideLink struct{ Path, Title string }

// guideLinks are the pages of the reference, the overview first.
func (a *API) guideLinks() (links []guideLink) {
	if a.cfg.Guide == nil {
		return nil
	}
	files, err := fs.Glob(a.cfg.Guide, "reference/*.md")
	if err != nil {
		panic(err) // a constant pattern
	}
	for _, name := range files {
		raw, err := fs.ReadFile(a.cfg.Guide, name)
		if err != nil {
			continue
		}
		link := guideLink{Path: name, Title: titleOf(raw)}
		if path.Base(name) == "README.md" {
			links = slices.Insert(links, 0, link)
			continue
		}
		links = append(links, link)
	}
	return links
}

// titleOf is the first heading of a page.
func titleOf(page []byte) string {
	line, _, _ := bytes.Cut(page, []byte("\n"))
	return strings.TrimSpace(strings.TrimLeft(string(line), "#"))
}

// guidePage renders a Markdown page; nil if there is none.
func (a *API) guidePage(name string) ([]byte, error) {
	if a.cfg.Guide == nil || !fs.ValidPath(name) {
		return nil, nil
	}
	raw, err := fs.ReadFile(a.cfg.Guide, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read page %s: %w", name, err)
	}
	var body bytes.Buffer
	markdown := goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID(),
		parser.WithASTTransformers(util.Prioritized(&inside{a.cfg.Guide, path.Dir(name)}, 100))))
	if err := markdown.Convert(raw, &body); err != nil {
		return nil, fmt.Errorf("render page %s: %w", name, err)
	}
	return render(guideTemplate, map[string]any{
		"Title": titleOf(raw), "Name": a.variant.name, "Base": a.variant.base, "Body": template.HTML(body.String()), //nolint:gosec // pages of the source, which goldmark escapes
	})
}

// inside leaves the text of links to files that are not among the pages, such as those of the source, without the link, and that of
// pictures, which are not served.
type inside struct {
	pages fs.FS
	dir   string
}

// Transform implements [parser.ASTTransformer].
func (in *inside) Transform(doc *ast.Document, _ text.Reader, _ parser.Context) {
	var dead []ast.Node
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		link, isLink := n.(*ast.Link)
		_, isImage := n.(*ast.Image)
		if entering && (isImage || isLink && !in.has(string(link.Destination))) {
			dead = append(dead, n)
		}
		return ast.WalkContinue, nil
	})
	for _, link := range dead {
		for child := link.FirstChild(); child != nil; child = link.FirstChild() {
			link.Parent().InsertBefore(link.Parent(), link, child)
		}
		link.Parent().RemoveChild(link.Parent(), link)
	}
}

func (in *inside) has(link string) bool {
	file, _, _ := strings.Cut(link, "#")
	if file == "" || strings.Contains(file, "://") {
		return true
	}
	_, err := fs.Stat(in.pages, path.Join(in.dir, file))
	return err == nil && strings.HasSuffix(file, ".md")
}
