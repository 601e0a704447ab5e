// Package calendar keeps the calendar of a company. Its entries belong to bookings and deals and change in their
// transactions; receivers learn of them by events. Who may book what is decided in package scheduling.
package calendar

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/document"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Service keeps the calendars of all companies.
type Service struct{}

// New returns a service.
func New() *Service { return &Service{} }

// Sync follows a change of the booking or deal that owns an entry. before and now are what the calendar shows of the owner
// before and after the change; nil = nothing. It adds, changes or deletes the entry, with its event. A change of nothing
// but the status leaves the entry as it is.
//
// The caller has locked the owner.
func (s *Service) Sync(ctx context.Context, tx *db.Tx, by access.Caller, before, now *trade.CalendarEntry) error {
	by = by.Unconditional()
	switch {
	case before == nil && now == nil:
		return nil
	case before == nil:
		return s.add(ctx, tx, by, *now)
	case now != nil && before.ShowsSame(*now):
		return nil
	}
	e, err := lock(ctx, tx, by.Company, *before)
	if errors.Is(err, pgx.ErrNoRows) {
		// The owner is older than the calendar.
		if now == nil {
			return nil
		}
		return s.add(ctx, tx, by, *now)
	}
	if err != nil {
		return fmt.Errorf("lock calendar event: %w", err)
	}
	if now == nil {
		return table.Remove(ctx, tx, by, e, deleted)
	}
	snapshot := table.Snapshot(e)
	e.take(*now)
	return table.Store(ctx, tx, by, snapshot, &e, updated)
}

func (s *Service) add(ctx context.Context, tx *db.Tx, by access.Caller, entry trade.CalendarEntry) error {
	e := Event{Kind: entry.Kind}
	switch entry.Kind {
	case trade.CalendarBooking:
		e.BookingID = &entry.OwnerID
	case trade.CalendarDeal:
		e.DealID = &entry.OwnerID
	default:
		panic(fmt.Sprintf("calendar: an entry of kind %q has no owner", entry.Kind))
	}
	if by.Actor != uuid.Nil {
		e.CreatedByID = &by.Actor
	}
	e.take(entry)
	_, err := table.Create(ctx, tx, by, e, created)
	return err
}

var (
	plan           = record.PlanOf[Event]()
	sqlLock        = "SELECT " + plan.SelectList("") + " FROM calendar_events WHERE company_id = $1"
	sqlLockBooking = sqlLock + " AND booking_id = $2 FOR UPDATE"
	sqlLockDeal    = sqlLock + " AND deal_id = $2 FOR UPDATE"
)

func lock(ctx context.Context, tx *db.Tx, company tenant.ID, owner trade.CalendarEntry) (e Event, err error) {
	sql := sqlLockBooking
	if owner.Kind == trade.CalendarDeal {
		sql = sqlLockDeal
	}
	err = tx.QueryRow(ctx, sql, company, owner.OwnerID).Scan(plan.Targets(&e)...)
	return e, err
}

// Event is an entry of the company's calendar; see docs/reference/rules.md#calendar.
type Event struct {
	record.Key
	Title       string        `json:"title"`
	Kind        string        `json:"kind" enum:"booking,deal,manual" db:",insert"`
	StartAt     jsontype.Time `json:"startAt"`
	EndAt       jsontype.Time `json:"endAt"`
	AllDay      bool          `json:"allDay"`
	ResourceID  *uuid.UUID    `json:"resourceId" format:"uuid" doc:"scheduling resource that is taken"`
	BookingID   *uuid.UUID    `json:"bookingId" format:"uuid" db:",insert"`
	DealID      *uuid.UUID    `json:"dealId" format:"uuid" db:",insert"`
	ClientID    *uuid.UUID    `json:"clientId" format:"uuid"`
	Status      *string       `json:"status" doc:"status of the booking, or outcome of the deal, when the entry was last changed"`
	CreatedByID *uuid.UUID    `json:"createdById" format:"uuid" db:",insert"`
	record.Meta
}

var table = resource.Of[Event]("calendar_events", "CALENDAR_EVENT")

// take copies the entry of the owner.
func (e *Event) take(from trade.CalendarEntry) {
	e.Title, e.StartAt, e.EndAt = shorten(from.Title), jsontype.At(from.StartAt), jsontype.At(from.EndAt)
	e.ResourceID, e.ClientID, e.Status = from.ResourceID, from.ClientID, from.Status
}

const maxTitle = 255 // characters

func shorten(title string) string {
	if r := []rune(title); len(r) > maxTitle {
		return string(r[:maxTitle])
	}
	return title
}

// OfClient gives the entries of a client to the one that it is merged into.
func OfClient() document.Follow { return document.FollowIn("calendar_events", "client_id") }
