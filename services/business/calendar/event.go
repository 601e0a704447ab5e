package calendar

import (
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

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
