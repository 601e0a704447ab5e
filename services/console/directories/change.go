package directories

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/services/console/web"
)

type entryPage struct {
	Header web.Header
	Note   *web.Note
	Facts  []web.Fact
	Form   *web.Form // nil = the person may not change it
	Parts  []partTable
	Week   *web.Week
	Prices *pricesPage
}

type partTable struct {
	Title string
	New   *web.Link
	Table web.Ordered
}

func (pages *Pages) show(ctx context.Context, q *web.Request, p place) (web.Answer, error) {
	return pages.showWith(ctx, q, p, nil, false)
}

// showWith is the page of an entry. err is the refusal of what was asked for; inForm, that it is about the form, which keeps what was
// typed.
func (pages *Pages) showWith(ctx context.Context, q *web.Request, p place, err error, inForm bool) (web.Answer, error) {
	e, readErr := pages.entry(ctx, q, p, p.id(q))
	if readErr != nil {
		return web.Answer{}, readErr
	}
	crumbs, readErr := pages.crumbs(ctx, q, p)
	if readErr != nil {
		return web.Answer{}, readErr
	}
	page := entryPage{Header: web.Header{Title: e.title(), Crumbs: crumbs}}
	if p.Active && !e.inUse() {
		page.Header.Chip = &web.Chip{Kind: web.Off, Text: q.T("directories.inactive")}
	}
	if e.is("isDefault") {
		page.Header.Chip = &web.Chip{Kind: web.Info, Text: q.T("directories.default")}
	}
	f, readErr := pages.fields(ctx, q, p, p.Update)
	if readErr != nil {
		return web.Answer{}, readErr
	}
	f.Value = e.raw
	if inForm {
		f.Typed, f.Err = typed(q.Form), err
	} else if known, ok := apierr.As(err); ok {
		page.Note = &web.Note{Kind: web.Bad, Title: q.T("directories.refused"), Text: q.Why(known)}
	}
	pages.formFor(q, p, e, f, &page)
	page.Header.Actions = actionsOf(q, p, e)
	if readErr = pages.more(ctx, q, p, e, &page); readErr != nil {
		return web.Answer{}, readErr
	}
	a := web.Show("directories/entry", e.title(), page)
	if err != nil {
		a = a.Refuse()
	}
	return a, nil
}

// formFor shows the entry as a form, or as facts to those who may not change it.
func (pages *Pages) formFor(q *web.Request, p place, e entry, f web.Fields, page *entryPage) {
	fields := p.fieldsOf(q, f)
	for _, name := range p.Fixed {
		page.Facts = append(page.Facts, web.Fact{Label: q.Label(name), Cell: e.cell(q, name, nil).With(q.T("directories.fixed"))})
	}
	if changes(q, p.Directory) {
		page.Form = &web.Form{Post: p.address(q, "/"+e.id()), Button: q.T("directories.save"), Fields: fields, Fault: q.FormFault(f.Err, fields)}
		if v := e.number("version"); v > 0 {
			page.Form.Hidden = map[string]string{"version": strconv.FormatInt(v, 10)}
		}
		return
	}
	for _, field := range fields {
		value := field.Value
		if len(field.Options) > 0 {
			var chosen []string
			for _, o := range field.Options {
				if o.Selected {
					chosen = append(chosen, o.Text)
				}
			}
			value = strings.Join(chosen, ", ")
		}
		page.Facts = append(page.Facts, web.Fact{Label: field.Label, Cell: web.Text(value)})
	}
}

// actionsOf are the buttons of an entry; what cannot be taken back asks first.
func actionsOf(q *web.Request, p place, e entry) (all []web.Action) {
	if !changes(q, p.Directory) {
		return nil
	}
	at := p.address(q, "/"+e.id())
	if p.Name == "warehouses" && !e.is("isDefault") {
		all = append(all, web.Action{ID: "default", Text: q.T("directories.make_default"), Post: at + "/default", Confirm: q.T("directories.make_default.confirm", e.title())})
	}
	switch {
	case p.Active && e.inUse():
		all = append(all, web.Action{
			ID: "inactive", Text: q.T("directories.deactivate"), Post: at + "/active", Confirm: q.T("directory."+p.Name+".deactivate", e.title()), Values: map[string]string{"active": "false"},
		})
	case p.Active:
		all = append(all, web.Action{Text: q.T("directories.activate"), Post: at + "/active", Values: map[string]string{"active": "true"}})
	}
	if p.Remove != "" {
		all = append(all, web.Action{ID: "delete", Text: q.T("directories.delete"), Post: at + "/delete", Kind: "danger", Confirm: q.T("directory."+p.Name+".delete", e.title())})
	}
	return all
}

// more adds what belongs to an entry.
func (pages *Pages) more(ctx context.Context, q *web.Request, p place, e entry, page *entryPage) (err error) {
	for _, part := range p.Parts {
		if part.Types != nil && !slices.Contains(part.Types, e.text("type")) {
			continue
		}
		of := place{Directory: part, of: &p.Directory, owner: e.id()}
		found, err := e.parts(part.Field)
		if err != nil {
			return err
		}
		t := partTable{Title: q.T("directory." + part.Name)}
		if t.Table, err = pages.tableOf(ctx, q, of, found); err != nil {
			return err
		}
		if changes(q, part) {
			t.New = &web.Link{Text: q.T("directory." + part.Name + ".new"), Href: of.address(q, "/new")}
		}
		page.Parts = append(page.Parts, t)
	}
	switch p.Name {
	case "resources":
		page.Week = weekOf(q, e)
	case "price-lists":
		page.Prices, err = pages.prices(ctx, q, e)
	}
	return err
}

func (pages *Pages) update(ctx context.Context, q *web.Request, p place) (web.Answer, error) {
	f, err := pages.fields(ctx, q, p, p.Update)
	if err != nil {
		return web.Answer{}, err
	}
	return pages.change(ctx, q, p, p.Update, "saved", p.bodyOf(q, f), true)
}

func (pages *Pages) setActive(ctx context.Context, q *web.Request, p place) (web.Answer, error) {
	return pages.change(ctx, q, p, p.Update, "saved", map[string]any{"isActive": q.Form.Get("active") == "true"}, false)
}

func (pages *Pages) makeDefault(ctx context.Context, q *web.Request) (web.Answer, error) {
	return pages.change(ctx, q, place{Directory: mustHave("warehouses")}, "makeWarehouseDefault", "saved", nil, false)
}

// change makes a change of the entry in the address, and shows it again.
func (pages *Pages) change(ctx context.Context, q *web.Request, p place, operation, done string, body any, inForm bool) (web.Answer, error) {
	_, err := web.CallAdmin[web.JSON](ctx, q, operation, web.Input{Path: p.path(p.id(q)), Body: body, Version: q.FormVersion()})
	if refused(err) {
		return pages.showWith(ctx, q, p, err, inForm)
	}
	return web.Go(web.With(p.address(q, "/"+p.id(q)), "done", done)), err
}

func (pages *Pages) remove(ctx context.Context, q *web.Request, p place) (web.Answer, error) {
	_, err := web.CallAdmin[httpapi.None](ctx, q, p.Remove, web.Input{Path: p.path(p.id(q))})
	if refused(err) {
		return pages.showWith(ctx, q, p, err, false)
	}
	return web.Go(web.With(p.back(q), "done", "deleted")), err
}

// order puts the entries in another order: as a whole, as dragging does, or one of them up or down.
func (pages *Pages) order(ctx context.Context, q *web.Request, p place) (web.Answer, error) {
	all, err := pages.all(ctx, q, p)
	if err != nil {
		return web.Answer{}, err
	}
	all = inOrder(p, all)
	to, moved, way := p.back(q), q.Form.Get("up"), "up"
	if down := q.Form.Get("down"); down != "" {
		moved, way = down, "down"
	}
	wanted := rearranged(all, strings.Split(q.Form.Get("order"), ","), moved, way == "down")
	var last int64
	for i, e := range wanted {
		if i > 0 && e.number("sortOrder") <= last || i == 0 && e.number("sortOrder") > int64(len(wanted)) {
			e.fields["sortOrder"] = float64(last + 1)
			if _, err := web.CallAdmin[web.JSON](ctx, q, p.Update, web.Input{Path: p.path(e.id()), Body: map[string]any{"sortOrder": last + 1}}); err != nil {
				return web.Answer{}, err
			}
		}
		last = e.number("sortOrder")
	}
	return web.Go(web.With(to, "moved", moved, "to", way)), nil
}

// all are the entries of a directory without pages, or of a part.
func (pages *Pages) all(ctx context.Context, q *web.Request, p place) ([]entry, error) {
	if p.of != nil {
		return pages.partsOf(ctx, q, p)
	}
	raw, err := web.CallAdmin[web.JSON](ctx, q, p.List, web.Input{Query: p.Query})
	if err != nil {
		return nil, err
	}
	found, err := pageOf(p.Directory, raw)
	return found.items, err
}

// rearranged is the new order. Entries that the order does not name, because they were made since, stay at the end.
func rearranged(all []entry, order []string, moved string, down bool) []entry {
	all = slices.Clone(all)
	if i := slices.IndexFunc(all, func(e entry) bool { return e.id() == moved }); i >= 0 {
		if j := i + 1; down && j < len(all) {
			all[i], all[j] = all[j], all[i]
		} else if j := i - 1; !down && j >= 0 {
			all[i], all[j] = all[j], all[i]
		}
		return all
	}
	place := func(e entry) int {
		if i := slices.Index(order, e.id()); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(all, func(x, y entry) int { return place(x) - place(y) })
	return all
}
