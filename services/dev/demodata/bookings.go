package demodata

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/scheduling"
)

// stand is a resource with the services that it provides.
type stand struct {
	id   uuid.UUID
	jobs []job
	busy int // percent of its times that are booked
}

// ahead is for how many days there are bookings.
const ahead = 14

// planBookings makes the resources, and plans their bookings.
func (s *shop) planBookings(ctx context.Context) error {
	var stands []stand
	err := s.setup.tx(ctx, "resources", func(ctx context.Context, tx *db.Tx) (err error) {
		if stands, err = s.makeResources(ctx, tx); err != nil {
			return err
		}
		return s.planDaysOff(ctx, tx, stands[0])
	})
	if err != nil {
		return err
	}
	for i := 1; i < s.scale.days+ahead; i++ {
		day := s.day(i)
		if day.Weekday() == time.Sunday {
			continue
		}
		for _, st := range stands {
			for _, hour := range []int{9, 11, 13, 15} {
				if (day.Weekday() != time.Saturday || hour < 13) && s.chance(st.busy) {
					s.planBooking(st, time.Date(day.Year(), day.Month(), day.Day(), hour, 0, 0, 0, day.Location()))
				}
			}
		}
	}
	return nil
}

func (s *shop) makeResources(ctx context.Context, tx *db.Tx) (stands []stand, err error) {
	var workshop, studio []job
	for _, j := range s.jobs {
		if j.fitting {
			studio = append(studio, j)
		} else {
			workshop = append(workshop, j)
		}
	}
	add := func(in scheduling.ResourceFields, jobs []job, busy int) {
		if err != nil {
			return
		}
		for _, j := range jobs {
			in.ServiceIDs = append(in.ServiceIDs, j.id)
		}
		in.BranchID, in.TimeZone, in.IsActive, in.WorkingHours = &s.cfg.Shop, TimeZone, true, openingHours()
		if in.ParallelBookings == 0 {
			in.ParallelBookings = 1
		}
		var made scheduling.Resource
		made, err = s.setup.Scheduling.CreateResource(ctx, tx, s.cfg.Office, in)
		stands = append(stands, stand{made.ID, jobs, busy})
	}
	for i := range s.scale.mechanics {
		first, last := person(37 + i*5)
		in := scheduling.ResourceFields{
			Type: "staff", Name: first + " " + last, Description: new("Mechanic"), SlotStepMinutes: 30, Color: new("#CF222E"), SortOrder: int32(i),
		}
		if i < len(s.cfg.Staff) {
			in.UserID = &s.cfg.Staff[i]
		}
		add(in, workshop, s.scale.busy)
	}
	add(scheduling.ResourceFields{
		Type: "seat", Name: "Fitting studio", Description: new("Treadmill, cameras and a chair for one more"), Capacity: new(int32(2)),
		SlotStepMinutes: 30, Color: new("#1F6FEB"), SortOrder: 100, BufferBeforeMinutes: 10, BufferAfterMinutes: 15,
	}, studio, 8)
	add(scheduling.ResourceFields{
		Type: "equipment", Name: "Rental e-bikes", Description: new("Four Volta City"), ParallelBookings: 4, SlotStepMinutes: 120, Color: new("#1A7F37"), SortOrder: 110,
	}, nil, 12)
	return stands, err
}

// planDaysOff closes the shop for a day, and lets somebody be away, behind the last booking.
func (s *shop) planDaysOff(ctx context.Context, tx *db.Tx, away stand) error {
	on := func(i int) jsontype.Date {
		year, month, day := s.day(s.scale.days + ahead + i).Date()
		return jsontype.Date(time.Date(year, month, day, 0, 0, 0, 0, time.UTC))
	}
	for _, e := range []scheduling.ExceptionFields{
		{Name: "Stocktaking", DateFrom: on(1), Hours: []scheduling.OpenHours{{From: "14:00", To: "18:00"}}},
		{Name: "Holiday", ResourceID: &away.id, DateFrom: on(4), DateTo: on(11)},
	} {
		if _, err := s.setup.Scheduling.CreateException(ctx, tx, s.cfg.Office, e); err != nil {
			return err
		}
	}
	return nil
}

// openingHours are Monday to Friday from 9 to 18 and Saturday from 9 to 14.
func openingHours() []scheduling.WorkingHours {
	var hours []scheduling.WorkingHours
	for weekday := int32(1); weekday <= 5; weekday++ {
		hours = append(hours, scheduling.WorkingHours{Weekday: weekday, From: "09:00", To: "18:00"})
	}
	return append(hours, scheduling.WorkingHours{Weekday: 6, From: "09:00", To: "14:00"})
}

// booking is a booking while it is handled.
type booking struct {
	*shop
	resource uuid.UUID
	id       uuid.UUID
}

// planBooking plans a booking that is made some days before, and what comes of it. Those that begin after the end of the
// history are pending or confirmed.
func (s *shop) planBooking(st stand, start time.Time) {
	b := &booking{shop: s, resource: st.id}
	c := pick(s, s.clients)
	in := scheduling.BookingFields{
		ResourceID: st.id, ClientID: &c.id, CustomerName: c.name, CustomerPhone: c.phone, StartAt: jsontype.At(start), Note: new(pick(s, bookingNotes)),
	}
	end := start.Add(2 * time.Hour)
	if len(st.jobs) > 0 {
		j := pick(s, st.jobs)
		in.ServiceID = &j.id
		end = start.Add(time.Duration(j.minutes) * time.Minute)
	}
	made := start.Add(-time.Duration(10+s.rng.IntN(90)) * time.Hour)
	if made.Before(s.start) || made.After(s.cfg.Now) {
		made = s.between(s.start, 7, 8)
		if start.After(s.cfg.Now) { // booked within the last week
			made = s.cfg.Now.Add(-time.Duration(1+s.rng.IntN(150)) * time.Hour)
		}
	}
	fate := s.rng.IntN(100)
	b.agenda.add(made, laneBookings, func(ctx context.Context, l *lane) error {
		return l.tx(ctx, "booking", func(ctx context.Context, tx *db.Tx) error {
			v, err := l.Scheduling.CreateBooking(ctx, tx, s.cfg.Office, in)
			if b.id = v.ID; err != nil || fate >= 85 {
				return err
			}
			_, err = l.Scheduling.SetStatus(ctx, tx, s.cfg.Office, b.id, scheduling.StatusChange{Status: "confirmed"})
			return err
		})
	})
	switch {
	case fate < 8:
		b.set(made.Add(5*time.Hour), "cancelled", new("The customer called"))
	case fate < 93:
		b.set(end.Add(time.Duration(s.rng.IntN(12))*time.Minute), "completed", nil)
	default:
		b.set(start.Add(20*time.Minute), "no_show", nil)
	}
}

//nolint:gochecknoglobals // constants
var bookingNotes = []string{"Key is at the counter", "Please ring when it is ready", "Brings the bicycle by car", "First visit", "Wants a quote before any repair above 80 EUR"}

func (b *booking) set(at time.Time, status string, reason *string) {
	b.agenda.later(at, b.resource, b, func(ctx context.Context, l *lane, tx *db.Tx) error {
		if _, err := l.Scheduling.SetStatus(ctx, tx, b.cfg.Office, b.id, scheduling.StatusChange{Status: status, Reason: reason}); err != nil {
			return fmt.Errorf("booking %s: %w", status, err)
		}
		return nil
	})
}
