package bookings

import (
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/services/console/web"
)

const (
	viewDay  = "day"
	viewWeek = "week"
)

// state is what the address of a calendar says: what it shows, and what its panel is about.
type state struct {
	view     string
	day      day
	resource *uuid.UUID // the only one that is shown
	page     int
	open     *uuid.UUID // the booking of the panel
	at       *choice    // the time that the panel books
}

// choice is a time of a resource that somebody chose to book.
type choice struct {
	resource uuid.UUID
	start    time.Time
	service  string // that free times were searched for
}

func stateOf(q *web.Request) state {
	s := state{view: viewDay, day: dayParam(q, "day"), page: 1, resource: id(q, "resource"), open: id(q, "open")}
	if q.Form.Get("view") == viewWeek {
		s.view = viewWeek
	}
	if n, err := strconv.Atoi(q.Form.Get("page")); err == nil && n > 1 && n < 1000 {
		s.page = n
	}
	if start, err := time.Parse(time.RFC3339, q.Form.Get("at")); err == nil {
		if with := id(q, "with"); with != nil {
			s.at = &choice{*with, start, q.Form.Get("service")}
		}
	}
	return s
}

// id is an id that the address or the form names; nil if it names none.
func id(q *web.Request, name string) *uuid.UUID {
	of, err := uuid.Parse(q.Form.Get(name))
	if err != nil {
		return nil
	}
	return &of
}

// pairs are the parameters of the address.
func (s state) pairs() []string {
	all := []string{"day", s.day.String()}
	if s.view == viewWeek {
		all = append(all, "view", s.view)
	}
	if s.resource != nil {
		all = append(all, "resource", s.resource.String())
	}
	if s.page > 1 {
		all = append(all, "page", strconv.Itoa(s.page))
	}
	if s.open != nil {
		all = append(all, "open", s.open.String())
	}
	if s.at != nil {
		all = append(all, "with", s.at.resource.String(), "at", web.Instant(s.at.start), "service", s.at.service)
	}
	return all
}

// href is the address of the calendar.
func (s state) href(q *web.Request) string { return web.With(q.Path("/bookings"), s.pairs()...) }

// hidden are the fields by which a form of the page comes back to it.
func (s state) hidden() map[string]string {
	all, pairs := map[string]string{}, s.pairs()
	for i := 0; i+1 < len(pairs); i += 2 {
		all[pairs[i]] = pairs[i+1]
	}
	return all
}

// opened is the calendar with a booking in its panel.
func (s state) opened(of uuid.UUID) state {
	s.open, s.at = &of, nil
	return s
}

// booking is the calendar with a form for a time.
func (s state) booking(at choice) state {
	s.open, s.at = nil, &at
	return s
}

// alone is the calendar without a panel.
func (s state) alone() state {
	s.open, s.at = nil, nil
	return s
}

// on is the calendar of a day.
func (s state) on(d day) state {
	s.day = d
	return s.alone()
}

// of is the calendar of one resource; nil = of all.
func (s state) of(resource *uuid.UUID) state {
	s.resource, s.page = resource, 1
	return s.alone()
}
