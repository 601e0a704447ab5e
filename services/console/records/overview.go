package records

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// header has the one action that takes the record further, its form beside it, and what is done now and then in a menu.
func (pages *Pages) header(q *web.Request, s shown) web.Header {
	h := web.Header{Title: titleOf(q, s.res, s.record), Crumbs: []web.Link{{Text: s.res.Heading(q), Href: q.Path(s.res.Address)}}}
	if state := s.record.Text(s.res.State); state != "" && state != "none" {
		h.Chip = value(q, resources.Column{Name: s.res.State, Kind: resources.AsState}, s.record).Chip
	}
	if s.record.Has("createdAt") {
		h.Facts = q.T("records.made", moments(q, s.record.Text("createdAt")).At.Short())
	}
	h.Prints = q.PrintMenu(s.res.Name, s.res.Prints, s.id)
	all := pages.buttons(q, s)
	next := nextOf(s.res, all)
	if next < 0 && len(all) < 3 {
		h.Links, h.Actions = each(all)
		return h
	}
	for i, b := range all {
		switch {
		case i == next && b.link != nil:
			h.Main = b.link
		case i == next:
			h.First = b.action
			h.First.Kind = "primary"
		case b.name == "edit":
			h.Edit = b.link
		case b.link != nil:
			h.Menu.Links = append(h.Menu.Links, *b.link)
		default:
			h.Menu.Actions = append(h.Menu.Actions, *b.action)
		}
	}
	return h
}

// each are the links and the actions of buttons.
func each(all []button) (links []web.Link, actions []web.Action) {
	for _, b := range all {
		if b.link != nil {
			links = append(links, *b.link)
		} else {
			actions = append(actions, *b.action)
		}
	}
	return links, actions
}

// nextOf is the button that takes a record further; -1 = none does.
func nextOf(res resources.Resource, all []button) int {
	for _, name := range res.Next {
		if i := slices.IndexFunc(all, func(b button) bool { return b.name == name }); i >= 0 {
			return i
		}
	}
	return -1
}

// stagesOf are the states that the record goes through, up to the one that it has. A record that left them, such as one that was
// cancelled, has none.
func stagesOf(q *web.Request, s shown) (all []web.Stage) {
	now := slices.Index(s.res.Stages, s.record.Text(s.res.State))
	if now < 0 {
		return nil
	}
	for i, state := range s.res.Stages {
		all = append(all, web.Stage{Text: q.Word(state), Done: i < now || i == len(s.res.Stages)-1 && i == now, Now: i == now})
	}
	return all
}

// overview shows the fields of the record, how far it has come, and the tables that it has itself.
func (pages *Pages) overview(ctx context.Context, q *web.Request, s shown, p *recordPage) error {
	p.Party = pages.partyOf(q, s)
	var err error
	if s.record, err = withNames(ctx, s.record, s.names); err != nil {
		return err
	}
	for _, c := range factsOf(s.res, q.Operation(s.res.Get).Answer) {
		if !says(s, c) || p.Party != nil && c.To == clients {
			continue
		}
		cell, err := pages.cell(ctx, q, c, s.record, s.names)
		if err != nil {
			return err
		}
		if cell.Num = false; c.Kind == resources.AsAmount {
			cell.Text = q.Priced(cell.Text)
		}
		p.Facts = append(p.Facts, web.Fact{Label: q.Label(c.Name), Cell: cell})
	}
	p.Gauges, p.Gallery = pages.gauges(q, s), resources.GalleryOf(q, s.res, s.record)
	if p.Files, err = pages.files(ctx, q, s); err != nil {
		return err
	}
	for _, t := range s.res.Tables {
		if t.Brief != nil && pages.maySee(q, t) {
			if err := pages.brief(ctx, q, s, t, p); err != nil {
				return err
			}
		}
		rows := s.record.Records(t.Field)
		if t.Field == "" || len(rows) == 0 {
			continue
		}
		t.Columns = columnsOf(t, q.Operation(s.res.Get).Answer)
		of, err := pages.rows(ctx, q, s, t, rows)
		if err != nil {
			return err
		}
		one := section{Title: q.T("records.tab." + t.Name), Table: of}
		if t.Name == "lines" {
			one.Sums = sumsBelow(q, s)
		}
		if n := s.record.Number(t.Returned); n != 0 {
			one.Title, one.Text = q.T("records.taxes.returned"), q.T("records.taxes.returned.text", q.Money(n))
		}
		p.Sections = append(p.Sections, one)
	}
	return nil
}

// inBrief is how many rows the overview shows of what has a tab of its own.
const inBrief = 8

// brief shows the first rows of a tab, without their commands, and leads to it.
func (pages *Pages) brief(ctx context.Context, q *web.Request, s shown, t resources.Table, p *recordPage) error {
	rows, _, err := pages.entries(ctx, q, s, t)
	if err != nil || len(rows) == 0 {
		return err
	}
	tab := web.Link{Text: q.T("records.brief"), Href: web.With(s.address(q), "tab", t.Name)}
	t.Columns = slices.DeleteFunc(slices.Clone(t.Columns), func(c resources.Column) bool { return !slices.Contains(t.Brief, c.Name) })
	of, err := pages.table(ctx, q, s, t, rows[:min(len(rows), inBrief)], nil)
	p.Sections = append(p.Sections, section{Title: q.T("records.tab." + t.Name), Links: []web.Link{tab}, Table: of})
	return err
}

// says reports whether a field tells something beside the header and the sums: it has a value, and is not an amount of nothing.
func says(s shown, c resources.Column) bool {
	switch {
	case !s.record.Has(c.Name), c.Name == s.res.Title, c.Name == s.res.State, c.Name == "createdAt":
		return false
	case slices.ContainsFunc(s.res.Gauges, func(g resources.Gauge) bool { return g.State == c.Name }):
		return false
	case slices.ContainsFunc(s.res.Tables, func(t resources.Table) bool { return t.Returned == c.Name }):
		return false
	case c.Kind == resources.AsTexts && len(s.record.Texts(c.Name)) == 0, slices.ContainsFunc(s.res.Sums, func(sum resources.Sum) bool { return sum.Name == c.Name }):
		return false
	}
	return c.Kind != resources.AsAmount && c.Kind != resources.AsPercent || s.record.Text(c.Name) != "0" || c.Name == "total"
}

// withNames is a record with names of the people that it has only ids of: the API names no technical users of tokens.
func withNames(ctx context.Context, r resources.Record, names *directories) (resources.Record, error) {
	out := maps.Clone(r)
	users, _ := resources.ChoicesOf("createdById")
	for _, id := range users.Fields {
		field := strings.TrimSuffix(id, "Id") + "Name"
		if _, has := r[field]; !has || r.Has(field) || !r.Has(id) {
			continue
		}
		name, err := names.name(ctx, id, r.Text(id))
		if err != nil {
			return nil, err
		}
		if name != "" {
			out[field] = name
		}
	}
	return out, nil
}

// gauges are what is done of what the record needs done, each with the command that does more of it, or leads to where it is given back.
func (pages *Pages) gauges(q *web.Request, s shown) (all []web.Gauge) {
	for _, g := range s.res.Gauges {
		done, whole := g.Part(s.record)
		if whole <= 0 && done <= 0 {
			continue
		}
		show := func(v float64) string { return q.Number(strconv.FormatFloat(v, 'f', -1, 64)) }
		if g.Amount {
			show = func(v float64) string { return q.Money(int64(v)) }
		}
		one := web.Gauge{
			Title: q.T("records.gauge." + g.Name), Text: q.T("records.gauge."+g.Name+".done", show(done), show(whole)), Left: show(max(whole-done, 0)),
			Percent: int(min(max(done/max(whole, done), 0), 1) * 100), Do: pages.commandLink(q, s, g.Command),
		}
		if state := s.record.Text(g.State); state != "" {
			one.Chip = value(q, resources.Column{Name: g.State, Kind: resources.AsState}, s.record).Chip
		}
		if g.Back != "" && done > whole {
			one.Left, one.Chip = show(done-whole), &web.Chip{Text: q.T("records.gauge." + g.Name + ".back"), Kind: web.Warn}
			one.Do = &web.Link{Text: q.T("records.gauge." + g.Name + ".give_back"), Href: web.With(s.address(q), "tab", g.Back)}
		}
		all = append(all, one)
	}
	return all
}

// commandLink leads to the form of a command; nil = the record, or the person, does not have it now.
func (pages *Pages) commandLink(q *web.Request, s shown, name string) *web.Link {
	i := slices.IndexFunc(s.res.Commands, func(c resources.Command) bool { return c.Name == name })
	if i < 0 || !q.MayCall(s.res.Commands[i].Op) || s.res.Commands[i].When != nil && !s.res.Commands[i].When(s.record) {
		return nil
	}
	return &web.Link{Text: q.T("records.do." + name), Href: s.address(q) + "/do/" + name}
}

// sumsBelow are the amounts of a document below its lines.
func sumsBelow(q *web.Request, s shown) (all []web.Fact) {
	for i, sum := range s.res.Sums {
		n := s.record.Number(sum.Name)
		if last := i == len(s.res.Sums)-1; !last && n == 0 || sum.When != nil && !sum.When(s.record) {
			continue
		}
		if sum.Less != takesBack(s.record) {
			n = -n
		}
		all = append(all, web.Fact{Label: q.Label(sum.Name), Cell: web.Text(q.Money(n))})
	}
	if len(all) == 1 {
		all[0].Label = q.Label("total")
	}
	return all
}
