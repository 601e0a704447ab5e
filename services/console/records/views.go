package records

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/accounts"
)

// saveForm saves the list as it is shown under a name.
type saveForm struct {
	Post, List, Query string
	Share             bool // the person may share it
}

// viewTab is a view of a list: all of it, one that most shops need, or one that was saved.
type viewTab struct {
	web.Tab

	ID string // of the element with how many records it has; "" = they are not counted
}

// counts say where the numbers of records of views are read, and into which elements they go.
type counts struct{ From, Into string }

// maxCounted is how many views are counted.
const maxCounted = 8

// views puts the views of the list on its page, and the form that saves one.
func (pages *Pages) views(ctx context.Context, q *web.Request, in listQuery, p *listPage) error {
	all, err := pages.viewsOf(ctx, q, in.res)
	if err != nil {
		return err
	}
	now := in.tight(false).with("cursor", "").values().Encode()
	known := false
	var into []string
	for i, v := range all {
		tab := viewTab{Tab: web.Tab{Text: v.name, Href: v.in.address(q), Current: !known && v.in.tight(false).values().Encode() == now}}
		if i < maxCounted && !in.res.Whole {
			tab.ID = "n-" + strconv.Itoa(i)
			into = append(into, "#"+tab.ID)
		}
		known = known || tab.Current
		p.Views = append(p.Views, tab)
	}
	if len(all) == 1 {
		p.Views = nil
	} else if len(into) > 0 {
		p.Counts = &counts{From: q.Path(in.res.Address + "/counts"), Into: strings.Join(into, ",")}
	}
	if _, ok := owner(q); ok && !known {
		p.Save = &saveForm{Post: q.Path("/views"), List: in.res.Name, Query: in.with("cursor", "").values().Encode(), Share: q.Allows(in.res.Scope, true)}
	}
	return nil
}

// view is a list under a name.
type view struct {
	name string
	in   listQuery
}

// viewsOf are the views of a list: all of it, those that most shops need, and those that were saved.
func (pages *Pages) viewsOf(ctx context.Context, q *web.Request, res resources.Resource) ([]view, error) {
	all := []view{{q.T("records.view.all"), parseListQuery(q, res, nil)}}
	for _, v := range res.Views {
		all = append(all, view{q.T("resource." + res.Name + ".view." + v.Name), parseListQuery(q, res, parse(v.Query))})
	}
	o, ok := owner(q)
	if !ok {
		return all, nil
	}
	saved, err := pages.Views.Views(ctx, o, res.Name)
	for _, v := range saved {
		all = append(all, view{v.Name, parseListQuery(q, res, parse(v.Query))})
	}
	return all, err
}

type countsPage struct {
	Header web.Header
	Counts []countOfView
}

// countOfView is how many records a view has; Text is empty if that takes too long to know.
type countOfView struct{ ID, Name, Text string }

// counts says how many records each view of a list has. It calls the operation of the list once for each, up to a number of them.
func (pages *Pages) counts(res resources.Resource) web.Handler {
	return func(ctx context.Context, q *web.Request) (web.Answer, error) {
		all, err := pages.viewsOf(ctx, q, res)
		if err != nil {
			return web.Answer{}, err
		}
		p := countsPage{Header: web.Header{Title: res.Heading(q), Crumbs: []web.Link{{Text: res.Heading(q), Href: q.Path(res.Address)}}}}
		for i, v := range all[:min(len(all), maxCounted)] {
			query := v.in.with("cursor", "").with("pageSize", "1").forAPI(q)
			found, err := pages.read(ctx, q, res, query)
			if known, ok := apierr.As(err); err != nil && (!ok || known.Status == http.StatusTooManyRequests) {
				return web.Answer{}, err
			}
			c := countOfView{ID: "n-" + strconv.Itoa(i), Name: v.name}
			if found.Total != nil {
				c.Text = q.Count(*found.Total)
			}
			p.Counts = append(p.Counts, c)
		}
		return web.Show("records/counts", p.Header.Title, p), nil
	}
}

type viewsPage struct {
	Header web.Header
	Views  []viewForm
	Empty  web.Table
	Fault  string
}

// viewForm renames a view, or shares it.
type viewForm struct {
	ID, Name, List, Href string
	Post                 string
	Shared, Share        bool
	Delete               web.Action
}

// ownViews lists the views of the person.
func (pages *Pages) ownViews(ctx context.Context, q *web.Request) (web.Answer, error) {
	return pages.viewsWith(ctx, q, nil)
}

func (pages *Pages) viewsWith(ctx context.Context, q *web.Request, refusal error) (web.Answer, error) {
	o, ok := owner(q)
	if !ok {
		return web.Answer{}, web.Refusal(http.StatusForbidden, "error.role")
	}
	all, err := pages.Views.OwnViews(ctx, o)
	if err != nil {
		return web.Answer{}, err
	}
	p := viewsPage{Header: web.Header{Title: q.T("records.views"), Facts: q.T("records.views.intro")}, Empty: web.Table{Empty: web.Empty{Title: q.T("records.views.none"), Text: q.T("records.views.none.text")}}}
	for _, v := range all {
		i := indexOf(pages.resources, v.List)
		if i < 0 {
			continue // a list that this release does not have
		}
		res := pages.resources[i]
		p.Views = append(p.Views, viewForm{
			ID: v.ID.String(), Name: v.Name, List: res.Heading(q), Href: parseListQuery(q, res, parse(v.Query)).address(q), Post: q.Path("/views/change"), Shared: v.Shared, Share: q.Allows(res.Scope, true),
			Delete: web.Action{ID: "delete-" + v.ID.String(), Text: q.T("records.view.delete"), Post: q.Path("/views/delete"), Kind: "danger", Small: true, Values: map[string]string{"id": v.ID.String()}, Confirm: q.T("records.view.delete.confirm", v.Name)},
		})
	}
	answer := web.Show("records/views", p.Header.Title, p)
	if known, ok := apierr.As(refusal); ok {
		p.Fault = textOf(q, known)
		answer = web.Show("records/views", p.Header.Title, p).Refuse()
	}
	return answer, nil
}

// saveView keeps the list as it was shown.
func (pages *Pages) saveView(ctx context.Context, q *web.Request) (web.Answer, error) {
	o, ok := owner(q)
	if !ok {
		return web.Answer{}, web.Refusal(http.StatusForbidden, "error.role")
	}
	i := indexOf(pages.resources, q.Form.Get("list"))
	if i < 0 {
		return web.Answer{}, web.Refusal(http.StatusBadRequest, "error.form")
	}
	res := pages.resources[i]
	in := parseListQuery(q, res, parse(q.Form.Get("query"))).with("cursor", "")
	shared := q.Form.Get("shared") == "true"
	if shared && !q.Allows(res.Scope, true) {
		return web.Answer{}, web.Refusal(http.StatusForbidden, "error.role")
	}
	err := q.Change(ctx, "saveView", func(ctx context.Context, tx *db.Tx) (web.Changed, error) {
		v, err := pages.Views.SaveView(ctx, tx, o, accounts.ViewInput{List: res.Name, Query: in.values().Encode(), Name: q.Form.Get("name"), Shared: shared})
		return web.Changed{Entity: v.ID.String(), After: v}, err
	})
	if apierr.Is(err, "VALIDATION_ERROR") {
		return pages.viewsWith(ctx, q, err)
	}
	return web.Go(in.done(q, "records_view")), err
}

// changeView renames a view, and shares it or not.
func (pages *Pages) changeView(ctx context.Context, q *web.Request) (web.Answer, error) {
	return pages.onView(ctx, q, "changeView", "records_view", func(ctx context.Context, tx *db.Tx, o accounts.Owner, id uuid.UUID) (web.Changed, error) {
		before, after, err := pages.Views.ChangeView(ctx, tx, o, id, q.Form.Get("name"), q.Form.Get("shared") == "true")
		if i := indexOf(pages.resources, before.List); err == nil && after.Shared && !before.Shared && (i < 0 || !q.Allows(pages.resources[i].Scope, true)) {
			err = web.Refusal(http.StatusForbidden, "error.role")
		}
		return web.Changed{Entity: id.String(), Before: before, After: after}, err
	})
}

// deleteView deletes a view.
func (pages *Pages) deleteView(ctx context.Context, q *web.Request) (web.Answer, error) {
	return pages.onView(ctx, q, "deleteView", "records_view_deleted", func(ctx context.Context, tx *db.Tx, o accounts.Owner, id uuid.UUID) (web.Changed, error) {
		before, err := pages.Views.DeleteView(ctx, tx, o, id)
		return web.Changed{Entity: id.String(), Before: before}, err
	})
}

func (pages *Pages) onView(
	ctx context.Context, q *web.Request, operation, done string, do func(ctx context.Context, tx *db.Tx, o accounts.Owner, id uuid.UUID) (web.Changed, error),
) (web.Answer, error) {
	o, ok := owner(q)
	if !ok {
		return web.Answer{}, web.Refusal(http.StatusForbidden, "error.role")
	}
	id, err := uuid.Parse(q.Form.Get("id"))
	if err != nil {
		return web.Answer{}, web.Refusal(http.StatusBadRequest, "error.form")
	}
	err = q.Change(ctx, operation, func(ctx context.Context, tx *db.Tx) (web.Changed, error) { return do(ctx, tx, o, id) })
	switch {
	case errors.Is(err, accounts.ErrView):
		return web.Answer{}, web.NoPage()
	case apierr.Is(err, "VALIDATION_ERROR"):
		return pages.viewsWith(ctx, q, err)
	}
	return web.Go(web.With(q.Path("/views"), "done", done)), err
}
