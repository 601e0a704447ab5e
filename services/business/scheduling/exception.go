package scheduling

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
)

const scheduleExceptions = db.Table("schedule_exceptions")

// Exception replaces the working hours on some days; see docs/reference/rules.md#days-off.
type Exception struct {
	record.Key
	ExceptionFields
	record.Meta
}

// SchemaName implements [jsontype.Named].
func (Exception) SchemaName() string { return "ScheduleException" }

// ExceptionFields are the fields that API clients set.
type ExceptionFields struct {
	Name       string        `json:"name" required:"true" minLength:"1" maxLength:"255" search:"text" doc:"such as Christmas, or Holiday of Ann"`
	ResourceID *uuid.UUID    `json:"resourceId" format:"uuid" doc:"null = all resources"`
	DateFrom   jsontype.Date `json:"dateFrom" required:"true" doc:"first day, in the time zone of the resource"`
	DateTo     jsontype.Date `json:"dateTo" doc:"last day; default: dateFrom"`
	Hours      []OpenHours   `json:"hours" maxItems:"20" doc:"of each of the days, instead of the working hours; empty = closed"`
}

// OpenHours is an interval of a day in which a resource can be booked.
type OpenHours struct {
	From string `json:"from" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" patternDescription:"a time from 00:00 to 23:59" doc:"HH:mm, local time of the resource"`
	To   string `json:"to" pattern:"^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$" patternDescription:"a time from 00:01 to 24:00" doc:"HH:mm; 24:00 = the end of the day"`
}

// ExceptionFilter filters and sorts exceptions.
type ExceptionFilter struct {
	list.Params
	Sort       string         `query:"sort" enum:"dateFrom,name,createdAt"`
	ResourceID *uuid.UUID     `query:"resourceId" format:"uuid" where:"(resource_id = ? OR resource_id IS NULL)" doc:"those of this resource, and those of all resources"`
	DateFrom   *jsontype.Date `query:"dateFrom" where:"date_to >= ?" doc:"those that end on this day or later"`
	DateTo     *jsontype.Date `query:"dateTo" where:"date_from <= ?" doc:"those that begin on this day or earlier"`
}

var (
	exceptions     = resource.Of[Exception](scheduleExceptions, "SCHEDULE_EXCEPTION")
	exceptionItems = list.Of[Exception, ExceptionFilter](scheduleExceptions)
)

// Limits of exceptions; see docs/reference/rules.md#days-off.
const (
	maxExceptionDays = 366
	maxExceptions    = 5_000 // of a company, today and later
)

// Exceptions returns a page of exceptions.
func (s *Service) Exceptions(ctx context.Context, by access.Caller, f ExceptionFilter) (*list.Page[Exception], error) {
	return exceptionItems.Page(ctx, s.cfg.DB, by.Company, f)
}

// CreateException creates an exception. Bookings of its days stay as they are.
func (s *Service) CreateException(ctx context.Context, tx *db.Tx, by access.Caller, in ExceptionFields) (Exception, error) {
	e := Exception{ExceptionFields: in}
	if time.Time(e.DateTo).IsZero() {
		e.DateTo = e.DateFrom
	}
	if err := s.settleException(ctx, tx, by.Company, nil, e); err != nil {
		return e, err
	}
	if err := checkNumberOfExceptions(ctx, tx, by.Company); err != nil {
		return e, err
	}
	return exceptions.Create(ctx, tx, by, e, exceptionCreated)
}

// UpdateException changes an exception.
func (s *Service) UpdateException(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[ExceptionFields]) (Exception, error) {
	if in.Value.ResourceID != nil {
		tx.ReadsMore()
	}
	return exceptions.Change(ctx, tx, by, id, func(before Exception, e *Exception) error {
		in.Apply(&e.ExceptionFields)
		return s.settleException(ctx, tx, by.Company, before.ResourceID, *e)
	}, exceptionUpdated)
}

// DeleteException deletes an exception: the working hours of its days hold again.
func (s *Service) DeleteException(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) error {
	return exceptions.Delete(ctx, tx, by, id, nil, exceptionDeleted)
}

// settleException checks an exception; before is the resource that it was of.
func (s *Service) settleException(ctx context.Context, q db.Querier, company tenant.ID, before *uuid.UUID, e Exception) error {
	var faults apierr.Fields
	switch n := int(time.Time(e.DateTo).Sub(time.Time(e.DateFrom))/oneDay) + 1; {
	case n < 1:
		faults.Add("dateTo", apierr.Min, "must not be before dateFrom, which is %s", e.DateFrom)
	case n > maxExceptionDays:
		faults.Add("dateTo", apierr.Max, "the exception has %d days, which exceeds %d; divide it", n, maxExceptionDays)
	}
	checkOpenHours(&faults, e.Hours)
	if err := faults.Err(); err != nil {
		return err
	}
	var refs reference.Set
	refs.Add("RESOURCE", "resourceId", before, e.ResourceID, Known)
	return refs.Check(ctx, q, company)
}

const sqlCountExceptions = `SELECT count(*) FROM schedule_exceptions WHERE company_id = $1 AND date_to >= $2`

func checkNumberOfExceptions(ctx context.Context, tx *db.Tx, company tenant.ID) error {
	var n int64
	// A day that has not ended everywhere on Earth.
	if err := tx.QueryRow(ctx, sqlCountExceptions, company, jsontype.Date(tx.Now().UTC().Add(-oneDay))).Scan(&n); err != nil {
		return fmt.Errorf("count exceptions: %w", err)
	}
	if n >= maxExceptions {
		return apierr.StateConflict("SCHEDULE_EXCEPTION_LIMIT_REACHED", "a company has at most %d exceptions that have not ended: delete some, or join those of adjoining days", maxExceptions).
			With("limit", maxExceptions)
	}
	return nil
}

var (
	exceptionPlan       = record.PlanOf[Exception]()
	sqlSelectExceptions = "SELECT " + exceptionPlan.SelectList("") + ` FROM schedule_exceptions
WHERE company_id = $1 AND date_to >= $2 AND date_from <= $3 AND (resource_id IS NULL OR resource_id = ANY($4::UUID[])) LIMIT $5`
)

// readExceptions reads the exceptions of resources on the days between two instants, wherever on Earth these begin and end.
func readExceptions(company tenant.ID, resources []uuid.UUID, during interval, into *[]Exception) batchloader.Read {
	return func(ctx context.Context, q db.Querier) (err error) {
		from, to := jsontype.Date(during.start.UTC().Add(-2*oneDay)), jsontype.Date(during.end.UTC().Add(2*oneDay))
		// All those of a company fit, but for few that concurrent requests added.
		*into, err = db.Collect(ctx, q, "select exceptions", db.RowTo(func(e *Exception) []any { return exceptionPlan.Targets(e) }), sqlSelectExceptions, company, from, to, resources, 2*maxExceptions)
		return err
	}
}

// Schedule is when a resource can be booked: its working hours, and the exceptions from them.
type Schedule struct {
	Resource
	exceptions []Exception // the last one of a day decides
}

// Schedule returns when the resource can be booked, given exceptions, which may be of other resources as well.
func (r Resource) Schedule(all []Exception) Schedule {
	s := Schedule{Resource: r}
	for _, e := range all {
		if e.ResourceID == nil || *e.ResourceID == r.ID {
			s.exceptions = append(s.exceptions, e)
		}
	}
	slices.SortFunc(s.exceptions, func(a, b Exception) int {
		if (a.ResourceID == nil) != (b.ResourceID == nil) {
			if a.ResourceID == nil {
				return -1
			}
			return 1
		}
		return cmp.Or(a.CreatedAt.Std().Compare(b.CreatedAt.Std()), bytes.Compare(a.ID[:], b.ID[:]))
	})
	return s
}

// On returns the exception that decides on a day; nil = the working hours do.
func (s Schedule) On(day jsontype.Date) *Exception {
	at := time.Time(day)
	for i := len(s.exceptions) - 1; i >= 0; i-- {
		if e := &s.exceptions[i]; !at.Before(time.Time(e.DateFrom)) && !at.After(time.Time(e.DateTo)) {
			return e
		}
	}
	return nil
}

// Span selects bookings that lie outside of the hours of their resource.
type Span struct {
	DateFrom   jsontype.Date `query:"dateFrom" required:"true" doc:"first day, in the time zone of each resource"`
	DateTo     jsontype.Date `query:"dateTo" required:"true" doc:"last day; at most 366 days"`
	ResourceID *uuid.UUID    `query:"resourceId" format:"uuid" doc:"only bookings of this resource"`
}

// maxSpanBookings is how many bookings a search for those outside of the hours looks at.
const maxSpanBookings = 2_000

var (
	bookingPlan        = record.PlanOf[Booking]()
	sqlSelectOpen      = "SELECT " + bookingPlan.SelectList("") + ` FROM bookings WHERE company_id = $1 AND status IN ('pending', 'confirmed') AND start_at >= $2 AND start_at < $3`
	orderOfSpan        = ` ORDER BY start_at, id LIMIT $4`
	sqlSelectOpenOfAll = sqlSelectOpen + orderOfSpan
	sqlSelectOpenOfOne = sqlSelectOpen + ` AND resource_id = $5` + orderOfSpan
)

// OutsideHours returns the pending and confirmed bookings on some days that lie, wholly or in part, outside of the hours of
// their resource, because an exception or other working hours came later, in the order of their start.
//
// Errors: 400 for a range beyond the limits, 404 for an unknown resource.
func (s *Service) OutsideHours(ctx context.Context, by access.Caller, in Span) ([]Booking, error) {
	days := interval{time.Time(in.DateFrom), time.Time(in.DateTo).Add(oneDay)}
	if n := int(days.end.Sub(days.start) / oneDay); n < 1 || n > maxExceptionDays {
		return nil, apierr.InvalidField("dateTo", apierr.Max, "must be on or after dateFrom, and at most %d days from it", maxExceptionDays)
	}
	sql, args := sqlSelectOpenOfAll, []any{by.Company, days.start.Add(-oneDay), days.end.Add(oneDay), maxSpanBookings + 1}
	if in.ResourceID != nil {
		if _, err := resources.Get(ctx, s.cfg.DB, by.Company, *in.ResourceID); err != nil {
			return nil, err
		}
		sql, args = sqlSelectOpenOfOne, append(args, *in.ResourceID)
	}
	found, err := db.Collect(ctx, s.cfg.DB, "select open bookings", db.RowTo(func(b *Booking) []any { return bookingPlan.Targets(b) }), sql, args...)
	if err != nil {
		return nil, err
	}
	if len(found) > maxSpanBookings {
		return nil, apierr.InvalidField("dateTo", apierr.Max, "the number of open bookings in these days exceeds %d; ask for fewer days, or for one resource", maxSpanBookings)
	}
	schedules, err := s.schedulesOf(ctx, by.Company, found, days)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(found, func(b Booking) bool {
		schedule := schedules[b.ResourceID]
		day := jsontype.Date(localDay(b.StartAt.Std(), schedule.zone()))
		return time.Time(day).Before(days.start) || !time.Time(day).Before(days.end) || schedule.isOpen(b.interval())
	}), nil
}

// localDay is the date of an instant in a zone.
func localDay(at time.Time, zone *time.Location) time.Time {
	year, month, day := at.In(zone).Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// schedulesOf reads the schedules of the resources of bookings.
func (s *Service) schedulesOf(ctx context.Context, company tenant.ID, all []Booking, days interval) (map[uuid.UUID]Schedule, error) {
	ids := make([]uuid.UUID, 0, len(all))
	for _, b := range all {
		ids = append(ids, b.ResourceID)
	}
	rs, err := db.Collect(ctx, s.cfg.DB, "select resources of bookings", db.RowTo(func(r *Resource) []any { return resourcePlan.Targets(r) }), sqlSelectNamed, company, ids)
	if err != nil {
		return nil, err
	}
	schedules, err := s.schedules(ctx, company, rs, days)
	out := make(map[uuid.UUID]Schedule, len(rs))
	for _, schedule := range schedules {
		out[schedule.ID] = schedule
	}
	return out, err
}

// schedules reads the exceptions of resources on some days.
func (s *Service) schedules(ctx context.Context, company tenant.ID, rs []Resource, days interval) ([]Schedule, error) {
	ids := make([]uuid.UUID, len(rs))
	for i, r := range rs {
		ids[i] = r.ID
	}
	var exceptions []Exception
	if err := readExceptions(company, ids, days, &exceptions)(ctx, s.cfg.DB); err != nil {
		return nil, err
	}
	all := make([]Schedule, len(rs))
	for i, r := range rs {
		all[i] = r.Schedule(exceptions)
	}
	return all, nil
}
