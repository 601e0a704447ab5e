package reports

import "github.com/tradegrid/tradegrid/pkg/httpapi"

// Register adds the reports.
func (s *Service) Register(api *httpapi.API) {
	httpapi.ReadWith(ofOrders.On(api, s.db), "/reports/orders", "reportOrders", "Sum orders by day",
		s.Orders, httpapi.Doc("Adds up orders by the day of their creation in the time zone of the company, status, payment status and channel. "+
			"It fails with 400 for more than 366 days or 10 000 rows, with 409 REPORT_AMOUNT_OUT_OF_RANGE if a sum is no amount any more, and with 503 QUERY_TOO_EXPENSIVE while days with very many orders are summed for the first time."))
	httpapi.ReadWith(ofSales.On(api, s.db), "/reports/sales", "reportSales", "Sum sales and refunds by day",
		s.Sales, httpapi.Doc("Adds up sales and refunds, each on the day of its own creation in the time zone of the company, by payment method, channel and branch. "+
			"It fails with 400 for more than 366 days or 10 000 rows, with 409 REPORT_AMOUNT_OUT_OF_RANGE if a sum is no amount any more, and with 503 QUERY_TOO_EXPENSIVE while days with very many sales are summed for the first time."))
	httpapi.ReadWith(ofBookings.On(api, s.db), "/reports/bookings", "reportBookings", "Sum bookings by day",
		s.Bookings, httpapi.Doc("Adds up bookings by the day on which they begin in the time zone of the company, and status. "+
			"It fails with 400 for more than 366 days or 10 000 rows, with 409 REPORT_AMOUNT_OUT_OF_RANGE if a sum is no amount any more, and with 503 QUERY_TOO_EXPENSIVE while days with very many bookings are summed for the first time."))
}
