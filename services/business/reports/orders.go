package reports

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
)

// ofOrders, as the groups of the other reports, has the scope and the component of what the report sums.
var ofOrders = httpapi.Group{Tag: tag, About: "Sums of orders, sales, payments and bookings by day.", Scope: "orders", Component: "orders"}

// OrdersQuery asks for the report of orders.
type OrdersQuery struct {
	Days
	GroupBy []string `query:"groupBy" enum:"day,status,paymentStatus,channel,tax,branch,hour,product,category" doc:"comma-separated; default day. One of these, and day: status, paymentStatus, channel and tax; branch and hour; branch, product and category"`
}

// Reveals implements [httpapi.Revealing]: who may see costs does.
func (OrdersQuery) Reveals(by access.Caller) []string {
	return lineitem.Include{lineitem.IncludeCosts}.Reveals(by)
}

// OrdersReport adds up orders by the day of their creation.
type OrdersReport struct{ Report[OrdersRow, OrderSums] }

// OrdersRow adds up orders.
type OrdersRow struct {
	Row
	Status        *string `json:"status" doc:"as it is now; null without groupBy=status"`
	PaymentStatus *string `json:"paymentStatus" doc:"as it is now; null without groupBy=paymentStatus"`
	Channel       *string `json:"channel" doc:"null without groupBy=channel, and for orders without a channel"`
	OfTax
	BranchID *uuid.UUID `json:"branchId" format:"uuid" nullable:"true" doc:"of the warehouse of the order now; null without groupBy=branch, and for orders without one"`
	OfHour
	OfItem
	OrderSums
}

// OrderSums are sums of orders.
type OrderSums struct {
	OrdersCount    int64        `json:"ordersCount" doc:"with cancelled ones"`
	CancelledCount int64        `json:"cancelledCount"`
	Total          money.Amount `json:"total" doc:"of the orders that are not cancelled"`
	CancelledTotal money.Amount `json:"cancelledTotal" doc:"of the cancelled orders"`
	DiscountAmount money.Amount `json:"discountAmount" doc:"of the orders that are not cancelled; total is without it"`
	DeliveryCost   money.Amount `json:"deliveryCost" doc:"of the orders that are not cancelled; 0 with tax, product or category in groupBy, as prepaidAmount and amountDue"`
	PrepaidAmount  money.Amount `json:"prepaidAmount" doc:"paid so far for the orders that are not cancelled"`
	AmountDue      money.Amount `json:"amountDue" doc:"of the orders that are not cancelled: payable - prepaidAmount"`
	TaxAmount      money.Amount `json:"taxAmount" doc:"of the orders that are not cancelled; part of total"`
	ReturnedAmount money.Amount `json:"returnedAmount" doc:"what the orders that are not cancelled cost less by their returns; with tax, product or category in groupBy, what these credit for the lines"`
	ReturnedTax    money.Amount `json:"returnedTaxAmount" doc:"tax of the lines of these returns"`
	Payable        money.Amount `json:"payable" doc:"of the orders that are not cancelled: total + deliveryCost - returnedAmount"`
	Qty            *money.Qty   `json:"qty" nullable:"true" doc:"of the orders that are not cancelled, less what was returned; null unless grouped by product or category"`
	CostSums
}

var orderDimensions = []string{"day", "status", "paymentStatus", "channel", taxDimension, branchDimension, hourDimension, productDimension, categoryDimension}

// orders are the sums that there are of orders. Orders have a warehouse, whose branch may change.
func (s *Service) orders() []source {
	return []source{
		{report: s.cfg.Orders, of: []string{"status", "paymentStatus", "channel"}},
		{report: s.cfg.OrderTaxes, of: []string{"status", "paymentStatus", "channel", taxDimension}},
		{report: s.cfg.OrderHours, of: []string{branchDimension, hourDimension}, complete: s.branches(0, hours(1))},
		{report: s.cfg.OrderItems, of: []string{branchDimension, productDimension, categoryDimension}, complete: s.branches(0, s.categories(1))},
	}
}

func orderSums(by access.Caller, names []string, v []int64) OrderSums {
	return OrderSums{
		OrdersCount: v[0], CancelledCount: v[1], Total: money.Amount(v[2]), CancelledTotal: money.Amount(v[3]), DiscountAmount: money.Amount(v[4]),
		DeliveryCost: money.Amount(v[5]), PrepaidAmount: money.Amount(v[6]), AmountDue: money.Amount(v[7]), TaxAmount: money.Amount(v[8]),
		ReturnedAmount: money.Amount(v[9]), ReturnedTax: money.Amount(v[10]), Payable: money.Amount(v[2] + v[5] - v[9]),
		CostSums: costSums(by, v[11], v[12]), Qty: qtyOf(names, v[13]),
	}
}

// Orders returns the report of orders.
//
// Errors: 400 for days out of bounds or too many rows, 503 QUERY_TOO_EXPENSIVE, 409 REPORT_AMOUNT_OUT_OF_RANGE.
func (s *Service) Orders(ctx context.Context, by access.Caller, q OrdersQuery) (OrdersReport, error) {
	of, err := choose(q.GroupBy, s.orders()...)
	if err != nil {
		return OrdersReport{}, err
	}
	r, err := compare(q.Days, func(days Days) (Frame, Sums[OrdersRow, OrderSums], error) {
		frame, t, err := s.read(ctx, by, days, orderDimensions, q.GroupBy, of)
		if err != nil {
			return frame, Sums[OrdersRow, OrderSums]{}, err
		}
		cards, categories, err := s.itemNames(ctx, by.Company, &t, 6, 7)
		rows := rowsOf(t, func(r *row) OrdersRow {
			return OrdersRow{
				Row{r.day}, r.text(0), r.text(1), r.text(2), r.tax(3), r.id(4), r.hour(5), r.item(cards, categories, 6, 7), orderSums(by, frame.GroupBy, r.amounts),
			}
		})
		return frame, Sums[OrdersRow, OrderSums]{rows, orderSums(by, frame.GroupBy, t.totals)}, err
	})
	return OrdersReport{r}, err
}
