package scheduling

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/numbering"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/document"
)

// counterKind names the counter of booking numbers.
const counterKind = "booking"

// The changes below run at READ COMMITTED. Whatever decides about a place is read after the lock of the resource, and
// nobody else can add or move a use of it before the commit. So transactions that want the same place wait for each other,
// and none is refused.

// CreateBooking books a resource. The booking is pending and takes its place at once.
//
// Errors: 404 for a reference; 409 RESOURCE_INACTIVE, RESOURCE_SERVICE_MISMATCH, CATALOG_ITEM_HIDDEN, CLIENT_ARCHIVED,
// BOOKING_IN_PAST, BOOKING_OUTSIDE_WORKING_HOURS, VENUE_CAPACITY_EXCEEDED, BOOKING_SLOT_TAKEN.
func (s *Service) CreateBooking(ctx context.Context, tx *db.Tx, by access.Caller, in BookingFields) (Booking, error) {
	r, err := lockResource(ctx, tx, by.Company, in.ResourceID, "resourceId")
	if err != nil {
		return Booking{}, err
	}
	b := Booking{Key: record.Key{ID: tx.NewID(), CompanyID: by.Company}, BookingFields: in, Status: statusPending}
	b.Source = cmp.Or(b.Source, defaultSource)
	if by.Actor != uuid.Nil {
		b.CreatedByID = &by.Actor
	}
	if err := s.settle(ctx, tx, by, r, Booking{}, &b, in.DurationMinutes > 0); err != nil {
		return Booking{}, err
	}
	if b.Number, err = numbering.Take(ctx, tx, by.Company, counterKind, 1); err != nil {
		return Booking{}, err
	}
	touchResource(tx, by.Company, r.ID)
	b.planReminder(by, tx.Now())
	if b, err = bookings.Create(ctx, tx, by, b, created); err != nil {
		return Booking{}, err
	}
	if err := s.cfg.Calendar.Sync(ctx, tx, by, nil, b.calendarEntry()); err != nil {
		return Booking{}, err
	}
	return s.linked(by, b, s.tell(ctx, tx, by, b, letterCreated))
}

// UpdateBooking changes a booking. A new time, resource or service is checked as for a new booking, and possible only
// until the booking has ended: 409 BOOKING_FINALIZED.
func (s *Service) UpdateBooking(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[BookingFields]) (Booking, error) {
	var to *uuid.UUID
	if in.Sent(&in.Value.ResourceID) {
		to = &in.Value.ResourceID
	}
	r, b, err := lockBoth(ctx, tx, by, id, to)
	if err != nil {
		return b, err
	}
	snapshot := bookings.Snapshot(b)
	in.Apply(&b.BookingFields)
	if err := s.settle(ctx, tx, by, r, snapshot.Before, &b, in.Sent(&in.Value.DurationMinutes)); err != nil {
		return snapshot.Before, err
	}
	var events []event.Event[Booking]
	letter := ""
	if b.isRescheduled(snapshot.Before) {
		events, letter = append(events, rescheduled), letterMoved
		touchResource(tx, by.Company, r.ID)
		b.planReminder(by, tx.Now())
	}
	if b.isOfOther(snapshot.Before) {
		b.LinkNumber++
		letter = letterCreated
	}
	if err := s.store(ctx, tx, by, snapshot.Before, func() error { return bookings.Store(ctx, tx, by, snapshot, &b, events...) }, &b); err != nil {
		return b, err
	}
	return s.linked(by, b, s.tell(ctx, tx, by, b, letter))
}

// lockBoth locks the resource that a booking is about to have, to = nil for its own, and then the booking: every change
// that takes a place locks the resource first.
func lockBoth(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, to *uuid.UUID) (r Resource, b Booking, err error) {
	if b, err = bookings.Get(ctx, tx, by.Company, id); err != nil {
		return r, b, err
	}
	target := b.ResourceID
	if to != nil {
		target = *to
	}
	if r, err = lockResource(ctx, tx, by.Company, target, "resourceId"); err != nil {
		return r, b, err
	}
	if b, err = bookings.Lock(ctx, tx, by, id); err != nil {
		return r, b, err
	}
	if to == nil && b.ResourceID != target {
		return r, b, db.ErrStale // it was moved before it was locked
	}
	return r, b, nil
}

// store stores a changed booking and has the calendar follow.
func (s *Service) store(ctx context.Context, tx *db.Tx, by access.Caller, before Booking, write func() error, b *Booking) error {
	if err := write(); err != nil {
		return err
	}
	return s.cfg.Calendar.Sync(ctx, tx, by, before.calendarEntry(), b.calendarEntry())
}

// StatusChange is the body of a change of status.
type StatusChange struct {
	Status string  `json:"status" required:"true" enum:"confirmed,completed,no_show,cancelled"`
	Reason *string `json:"reason" maxLength:"4000" doc:"of a cancellation"`
}

// SchemaName implements [jsontype.Named].
func (StatusChange) SchemaName() string { return "BookingStatusChange" }

// SetStatus moves a booking to another status; see docs/reference/states.md#booking.
func (s *Service) SetStatus(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in StatusChange) (Booking, error) {
	if in.Status == statusCompleted {
		return s.complete(ctx, tx, by, id)
	}
	b, err := bookings.Lock(ctx, tx, by, id)
	if err != nil {
		return b, err
	}
	return s.move(ctx, tx, by, b, in.Status, in.Reason)
}

// complete moves a booking to completed. One that was a no-show takes its place again, which may be taken meanwhile: 409
// BOOKING_SLOT_TAKEN.
func (s *Service) complete(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (Booking, error) {
	r, b, err := lockBoth(ctx, tx, by, id, nil)
	if err != nil {
		return b, err
	}
	if b.Status == statusNoShow {
		uses, err := selectUses(ctx, tx, by.Company, r.ID, b.taken(), b.ID, tx.Now())
		if err != nil {
			return b, err
		}
		if err := r.checkPlace(uses, b.interval(), b.buffer()); err != nil {
			return b, err
		}
		touchResource(tx, by.Company, r.ID)
	}
	return s.move(ctx, tx, by, b, statusCompleted, nil)
}

// move moves a locked booking.
func (s *Service) move(ctx context.Context, tx *db.Tx, by access.Caller, b Booking, to string, reason *string) (Booking, error) {
	if err := b.checkTransition(to); err != nil {
		return b, err
	}
	snapshot := bookings.Snapshot(b)
	b.enter(to, reason, tx.Now())
	if err := s.store(ctx, tx, by, snapshot.Before, func() error { return bookings.Store(ctx, tx, by, snapshot, &b, moves[to], statusChanged) }, &b); err != nil {
		return b, err
	}
	return s.linked(by, b, s.tell(ctx, tx, by, b, letterOf[to]))
}

// Confirm confirms a booking.
func (s *Service) Confirm(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (Booking, error) {
	return s.SetStatus(ctx, tx, by, id, StatusChange{Status: statusConfirmed})
}

// Complete records that a booking took place.
func (s *Service) Complete(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (Booking, error) {
	return s.SetStatus(ctx, tx, by, id, StatusChange{Status: statusCompleted})
}

// NoShow records that the customer did not come, which frees the place.
func (s *Service) NoShow(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (Booking, error) {
	return s.SetStatus(ctx, tx, by, id, StatusChange{Status: statusNoShow})
}

// Cancellation is the body of a cancellation.
type Cancellation struct {
	Reason *string `json:"reason" maxLength:"4000"`
}

// SchemaName implements [jsontype.Named].
func (Cancellation) SchemaName() string { return "BookingCancellation" }

// Cancel cancels a booking, which frees the place.
func (s *Service) Cancel(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in Cancellation) (Booking, error) {
	return s.SetStatus(ctx, tx, by, id, StatusChange{Status: statusCancelled, Reason: in.Reason})
}

// isRescheduled reports whether the change is one of time, resource or service.
func (b *Booking) isRescheduled(before Booking) bool {
	return b.takesOther(before) || !record.Same(before.ServiceID, b.ServiceID)
}

// takesOther reports whether the booking takes another time or resource than before.
func (b *Booking) takesOther(before Booking) bool {
	return b.ResourceID != before.ResourceID || !b.interval().start.Equal(before.interval().start) || !b.interval().end.Equal(before.interval().end)
}

// grace is how far in the past a booking may begin.
const grace = 5 * time.Minute

// checkRules returns the 409 for the first rule that the change violates; uses are those of the time that it takes.
func (b *Booking) checkRules(r Resource, before Booking, found found, now time.Time) error {
	moved, isNew := b.takesOther(before), before.ID == uuid.Nil
	switch {
	case !isNew && !before.isOpen() && (b.isRescheduled(before) || !record.Same(before.Headcount, b.Headcount)):
		return apierr.StateConflict("BOOKING_FINALIZED", "the booking is %s: its time, resource, service and headcount cannot be changed", before.Status).With("status", before.Status)
	case moved && !r.IsActive:
		return apierr.StateConflict("RESOURCE_INACTIVE", "the resource is not active; activate it or choose another").With("resourceId", r.ID)
	case b.isRescheduled(before) && !r.provides(b.ServiceID):
		return apierr.StateConflict("RESOURCE_SERVICE_MISMATCH", "the resource does not provide the service; choose one of its serviceIds, none if it has none, or another resource").
			With("resourceId", r.ID).With("serviceId", b.ServiceID).With("allowed", r.ServiceIDs)
	case found.service != nil && found.service.Hidden && !record.Same(before.ServiceID, b.ServiceID):
		return apierr.StateConflict("CATALOG_ITEM_HIDDEN", "serviceId: the service is hidden; make it active, or choose another").
			With("field", "serviceId").With("id", b.ServiceID)
	case found.client != nil && found.client.Archived:
		return document.CheckClient(found.client, "clientId", b.ClientID)
	case !b.StartAt.Std().Equal(before.StartAt.Std()) && b.StartAt.Std().Before(now.Add(-grace)):
		return apierr.StateConflict("BOOKING_IN_PAST", "startAt: %s is in the past; choose a later time", b.StartAt).With("now", now.UTC().Format(time.RFC3339))
	case moved && !r.Schedule(found.exceptions).isOpen(b.interval()):
		return apierr.StateConflict("BOOKING_OUTSIDE_WORKING_HOURS", "the resource does not work from %s to %s; GET /scheduling/bookings/slots lists its slots", b.StartAt, b.EndAt).
			With("resourceId", r.ID).With("timeZone", r.TimeZone)
	case (moved || !record.Same(before.Headcount, b.Headcount)) && b.Headcount != nil && r.Capacity != nil && *b.Headcount > *r.Capacity:
		return capacityExceeded("headcount", *b.Headcount, *r.Capacity)
	case moved || b.buffer() != before.buffer():
		return r.checkPlace(found.uses, b.interval(), b.buffer())
	}
	return nil
}

func capacityExceeded(field string, headcount, capacity int32) error {
	return apierr.StateConflict("VENUE_CAPACITY_EXCEEDED", "%s: the resource is for at most %d people; lower it or choose another resource", field, capacity).
		With("capacity", capacity).With("headcount", headcount)
}
