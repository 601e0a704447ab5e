package scheduling

import (
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

const minutesPerDay = 24 * 60

// priceOf returns the price of a booking of some minutes; see docs/reference/rules.md#bookings.
func priceOf(s trade.BookedService, minutes int64) (money.Amount, error) {
	switch s.PriceModel {
	case "per_hour":
		return money.MulDiv(s.Price, minutes, 60)
	case "per_minute":
		return money.MulDiv(s.Price, minutes, 1)
	case "per_day":
		return money.MulDiv(s.Price, (minutes+minutesPerDay-1)/minutesPerDay, 1)
	default: // fixed, and one item
		return s.Price, nil
	}
}
