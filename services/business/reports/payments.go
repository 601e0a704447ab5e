package reports

import (
	"context"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/services/business/dailytotals"
)

// ofPayments has none: the report checks those of the origins that it is asked for.
var ofPayments = httpapi.Group{Tag: tag}

// PaymentsQuery asks for the report of payments.
type PaymentsQuery struct {
	Days
	GroupBy []string `query:"groupBy" enum:"day,method,origin" doc:"comma-separated; default day"`
	Origin  string   `query:"origin" enum:"order,sale" doc:"only payments of orders, or of sales; default both, which needs the scopes orders:read and sales:read"`
}

// Reveals implements [httpapi.Revealing].
func (q PaymentsQuery) Reveals(access.Caller) []string {
	if q.Origin == "" {
		return []string{ofOrders.Scope, ofSales.Scope}
	}
	return []string{q.Origin + "s"}
}

// PaymentsReport adds up the money that came in and went back: payments of orders and their refunds by the day of paidAt, and those
// of sales and their refunds by the day of soldAt.
type PaymentsReport struct {
	Report[PaymentsRow, PaymentSums]
}

// PaymentsRow adds up payments.
type PaymentsRow struct {
	Row
	Method *string `json:"method" doc:"cash, card, sbp, transfer, other, or unspecified for those recorded by setting prepaidAmount of an order; null without groupBy=method"`
	Origin *string `json:"origin" doc:"order or sale; null without groupBy=origin"`
	PaymentSums
}

// PaymentSums are sums of payments and refunds.
type PaymentSums struct {
	PaymentsCount int64        `json:"paymentsCount" doc:"payments of orders, and sales that were paid by the method, also in part"`
	RefundsCount  int64        `json:"refundsCount" doc:"refunds of payments of orders, and refunds of sales by the method, also in part"`
	PaymentsTotal money.Amount `json:"paymentsTotal" doc:"without what was refunded later"`
	RefundsTotal  money.Amount `json:"refundsTotal" doc:"not negative"`
	NetTotal      money.Amount `json:"netTotal" doc:"paymentsTotal - refundsTotal"`
}

var paymentDimensions = []string{"day", "method", "origin"}

// The keys of payments.
const (
	keyMethod = 0
	keyOrigin = 1
)

func paymentSums(v []int64) PaymentSums {
	return PaymentSums{PaymentsCount: v[0], RefundsCount: v[1], PaymentsTotal: money.Amount(v[2]), RefundsTotal: money.Amount(v[3]), NetTotal: money.Amount(v[4])}
}

// origin is where payments come from.
type origin struct {
	name   string
	group  httpapi.Group // whose scope and component the report needs
	report *dailytotals.Report
}

func (s *Service) origins() []origin {
	return []origin{{"order", ofOrders, s.cfg.OrderPayments}, {"sale", ofSales, s.cfg.SalePayments}}
}

// Payments returns the report of payments.
//
// Errors: 403 without the scope or the component of an origin, and those of [Service.Orders].
func (s *Service) Payments(ctx context.Context, by access.Caller, q PaymentsQuery) (PaymentsReport, error) {
	var of []source
	for _, o := range s.origins() {
		if q.Origin != "" && q.Origin != o.name {
			continue
		}
		if err := admit(by, o.group); err != nil {
			return PaymentsReport{}, err
		}
		of = append(of, source{report: o.report, of: paymentDimensions[1:], keys: []string{o.name}})
	}
	r, err := compare(q.Days, func(days Days) (Frame, Sums[PaymentsRow, PaymentSums], error) {
		frame, t, err := s.read(ctx, by, days, paymentDimensions, q.GroupBy, of...)
		if err != nil {
			return frame, Sums[PaymentsRow, PaymentSums]{}, err
		}
		rows := rowsOf(t, func(r *row) PaymentsRow {
			return PaymentsRow{Row{r.day}, r.text(keyMethod), r.text(keyOrigin), paymentSums(r.amounts)}
		})
		return frame, Sums[PaymentsRow, PaymentSums]{rows, paymentSums(t.totals)}, nil
	})
	return PaymentsReport{r}, err
}

// admit returns the 403 for a caller who may not read the records of a group.
func admit(by access.Caller, g httpapi.Group) error {
	switch {
	case !by.Allows(g.Scope, false):
		return access.ScopeMissing(g.Scope + ":read")
	case !by.Has(g.Component):
		return httpapi.ComponentInactive(g.Component)
	}
	return nil
}
