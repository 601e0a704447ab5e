package scheduling

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Limits of a search; see docs/reference/rules.md#availability.
const (
	maxSearchDays      = 31
	maxSearchResources = 50
	maxSearchSlots     = 20_000
	maxSearchUses      = 50_000
)

// Search selects the slots of several resources over several days.
type Search struct {
	ServiceID       *uuid.UUID    `query:"serviceId" format:"uuid" doc:"slots have the duration of this service; without resourceIds, those of all active resources that provide it"`
	ResourceIDs     []uuid.UUID   `query:"resourceIds" format:"uuid" maxItems:"50" doc:"comma-separated; required without serviceId"`
	DateFrom        jsontype.Date `query:"dateFrom" required:"true" doc:"first day, in the time zone of each resource"`
	DateTo          jsontype.Date `query:"dateTo" required:"true" doc:"last day; at most 31 days"`
	DurationMinutes *int32        `query:"durationMinutes" minimum:"5" maximum:"1440" doc:"of the slots; default: that of the service, or else slotStepMinutes of each resource"`
	StepMinutes     *int32        `query:"stepMinutes" minimum:"5" maximum:"1440" doc:"from the start of a slot to that of the next; default: their duration, so that none overlap"`
	Headcount       *int32        `query:"headcount" minimum:"1" maximum:"1000000" doc:"people; resources with a lower capacity have no slots"`
	FreeOnly        bool          `query:"freeOnly" default:"true" doc:"only slots that can be booked now"`
}

// Availability is what a search finds.
type Availability struct {
	Resources []ResourceAvailability `json:"resources" doc:"in the order of their sortOrder and name"`

	slots int
}

// Bytes is about how many bytes the answer takes.
func (a Availability) Bytes() int { return a.slots*slotBytes + len(a.Resources)*maxSearchDays*dayBytes }

// What a slot and a day take as JSON.
const (
	slotBytes = 160
	dayBytes  = 40
)

// ResourceAvailability holds the slots of one resource.
type ResourceAvailability struct {
	ResourceID   uuid.UUID         `json:"resourceId" format:"uuid"`
	ResourceName string            `json:"resourceName"`
	TimeZone     string            `json:"timeZone" doc:"IANA name; the zone of the days"`
	Days         []DayAvailability `json:"days" doc:"all days that were asked for"`
}

// DayAvailability holds the slots of a resource on one day.
type DayAvailability struct {
	Date  jsontype.Date `json:"date"`
	Slots []Slot        `json:"slots" doc:"in ascending order"`
}

// Availability returns the slots of resources on the days of a range, those that [Service.Slots] returns for each of them.
//
// Errors: 400 for a range or an amount beyond the limits, 404 for an unknown resource or service.
func (s *Service) Availability(ctx context.Context, by access.Caller, in Search) (Availability, error) {
	days, err := in.days()
	if err != nil {
		return Availability{}, err
	}
	found, service, err := s.searched(ctx, by.Company, in, days)
	if err != nil {
		return Availability{}, err
	}
	grids := make([][][]interval, len(found)) // of each resource and day
	slots := 0
	for i, r := range found {
		grids[i] = make([][]interval, len(days))
		length, ok := in.length(r.Resource, service)
		for j, day := range days {
			if ok {
				grids[i][j] = r.grid(day, length, stepOf(in.StepMinutes, length))
				slots += len(grids[i][j])
			}
		}
		if slots > maxSearchSlots {
			return Availability{}, apierr.InvalidField("dateTo", apierr.Max, "the number of slots in these days exceeds %d; ask for fewer days or resources", maxSearchSlots)
		}
	}
	now := s.cfg.DB.Now()
	uses, err := s.searchedUses(ctx, by.Company, found, days, now)
	if err != nil {
		return Availability{}, err
	}
	out := Availability{Resources: make([]ResourceAvailability, len(found))}
	for i, r := range found {
		if err := ctx.Err(); err != nil {
			return Availability{}, fmt.Errorf("compute availability: %w", err)
		}
		taken := occupancyOf(uses[r.ID])
		of := ResourceAvailability{ResourceID: r.ID, ResourceName: r.Name, TimeZone: r.TimeZone, Days: make([]DayAvailability, len(days))}
		for j, day := range days {
			slots := r.slots(grids[i][j], r.buffer(service), taken, now)
			if in.FreeOnly {
				slots = slices.DeleteFunc(slots, func(s Slot) bool { return !s.Free })
			}
			out.slots += len(slots)
			of.Days[j] = DayAvailability{Date: day, Slots: slots}
		}
		out.Resources[i] = of
	}
	return out, nil
}

// days lists the days of the range.
func (in Search) days() ([]jsontype.Date, error) {
	var faults apierr.Fields
	first, last := time.Time(in.DateFrom), time.Time(in.DateTo)
	n := int(last.Sub(first)/oneDay) + 1
	switch {
	case n < 1:
		faults.Add("dateFrom", apierr.Conflict, "must not exceed dateTo")
	case n > maxSearchDays:
		faults.Add("dateTo", apierr.Max, "the range has %d days, which exceeds %d; ask for fewer", n, maxSearchDays)
	}
	if in.ServiceID == nil && len(in.ResourceIDs) == 0 {
		faults.Add("resourceIds", apierr.Required, "is required without serviceId; set one of them")
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	days := make([]jsontype.Date, n)
	for i := range days {
		days[i] = jsontype.Date(first.AddDate(0, 0, i))
	}
	return days, nil
}

// length is the duration of the slots of a resource; ok is false if it has none.
func (in Search) length(r Resource, service *trade.BookedService) (length time.Duration, ok bool) {
	if in.Headcount != nil && r.Capacity != nil && *in.Headcount > *r.Capacity {
		return 0, false
	}
	length, ok = r.length(service)
	if in.DurationMinutes != nil {
		length = time.Duration(*in.DurationMinutes) * time.Minute
	}
	return length, ok
}

// providesService is the condition of resources that a service can be booked with.
const providesService = `(service_ids = ARRAY[]::UUID[] AND NOT only_listed_services OR service_ids @> ARRAY[$2::UUID])`

const orderOfSearch = ` ORDER BY sort_order, name, id`

var (
	sqlSelectNamed      = "SELECT " + resourcePlan.SelectList("") + ` FROM scheduling_resources WHERE company_id = $1 AND id = ANY($2::UUID[])` + orderOfSearch
	sqlSelectProviders  = "SELECT " + resourcePlan.SelectList("") + ` FROM scheduling_resources WHERE company_id = $1 AND is_active AND ` + providesService + orderOfSearch + ` LIMIT $3`
	sqlSelectUsesOfMany = `SELECT resource_id, ` + columnsOfUses + ` FROM bookings
WHERE company_id = $1 AND resource_id = ANY($2::UUID[]) AND start_at > $3 AND start_at < $4 AND status IN ('pending', 'confirmed', 'completed')
UNION ALL SELECT resource_id, ` + columnsOfUses + ` FROM booking_holds
WHERE company_id = $1 AND resource_id = ANY($2::UUID[]) AND start_at > $3 AND start_at < $4 AND expires_at > $6
UNION ALL SELECT resource_id, start_at, end_at, TRUE FROM venue_uses WHERE company_id = $1 AND resource_id = ANY($2::UUID[]) AND start_at < $4 AND end_at > $3
LIMIT $5`
)

// searched reads the resources of a search, with their exceptions on the days, and the service.
func (s *Service) searched(ctx context.Context, company tenant.ID, in Search, days []jsontype.Date) (found []Schedule, service *trade.BookedService, err error) {
	sql, args := sqlSelectNamed, []any{company, in.ResourceIDs}
	if len(in.ResourceIDs) == 0 {
		sql, args = sqlSelectProviders, []any{company, *in.ServiceID, maxSearchResources + 1}
	}
	var rs []Resource
	reads := []batchloader.Read{func(ctx context.Context, q db.Querier) (err error) {
		rs, err = db.Collect(ctx, q, "select resources", db.RowTo(func(r *Resource) []any { return resourcePlan.Targets(r) }), sql, args...)
		return err
	}}
	if in.ServiceID != nil {
		reads = append(reads, s.serviceOf(company, *in.ServiceID, &service))
	}
	if err := batchloader.Load(ctx, s.cfg.DB, reads...); err != nil {
		return nil, nil, err
	}
	for i, id := range in.ResourceIDs {
		if !slices.ContainsFunc(rs, func(r Resource) bool { return r.ID == id }) {
			return nil, nil, reference.Missing(nil, false, "RESOURCE", fmt.Sprintf("resourceIds[%d]", i), id)
		}
	}
	if len(rs) > maxSearchResources {
		return nil, nil, apierr.InvalidField("resourceIds", apierr.Required, "more than %d resources provide the service; name up to %d of them", maxSearchResources, maxSearchResources)
	}
	found, err = s.schedules(ctx, company, rs, interval{time.Time(days[0]), time.Time(days[len(days)-1]).Add(oneDay)})
	return found, service, err
}

// searchedUses reads what takes the resources on the days, wherever on Earth these begin and end.
func (s *Service) searchedUses(ctx context.Context, company tenant.ID, found []Schedule, days []jsontype.Date, now time.Time) (map[uuid.UUID][]use, error) {
	ids := make([]uuid.UUID, len(found))
	for i, r := range found {
		ids[i] = r.ID
	}
	first, behind := time.Time(days[0]).Add(-oneDay), time.Time(days[len(days)-1]).Add(3*oneDay)
	rows, err := s.cfg.DB.Query(ctx, sqlSelectUsesOfMany, company, ids, first.Add(-maxDuration-2*maxBuffer-time.Second), behind.Add(2*maxBuffer), maxSearchUses+1, now)
	if err != nil {
		return nil, fmt.Errorf("select uses of resources: %w", err)
	}
	all := map[uuid.UUID][]use{}
	n := 0
	var id uuid.UUID
	var u use
	_, err = pgx.ForEachRow(rows, []any{&id, &u.start, &u.end, &u.whole}, func() error {
		n++
		all[id] = append(all[id], u)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read uses of resources: %w", err)
	}
	if n > maxSearchUses {
		return nil, apierr.InvalidField("dateTo", apierr.Max, "the number of bookings in these days exceeds %d; ask for fewer days or resources", maxSearchUses)
	}
	return all, nil
}
