package reports

import (
	"context"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
)

// ofOrders, as the groups of the other reports, has the scope and the component of what the report sums.
var ofOrders = httpapi.Group{Tag: tag, Scope: "orders", Component: "orders"}

// OrdersQuery asks for the report of orders.
type OrdersQuery struct {
	Days
	GroupBy []string `query:"groupBy" enum:"day,status,paymentStatus,channel" doc:"comma-separated; default day"`
}

// OrdersReport adds up orders by the day of their creation.
type OrdersReport struct {
	Frame
	Rows   []OrdersRow `json:"rows" doc:"in the order of their day, status, paymentStatus and channel; none for days without orders"`
	Totals OrderSums   `json:"totals" doc:"of all rows"`
}

// OrdersRow adds up orders.
type OrdersRow struct {
	Row
	Status        *string `json:"status" doc:"as it is now; null without groupBy=status"`
	PaymentStatus *string `json:"paymentStatus" doc:"as it is now; null without groupBy=paymentStatus"`
	Channel       *string `json:"channel" doc:"null without groupBy=channel, and for orders without a channel"`
	OrderSums
}

// OrderSums are sums of orders.
type OrderSums struct {
	OrdersCount    int64        `json:"ordersCount" doc:"with cancelled ones"`
	CancelledCount int64        `json:"cancelledCount"`
	Total          money.Amount `json:"total" doc:"of the orders that are not cancelled"`
	CancelledTotal money.Amount `json:"cancelledTotal" doc:"of the cancelled orders"`
	DiscountAmount money.Amount `json:"discountAmount" doc:"of the orders that are not cancelled; total is without it"`
	DeliveryCost   money.Amount `json:"deliveryCost" doc:"of the orders that are not cancelled"`
	PrepaidAmount  money.Amount `json:"prepaidAmount" doc:"paid so far for the orders that are not cancelled"`
	AmountDue      money.Amount `json:"amountDue" doc:"of the orders that are not cancelled: total + deliveryCost - prepaidAmount"`
}

var orderDimensions = []string{"day", "status", "paymentStatus", "channel"}

func orderSums(v []int64) OrderSums {
	return OrderSums{
		OrdersCount: v[0], CancelledCount: v[1], Total: money.Amount(v[2]), CancelledTotal: money.Amount(v[3]), DiscountAmount: money.Amount(v[4]),
		DeliveryCost: money.Amount(v[5]), PrepaidAmount: money.Amount(v[6]), AmountDue: money.Amount(v[7]),
	}
}

// Orders returns the report of orders.
//
// Errors: 400 for days out of bounds or too many rows, 503 QUERY_TOO_EXPENSIVE, 409 REPORT_AMOUNT_OUT_OF_RANGE.
func (s *Service) Orders(ctx context.Context, by access.Caller, q OrdersQuery) (OrdersReport, error) {
	frame, t, err := s.read(ctx, by, q.Days, orderDimensions, q.GroupBy, source{report: s.cfg.Orders})
	if err != nil {
		return OrdersReport{}, err
	}
	rows := rowsOf(t, func(r *row) OrdersRow {
		return OrdersRow{Row{r.day}, r.text(0), r.text(1), r.text(2), orderSums(r.amounts)}
	})
	return OrdersReport{frame, rows, orderSums(t.totals)}, nil
}

// Bytes is about how many bytes the answer takes.
func (r OrdersReport) Bytes() int { return len(r.Rows) * rowBytes }
