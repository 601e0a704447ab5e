// Package home is the first page of a company: what somebody has to do, the day in figures, and the latest.
package home

import (
	"context"
	"embed"
	"time"

	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/console/web"
)

//go:embed *.html
var files embed.FS

// Activity says in words what was changed last.
type Activity interface {
	Latest(ctx context.Context, q *web.Request, n int) ([]web.Told, error)
}

// Pages are the pages of the area.
type Pages struct{ Activity Activity }

// Folder implements [web.Pages].
func (pages *Pages) Folder() web.Folder {
	return web.Folder{Name: "home", Templates: files, Routes: []web.Page{web.Get(web.Home, "", "", pages.show)}}
}

// page has no part that the person may not see, and none that has nothing to show in a company that has just begun.
type page struct {
	Header   web.Header
	Note     *web.Note
	Todo     []task
	Begin    []task // what a company that has nothing yet can begin with
	Figures  []web.Figure
	Hours    *web.Course
	Methods  *methods
	Latest   *listing
	Bookings *agenda
	Reorder  *listing
	Activity *activity
}

// activity is what people have changed last.
type activity struct {
	All  web.Link
	Told []web.Told
}

// listing is the beginning of a list.
type listing struct {
	All   web.Link
	Table web.Table
}

func (pages *Pages) show(ctx context.Context, q *web.Request) (web.Answer, error) {
	d, err := pages.read(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	p := page{Header: web.Header{Title: web.Sentence(q.Date(q.Now.In(q.Zone), "Monday, 2 January"))}, Todo: d.tasks(q)}
	if d.late.Load() {
		p.Note = &web.Note{Kind: web.Info, Text: q.T("home.adding")}
	}
	if d.isEmpty() {
		p.Begin = begin(q)
		p.Header.Lead = &web.Note{Title: q.T("home.begin", q.Company.Name), Text: q.T("home.begin.text")}
	} else {
		sold := d.sold()
		p.Header.Lead = &web.Note{Title: sold.sentence(q), Text: needs(q, len(p.Todo))}
		p.Figures, p.Hours, p.Methods = d.figures(q), sold.course(q), d.methods(q)
		p.Latest, p.Bookings, p.Reorder = d.latestOrders(q), d.agenda(q), d.toReorder(q)
		if len(d.told) > 0 {
			p.Activity = &activity{web.Link{Text: q.T("home.activity.all"), Href: q.Path("/audit")}, d.told}
		}
	}
	actions(q, &p.Header)
	return web.Show("home/home", q.T("area.home"), p), nil
}

// actions are what people come here for.
func actions(q *web.Request, h *web.Header) {
	if q.Sees(web.Bookings) && q.MayCall("createBooking") {
		h.Links = append(h.Links, web.Link{Text: q.T("bookings.new"), Href: q.Path("/bookings/free")})
	}
	if q.Sees(web.Sales) && q.MayCall("openShift") {
		h.Links = append(h.Links, web.Link{Text: q.T("shifts.open"), Href: q.Path("/shifts/open")})
	}
	if q.Sees(web.Orders) && q.MayCall("createOrder") {
		h.Main = &web.Link{Text: q.T("home.new_order"), Href: q.Path("/orders/new")}
	}
}

// needs says how much there is to do.
func needs(q *web.Request, n int) string {
	switch n {
	case 0:
		return q.T("home.needs.nothing")
	case 1:
		return q.T("home.needs.one")
	}
	return q.T("home.needs", n)
}

// isEmpty reports whether a company has sold, booked and stocked nothing yet, as far as the person sees.
func (d *day) isEmpty() bool {
	if d.late.Load() || d.sales != nil && len(d.sales.Rows) > 0 || d.payments != nil && len(d.payments.Rows) > 0 {
		return false
	}
	return total(d.latest) == 0 && total(d.today) == 0 && total(d.pending) == 0 && total(d.stock) == 0 && total(d.shifts) == 0
}

// begin is what somebody does first.
func begin(q *web.Request) (all []task) {
	add := func(area web.Area, operation, name, icon, path string) {
		if q.Sees(area) && q.MayCall(operation) {
			all = append(all, task{Icon: icon, Kind: web.Info, Title: q.T("home.begin." + name), Text: q.T("home.begin." + name + ".text"), Link: &web.Link{Text: q.T("home.begin." + name + ".do"), Href: q.Path(path)}})
		}
	}
	add(web.Catalog, "createProduct", "products", "catalog", "/products/import")
	add(web.Orders, "createOrder", "order", "orders", "/orders/new")
	add(web.Sales, "openShift", "shift", "till", "/shifts/open")
	if q.Sees(web.People) {
		all = append(all, task{Icon: "clients", Kind: web.Info, Title: q.T("home.begin.people"), Text: q.T("home.begin.people.text"), Link: &web.Link{Text: q.T("home.begin.people.do"), Href: q.Path("/people/invite")}})
	}
	return all
}

// today is the local day of the company, and its first and last instant.
func today(q *web.Request) (date string, from, to time.Time) {
	now := q.Now.In(q.Zone)
	from = time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, q.Zone)
	to = time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, q.Zone).Add(-time.Millisecond)
	return now.Format(time.DateOnly), from, to
}

// weekAgo is the same weekday of last week.
func weekAgo(q *web.Request) string { return q.Now.In(q.Zone).AddDate(0, 0, -7).Format(time.DateOnly) }

// weekday is what the day is called.
func weekday(q *web.Request) string { return q.Date(q.Now.In(q.Zone), "Monday") }

func orZero(n *int64) int64 { return record.OrZero(n) }
