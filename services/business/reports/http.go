package reports

import (
	"context"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
)

// Register adds the reports.
func (s *Service) Register(api *httpapi.API) {
	httpapi.ReadWith(ofOrders.On(api, s.cfg.DB), "/reports/orders", "reportOrders", "Read sums of orders by day", s.Orders,
		httpapi.Doc("Counts orders and adds up their amounts by the day of their creation in the time zone of the company, by status, payment status, channel, tax rate, hour, branch, product and category. "+fails))
	httpapi.Sheet(ofOrders.On(api, s.cfg.DB), "/reports/orders", "report-orders", rowsFrom(s.Orders, func(r OrdersReport) []OrdersRow { return r.Rows }))
	httpapi.ReadWith(ofSales.On(api, s.cfg.DB), "/reports/sales", "reportSales", "Read sums of sales and refunds by day", s.Sales,
		httpapi.Doc("Adds up sales and refunds, each on its own day, by `soldAt` in the time zone of the company, by payment method, channel, tax rate, branch, cashier, shift, hour, product and category. "+fails))
	httpapi.Sheet(ofSales.On(api, s.cfg.DB), "/reports/sales", "report-sales", rowsFrom(s.Sales, func(r SalesReport) []SalesRow { return r.Rows }))
	httpapi.ReadWith(ofBookings.On(api, s.cfg.DB), "/reports/bookings", "reportBookings", "Read sums of bookings by day", s.Bookings,
		httpapi.Doc("Counts bookings and adds up their prices by the day on which they begin in the time zone of the company, by status. "+fails))
	httpapi.Sheet(ofBookings.On(api, s.cfg.DB), "/reports/bookings", "report-bookings", rowsFrom(s.Bookings, func(r BookingsReport) []BookingsRow { return r.Rows }))
	httpapi.ReadWith(ofPayments.On(api, s.cfg.DB), "/reports/payments", "reportPayments", "Read sums of payments and refunds by day", s.Payments,
		httpapi.Doc("Adds up the money that came in and went back for orders and sales, by day in the time zone of the company, method and origin. "+
			"Fails with `AUTH_API_SCOPE_INSUFFICIENT` or `MODULE_ACCESS_INACTIVE` for an origin that the token may not read, with `VALIDATION_ERROR`, `REPORT_AMOUNT_OUT_OF_RANGE` and `QUERY_TOO_EXPENSIVE` as the other reports do."))
	httpapi.Sheet(ofPayments.On(api, s.cfg.DB), "/reports/payments", "report-payments", rowsFrom(s.Payments, func(r PaymentsReport) []PaymentsRow { return r.Rows }))
}

// rowsFrom is the read of the rows of a report, for files.
func rowsFrom[Q interface{ alone() error }, R, T any](read func(context.Context, access.Caller, Q) (R, error), rows func(R) []T) func(context.Context, access.Caller, Q) ([]T, error) {
	return func(ctx context.Context, by access.Caller, q Q) ([]T, error) {
		if err := q.alone(); err != nil {
			return nil, err
		}
		r, err := read(ctx, by, q)
		return rows(r), err
	}
}

const fails = "Fails with `VALIDATION_ERROR` for more than 366 days or 10 000 rows, with `REPORT_AMOUNT_OUT_OF_RANGE` if a sum exceeds the largest amount, " +
	"and with `QUERY_TOO_EXPENSIVE` while days with very many records are summed for the first time."
