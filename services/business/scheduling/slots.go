package scheduling

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Slot is an interval in which a resource can be booked.
type Slot struct {
	StartAt    jsontype.Time `json:"startAt"`
	EndAt      jsontype.Time `json:"endAt"`
	Free       bool          `json:"free" doc:"can be booked now"`
	Remaining  int32         `json:"remaining" doc:"free parallel places, buffers included"`
	ResourceID uuid.UUID     `json:"resourceId" format:"uuid"`
}

// Day selects the slots of one day.
type Day struct {
	ResourceID  uuid.UUID     `query:"resourceId" required:"true" format:"uuid"`
	Date        jsontype.Date `query:"date" required:"true" doc:"day in the time zone of the resource"`
	ServiceID   *uuid.UUID    `query:"serviceId" format:"uuid" doc:"slots have the duration of this service"`
	StepMinutes *int32        `query:"stepMinutes" minimum:"5" maximum:"1440" doc:"from the start of a slot to that of the next; default: their duration, so that none overlap"`
}

// Slots returns the slots of a resource on one of its days, in ascending order. There are none on a day off, or if the
// resource cannot be booked for the service.
func (s *Service) Slots(ctx context.Context, by access.Caller, day Day) ([]Slot, error) {
	var r Resource
	var service *trade.BookedService
	reads := []batchloader.Read{func(ctx context.Context, q db.Querier) (err error) {
		r, err = resources.Get(ctx, q, by.Company, day.ResourceID)
		return err
	}}
	if day.ServiceID != nil {
		reads = append(reads, s.serviceOf(by.Company, *day.ServiceID, &service))
	}
	if err := batchloader.Load(ctx, s.cfg.DB, reads...); err != nil {
		return nil, err
	}
	length, ok := r.length(service)
	whole := interval{time.Time(day.Date), time.Time(day.Date).Add(oneDay)}
	var exceptions []Exception
	if err := batchloader.Load(ctx, s.cfg.DB, readExceptions(by.Company, []uuid.UUID{r.ID}, whole, &exceptions)); err != nil {
		return nil, err
	}
	grid := r.Schedule(exceptions).grid(day.Date, length, stepOf(day.StepMinutes, length))
	if !ok || len(grid) == 0 {
		return []Slot{}, nil
	}
	buffer, now := r.buffer(service), s.cfg.DB.Now()
	uses, err := selectUses(ctx, s.cfg.DB, by.Company, r.ID, buffer.around(interval{grid[0].start, lastEnd(grid)}), uuid.Nil, now)
	if err != nil {
		return nil, err
	}
	return r.slots(grid, buffer, occupancyOf(uses), now), nil
}

// serviceOf reads the service that slots are for; an unknown one is 404.
func (s *Service) serviceOf(company tenant.ID, id uuid.UUID, into **trade.BookedService) batchloader.Read {
	return func(ctx context.Context, q db.Querier) error {
		found, ok, err := s.cfg.Service(ctx, q, company, id)
		*into = &found
		return reference.Missing(err, ok, "SERVICE", "serviceId", id)
	}
}

// length is the duration of slots for a service, nil = for none; ok is false if the resource cannot be booked for it.
func (r Resource) length(service *trade.BookedService) (length time.Duration, ok bool) {
	length = time.Duration(r.SlotStepMinutes) * time.Minute
	if service == nil {
		return length, true
	}
	if service.DurationMinutes != nil {
		length = time.Duration(*service.DurationMinutes) * time.Minute
	}
	return length, !service.Hidden && r.provides(&service.ID)
}

// stepOf is the time between the starts of slots: as asked for, otherwise their length.
func stepOf(asked *int32, length time.Duration) time.Duration {
	if asked != nil {
		return time.Duration(*asked) * time.Minute
	}
	return length
}

// grid places intervals of a length into the working hours of a day, one at each step.
func (s Schedule) grid(date jsontype.Date, length, step time.Duration) []interval {
	if !s.IsActive {
		return nil
	}
	year, month, day := time.Time(date).Date()
	var grid []interval
	for _, open := range s.open(year, month, day, s.zone()) {
		for start := open.start; !start.Add(length).After(open.end); start = start.Add(step) {
			grid = append(grid, interval{start, start.Add(length)})
		}
	}
	return grid
}

func lastEnd(grid []interval) time.Time {
	return slices.MaxFunc(grid, func(a, b interval) int { return a.end.Compare(b.end) }).end
}

func (r Resource) slots(grid []interval, around buffer, taken occupancy, now time.Time) []Slot {
	slots := make([]Slot, len(grid))
	for i, at := range grid {
		remaining := r.ParallelBookings - taken.most(around.around(at), r.ParallelBookings)
		slots[i] = Slot{
			StartAt: jsontype.At(at.start), EndAt: jsontype.At(at.end), ResourceID: r.ID,
			Remaining: remaining, Free: remaining > 0 && !at.start.Before(now),
		}
	}
	return slots
}
