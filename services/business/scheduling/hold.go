package scheduling

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/cleanup"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

const bookingHolds = db.Table("booking_holds")

// Hold keeps a place of a resource for some minutes; see docs/reference/rules.md#holds.
type Hold struct {
	record.Key
	HoldFields
	EndAt               jsontype.Time `json:"endAt"`
	BufferBeforeMinutes int32         `json:"bufferBeforeMinutes" doc:"that the resource keeps free before it"`
	BufferAfterMinutes  int32         `json:"bufferAfterMinutes" doc:"that the resource keeps free after it"`
	ExpiresAt           jsontype.Time `json:"expiresAt" doc:"when the place is free again, unless it was booked"`
	CreatedByID         *uuid.UUID    `json:"createdById" format:"uuid" db:",insert"`
	record.Meta
}

// SchemaName implements [jsontype.Named].
func (Hold) SchemaName() string { return "BookingHold" }

// HoldFields are the fields that API clients set.
type HoldFields struct {
	ResourceID      uuid.UUID     `json:"resourceId" required:"true" format:"uuid"`
	ServiceID       *uuid.UUID    `json:"serviceId" format:"uuid" doc:"required unless the resource is booked without one"`
	StartAt         jsontype.Time `json:"startAt" required:"true" doc:"need not lie on the grid of slots"`
	DurationMinutes int32         `json:"durationMinutes" minimum:"5" maximum:"1440" doc:"default: of the service, otherwise slotStepMinutes of the resource"`
	Headcount       *int32        `json:"headcount" minimum:"1" maximum:"1000000" doc:"people"`
	HoldMinutes     int32         `json:"holdMinutes" minimum:"1" maximum:"60" default:"10" doc:"until the hold expires"`
}

// HoldFilter filters and sorts holds.
type HoldFilter struct {
	list.Params
	Sort       string     `query:"sort" enum:"startAt,createdAt"`
	ResourceID *uuid.UUID `query:"resourceId" format:"uuid" where:"resource_id = ?"`
}

var (
	holds     = resource.Of[Hold](bookingHolds, "HOLD")
	holdItems = list.Of[Hold, HoldFilter](bookingHolds)
)

// Limits of holds that have not expired; see docs/reference/rules.md#holds.
const (
	maxHoldsOfToken = 100
	maxHolds        = 1_000
)

const defaultHold = 10 // minutes

// Holds returns a page of the holds that have not expired.
func (s *Service) Holds(ctx context.Context, by access.Caller, f HoldFilter) (*list.Page[Hold], error) {
	q, err := holdItems.Query(by.Company, f)
	if err != nil {
		return nil, err
	}
	q.WhereFound(nil, "expires_at > ?", s.cfg.DB.Now())
	return holdItems.Fetch(ctx, s.cfg.DB, q)
}

// Hold returns a hold. One that has expired is 404.
func (s *Service) Hold(ctx context.Context, by access.Caller, id uuid.UUID) (Hold, error) {
	h, err := holds.Get(ctx, s.cfg.DB, by.Company, id)
	if err != nil {
		return h, err
	}
	return h, h.checkLive(s.cfg.DB.Now())
}

func (h Hold) checkLive(now time.Time) error {
	if h.ExpiresAt.Std().After(now) {
		return nil
	}
	return apierr.NotFound("HOLD", h.ID.String())
}

// CreateHold holds a place: what can be booked can be held, and what is held can only be booked by it.
//
// Errors: those of [Service.CreateBooking], and 409 HOLD_LIMIT_REACHED.
func (s *Service) CreateHold(ctx context.Context, tx *db.Tx, by access.Caller, in HoldFields) (Hold, error) {
	r, err := lockResource(ctx, tx, by.Company, in.ResourceID, "resourceId")
	if err != nil {
		return Hold{}, err
	}
	if err := checkNumberOfHolds(ctx, tx, by); err != nil {
		return Hold{}, err
	}
	b := Booking{Key: record.Key{ID: tx.NewID(), CompanyID: by.Company}, Status: statusPending, BookingFields: BookingFields{
		ResourceID: in.ResourceID, ServiceID: in.ServiceID, StartAt: in.StartAt, DurationMinutes: in.DurationMinutes, Headcount: in.Headcount, Source: defaultSource,
	}}
	if err := s.settle(ctx, tx, by, r, Booking{}, &b, in.DurationMinutes > 0); err != nil {
		return Hold{}, err
	}
	h := Hold{Key: b.Key, HoldFields: in, EndAt: b.EndAt, BufferBeforeMinutes: b.BufferBeforeMinutes, BufferAfterMinutes: b.BufferAfterMinutes}
	h.StartAt, h.DurationMinutes = b.StartAt, b.DurationMinutes
	if h.HoldMinutes == 0 {
		h.HoldMinutes = defaultHold
	}
	h.ExpiresAt = jsontype.At(tx.Now().Add(time.Duration(h.HoldMinutes) * time.Minute).Truncate(time.Millisecond))
	if by.Actor != uuid.Nil {
		h.CreatedByID = &by.Actor
	}
	touchResource(tx, by.Company, r.ID)
	return holds.Create(ctx, tx, by, h)
}

// ReleaseHold deletes a hold, which frees its place.
func (s *Service) ReleaseHold(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) error {
	return holds.Delete(ctx, tx, by, id, func(h Hold) error { return h.checkLive(tx.Now()) })
}

const sqlCountHolds = `SELECT count(*), COALESCE(sum(CASE WHEN created_by_id = $3 THEN 1 ELSE 0 END), 0)::BIGINT FROM booking_holds WHERE company_id = $1 AND expires_at > $2`

func checkNumberOfHolds(ctx context.Context, tx *db.Tx, by access.Caller) error {
	var all, own int
	if err := tx.QueryRow(ctx, sqlCountHolds, by.Company, tx.Now(), by.Actor).Scan(&all, &own); err != nil {
		return fmt.Errorf("count holds: %w", err)
	}
	switch {
	case own >= maxHoldsOfToken:
		return apierr.StateConflict("HOLD_LIMIT_REACHED", "the token has %d holds that have not expired: book or release them first", own).With("limit", maxHoldsOfToken)
	case all >= maxHolds:
		return apierr.StateConflict("HOLD_LIMIT_REACHED", "the company has %d holds that have not expired: book or release them first", all).With("limit", maxHolds)
	}
	return nil
}

// NewBooking is the body of a new booking.
type NewBooking struct {
	BookingFields
	HoldID *uuid.UUID `json:"holdId" format:"uuid" db:"-" doc:"hold of this resource and time, whose place the booking takes"`
}

// SchemaName implements [jsontype.Named].
func (NewBooking) SchemaName() string { return "NewBooking" }

// Book books a resource, in the place of a hold if the booking names one; see [Service.CreateBooking].
//
// Errors: those of [Service.CreateBooking], 404 HOLD_NOT_FOUND also for a hold that has expired, and 400 for one of something else.
func (s *Service) Book(ctx context.Context, tx *db.Tx, by access.Caller, in NewBooking) (Booking, error) {
	if in.HoldID != nil {
		if err := redeem(ctx, tx, by, *in.HoldID, in.BookingFields); err != nil {
			return Booking{}, err
		}
	}
	return s.CreateBooking(ctx, tx, by, in.BookingFields)
}

var sqlRedeemHold = bookingHolds.Delete(`WHERE company_id = $1 AND id = $2 AND expires_at > $3 RETURNING resource_id, start_at`)

// redeem ends the hold that a booking names, so that its place is free for the booking, in the same transaction.
func redeem(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in BookingFields) error {
	var held uuid.UUID
	var at time.Time
	err := tx.ReturningRow(ctx, sqlRedeemHold, by.Company, id, tx.Now()).Scan(&held, &at)
	if db.IsNoRows(err) {
		return apierr.ReferenceNotFound("HOLD", "holdId", id.String())
	}
	if err != nil {
		return fmt.Errorf("redeem hold: %w", err)
	}
	if held != in.ResourceID || !at.Equal(in.StartAt.Std().Truncate(time.Millisecond)) {
		return apierr.InvalidField("holdId", apierr.Conflict, "is a hold of resource %s from %s; book that, or leave holdId out", held, jsontype.At(at))
	}
	return nil
}

// holdsExpire deletes holds some time after they expired, which nothing waits for: an expired hold has no effect.
var holdsExpire = cleanup.Job{
	Keep: 10 * time.Minute, Every: 10 * time.Minute,
	Delete: bookingHolds.Delete(`WHERE (company_id, id) IN (SELECT company_id, id FROM booking_holds WHERE expires_at < $1 LIMIT 1000)`),
}
