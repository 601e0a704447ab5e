package find

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tradegrid/tradegrid/services/console/web"
)

// Bounds of suggestions. Nobody waits for them: what takes longer is not shown.
const (
	mostSuggested = 8
	patience      = 2 * time.Second
)

type suggestPage struct {
	Header    web.Header
	Suggested web.Suggested
}

// ofAny stands in the place of a list for records of all lists.
const ofAny = "any"

// suggest finds what the page of the find field finds, while somebody types. With the name of a list (of) it finds its records, for a
// field that takes the id of one; see [web.Picker]. A field that takes that of any record names the list any.
func (pages *Pages) suggest(ctx context.Context, q *web.Request) (web.Answer, error) {
	l := looking{text: strings.Join(strings.Fields(q.Form.Get("q")), " "), rows: fewPerKind, of: q.Form.Get("of")}
	if l.pick = l.of != ""; l.of == ofAny {
		l.of = ""
	}
	p := suggestPage{Header: web.Header{Title: q.T("find.title")}, Suggested: web.Suggested{Query: l.text}}
	_, isNumber := numberOf(l.text)
	if !searchable(l.text) || utf8.RuneCountInString(l.text) < fewLetters && !isNumber {
		return web.Show("find/suggest", p.Header.Title, p), nil
	}
	if l.of != "" {
		l.rows = mostSuggested
	}
	if l.pick {
		p.Suggested.None = q.T("find.none", l.text)
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	all, err := pages.search(limited, q, l)
	if err != nil && limited.Err() == nil {
		return web.Answer{}, err
	}
	if err != nil {
		all, p.Suggested.None = nil, ""
	}
	if l.pick {
		for _, f := range all {
			for i := range f.hits {
				f.hits[i].href = f.hits[i].id // several may have one page, as the returns of an order have
			}
		}
	}
	hits := hitsOf(all)
	if l.pick {
		hits = slices.DeleteFunc(hits, func(h hit) bool { return h.id == "" }) // no records of a list
	}
	for _, h := range hits[:min(len(hits), mostSuggested)] {
		p.Suggested.Hits = append(p.Suggested.Hits, h.suggested(q, l))
	}
	return web.Show("find/suggest", p.Header.Title, p), nil
}

// suggested leads to the page of the record, or in a field for its id chooses it.
func (h hit) suggested(q *web.Request, l looking) web.Hit {
	out := web.Hit{Name: h.title, Detail: h.also}
	if out.Name == "" {
		out.Name = h.kind
	}
	if l.of == "" {
		out.Detail = strings.TrimSuffix(h.kind+" · "+h.also, " · ")
	}
	if l.pick {
		out.Do = h.id
		return out
	}
	out.Href = q.Path(h.href)
	return out
}
