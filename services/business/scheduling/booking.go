package scheduling

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Booking is the booking of a resource; see docs/reference/rules.md#bookings.
type Booking struct {
	record.Key
	Number int64 `json:"number" db:",insert" search:"text" doc:"sequential number per company, from 1, without gaps"`
	BookingFields
	ResourceName        string         `json:"resourceName" doc:"when it was booked"`
	ServiceName         *string        `json:"serviceName" doc:"when it was booked"`
	EndAt               jsontype.Time  `json:"endAt"`
	BufferBeforeMinutes int32          `json:"bufferBeforeMinutes" doc:"that the resource keeps free before it; when it was booked or moved"`
	BufferAfterMinutes  int32          `json:"bufferAfterMinutes" doc:"that the resource keeps free after it; when it was booked or moved"`
	Status              string         `json:"status" enum:"pending,confirmed,completed,no_show,cancelled"`
	Price               *money.Amount  `json:"price" doc:"minor units; null without a service"`
	CancelReason        *string        `json:"cancelReason"`
	CreatedByID         *uuid.UUID     `json:"createdById" format:"uuid" db:",insert"`
	ConfirmedAt         *jsontype.Time `json:"confirmedAt"`
	CompletedAt         *jsontype.Time `json:"completedAt"`
	CancelledAt         *jsontype.Time `json:"cancelledAt"`
	PublicURL           *string        `json:"publicUrl" db:"-" doc:"link by which the customer can confirm, move and cancel the booking without signing in; null if the company has none, for a booking that is over by its status, without the scope clients:read, and in events and exports"`
	LinkNumber          int32          `json:"-"` // counts the customers that links were made for
	ReminderAt          *jsontype.Time `json:"-"` // when the next reminder is due; nil = there is none
	record.Meta
}

// BookingFields are the fields that API clients set.
type BookingFields struct {
	ResourceID      uuid.UUID     `json:"resourceId" required:"true" format:"uuid"`
	ServiceID       *uuid.UUID    `json:"serviceId" format:"uuid" doc:"required unless the resource is for any service"`
	ClientID        *uuid.UUID    `json:"clientId" format:"uuid" doc:"default: the client with this phone number, if there is one"`
	CustomerName    string        `json:"customerName" required:"true" minLength:"1" maxLength:"255" search:"text"`
	CustomerPhone   string        `json:"customerPhone" required:"true" minLength:"1" maxLength:"32" search:"phone"`
	CustomerEmail   *string       `json:"customerEmail" format:"email" maxLength:"254" search:"text"`
	StartAt         jsontype.Time `json:"startAt" required:"true" doc:"need not lie on the grid of slots"`
	DurationMinutes int32         `json:"durationMinutes" minimum:"5" maximum:"1440" doc:"default: of the service, otherwise slotStepMinutes of the resource"`
	Headcount       *int32        `json:"headcount" minimum:"1" maximum:"1000000" doc:"people"`
	Note            *string       `json:"note" maxLength:"4000"`
	Source          string        `json:"source" minLength:"1" maxLength:"255" default:"api" doc:"system that externalId belongs to"`
	ExternalID      *string       `json:"externalId" maxLength:"255" doc:"id in that system; unique per company and source, unless source is api"`
	record.Tagged
}

// BookingFilter filters and sorts bookings.
type BookingFilter struct {
	list.Params
	list.ByExternal
	Number        *int64     `query:"number" minimum:"1" where:"number = ?"`
	Sort          string     `query:"sort" enum:"startAt,createdAt,number"`
	ResourceID    *uuid.UUID `query:"resourceId" format:"uuid" where:"resource_id = ?"`
	ServiceID     *uuid.UUID `query:"serviceId" format:"uuid" where:"service_id = ?"`
	ClientID      *uuid.UUID `query:"clientId" format:"uuid" where:"client_id = ?"`
	CustomerPhone string     `query:"customerPhone" maxLength:"32" doc:"any spelling of the number; without a country code it is one of the country of the company"`
	Status        []string   `query:"status" enum:"pending,confirmed,completed,no_show,cancelled" where:"status = ANY(?::TEXT[])" doc:"comma-separated"`
	DateFrom      *list.From `query:"dateFrom" where:"start_at >= ?" doc:"startAt at or after"`
	DateTo        *list.To   `query:"dateTo" where:"start_at <= ?" doc:"startAt at or before"`
}

// defaultSource is the source of a booking whose request names none. Its external ids need not be unique.
const defaultSource = "api"

// findBooking finds a booking by its external id, which is unique for other sources than the default.
func findBooking(ctx context.Context, q db.Querier, company tenant.ID, source, externalID string) (*uuid.UUID, error) {
	if source == defaultSource {
		return nil, apierr.InvalidField("source", apierr.Conflict, "must name your own system: %s stands for bookings without one", defaultSource)
	}
	return bookings.FindExternal(ctx, q, company, source, externalID)
}

const bookingRows = db.Table("bookings")

var (
	bookings     = resource.Of[Booking](bookingRows, "BOOKING").OnWrite(countSummed)
	bookingItems = list.Of[Booking, BookingFilter]("bookings", list.Spec{Permanent: true})
)

// Normalise drops what responses do not show of the time, so that a slot ends exactly where the next one begins.
func (b *Booking) Normalise() {
	start := b.StartAt.Std().Truncate(time.Millisecond)
	b.StartAt, b.EndAt = jsontype.At(start), jsontype.At(start.Add(time.Duration(b.DurationMinutes)*time.Minute))
}

func (b *Booking) interval() interval { return interval{b.StartAt.Std(), b.EndAt.Std()} }

func (b *Booking) buffer() buffer { return buffer{b.BufferBeforeMinutes, b.BufferAfterMinutes} }

// taken is the time that the booking takes of its resource.
func (b *Booking) taken() interval { return b.buffer().around(b.interval()) }

// calendarEntry is what the calendar shows of the booking; nil for nothing.
func (b *Booking) calendarEntry() *trade.CalendarEntry {
	if b.Status == statusCancelled {
		return nil
	}
	title := b.CustomerName
	if b.ServiceName != nil {
		title = *b.ServiceName + ": " + title
	}
	return &trade.CalendarEntry{
		Kind: trade.CalendarBooking, OwnerID: b.ID, Title: title, StartAt: b.StartAt.Std(), EndAt: b.EndAt.Std(),
		ResourceID: &b.ResourceID, ClientID: b.ClientID, Status: &b.Status,
	}
}
