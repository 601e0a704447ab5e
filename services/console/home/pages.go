// Package home is the first page of a company: its day in figures, and what needs attention.
package home

import (
	"context"
	"embed"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tradegrid/tradegrid/services/console/web"
)

//go:embed *.html
var files embed.FS

// Pages are the pages of the area.
type Pages struct{}

// Folder implements [web.Pages].
func (pages *Pages) Folder() web.Folder {
	return web.Folder{Name: "home", Templates: files, Routes: []web.Page{web.Get(web.Home, "", "", pages.show)}}
}

type page struct {
	Header  web.Header
	Note    web.Note
	Figures []web.Figure
	Trouble web.Table
}

// finding is what one of the reads finds.
type finding struct {
	figures []web.Figure
	trouble [][]web.Cell
	said    string // a part of the sentence; "" = nothing
}

// atOnce is how many reads run at the same time.
const atOnce = 4

func (pages *Pages) show(ctx context.Context, q *web.Request) (web.Answer, error) {
	reads := []func(context.Context, *web.Request) (finding, error){pages.sales, pages.orders, pages.bookings, pages.stock, pages.shifts, pages.receivers, pages.tokens}
	findings := make([]finding, len(reads))
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, read := range reads {
		group.Go(func() (err error) {
			findings[i], err = read(within, q)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return web.Answer{}, err
	}
	p := page{
		Header:  web.Header{Title: q.T("home.title", q.Company.Name), Facts: q.Date(q.Now.In(q.Zone), "Monday, 2 January 2006")},
		Trouble: web.Table{Label: q.T("home.trouble"), Columns: []web.Column{{Text: q.T("home.what")}, {Text: q.T("people.status")}, {Text: q.T("home.next")}}},
	}
	var said []string
	for _, one := range findings {
		p.Figures = append(p.Figures, one.figures...)
		p.Trouble.Rows = append(p.Trouble.Rows, one.trouble...)
		if one.said != "" {
			said = append(said, one.said)
		}
	}
	p.Note = sentence(q, said, len(p.Trouble.Rows))
	if q.Sees(web.Bookings) && q.MayCall("createBooking") {
		p.Header.Links = append(p.Header.Links, web.Link{Text: q.T("bookings.new"), Href: q.Path("/bookings/free")})
	}
	if q.Sees(web.Sales) && q.MayCall("openShift") {
		p.Header.Links = append(p.Header.Links, web.Link{Text: q.T("shifts.open"), Href: q.Path("/shifts/open")})
	}
	return web.Show("home/home", q.T("area.home"), p), nil
}

// sentence says how the day is, and whether something needs attention.
func sentence(q *web.Request, said []string, trouble int) web.Note {
	n := web.Note{Kind: web.Good, Text: q.T("home.nothing")}
	if trouble > 0 {
		n = web.Note{Kind: web.Warn, Text: q.T("home.some", trouble)}
	}
	switch len(said) {
	case 0:
	case 1:
		n.Title = q.T("home.so_far", said[0])
	case 2:
		n.Title = q.T("home.so_far.two", said[0], said[1])
	default:
		n.Title = q.T("home.so_far.three", said[0], said[1], said[2])
	}
	return n
}

// today is the local day of the company, and its first and last instant.
func today(q *web.Request) (date string, from, to time.Time) {
	now := q.Now.In(q.Zone)
	from = time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, q.Zone)
	to = time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, q.Zone).Add(-time.Millisecond)
	return now.Format(time.DateOnly), from, to
}
