package paper

import (
	"context"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/services/business/catalog"
	"github.com/tradegrid/tradegrid/services/console/web"
)

type labelsPage struct {
	Header web.Header
	Filter web.Filter
	Note   *web.Note
	Sheets []LabelSheet
}

// asked is how labels are to be.
type asked struct {
	size, code   string
	copies, skip int
}

func askedIn(q *web.Request) asked {
	a := asked{size: labelsA4, code: codeAuto}
	if size := q.Form.Get("size"); size == labelsRoll {
		a.size = size
	}
	if code := q.Form.Get("code"); code == codeQR || code == codeBars {
		a.code = code
	}
	a.copies = whole(q.Form.Get("copies"), 1, 100)
	a.skip = whole(q.Form.Get("skip"), 0, onSheet-1)
	return a
}

// whole is a number within bounds; what is none is the lowest.
func whole(text string, low, high int) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return low
	}
	return min(max(n, low), high)
}

// labels is the page of labels, or their PDF.
func (pages *Pages) labels(ctx context.Context, q *web.Request) (web.Answer, error) {
	ids, more := recordsIn(q)
	all, err := products(ctx, q, ids)
	if err != nil {
		return web.Answer{}, err
	}
	a := askedIn(q)
	w := NewWriter(pages.Texts, q.Company.Settings, nil)
	sheets, err := w.Labels(all, a.size, a.code, a.copies, a.skip)
	if err != nil {
		return web.Answer{}, err
	}
	title := q.T("paper.labels")
	p := labelsPage{Header: web.Header{Title: title, Crumbs: []web.Link{{Text: q.Named("resource.products", "products"), Href: q.Path("/products")}}}, Filter: labelsFilter(q, a), Sheets: sheets}
	n := 0
	for _, s := range sheets {
		n += len(s.Labels)
	}
	switch {
	case len(ids) == 0:
		p.Note = &web.Note{Kind: web.Info, Title: q.T("paper.none"), Text: q.T("paper.none.text")}
	case n > maxLabels:
		p.Sheets, p.Note = nil, &web.Note{Kind: web.Warn, Title: q.T("paper.labels.many", n), Text: q.T("paper.labels.many.text", maxLabels)}
	case q.Form.Get("format") == asPDF:
		raw, err := LabelsPDF(title, sheets, q.Now)
		return sent(title, raw), err
	default:
		p.Header.Print = q.T("paper.print")
		p.Header.Links = []web.Link{{Text: q.T("paper.pdf"), Href: web.With(q.HTTP.URL.Path, "ids", q.Form.Get("ids"), "size", a.size, "code", a.code,
			"copies", strconv.Itoa(a.copies), "skip", strconv.Itoa(a.skip), "format", asPDF)}}
	}
	if more {
		p.Note = &web.Note{Kind: web.Warn, Title: q.T("paper.many", maxRecords)}
	}
	return web.Show("paper/labels", title, p), nil
}

// products reads products with their variants.
func products(ctx context.Context, q *web.Request, ids []uuid.UUID) (all []labelled, err error) {
	for _, id := range ids {
		in := web.ByID(id)
		p, err := web.Call[catalog.Product](ctx, q, "getProduct", in)
		if err != nil {
			return nil, err
		}
		of := labelled{product: p}
		if p.HasVariants {
			if of.variants, err = web.Call[[]catalog.ProductVariant](ctx, q, "listProductVariants", in); err != nil {
				return nil, err
			}
		}
		all = append(all, of)
	}
	return all, nil
}

func labelsFilter(q *web.Request, a asked) web.Filter {
	choose := func(name, label, chosen string, values ...string) web.Field {
		f := web.Field{Name: name, Label: label, Type: "select"}
		for _, v := range values {
			f.Options = append(f.Options, web.Option{Value: v, Text: q.T("paper.labels." + name + "." + v), Selected: v == chosen})
		}
		return f
	}
	fields := []web.Field{
		choose("size", q.T("paper.labels.size"), a.size, labelsA4, labelsRoll), choose("code", q.T("paper.labels.code"), a.code, codeAuto, codeBars, codeQR),
		{Name: "copies", Label: q.T("paper.labels.copies"), Type: "number", Value: strconv.Itoa(a.copies)},
		{Name: "skip", Label: q.T("paper.labels.skip"), Type: "number", Value: strconv.Itoa(a.skip), Help: q.T("paper.labels.skip.help")},
	}
	if a.size == labelsRoll {
		fields = slices.Delete(fields, 3, 4)
	}
	return web.Filter{Action: q.HTTP.URL.Path, Fields: fields, Button: q.T("paper.labels.show"), Hidden: map[string]string{"ids": q.Form.Get("ids")}}
}
