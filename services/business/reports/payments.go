package reports

import (
	"context"
	"slices"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/services/business/daysum"
)

// ofPayments has none: the report checks those of the origins that it is asked for.
var ofPayments = httpapi.Group{Tag: tag}

// PaymentsQuery asks for the report of payments.
type PaymentsQuery struct {
	Days
	GroupBy []string `query:"groupBy" enum:"day,method,origin" doc:"comma-separated; default day"`
	Origin  string   `query:"origin" enum:"order,sale" doc:"only payments of orders, or of sales; default both, which needs the scopes orders:read and sales:read"`
}

// PaymentsReport adds up the money that came in and went back: payments of orders and their refunds by the day of paidAt, and those
// of sales and their refunds by the day of their creation.
type PaymentsReport struct {
	Frame
	Rows   []PaymentsRow `json:"rows" doc:"in the order of their day, method and origin; none for days without payments"`
	Totals PaymentSums   `json:"totals" doc:"of all rows"`
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

var (
	paymentDimensions = []string{"day", "method", "origin"}
	payments          = daysum.Report{Name: daysum.Payments, Form: 1, Keys: 2, Amounts: 5, SQL: sqlSumPayments}
)

// The keys of [payments].
const (
	keyMethod = 0
	keyOrigin = 1
)

// What a sale by one method was paid is its total, so only the payments of mixed sales have to be read.
const sqlSumPayments = `SELECT p.method, p.origin, sum(CASE WHEN p.amount > 0 THEN 1 ELSE 0 END)::BIGINT, sum(CASE WHEN p.amount < 0 THEN 1 ELSE 0 END)::BIGINT,
  sum(CASE WHEN p.amount > 0 THEN p.amount ELSE 0 END)::BIGINT, sum(CASE WHEN p.amount < 0 THEN -p.amount ELSE 0 END)::BIGINT, sum(p.amount)::BIGINT
FROM (
  SELECT method, 'order' AS origin, delta AS amount FROM order_payments WHERE company_id = $1 AND paid_at >= $2 AND paid_at < $3
  UNION ALL
  SELECT payment_method, 'sale', CASE kind WHEN 'refund' THEN -total ELSE total END FROM sales
  WHERE company_id = $1 AND created_at >= $2 AND created_at < $3 AND payment_method <> 'mixed' AND total > 0
  UNION ALL
  SELECT m.payment_method, 'sale', sum(CASE s.kind WHEN 'refund' THEN -m.amount ELSE m.amount END)::BIGINT
  FROM sales AS s JOIN sale_payments AS m ON m.company_id = s.company_id AND m.sale_id = s.id
  WHERE s.company_id = $1 AND s.created_at >= $2 AND s.created_at < $3 AND s.payment_method = 'mixed' GROUP BY s.id, m.payment_method
) AS p GROUP BY p.method, p.origin`

func paymentSums(v []int64) PaymentSums {
	return PaymentSums{PaymentsCount: v[0], RefundsCount: v[1], PaymentsTotal: money.Amount(v[2]), RefundsTotal: money.Amount(v[3]), NetTotal: money.Amount(v[4])}
}

// origins are where payments come from, with the group whose scope and component their report needs.
var origins = map[string]httpapi.Group{"order": ofOrders, "sale": ofSales}

// Payments returns the report of payments.
//
// Errors: 403 without the scope or the component of an origin, and those of [Service.Orders].
func (s *Service) Payments(ctx context.Context, by access.Caller, q PaymentsQuery) (PaymentsReport, error) {
	of := []string{"order", "sale"}
	if q.Origin != "" {
		of = []string{q.Origin}
	}
	for _, origin := range of {
		if err := admit(by, origins[origin]); err != nil {
			return PaymentsReport{}, err
		}
	}
	frame, t, err := s.read(ctx, by, payments, q.Days, paymentDimensions, q.GroupBy, func(g daysum.Group) bool { return slices.Contains(of, g.Keys[keyOrigin]) })
	if err != nil {
		return PaymentsReport{}, err
	}
	rows := rowsOf(t, func(r *row) PaymentsRow {
		return PaymentsRow{Row{r.day}, r.text(keyMethod), r.text(keyOrigin), paymentSums(r.amounts)}
	})
	return PaymentsReport{frame, rows, paymentSums(t.totals)}, nil
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

// Bytes is about how many bytes the answer takes.
func (r PaymentsReport) Bytes() int { return len(r.Rows) * rowBytes }
