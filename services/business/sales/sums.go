package sales

import (
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/dailytotals"
)

// A channel is free text, of which every sale could have another.
const sqlSumSales = `SELECT s.payment_method, s.channel, COALESCE(h.branch_id::TEXT, ''), sum(s.sales)::BIGINT, sum(s.refunds)::BIGINT, sum(s.sold)::BIGINT,
  sum(s.refunded)::BIGINT, sum(s.sold - s.refunded)::BIGINT
FROM (
  SELECT shift_id, payment_method, CASE WHEN channel IN ('pos', 'qr_menu', 'storefront') THEN channel ELSE 'other' END AS channel,
    sum(CASE kind WHEN 'refund' THEN 0 ELSE 1 END)::BIGINT AS sales, sum(CASE kind WHEN 'refund' THEN 1 ELSE 0 END)::BIGINT AS refunds,
    sum(CASE kind WHEN 'refund' THEN 0 ELSE total END)::BIGINT AS sold, sum(CASE kind WHEN 'refund' THEN total ELSE 0 END)::BIGINT AS refunded
  FROM sales WHERE company_id = $1 AND created_at >= $2 AND created_at < $3 GROUP BY 1, 2, 3
) AS s JOIN shifts AS h ON h.company_id = $1 AND h.id = s.shift_id
GROUP BY s.payment_method, s.channel, h.branch_id`

// What a sale by one method was paid is its total, so only the payments of mixed sales have to be read.
const sqlSumPayments = `SELECT p.method, sum(CASE WHEN p.amount > 0 THEN 1 ELSE 0 END)::BIGINT, sum(CASE WHEN p.amount < 0 THEN 1 ELSE 0 END)::BIGINT,
  sum(CASE WHEN p.amount > 0 THEN p.amount ELSE 0 END)::BIGINT, sum(CASE WHEN p.amount < 0 THEN -p.amount ELSE 0 END)::BIGINT, sum(p.amount)::BIGINT
FROM (
  SELECT payment_method AS method, CASE kind WHEN 'refund' THEN -total ELSE total END AS amount FROM sales
  WHERE company_id = $1 AND created_at >= $2 AND created_at < $3 AND payment_method <> 'mixed' AND total > 0
  UNION ALL
  SELECT m.payment_method, sum(CASE s.kind WHEN 'refund' THEN -m.amount ELSE m.amount END)::BIGINT
  FROM sales AS s JOIN sale_payments AS m ON m.company_id = s.company_id AND m.sale_id = s.id
  WHERE s.company_id = $1 AND s.created_at >= $2 AND s.created_at < $3 AND s.payment_method = 'mixed' GROUP BY s.id, m.payment_method
) AS p GROUP BY p.method`

var (
	// Sums adds up sales and refunds by the day of their own creation, payment method, channel and branch: how many sales and refunds, their
	// totals, and the difference.
	Sums = dailytotals.Report{Name: "sales", Form: 1, Keys: 3, Amounts: 5, SQL: sqlSumSales}

	// PaymentSums adds up what was paid of sales and refunds, by the day of their creation and the method: how many sales and refunds were paid
	// by it, also in part, the totals of both, and the difference.
	PaymentSums = dailytotals.Report{Name: "sale_payments", Form: 1, Keys: 1, Amounts: 5, SQL: sqlSumPayments}
)

// countSummed counts a new sale or refund in what reports sum: later changes leave that as it is.
func countSummed(tx *db.Tx, before, after *Sale) {
	if before == nil {
		Sums.Changed(tx, after.CompanyID, after.CreatedAt.Std())
		PaymentSums.Changed(tx, after.CompanyID, after.CreatedAt.Std())
	}
}
