package records

import (
	"context"
	"slices"

	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

type menuPage struct {
	Header  web.Header
	Links   []web.Link
	Actions []web.Action
	None    bool // nothing can be done with the record now
}

// menuOf is the address of the commands of a row; "" = the person may give none.
func (pages *Pages) menuOf(q *web.Request, res resources.Resource, r resources.Record) string {
	if !hasMenu(res) || !slices.ContainsFunc(res.Commands, func(c resources.Command) bool { return c.Table+c.AddsTo == "" && q.MayCall(c.Op) }) {
		return ""
	}
	return q.Path(res.Page + "/" + web.Segment(r.Text("id")) + "/do/menu")
}

// hasMenu reports whether rows of a list have commands.
func hasMenu(res resources.Resource) bool {
	return res.Page != "" && !res.Elsewhere && slices.ContainsFunc(res.Commands, func(c resources.Command) bool { return c.Table+c.AddsTo == "" })
}

// menu is what can be done with a record, for the row of a list that asks when its menu is opened.
func (pages *Pages) menu(res resources.Resource) web.Handler {
	return func(ctx context.Context, q *web.Request) (web.Answer, error) {
		s, err := pages.find(ctx, q, res)
		if err != nil {
			return web.Answer{}, err
		}
		p := menuPage{Header: web.Header{Title: titleOf(q, res, s.record), Crumbs: []web.Link{{Text: res.Heading(q), Href: q.Path(res.Address)}}}}
		for _, b := range pages.buttons(q, s) {
			if b.link != nil {
				p.Links = append(p.Links, *b.link)
			} else {
				p.Actions = append(p.Actions, *b.action)
			}
		}
		p.None = len(p.Links)+len(p.Actions) == 0
		return web.Show("records/menu", p.Header.Title, p), nil
	}
}
