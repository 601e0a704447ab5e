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
	Remaining  int32         `json:"remaining" doc:"free parallel places"`
	ResourceID uuid.UUID     `json:"resourceId" format:"uuid"`
}

// Day selects the slots of one day.
type Day struct {
	ResourceID uuid.UUID     `query:"resourceId" required:"true" format:"uuid"`
	Date       jsontype.Date `query:"date" required:"true" doc:"day in the time zone of the resource"`
	ServiceID  *uuid.UUID    `query:"serviceId" format:"uuid" doc:"slots have the duration of this service"`
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
	step, ok := r.step(service)
	grid := r.grid(day.Date, step)
	if !ok || len(grid) == 0 {
		return []Slot{}, nil
	}
	uses, err := selectUses(ctx, s.cfg.DB, by.Company, r.ID, interval{grid[0].start, lastEnd(grid)}, uuid.Nil)
	if err != nil {
		return nil, err
	}
	return r.slots(grid, occupancyOf(uses), s.cfg.DB.Now()), nil
}

// serviceOf reads the service that slots are for; an unknown one is 404.
func (s *Service) serviceOf(company tenant.ID, id uuid.UUID, into **trade.BookedService) batchloader.Read {
	return func(ctx context.Context, q db.Querier) error {
		found, ok, err := s.cfg.Service(ctx, q, company, id)
		*into = &found
		return reference.Missing(err, ok, "SERVICE", "serviceId", id)
	}
}

// step is the duration of slots for a service, nil = for none; ok is false if the resource cannot be booked for it.
func (r Resource) step(service *trade.BookedService) (step time.Duration, ok bool) {
	step = time.Duration(r.SlotStepMinutes) * time.Minute
	if service == nil {
		return step, true
	}
	if service.DurationMinutes != nil {
		step = time.Duration(*service.DurationMinutes) * time.Minute
	}
	return step, !service.Hidden && r.provides(&service.ID)
}

// grid divides the working hours of a day into intervals of one step.
func (r Resource) grid(date jsontype.Date, step time.Duration) []interval {
	if !r.IsActive {
		return nil
	}
	year, month, day := time.Time(date).Date()
	var grid []interval
	for _, open := range r.open(year, month, day, r.zone()) {
		for start := open.start; !start.Add(step).After(open.end); start = start.Add(step) {
			grid = append(grid, interval{start, start.Add(step)})
		}
	}
	return grid
}

func lastEnd(grid []interval) time.Time {
	return slices.MaxFunc(grid, func(a, b interval) int { return a.end.Compare(b.end) }).end
}

func (r Resource) slots(grid []interval, taken occupancy, now time.Time) []Slot {
	slots := make([]Slot, len(grid))
	for i, at := range grid {
		remaining := r.ParallelBookings - taken.most(at, r.ParallelBookings)
		slots[i] = Slot{
			StartAt: jsontype.At(at.start), EndAt: jsontype.At(at.end), ResourceID: r.ID,
			Remaining: remaining, Free: remaining > 0 && !at.start.Before(now),
		}
	}
	return slots
}
