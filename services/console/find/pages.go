// Package find leads from what somebody types or pastes to its page: a number, a SKU, a barcode, a phone number, an address, a
// name, or any id. It asks the lists of the API with their own filters, so nobody finds what the API would not show.
package find

import (
	"context"
	"embed"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/tradegrid/tradegrid/pkg/kit/phone"
	"github.com/tradegrid/tradegrid/services/console/lines"
	"github.com/tradegrid/tradegrid/services/console/web"
)

//go:embed *.html
var files embed.FS

// Pages are the pages of the area.
type Pages struct{}

// Folder implements [web.Pages].
func (pages *Pages) Folder() web.Folder {
	return web.Folder{Name: "find", Templates: files, Routes: []web.Page{
		web.Get(web.Home, "", "/find", pages.find),
		web.Get(web.Home, "", "/find/suggest", pages.suggest).PartOfPages(),
		web.Get(web.Home, "", "/go/{id}", pages.goTo),
		web.Get(web.Account, "", "/go/{id}", pages.goHome).For(web.SignedIn),
	}}
}

type findPage struct {
	Header web.Header
	Note   *web.Note
	Table  web.Table
	More   []web.Link
	Empty  *web.Empty
}

// find leads to what was typed into the find field.
func (pages *Pages) find(ctx context.Context, q *web.Request) (web.Answer, error) {
	return pages.lead(ctx, q, q.Form.Get("q"))
}

// goTo leads to the page of any id, or of what a link names.
func (pages *Pages) goTo(ctx context.Context, q *web.Request) (web.Answer, error) {
	return pages.lead(ctx, q, q.HTTP.PathValue("id"))
}

// goHome is /go/{id} without a company: that of the person.
func (pages *Pages) goHome(_ context.Context, q *web.Request) (web.Answer, error) {
	if q.Person.Operator() {
		return web.Answer{}, web.NoPage() // an id does not tell its company
	}
	return web.Go(q.Path("/go/" + web.Segment(q.HTTP.PathValue("id")))), nil
}

func (pages *Pages) lead(ctx context.Context, q *web.Request, text string) (web.Answer, error) {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return web.Go(q.Path("/")), nil
	}
	if !searchable(text) {
		return pages.none(q, text), nil
	}
	all, err := pages.search(ctx, q, looking{text: text, rows: perKind})
	if err != nil {
		return web.Answer{}, err
	}
	hits := hitsOf(all)
	if to := certain(hits); to != "" {
		return web.Go(q.Path(to)), nil
	}
	if len(hits) > 0 {
		return pages.several(q, text, all, hits), nil
	}
	if id, err := uuid.Parse(text); err == nil {
		to, err := entityOf(ctx, q, id.String())
		if err != nil {
			return web.Answer{}, err
		}
		if to != "" {
			return web.Go(q.Path(to)), nil
		}
	}
	return pages.none(q, text), nil
}

// searchable reports whether a text can be that of a record.
func searchable(text string) bool {
	return utf8.RuneCountInString(text) <= maxText && !strings.ContainsFunc(text, func(c rune) bool { return c < ' ' })
}

// search asks for what is exactly what was typed, and if there is nothing, for names like it, last with two words the other way round.
func (pages *Pages) search(ctx context.Context, q *web.Request, l looking) ([]found, error) {
	all, err := askAll(ctx, q, exact(q, l))
	if err != nil || some(all) {
		return all, err
	}
	if _, err := uuid.Parse(l.text); err == nil {
		return nil, nil // no name
	}
	all, err = askAll(ctx, q, similar(q, l))
	turned := lines.Turned(l.text)
	if err != nil || some(all) || turned == "" {
		return all, err
	}
	l.text = turned
	return askAll(ctx, q, similar(q, l))
}

// some reports whether something was found.
func some(all []found) bool {
	return slices.ContainsFunc(all, func(f found) bool { return len(f.hits) > 0 })
}

// askAll asks several questions at once. The answers are in their order.
func askAll(ctx context.Context, q *web.Request, questions []question) ([]found, error) {
	all := make([]found, len(questions))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, ask := range questions {
		group.Go(func() (err error) {
			all[i], err = ask(ctx, q)
			return err
		})
	}
	return all, group.Wait()
}

// hitsOf are the records that were found, each once, the certain ones first.
func hitsOf(all []found) (hits []hit) {
	for _, f := range all {
		for _, h := range f.hits {
			i := slices.IndexFunc(hits, func(other hit) bool { return other.href == h.href })
			switch {
			case i < 0:
				hits = append(hits, h)
			case h.sure && !hits[i].sure:
				hits[i] = h
			}
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		switch {
		case a.sure == b.sure:
			return 0
		case a.sure:
			return -1
		}
		return 1
	})
	return hits
}

// certain is the address of the only record that is what was typed; "" = there is none, or there are several.
func certain(hits []hit) string {
	if len(hits) == 0 || !hits[0].sure || len(hits) > 1 && hits[1].sure {
		return ""
	}
	return hits[0].href
}

// several lists what was found.
func (pages *Pages) several(q *web.Request, text string, all []found, hits []hit) web.Answer {
	p := findPage{Header: web.Header{Title: q.T("find.title")}, Note: &web.Note{Kind: web.Info, Text: q.T("find.several", len(hits), text)}}
	p.Table = web.Table{Label: q.T("find.title"), Columns: []web.Column{{Text: q.T("find.kind")}, {Text: q.T("find.record")}, {Text: q.T("find.what")}}}
	for _, h := range hits {
		title := h.title
		if title == "" {
			title = h.kind
		}
		p.Table.Rows = append(p.Table.Rows, []web.Cell{web.Text(h.kind), web.LinkTo(title, q.Path(h.href)).With(h.also), web.Text(q.T("find.what." + h.what))})
	}
	for _, f := range all {
		if f.more != "" {
			p.More = append(p.More, web.Link{Text: q.T("find.more", f.kind), Href: q.Path(f.more)})
		}
	}
	return web.Show("find/find", q.T("find.title"), p)
}

// none says that nothing was found, and what can be.
func (pages *Pages) none(q *web.Request, text string) web.Answer {
	if runes := []rune(text); len(runes) > 60 {
		text = string(runes[:60]) + "…"
	}
	empty := web.Empty{Title: q.T("find.none", text), Text: q.T("find.none.text")}
	if q.Sees(web.Events) {
		empty.Action = &web.Link{Text: q.T("area.events"), Href: q.Path("/events")}
	}
	return web.Show("find/find", q.T("find.title"), findPage{Header: web.Header{Title: q.T("find.title")}, Empty: &empty}).Status(404)
}

// record is a record as the API returns it.
type record map[string]json.RawMessage

// text is a field as text; "" if it is null or not there.
func (r record) text(name string) string {
	raw := string(r[name])
	if raw == "" || raw == "null" {
		return ""
	}
	var s string
	if json.Unmarshal(r[name], &s) == nil {
		return s
	}
	return raw
}

// hasContact reports whether the phone number or the address of the record is the one that was typed, or ends in it. callingCode is
// that of the company.
func (r record) hasContact(text, callingCode string) bool {
	if isEmail(text) {
		return strings.EqualFold(r.text("email"), text)
	}
	home := phone.CountryOf(callingCode)
	if key := home.Key(text); key != "" && key == home.Key(r.text("phone")) {
		return true
	}
	own, typed := phoneOf(r.text("phone")), phoneOf(text)
	return len(own) >= sureDigits && len(typed) >= sureDigits && (strings.HasSuffix(own, typed) || strings.HasSuffix(typed, own))
}
