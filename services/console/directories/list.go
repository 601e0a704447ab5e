package directories

import (
	"context"
	"maps"
	"net/url"
	"slices"

	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

type listPage struct {
	Header web.Header
	Filter *web.Filter
	Table  web.Ordered
}

// list shows the entries.
func (pages *Pages) list(d resources.Directory) web.Handler {
	return func(ctx context.Context, q *web.Request) (web.Answer, error) {
		query := maps.Clone(d.Query)
		if query == nil {
			query = url.Values{}
		}
		p := listPage{Header: web.Header{
			Title: q.T("directory." + d.Name), Facts: q.T("directory." + d.Name + ".about"), Crumbs: []web.Link{{Text: q.T("area.directories"), Href: q.Path("/directories")}},
		}}
		if d.Paged {
			p.Filter = filterOf(q, d)
			query.Set("search", q.Form.Get("q"))
			query.Set("cursor", q.Form.Get("cursor"))
			query.Set("pageSize", "50")
			maps.DeleteFunc(query, func(_ string, v []string) bool { return v[0] == "" })
		}
		raw, err := web.CallAdmin[web.JSON](ctx, q, d.List, web.Input{Query: query})
		if err != nil {
			return web.Answer{}, err
		}
		found, err := pageOf(d, raw)
		if err != nil {
			return web.Answer{}, err
		}
		if changes(q, d) {
			p.Header.Links = []web.Link{{Text: q.T("directory." + d.Name + ".new"), Href: q.Path("/directories/" + d.Name + "/new")}}
		}
		if p.Table, err = pages.tableOf(ctx, q, place{Directory: d}, found.items); err != nil {
			return web.Answer{}, err
		}
		if found.next != "" {
			p.Table.Next = web.With(q.Path("/directories/"+d.Name), "q", q.Form.Get("q"), "cursor", found.next)
		}
		return web.Show("directories/list", q.T("directory."+d.Name), p), nil
	}
}

func filterOf(q *web.Request, d resources.Directory) *web.Filter {
	f := &web.Filter{Action: q.Path("/directories/" + d.Name), Button: q.T("filter.search"), Fields: []web.Field{{Name: "q", Label: q.Label("name"), Value: q.Form.Get("q")}}}
	if q.Form.Get("q") != "" {
		f.Clear = f.Action
	}
	return f
}

// tableOf shows entries of a directory, or of a part of an entry.
func (pages *Pages) tableOf(ctx context.Context, q *web.Request, p place, all []entry) (web.Ordered, error) {
	t := web.Ordered{Table: web.Table{Label: q.T("directory." + p.Name)}, Moved: q.Form.Get("moved"), Down: q.Form.Get("to") == "down"}
	t.Empty = web.Empty{Title: q.T("directory." + p.Name + ".none"), Text: q.T("directory." + p.Name + ".about")}
	if changes(q, p.Directory) {
		t.Empty.Action = &web.Link{Text: q.T("directory." + p.Name + ".new"), Href: p.address(q, "/new")}
		if p.Ordered && len(all) > 1 {
			t.Order = p.address(q, "/order")
		}
	}
	chosen := map[string]names{}
	for _, column := range p.Columns {
		t.Columns = append(t.Columns, web.Column{Text: q.Label(column)})
		if from, ok := p.Pick[column]; ok {
			options, err := pages.choices(ctx, q, from)
			if err != nil {
				return t, err
			}
			chosen[column] = names{}
			for _, o := range options {
				chosen[column][o.Value] = o.Text
			}
		}
	}
	if p.Active {
		t.Columns = append(t.Columns, web.Column{Text: q.T("people.status")})
	}
	for _, e := range inOrder(p, all) {
		var row []web.Cell
		for i, column := range p.Columns {
			cell := e.cell(q, column, chosen[column])
			if i == 0 && !e.builtIn() {
				cell.Href = p.address(q, "/"+e.id())
			}
			if i == 0 && e.is("isInitial") {
				cell = cell.With(q.T("directories.initial"))
			}
			row = append(row, cell)
		}
		if p.Active {
			row = append(row, stateOf(q, e))
		}
		t.Rows, t.IDs, t.Names = append(t.Rows, row), append(t.IDs, e.id()), append(t.Names, e.title())
	}
	return t, nil
}

func stateOf(q *web.Request, e entry) web.Cell {
	state := web.State(web.Good, q.T("directories.active"))
	if !e.inUse() {
		state = web.State(web.Off, q.T("directories.inactive"))
	}
	if e.builtIn() {
		state = state.With(q.T("directories.built_in"))
	}
	return state
}

// inOrder sorts entries as people have put them; the API sorts whole directories.
func inOrder(p place, all []entry) []entry {
	if p.Ordered {
		slices.SortStableFunc(all, func(x, y entry) int { return int(x.number("sortOrder") - y.number("sortOrder")) })
	}
	return all
}
