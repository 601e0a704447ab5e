package orders

import (
	"cmp"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/dailytotals"
)

// What a report of orders sums, and [Header.summed], are the same fields.
const sqlSumOrders = `SELECT status, payment_status, COALESCE(channel, ''), count(*),
  sum(CASE status WHEN 'cancelled' THEN 1 ELSE 0 END)::BIGINT,
  sum(CASE status WHEN 'cancelled' THEN 0 ELSE total END)::BIGINT,
  sum(CASE status WHEN 'cancelled' THEN total ELSE 0 END)::BIGINT,
  sum(CASE status WHEN 'cancelled' THEN 0 ELSE discount_amount END)::BIGINT,
  sum(CASE status WHEN 'cancelled' THEN 0 ELSE delivery_cost END)::BIGINT,
  sum(CASE status WHEN 'cancelled' THEN 0 ELSE prepaid_amount END)::BIGINT,
  sum(CASE status WHEN 'cancelled' THEN 0 ELSE total + delivery_cost - prepaid_amount END)::BIGINT
FROM orders WHERE company_id = $1 AND created_at >= $2 AND created_at < $3 GROUP BY status, payment_status, channel`

const sqlSumPayments = `SELECT method, sum(CASE WHEN delta > 0 THEN 1 ELSE 0 END)::BIGINT, sum(CASE WHEN delta < 0 THEN 1 ELSE 0 END)::BIGINT,
  sum(CASE WHEN delta > 0 THEN delta ELSE 0 END)::BIGINT, sum(CASE WHEN delta < 0 THEN -delta ELSE 0 END)::BIGINT, sum(delta)::BIGINT
FROM order_payments WHERE company_id = $1 AND paid_at >= $2 AND paid_at < $3 GROUP BY method`

var (
	// Sums adds up orders by the day of their creation, status, payment status and channel: how many there are and how many are cancelled; the
	// total of those that are not, and of those that are; and discount, cost of delivery, what is paid and what is due of those that are not.
	Sums = dailytotals.Report{Name: "orders", Form: 1, Keys: 3, Amounts: 8, SQL: sqlSumOrders}

	// PaymentSums adds up payments by the day of paidAt and the method: how many payments and refunds, their totals, and the difference.
	PaymentSums = dailytotals.Report{Name: "order_payments", Form: 1, Keys: 1, Amounts: 5, SQL: sqlSumPayments}
)

// summed is what [Sums] sums of an order.
type summed struct {
	status, paymentStatus, channel                     string
	total, discountAmount, deliveryCost, prepaidAmount money.Amount
}

func (h *Header) summed() summed {
	return summed{h.Status, h.PaymentStatus, record.OrZero(h.Channel), h.Total, h.DiscountAmount, h.DeliveryCost, h.PrepaidAmount}
}

// countSummed counts a change of what reports sum.
func countSummed(tx *db.Tx, before, after *Order) {
	if before == nil || after == nil || before.summed() != after.summed() {
		of := cmp.Or(after, before)
		Sums.Changed(tx, of.CompanyID, of.CreatedAt.Std())
	}
}

// countPayment counts a new payment or refund in what reports sum: later changes leave that as it is.
func countPayment(tx *db.Tx, before, after *Payment) {
	if before == nil {
		PaymentSums.Changed(tx, after.CompanyID, after.PaidAt.Std())
	}
}
