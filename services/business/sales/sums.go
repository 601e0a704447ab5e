package sales

import (
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/dailytotals"
)

// What reports sum of documents: sales and refunds, their totals, the difference, and, less those of refunds, tax, discounts and redeemed
// points, and cost. Of lines they sum the same, and the quantity.
const (
	sqlSumsOfSales = `sum(CASE s.kind WHEN 'refund' THEN 0 ELSE 1 END)::BIGINT AS sales, sum(CASE s.kind WHEN 'refund' THEN 1 ELSE 0 END)::BIGINT AS refunds,
    sum(CASE s.kind WHEN 'refund' THEN 0 ELSE s.total END)::BIGINT AS sold, sum(CASE s.kind WHEN 'refund' THEN s.total ELSE 0 END)::BIGINT AS refunded,
    sum(CASE s.kind WHEN 'refund' THEN -s.tax_amount ELSE s.tax_amount END)::BIGINT AS tax,
    sum(CASE s.kind WHEN 'refund' THEN -s.discount_amount - s.redeemed_points ELSE s.discount_amount + s.redeemed_points END)::BIGINT AS discount,
    sum(CASE s.kind WHEN 'refund' THEN -s.cost ELSE s.cost END)::BIGINT AS cost, sum(CASE s.kind WHEN 'refund' THEN -s.costed ELSE s.costed END)::BIGINT AS costed
  FROM sales AS s `

	sqlOfSales = `sum(s.sales)::BIGINT, sum(s.refunds)::BIGINT, sum(s.sold)::BIGINT, sum(s.refunded)::BIGINT, sum(s.sold - s.refunded)::BIGINT, sum(s.tax)::BIGINT,
  sum(s.discount)::BIGINT, sum(s.cost)::BIGINT, sum(s.costed)::BIGINT, 0::BIGINT`

	sqlSumsOfLines = `sum(l.total)::BIGINT AS total, sum(l.tax_amount)::BIGINT AS tax, sum(l.discount_amount)::BIGINT AS discount, sum(COALESCE(l.cost, 0))::BIGINT AS cost,
    sum(CASE WHEN l.cost IS NULL THEN 0 ELSE l.total - l.tax_amount END)::BIGINT AS costed, (sum(l.qty) * 1000)::BIGINT AS qty
  FROM sales AS s JOIN sale_lines AS l ON l.company_id = s.company_id AND l.sale_id = s.id `

	sqlInPeriod = `WHERE s.company_id = $1 AND s.sold_at >= $2 AND s.sold_at < $3 GROUP BY `

	sqlOfLines = `sum(CASE t.kind WHEN 'refund' THEN 0 ELSE 1 END)::BIGINT,
  sum(CASE t.kind WHEN 'refund' THEN 1 ELSE 0 END)::BIGINT, sum(CASE t.kind WHEN 'refund' THEN 0 ELSE t.total END)::BIGINT,
  sum(CASE t.kind WHEN 'refund' THEN t.total ELSE 0 END)::BIGINT, sum(CASE t.kind WHEN 'refund' THEN -t.total ELSE t.total END)::BIGINT,
  sum(CASE t.kind WHEN 'refund' THEN -t.tax ELSE t.tax END)::BIGINT, sum(CASE t.kind WHEN 'refund' THEN -t.discount ELSE t.discount END)::BIGINT,
  sum(CASE t.kind WHEN 'refund' THEN -t.cost ELSE t.cost END)::BIGINT, sum(CASE t.kind WHEN 'refund' THEN -t.costed ELSE t.costed END)::BIGINT,
  sum(CASE t.kind WHEN 'refund' THEN -t.qty ELSE t.qty END)::BIGINT`
)

// A channel is free text, of which every sale could have another: those of the directory are told apart, from the time on that they are in
// it, so that the sums of a day stay as they are.
const (
	sqlChannel      = `CASE WHEN s.channel IN ('pos', 'qr_menu', 'storefront', 'manual', 'public_link', 'phone') OR c.code IS NOT NULL THEN s.channel ELSE 'other' END AS channel`
	sqlJoinChannels = `LEFT JOIN channels AS c ON c.company_id = s.company_id AND c.code = s.channel AND c.created_at <= s.sold_at `
)

const sqlSumSales = `SELECT s.payment_method, s.channel, COALESCE(h.branch_id::TEXT, ''), ` + sqlOfSales + `
FROM (
  SELECT s.shift_id, s.payment_method, ` + sqlChannel + `,
    ` + sqlSumsOfSales + sqlJoinChannels + sqlInPeriod + `1, 2, 3
) AS s JOIN shifts AS h ON h.company_id = $1 AND h.id = s.shift_id
GROUP BY s.payment_method, s.channel, h.branch_id`

const sqlSumTills = `SELECT COALESCE(h.branch_id::TEXT, ''), h.id::TEXT, s.cashier_id::TEXT, ` + sqlOfSales + `
FROM (SELECT s.shift_id, s.cashier_id, ` + sqlSumsOfSales + sqlInPeriod + `1, 2) AS s JOIN shifts AS h ON h.company_id = $1 AND h.id = s.shift_id
GROUP BY h.branch_id, h.id, s.cashier_id`

// Hours of all time zones begin with a quarter of an hour of UTC.
const sqlSumHours = `SELECT COALESCE(h.branch_id::TEXT, ''), s.quarter::TEXT, ` + sqlOfSales + `
FROM (SELECT s.shift_id, floor(CAST(extract(epoch FROM s.sold_at) AS DECIMAL) / 900)::BIGINT AS quarter, ` + sqlSumsOfSales + sqlInPeriod + `1, 2) AS s JOIN shifts AS h ON h.company_id = $1 AND h.id = s.shift_id
GROUP BY h.branch_id, s.quarter`

// The same of the lines with one tax rate.
const sqlSumTaxes = `SELECT t.payment_method, t.channel, COALESCE(h.branch_id::TEXT, ''), t.rate, ` + sqlOfLines + `
FROM (
  SELECT s.shift_id, s.payment_method, ` + sqlChannel + `, s.kind,
    COALESCE(l.tax_rate_id::TEXT || ' ' || l.tax_rate_bp::TEXT, '') AS rate, ` + sqlSumsOfLines + sqlJoinChannels + sqlInPeriod + `
  s.id, s.shift_id, s.payment_method, s.channel, c.code, s.kind, l.tax_rate_id, l.tax_rate_bp
) AS t JOIN shifts AS h ON h.company_id = $1 AND h.id = t.shift_id
GROUP BY t.payment_method, t.channel, h.branch_id, t.rate`

// The same of the lines with one item of the catalog, and of those without one.
const sqlSumItems = `SELECT COALESCE(h.branch_id::TEXT, ''), t.item, ` + sqlOfLines + `
FROM (
  SELECT s.shift_id, s.kind, COALESCE(l.kind || ' ' || l.ref_id::TEXT, '') AS item, ` + sqlSumsOfLines + sqlInPeriod + `
  s.id, s.shift_id, s.kind, l.kind, l.ref_id
) AS t JOIN shifts AS h ON h.company_id = $1 AND h.id = t.shift_id
GROUP BY h.branch_id, t.item`

// What a sale by one method was paid is its total, so only the payments of mixed sales have to be read.
const sqlSumPayments = `SELECT p.method, sum(CASE WHEN p.amount > 0 THEN 1 ELSE 0 END)::BIGINT, sum(CASE WHEN p.amount < 0 THEN 1 ELSE 0 END)::BIGINT,
  sum(CASE WHEN p.amount > 0 THEN p.amount ELSE 0 END)::BIGINT, sum(CASE WHEN p.amount < 0 THEN -p.amount ELSE 0 END)::BIGINT, sum(p.amount)::BIGINT
FROM (
  SELECT payment_method AS method, CASE kind WHEN 'refund' THEN -total ELSE total END AS amount FROM sales
  WHERE company_id = $1 AND sold_at >= $2 AND sold_at < $3 AND payment_method <> 'mixed' AND total > 0
  UNION ALL
  SELECT m.payment_method, sum(CASE s.kind WHEN 'refund' THEN -m.amount ELSE m.amount END)::BIGINT
  FROM sales AS s JOIN sale_payments AS m ON m.company_id = s.company_id AND m.sale_id = s.id
  WHERE s.company_id = $1 AND s.sold_at >= $2 AND s.sold_at < $3 AND s.payment_method = 'mixed' GROUP BY s.id, m.payment_method
) AS p GROUP BY p.method`

var (
	// Sums adds up sales and refunds by their own day, payment method, channel and branch: how many sales and refunds, their
	// totals, the difference, and the tax, the discounts with redeemed points, the known cost and the net revenue that this belongs to.
	Sums = dailytotals.Report{Name: "sales", Form: 4, Keys: 3, Amounts: 10, SQL: sqlSumSales}

	// TillSums adds up the same by branch, shift and cashier.
	TillSums = dailytotals.Report{Name: "sale_tills", Counter: "sales", Form: 1, Keys: 3, Amounts: 10, SQL: sqlSumTills}

	// HourSums adds up the same by branch and the quarter of an hour, as its number since 1970.
	HourSums = dailytotals.Report{Name: "sale_hours", Counter: "sales", Form: 1, Keys: 2, Amounts: 10, SQL: sqlSumHours}

	// TaxSums adds up what [Sums] does of the lines of sales and refunds, and their quantity in thousandths, also by tax rate: its id and its
	// basis points, or "" of lines without one.
	TaxSums = dailytotals.Report{Name: "sale_taxes", Counter: "sales", Form: 3, Keys: 4, Amounts: 10, SQL: sqlSumTaxes}

	// ItemSums adds up the same by branch and item: its kind and id, or "" of lines without one.
	ItemSums = dailytotals.Report{Name: "sale_items", Counter: "sales", Form: 1, Keys: 2, Amounts: 10, SQL: sqlSumItems}

	// PaymentSums adds up what was paid of sales and refunds, by their day and the method: how many sales and refunds were paid
	// by it, also in part, the totals of both, and the difference.
	PaymentSums = dailytotals.Report{Name: "sale_payments", Counter: "sales", Form: 2, Keys: 1, Amounts: 5, SQL: sqlSumPayments}
)

// countSummed counts a new sale or refund in what reports sum: later changes leave that as it is.
func countSummed(tx *db.Tx, before, after *Sale) {
	if before == nil {
		Sums.Changed(tx, after.CompanyID, after.SoldAt.Std())
	}
}
