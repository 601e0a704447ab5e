package reports

import (
	"context"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
)

var ofBookings = httpapi.Group{Tag: tag, Scope: "scheduling", Component: "scheduling"}

// BookingsQuery asks for the report of bookings.
type BookingsQuery struct {
	Days
	GroupBy []string `query:"groupBy" enum:"day,status" doc:"comma-separated; default day"`
}

// BookingsReport adds up bookings by the day on which they begin.
type BookingsReport struct {
	Report[BookingsRow, BookingSums]
}

// BookingsRow adds up bookings.
type BookingsRow struct {
	Row
	Status *string `json:"status" doc:"as it is now; null without groupBy=status"`
	BookingSums
}

// BookingSums are sums of bookings.
type BookingSums struct {
	BookingsCount   int64        `json:"bookingsCount" doc:"of all statuses"`
	CancelledCount  int64        `json:"cancelledCount"`
	NoShowCount     int64        `json:"noShowCount"`
	Total           money.Amount `json:"total" doc:"prices of the bookings that are neither cancelled nor no-shows"`
	DurationMinutes int64        `json:"durationMinutes" doc:"of the bookings that are neither cancelled nor no-shows"`
}

var bookingDimensions = []string{"day", "status"}

func bookingSums(v []int64) BookingSums {
	return BookingSums{BookingsCount: v[0], CancelledCount: v[1], NoShowCount: v[2], Total: money.Amount(v[3]), DurationMinutes: v[4]}
}

// Bookings returns the report of bookings.
//
// Errors: those of [Service.Orders].
func (s *Service) Bookings(ctx context.Context, by access.Caller, q BookingsQuery) (BookingsReport, error) {
	r, err := compare(q.Days, func(days Days) (Frame, Sums[BookingsRow, BookingSums], error) {
		frame, t, err := s.read(ctx, by, days, bookingDimensions, q.GroupBy, source{report: s.cfg.Bookings, of: []string{"status"}})
		if err != nil {
			return frame, Sums[BookingsRow, BookingSums]{}, err
		}
		rows := rowsOf(t, func(r *row) BookingsRow { return BookingsRow{Row{r.day}, r.text(0), bookingSums(r.amounts)} })
		return frame, Sums[BookingsRow, BookingSums]{rows, bookingSums(t.totals)}, nil
	})
	return BookingsReport{r}, err
}
