package bookings

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/business/scheduling"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// Bounds of a calendar.
const (
	maxResources = 20
	pageOf       = 200 // bookings
	maxPages     = 5   // of bookings; a calendar with more says so
	maxLanes     = 4   // bookings of a resource beside each other
	maxInCell    = 6   // bookings of a resource and day in a week
)

// longest is how long a booking can last: one that began earlier is over.
const longest = 24 * time.Hour

// shown are the statuses of bookings in a calendar: all but cancelled ones.
var shown = []string{"pending", "confirmed", "completed", "no_show"}

type calendarPage struct {
	Header web.Header
	Note   web.Note
	Fault  string // of a command
	Tabs   []web.Tab
	Nav    []web.Link
	Filter web.Filter
	Grid   *grid // of a day
	Week   *week
	Agenda []entry
	Empty  *web.Empty
	Next   *web.Link // further resources
	List   web.Link
}

// span is what a calendar shows: days of resources, and their bookings.
type span struct {
	days      []day
	resources []scheduling.Resource
	more      bool // there are further resources
	bookings  []scheduling.Booking
	cut       bool // there are further bookings
}

func (sp span) start() time.Time { return sp.days[0].start }
func (sp span) end() time.Time   { return sp.days[len(sp.days)-1].end }

const (
	viewDay  = "day"
	viewWeek = "week"
)

// state is what the address says.
type state struct {
	view     string
	day      day
	resource *uuid.UUID
	page     int
}

func stateOf(q *web.Request) state {
	s := state{view: viewDay, day: dayParam(q, "day"), page: 1}
	if q.Form.Get("view") == viewWeek {
		s.view = viewWeek
	}
	if id, err := uuid.Parse(q.Form.Get("resource")); err == nil {
		s.resource = &id
	}
	if n, err := strconv.Atoi(q.Form.Get("page")); err == nil && n > 1 && n < 1000 {
		s.page = n
	}
	return s
}

// href is the address of a calendar.
func (s state) href(q *web.Request) string {
	resource, page, view := "", "", ""
	if s.resource != nil {
		resource = s.resource.String()
	}
	if s.page > 1 {
		page = strconv.Itoa(s.page)
	}
	if s.view != viewDay {
		view = s.view
	}
	return web.With(q.Path("/bookings"), "view", view, "day", s.day.String(), "resource", resource, "page", page)
}

func (pages *Pages) calendar(ctx context.Context, q *web.Request) (web.Answer, error) {
	p, err := pages.fill(ctx, q, stateOf(q))
	if err != nil {
		return web.Answer{}, err
	}
	return web.Show("bookings/calendar", q.T("bookings.title"), p), nil
}

func (pages *Pages) fill(ctx context.Context, q *web.Request, s state) (calendarPage, error) {
	p := calendarPage{}
	p.Header = web.Header{Title: s.day.long(q), Links: []web.Link{{Text: q.T("bookings.list"), Href: q.Path("/bookings/list")}}}
	if q.Allows(scope, true) {
		p.Header.Links = append(p.Header.Links, web.Link{Text: q.T("bookings.new"), Href: web.With(q.Path("/bookings/free"), "day", s.day.String())})
	}
	first, days, step := s.day, 1, 1
	if s.view == viewWeek {
		first, days, step = s.day.monday(), 7, 7
		p.Header.Title = q.T("bookings.week", first.short(q), q.Date(first.add(6).utc(), "2 Jan 2006"))
	}
	p.navigate(q, s, step)
	sp := span{}
	for i := range days {
		sp.days = append(sp.days, first.add(i))
	}
	if err := pages.read(ctx, q, s, &sp); err != nil {
		return p, err
	}
	p.filter(q, s, sp)
	if len(sp.resources) == 0 {
		p.Empty = &web.Empty{Title: q.T("bookings.no_resources"), Text: q.T("bookings.no_resources.text")}
		return p, nil
	}
	p.say(q, s, sp)
	if s.view == viewWeek {
		p.Week = weekOf(q, s, sp)
		return p, nil
	}
	p.Grid = gridOf(q, sp)
	p.Agenda = agenda(q, sp, s)
	return p, nil
}

// navigate links to the days before and after.
func (p *calendarPage) navigate(q *web.Request, s state, step int) {
	to := func(d day) string {
		s.day = d
		return s.href(q)
	}
	p.Nav = []web.Link{
		{Text: q.T("bookings.previous"), Href: to(s.day.add(-step))}, {Text: q.T("bookings.today"), Href: to(today(q))}, {Text: q.T("bookings.next"), Href: to(s.day.add(step))},
	}
	for _, view := range []string{viewDay, viewWeek} {
		other := s
		other.view = view
		p.Tabs = append(p.Tabs, web.Tab{Text: q.T("bookings.view." + view), Href: other.href(q), Current: view == s.view})
	}
	p.List = web.Link{Text: q.T("bookings.list.day"), Href: listOf(q, s.day.start, s.day.end)}
}

// listOf is the list of the bookings that begin within a time.
func listOf(q *web.Request, start, end time.Time) string {
	return web.With(q.Path("/bookings/list"), "dateFrom", web.Instant(start), "dateTo", web.Instant(end.Add(-time.Millisecond)), "sort", "startAt")
}

// filter is the form with the day and the resource.
func (p *calendarPage) filter(q *web.Request, s state, sp span) {
	options := []web.Option{{Value: "", Text: q.T("bookings.all_resources")}}
	for _, res := range sp.resources {
		options = append(options, web.Option{Value: res.ID.String(), Text: res.Name, Selected: s.resource != nil && *s.resource == res.ID})
	}
	view := []web.Option{{Value: viewDay, Text: q.T("bookings.view.day"), Selected: s.view == viewDay}, {Value: viewWeek, Text: q.T("bookings.view.week"), Selected: s.view == viewWeek}}
	p.Filter = web.Filter{Action: q.Path("/bookings"), Button: q.T("filter.apply"), Fields: []web.Field{
		{Name: "day", Label: q.T("bookings.day"), Type: "date", Value: s.day.String()},
		{Name: "resource", Label: q.T("bookings.resource"), Type: "select", Options: options},
		{Name: "view", Label: q.T("bookings.view"), Type: "select", Options: view},
	}}
	if s.resource != nil {
		all := s
		all.resource = nil
		p.Filter.Clear = all.href(q)
	}
	if sp.more {
		further := s
		further.page++
		p.Next = &web.Link{Text: q.T("bookings.more_resources"), Href: further.href(q)}
	}
}

// say is the case in a sentence.
func (p *calendarPage) say(q *web.Request, s state, sp span) {
	total, pending := 0, 0
	for _, b := range sp.bookings {
		if b.EndAt.Std().After(sp.start()) {
			total++
			if b.Status == "pending" {
				pending++
			}
		}
	}
	switch {
	case sp.cut:
		p.Note = web.Note{Kind: web.Warn, Text: q.T("bookings.cut", pageOf*maxPages)}
	case total == 0 && s.view == viewWeek:
		p.Note = web.Note{Kind: web.Info, Text: q.T("bookings.none_week")}
	case total == 0:
		p.Note = web.Note{Kind: web.Info, Text: q.T("bookings.none_day")}
	case pending > 0:
		p.Note = web.Note{Kind: web.Warn, Text: q.T("bookings.some_pending", total, pending)}
	default:
		p.Note = web.Note{Kind: web.Good, Text: q.T("bookings.some", total)}
	}
}

// read reads the resources and the bookings of a span, at once.
func (pages *Pages) read(ctx context.Context, q *web.Request, s state, sp *span) error {
	group, within := errgroup.WithContext(ctx)
	group.Go(func() error { return sp.readResources(within, q, s) })
	group.Go(func() error { return sp.readBookings(within, q, s) })
	return group.Wait()
}

func (sp *span) readResources(ctx context.Context, q *web.Request, s state) error {
	if s.resource != nil {
		one, err := web.Call[scheduling.Resource](ctx, q, "getResource", web.ByID(*s.resource))
		sp.resources = []scheduling.Resource{one}
		return err
	}
	found, err := web.List[scheduling.Resource](ctx, q, "listResources", scheduling.ResourceFilter{Params: list.Params{Page: s.page, PageSize: maxResources}, Sort: "name", ActiveOnly: true})
	if err != nil {
		return err
	}
	sp.resources, sp.more = found.Items, found.HasMore
	slices.SortStableFunc(sp.resources, func(a, b scheduling.Resource) int { return int(a.SortOrder) - int(b.SortOrder) })
	return nil
}

func (sp *span) readBookings(ctx context.Context, q *web.Request, s state) error {
	from, to := list.From(sp.start().Add(-longest)), list.To(sp.end().Add(-time.Millisecond))
	f := scheduling.BookingFilter{Params: list.Params{PageSize: pageOf}, Sort: "startAt", Status: shown, DateFrom: &from, DateTo: &to, ResourceID: s.resource}
	for range maxPages {
		page, err := web.List[scheduling.Booking](ctx, q, "listBookings", f)
		if err != nil {
			return err
		}
		sp.bookings = append(sp.bookings, page.Items...)
		if page.NextCursor == nil {
			return nil
		}
		f.Cursor = *page.NextCursor
	}
	sp.cut = true
	return nil
}
