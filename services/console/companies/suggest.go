package companies

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

// Bounds of suggestions.
const (
	mostSuggested = 8
	fewLetters    = 2
)

type suggestPage struct {
	Header    web.Header
	Suggested web.Suggested
}

// suggest finds companies while somebody types, for a field that takes the id of one; see [web.AnyCompany].
func (pages *Pages) suggest(ctx context.Context, q *web.Request) (web.Answer, error) {
	text := strings.Join(strings.Fields(q.Form.Get("q")), " ")
	p := suggestPage{Header: web.Header{Title: q.T("find.title")}, Suggested: web.Suggested{Query: text}}
	if utf8.RuneCountInString(text) < fewLetters {
		return web.Show("companies/suggest", p.Header.Title, p), nil
	}
	named := company.Filter{Params: list.Params{PageSize: mostSuggested, Search: text}}
	found, err := web.CallAdmin[*list.Page[company.Company]](ctx, q, "listCompanies", web.Input{Query: web.Query(named)})
	switch {
	case q.FaultOf(err, "search") != "": // what no company can be called
		found = &list.Page[company.Company]{}
	case err != nil:
		return web.Answer{}, err
	}
	if len(found.Items) == 0 {
		p.Suggested.None = q.T("find.none", text)
	}
	for _, c := range found.Items {
		p.Suggested.Hits = append(p.Suggested.Hits, web.Hit{Do: c.ID.String(), Name: c.Name, Detail: c.ID.String()})
	}
	return web.Show("companies/suggest", p.Header.Title, p), nil
}
