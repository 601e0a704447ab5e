package bookings

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/services/business/scheduling"
	"github.com/tradegrid/tradegrid/services/console/web"
)

type calendarPage struct {
	Header web.Header
	Live   string     // stream of changes
	Fault  string     // of a command
	Said   *web.Toast // what was done just now, where the frame of the page is not loaded again
	Bar    bar
	Picks  []web.Tab // resources
	Note   *web.Note
	Grid   *grid
	Week   *week
	Off    []string // days off of the day, where a phone shows one resource
	Agenda []entry
	Panel  *panel
	Move   *mover
	Empty  *web.Empty
	Next   *web.Link // further resources
	List   web.Link
}

// bar leads to other days and views.
type bar struct {
	Before, Today, After web.Link
	Views                []web.Tab
	Day                  web.Field
	Hidden               map[string]string // of the form with the day
	Action               string
}

// mover is the form by which a booking is moved in the grid; a script fills it.
type mover struct{ Hidden map[string]string }

func (pages *Pages) calendar(ctx context.Context, q *web.Request) (web.Answer, error) {
	p, err := pages.fill(ctx, q, stateOf(q), outcome{})
	if err != nil {
		return web.Answer{}, err
	}
	return web.Show("bookings/calendar", q.T("bookings.title"), p), nil
}

// outcome is what became of a change that the page follows.
type outcome struct {
	fault   string // above the calendar
	said    *web.Toast
	focus   *uuid.UUID // the booking that was changed
	refused string     // why it was not, beside it
	err     error      // of the form in the panel
}

// fill reads the page.
func (pages *Pages) fill(ctx context.Context, q *web.Request, s state, o outcome) (calendarPage, error) {
	p := calendarPage{Live: web.Renews(ctx, q.Path("/live/bookings"), pages.changes(q)), Fault: o.fault, Said: o.said}
	p.Header = web.Header{Title: web.Sentence(s.day.long(q))}
	first, days, step := s.day, 1, 1
	if s.view == viewWeek {
		first, days, step = s.day.monday(), 7, 7
		p.Header.Title = q.T("bookings.week", first.short(q), q.Date(first.add(6).utc(), "2 Jan 2006"))
	}
	p.navigate(q, s, step)
	sp := &span{}
	for i := range days {
		sp.days = append(sp.days, first.add(i))
	}
	if err := pages.read(ctx, q, s, sp); err != nil {
		return p, err
	}
	if len(sp.resources) == 0 {
		p.Empty = &web.Empty{Title: q.T("bookings.no_resources"), Text: q.T("bookings.no_resources.text")}
		return p, nil
	}
	p.Header.Facts = p.sentence(q, s, sp)
	p.choose(q, s, sp)
	if done := web.OneOf(q.Form.Get("done"), changesDone); done != "" && q.HTTP.Header.Get("HX-Request") != "" {
		p.Said = &web.Toast{Text: q.T("done." + done)}
	}
	p.draw(q, s, sp, o)
	var err error
	p.Panel, err = pages.panel(ctx, q, s, o.err)
	p.offer(q, s)
	return p, err
}

// offer leads to a new booking; beside a panel, which has the action of the page, quietly.
func (p *calendarPage) offer(q *web.Request, s state) {
	link := web.Link{Text: q.T("bookings.new"), Href: web.With(q.Path("/bookings/free"), "day", s.day.String())}
	switch {
	case !q.Allows(scope, true):
	case p.Panel != nil:
		p.Header.Links = []web.Link{link}
	default:
		p.Header.Main = &link
	}
}

// draw draws the grid, or where all resources have a week, a table.
func (p *calendarPage) draw(q *web.Request, s state, sp *span, o outcome) {
	if !sp.drawn(s) {
		p.Week = weekOf(q, s, sp)
		return
	}
	if q.Allows(scope, true) {
		p.Move = &mover{s.hidden()}
	}
	p.Grid = gridOf(q, s, sp, o)
	if s.view == viewWeek {
		return
	}
	for _, c := range p.Grid.Columns {
		if c.Off != "" {
			p.Off = append(p.Off, c.Name+": "+c.Off)
		}
	}
	p.Agenda = agenda(q, s, sp)
	p.List = web.Link{Text: q.T("bookings.list.day"), Href: listOf(q, s.day.start, s.day.end)}
}

// navigate links to the days before and after, and to the other views.
func (p *calendarPage) navigate(q *web.Request, s state, step int) {
	to := func(d day) string { return s.on(d).href(q) }
	p.Bar = bar{
		Before: web.Link{Text: q.T("bookings.previous"), Href: to(s.day.add(-step))}, Today: web.Link{Text: q.T("bookings.today"), Href: to(today(q))}, After: web.Link{Text: q.T("bookings.next"), Href: to(s.day.add(step))},
		Action: q.Path("/bookings"), Hidden: s.alone().hidden(), Day: web.Field{Name: "day", Label: q.T("bookings.day"), Type: "date", Value: s.day.String()},
	}
	delete(p.Bar.Hidden, "day")
	for _, view := range []string{viewDay, viewWeek} {
		other := s.alone()
		other.view = view
		p.Bar.Views = append(p.Bar.Views, web.Tab{Text: q.T("bookings.view." + view), Href: other.href(q), Current: view == s.view})
	}
	p.Bar.Views = append(p.Bar.Views, web.Tab{Text: q.T("bookings.list"), Href: q.Path("/bookings/list")})
}

// choose links to the resources.
func (p *calendarPage) choose(q *web.Request, s state, sp *span) {
	p.Picks = []web.Tab{{Text: q.T("bookings.all_resources"), Href: s.of(nil).href(q), Current: s.resource == nil}}
	for _, res := range sp.all {
		p.Picks = append(p.Picks, web.Tab{Text: res.Name, Href: s.of(&res.ID).href(q), Current: s.resource != nil && *s.resource == res.ID})
	}
	if sp.more {
		further := s.alone()
		further.page++
		p.Next = &web.Link{Text: q.T("bookings.more_resources"), Href: further.href(q)}
	}
}

// listOf is the list of the bookings that begin within a time.
func listOf(q *web.Request, start, end time.Time) string {
	return web.With(q.Path("/bookings/list"), "dateFrom", web.Instant(start), "dateTo", web.Instant(end.Add(-time.Millisecond)), "sort", "startAt")
}

// sentence is the case: how many bookings, what is to do, and what is free next.
func (p *calendarPage) sentence(q *web.Request, s state, sp *span) string {
	total, pending := 0, 0
	for _, b := range sp.bookings {
		if b.EndAt.Std().After(sp.start()) {
			total++
			if b.Status == "pending" {
				pending++
			}
		}
	}
	if sp.cut {
		p.Note = &web.Note{Kind: web.Warn, Text: q.T("bookings.cut", pageOf*maxPages)}
	}
	var said []string
	switch {
	case total == 0 && s.view == viewWeek:
		said = append(said, q.T("bookings.none_week"))
	case total == 0:
		said = append(said, q.T("bookings.none_day"))
	case pending > 0:
		said = append(said, q.T("bookings.some_pending", total, pending))
	default:
		said = append(said, q.T("bookings.some", total))
	}
	if next := sp.freeNext(q, s); len(next) > 0 {
		said = append(said, q.T("bookings.free_next", strings.Join(next, ", ")))
	}
	return strings.Join(said, " ")
}

// freeNext names the next free time of the first resources that have one on the day.
func (sp *span) freeNext(q *web.Request, s state) (all []string) {
	if s.view != viewDay {
		return nil
	}
	for _, res := range sp.resources {
		if free := sp.free[res.ID]; len(free) > 0 && len(all) < 2 {
			all = append(all, q.T("bookings.free_with", sp.days[0].clock(free[0].StartAt.Std()), res.Name))
		}
	}
	return all
}

// changes tell when the calendar has something new.
func (pages *Pages) changes(q *web.Request) web.ChangeSource {
	company := q.Caller.Company
	return web.ChangeSource{Key: "bookings " + company.String(), Token: func(ctx context.Context) (string, error) { return pages.Bookings.ChangeToken(ctx, company) }}
}

func (pages *Pages) watch(_ context.Context, q *web.Request) (web.ChangeSource, error) {
	return pages.changes(q), nil
}

// one reads the booking that the address names.
func (pages *Pages) one(ctx context.Context, q *web.Request) (scheduling.Booking, error) {
	id, err := q.PathID("id")
	if err != nil {
		return scheduling.Booking{}, err
	}
	return web.Call[scheduling.Booking](ctx, q, "getBooking", web.ByID(id))
}
