package trade

import (
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// Kinds of owners of calendar entries.
const (
	CalendarBooking = "booking"
	CalendarDeal    = "deal"
)

// CalendarEntry is what the calendar shows of a booking or a deal.
type CalendarEntry struct {
	Kind       string    // CalendarBooking or CalendarDeal
	OwnerID    uuid.UUID // the booking or deal
	Title      string
	StartAt    time.Time
	EndAt      time.Time  // StartAt, if the owner has no end
	ResourceID *uuid.UUID // scheduling resource that is taken
	ClientID   *uuid.UUID
	Status     *string
}

// ShowsSame reports whether both entries have the same content, apart from the status.
func (e CalendarEntry) ShowsSame(other CalendarEntry) bool {
	return e.Title == other.Title && e.StartAt.Equal(other.StartAt) && e.EndAt.Equal(other.EndAt) &&
		record.Same(e.ResourceID, other.ResourceID) && record.Same(e.ClientID, other.ClientID)
}

// VenueUse is the use of a scheduling resource by a deal. A deal takes the whole resource from StartAt to EndAt; without
// both times it takes nothing, and only its headcount is checked.
type VenueUse struct {
	DealID     uuid.UUID
	ResourceID uuid.UUID
	StartAt    *time.Time
	EndAt      *time.Time
	Headcount  *int32
}

// Same reports whether both uses, nil for none, are the same.
func (u *VenueUse) Same(other *VenueUse) bool {
	if u == nil || other == nil {
		return u == other
	}
	return u.ResourceID == other.ResourceID && record.Same(u.Headcount, other.Headcount) && sameTime(u.StartAt, other.StartAt) && sameTime(u.EndAt, other.EndAt)
}

func sameTime(a, b *time.Time) bool { return a == b || a != nil && b != nil && a.Equal(*b) }

// BookedService is the data of a service that is booked.
type BookedService struct {
	ID              uuid.UUID
	Name            string
	PriceModel      string // what Price is for: fixed, per_hour, per_minute, per_day or per_item
	Price           money.Amount
	DurationMinutes *int32
	Hidden          bool
}
