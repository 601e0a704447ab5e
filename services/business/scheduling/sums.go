package scheduling

import (
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/dailytotals"
)

const sqlSumBookings = `SELECT status, count(*), sum(CASE status WHEN 'cancelled' THEN 1 ELSE 0 END)::BIGINT, sum(CASE status WHEN 'no_show' THEN 1 ELSE 0 END)::BIGINT,
  sum(CASE WHEN status IN ('cancelled', 'no_show') THEN 0 ELSE COALESCE(price, 0) END)::BIGINT,
  sum(CASE WHEN status IN ('cancelled', 'no_show') THEN 0 ELSE duration_minutes END)::BIGINT
FROM bookings WHERE company_id = $1 AND start_at >= $2 AND start_at < $3 GROUP BY status`

// Sums adds up bookings by the day on which they begin and their status: how many there are, how many are cancelled, how many are no-shows,
// and price and minutes of the others.
var Sums = dailytotals.Report{Name: "bookings", Form: 1, Keys: 1, Amounts: 5, SQL: sqlSumBookings}

// summed is what [Sums] sums of a booking.
type summed struct {
	status   string
	startAt  time.Time
	duration int32
	price    money.Amount
}

func (b *Booking) summed() summed {
	s := summed{status: b.Status, startAt: b.StartAt.Std().UTC(), duration: b.DurationMinutes}
	if b.Price != nil {
		s.price = *b.Price
	}
	return s
}

// countSummed counts a change of what reports sum, on the days before and after it.
func countSummed(tx *db.Tx, before, after *Booking) {
	if before != nil && after != nil && before.summed() == after.summed() {
		return
	}
	for _, b := range []*Booking{before, after} {
		if b != nil {
			Sums.Changed(tx, b.CompanyID, b.StartAt.Std())
		}
	}
}
