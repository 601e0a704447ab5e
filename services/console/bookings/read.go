package bookings

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
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

// span is what a calendar shows: days of resources, and what takes their time.
type span struct {
	days      []day
	all       []scheduling.Resource // to choose from
	resources []scheduling.Schedule // that are shown
	more      bool                  // there are further resources
	bookings  []scheduling.Booking
	cut       bool // there are further bookings
	holds     []scheduling.Hold
	free      map[uuid.UUID][]scheduling.Slot // times that can be booked now
}

func (sp *span) start() time.Time { return sp.days[0].start }
func (sp *span) end() time.Time   { return sp.days[len(sp.days)-1].end }

// read reads the resources and what takes their time, at once, and then what is free.
func (pages *Pages) read(ctx context.Context, q *web.Request, s state, sp *span) error {
	group, within := errgroup.WithContext(ctx)
	var exceptions []scheduling.Exception
	var resources []scheduling.Resource
	group.Go(func() (err error) {
		resources, err = sp.readResources(within, q, s)
		return err
	})
	group.Go(func() (err error) {
		exceptions, err = sp.readExceptions(within, q, s)
		return err
	})
	group.Go(func() error { return sp.readBookings(within, q, s) })
	if sp.end().After(q.Now) {
		group.Go(func() error { return sp.readHolds(within, q, s) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, res := range resources {
		sp.resources = append(sp.resources, res.Schedule(exceptions))
	}
	if !sp.drawn(s) || !q.Allows(scope, true) || !sp.end().After(q.Now) || len(resources) == 0 {
		return nil
	}
	return sp.readFree(ctx, q)
}

// drawn reports whether the span is shown as hours: a day, or a week of one resource.
func (sp *span) drawn(s state) bool { return s.view == viewDay || s.resource != nil }

// readExceptions reads the days off and other hours of the days, and of those before and after, as the zones of resources have others.
func (sp *span) readExceptions(ctx context.Context, q *web.Request, s state) (all []scheduling.Exception, err error) {
	from, to := jsontype.Date(sp.days[0].add(-1).utc()), jsontype.Date(sp.days[len(sp.days)-1].add(1).utc())
	f := scheduling.ExceptionFilter{Params: list.Params{PageSize: pageOf}, DateFrom: &from, DateTo: &to, ResourceID: s.resource}
	for range maxPages {
		page, err := web.List[scheduling.Exception](ctx, q, "listScheduleExceptions", f)
		if err != nil {
			return nil, err
		}
		if all = append(all, page.Items...); page.NextCursor == nil {
			break
		}
		f.Cursor = *page.NextCursor
	}
	return all, nil
}

// readResources reads those to choose from, and returns those to show.
func (sp *span) readResources(ctx context.Context, q *web.Request, s state) ([]scheduling.Resource, error) {
	found, err := web.List[scheduling.Resource](ctx, q, "listResources", scheduling.ResourceFilter{Params: list.Params{Page: s.page, PageSize: maxResources}, Sort: "name", ActiveOnly: true})
	if err != nil {
		return nil, err
	}
	sp.all, sp.more = found.Items, found.HasMore
	slices.SortStableFunc(sp.all, func(a, b scheduling.Resource) int { return int(a.SortOrder) - int(b.SortOrder) })
	if s.resource == nil {
		return sp.all, nil
	}
	if i := slices.IndexFunc(sp.all, func(r scheduling.Resource) bool { return r.ID == *s.resource }); i >= 0 {
		return sp.all[i : i+1], nil
	}
	one, err := web.Call[scheduling.Resource](ctx, q, "getResource", web.ByID(*s.resource))
	if err != nil {
		return nil, err
	}
	sp.all = append(sp.all, one)
	return []scheduling.Resource{one}, nil
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

// readHolds reads the holds: a page of them, as each lasts an hour at most.
func (sp *span) readHolds(ctx context.Context, q *web.Request, s state) error {
	page, err := web.List[scheduling.Hold](ctx, q, "listHolds", scheduling.HoldFilter{Params: list.Params{PageSize: pageOf}, Sort: "startAt", ResourceID: s.resource})
	if err != nil {
		return err
	}
	sp.holds = page.Items
	return nil
}

// readFree reads what can be booked of the resources that are shown. What is too much for one search is not offered.
func (sp *span) readFree(ctx context.Context, q *web.Request) error {
	first := sp.days[0]
	if now := today(q); now.start.After(first.start) {
		first = now
	}
	in := scheduling.Search{DateFrom: jsontype.Date(first.utc()), DateTo: jsontype.Date(sp.days[len(sp.days)-1].utc()), FreeOnly: true}
	for _, res := range sp.resources {
		in.ResourceIDs = append(in.ResourceIDs, res.ID)
	}
	found, err := web.Call[scheduling.Availability](ctx, q, "searchAvailability", web.Input{Query: web.Query(in)})
	if web.Refused(err) {
		return nil
	}
	if err != nil {
		return err
	}
	sp.free = map[uuid.UUID][]scheduling.Slot{}
	for _, of := range found.Resources {
		for _, d := range of.Days {
			sp.free[of.ResourceID] = append(sp.free[of.ResourceID], d.Slots...)
		}
	}
	return nil
}

// of are the bookings of a resource that take time of a day.
func (sp *span) of(resource uuid.UUID, d day) (all []scheduling.Booking) {
	for _, b := range sp.bookings {
		if b.ResourceID == resource && b.EndAt.Std().After(d.start) && b.StartAt.Std().Before(d.end) {
			all = append(all, b)
		}
	}
	return all
}
