package bookings

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/business/scheduling"
	"github.com/tradegrid/tradegrid/services/business/servicecatalog"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// Bounds of a search of free slots.
const (
	searchDays  = 7
	maxServices = 200
	maxSlots    = 60 // of a resource and day
	maxChoices  = 50 // resources
)

type freePage struct {
	Header web.Header
	Note   web.Note
	Fault  string
	Filter web.Filter
	Nav    []web.Link
	Days   []freeDay
	// Of a booking that is moved, its slots are buttons of a form.
	Post    string
	Version int64
}

type freeDay struct {
	Title     string
	Resources []freeResource
}

type freeResource struct {
	Name  string
	Slots []slot
}

type slot struct {
	Text, Href, Value string
}

// free searches free slots for a new booking.
func (pages *Pages) free(ctx context.Context, q *web.Request) (web.Answer, error) {
	s := stateOf(q)
	p := freePage{Header: web.Header{Title: q.T("bookings.new"), Crumbs: []web.Link{{Text: q.T("area.bookings"), Href: state{day: s.day}.href(q)}}}}
	service, errService := uuid.Parse(q.Form.Get("service"))
	services, resources, err := pages.choices(ctx, q, s)
	if err != nil {
		return web.Answer{}, err
	}
	p.Filter = web.Filter{Action: q.Path("/bookings/free"), Button: q.T("bookings.search"), Fields: []web.Field{
		{Name: "service", Label: q.T("bookings.service"), Type: "select", Options: services},
		{Name: "resource", Label: q.T("bookings.resource"), Type: "select", Options: resources},
		{Name: "day", Label: q.T("bookings.from_day"), Type: "date", Value: s.day.String()},
	}}
	if errService != nil && s.resource == nil {
		p.Note = web.Note{Kind: web.Info, Text: q.T("bookings.search.what")}
		return web.Show("bookings/free", q.T("bookings.new"), p), nil
	}
	in := scheduling.Search{DateFrom: jsontype.Date(s.day.utc()), DateTo: jsontype.Date(s.day.add(searchDays - 1).utc()), FreeOnly: true}
	if errService == nil {
		in.ServiceID = &service
	}
	if s.resource != nil {
		in.ResourceIDs = []uuid.UUID{*s.resource}
	}
	if err := pages.search(ctx, q, &p, in, func(id uuid.UUID, at time.Time) slot {
		return slot{Href: state{day: dayOfTime(at, q.Zone)}.booking(choice{id, at, q.Form.Get("service")}).href(q)}
	}); err != nil {
		return web.Answer{}, err
	}
	p.Nav = pages.further(q, s, q.Path("/bookings/free"), "service", q.Form.Get("service"), "resource", q.Form.Get("resource"))
	return web.Show("bookings/free", q.T("bookings.new"), p), nil
}

// further leads to the days before and after.
func (pages *Pages) further(q *web.Request, s state, path string, pairs ...string) []web.Link {
	at := func(d day) string { return web.With(path, append([]string{"day", d.String()}, pairs...)...) }
	return []web.Link{
		{Text: q.T("bookings.previous"), Href: at(s.day.add(-searchDays))}, {Text: q.T("bookings.today"), Href: at(today(q))}, {Text: q.T("bookings.next"), Href: at(s.day.add(searchDays))},
	}
}

// choices are the services and resources that a search can name.
func (pages *Pages) choices(ctx context.Context, q *web.Request, s state) (services, resources []web.Option, err error) {
	services = []web.Option{{Text: q.T("bookings.any_service")}}
	if q.MayCall("listServices") {
		found, err := web.List[servicecatalog.OfferingListItem](ctx, q, "listServices", servicecatalog.Filter{Params: list.Params{PageSize: maxServices}, Sort: "name"})
		if err != nil {
			return nil, nil, err
		}
		for _, o := range found.Items {
			services = append(services, web.Option{Value: o.ID.String(), Text: o.Name, Selected: o.ID.String() == q.Form.Get("service")})
		}
	}
	found, err := web.List[scheduling.Resource](ctx, q, "listResources", scheduling.ResourceFilter{Params: list.Params{PageSize: maxChoices}, Sort: "name", ActiveOnly: true})
	if err != nil {
		return nil, nil, err
	}
	resources = []web.Option{{Text: q.T("bookings.all_resources")}}
	for _, one := range found.Items {
		resources = append(resources, web.Option{Value: one.ID.String(), Text: one.Name, Selected: s.resource != nil && *s.resource == one.ID})
	}
	return services, resources, nil
}

// search fills the page with free slots. What the API refuses stands above the form.
func (pages *Pages) search(ctx context.Context, q *web.Request, p *freePage, in scheduling.Search, slotAt func(id uuid.UUID, at time.Time) slot) error {
	found, err := web.Call[scheduling.Availability](ctx, q, "searchAvailability", web.Input{Query: web.Query(in)})
	if web.Refused(err) {
		p.Fault = q.Fault(err)
		return nil
	}
	if err != nil {
		return err
	}
	all := 0
	for i := range searchDays {
		d := dayOfDate(time.Time(in.DateFrom).AddDate(0, 0, i), q.Zone)
		out := freeDay{Title: web.Sentence(q.Date(d.utc(), "Monday, 2 January"))}
		for _, of := range found.Resources {
			one := freeResource{Name: of.ResourceName}
			zone, err := time.LoadLocation(of.TimeZone)
			if err != nil {
				zone = q.Zone
			}
			local := dayOfDate(d.utc(), zone) // slots are of the day of the resource
			for _, sl := range of.Days[i].Slots[:min(len(of.Days[i].Slots), maxSlots)] {
				made := slotAt(of.ResourceID, sl.StartAt.Std())
				made.Text, made.Value = local.clock(sl.StartAt.Std()), of.ResourceID.String()+" "+web.Instant(sl.StartAt.Std())
				one.Slots = append(one.Slots, made)
				all++
			}
			if of.TimeZone != q.Company.TimeZone {
				one.Name += " (" + of.TimeZone + ")"
			}
			if len(one.Slots) > 0 {
				out.Resources = append(out.Resources, one)
			}
		}
		if len(out.Resources) > 0 {
			p.Days = append(p.Days, out)
		}
	}
	p.Note = web.Note{Kind: web.Info, Text: q.T("bookings.slots", all)}
	if all == 0 {
		p.Note = web.Note{Kind: web.Warn, Text: q.T("bookings.no_slots")}
	}
	return nil
}

func dayOfDate(at time.Time, zone *time.Location) day {
	return dayOf(at.Year(), at.Month(), at.Day(), zone)
}
