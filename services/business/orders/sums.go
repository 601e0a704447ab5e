package orders

import (
	"cmp"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/dailytotals"
)

// What reports sum of orders, and [Header.summed], are the same fields; what they sum of lines, and [Line.summed].
const sqlOfOrders = `count(*),
  sum(CASE status WHEN 'cancelled' THEN 1 ELSE 0 END)::BIGINT,
  sum(CASE status WHEN 'cancelled' THEN 0 ELSE total END)::BIGINT,
  sum(CASE status WHEN 'cancelled' THEN total ELSE 0 END)::BIGINT,
  sum(CASE status WHEN 'cancelled' THEN 0 ELSE discount_amount END)::BIGINT,
  sum(CASE status WHEN 'cancelled' THEN 0 ELSE delivery_cost END)::BIGINT,
  sum(CASE status WHEN 'cancelled' THEN 0 ELSE prepaid_amount END)::BIGINT,
  sum(CASE status WHEN 'cancelled' THEN 0 ELSE total + delivery_cost - returned_amount - prepaid_amount END)::BIGINT,
  sum(CASE status WHEN 'cancelled' THEN 0 ELSE tax_amount END)::BIGINT,
  sum(CASE status WHEN 'cancelled' THEN 0 ELSE returned_amount END)::BIGINT,
  sum(CASE status WHEN 'cancelled' THEN 0 ELSE returned_tax END)::BIGINT,
  sum(CASE status WHEN 'cancelled' THEN 0 ELSE cost END)::BIGINT,
  sum(CASE status WHEN 'cancelled' THEN 0 ELSE costed END)::BIGINT, 0::BIGINT
FROM orders WHERE company_id = $1 AND created_at >= $2 AND created_at < $3 GROUP BY `

const sqlSumOrders = `SELECT status, payment_status, COALESCE(channel, ''), ` + sqlOfOrders + `status, payment_status, channel`

// Hours of all time zones begin with a quarter of an hour of UTC.
const sqlSumHours = `SELECT COALESCE(warehouse_id::TEXT, ''), floor(CAST(extract(epoch FROM created_at) AS DECIMAL) / 900)::BIGINT::TEXT, ` + sqlOfOrders + `1, 2`

// The same of lines. What orders have besides their lines belongs to none.
const (
	sqlOfLines = `count(*),
  sum(CASE t.status WHEN 'cancelled' THEN 1 ELSE 0 END)::BIGINT,
  sum(CASE t.status WHEN 'cancelled' THEN 0 ELSE t.total END)::BIGINT,
  sum(CASE t.status WHEN 'cancelled' THEN t.total ELSE 0 END)::BIGINT,
  sum(CASE t.status WHEN 'cancelled' THEN 0 ELSE t.discount_amount END)::BIGINT,
  0::BIGINT, 0::BIGINT, 0::BIGINT,
  sum(CASE t.status WHEN 'cancelled' THEN 0 ELSE t.tax_amount END)::BIGINT,
  sum(CASE t.status WHEN 'cancelled' THEN 0 ELSE t.returned_amount END)::BIGINT,
  sum(CASE t.status WHEN 'cancelled' THEN 0 ELSE t.returned_tax END)::BIGINT,
  sum(CASE t.status WHEN 'cancelled' THEN 0 ELSE t.cost END)::BIGINT,
  sum(CASE t.status WHEN 'cancelled' THEN 0 ELSE t.costed END)::BIGINT,
  sum(CASE t.status WHEN 'cancelled' THEN 0 ELSE t.qty END)::BIGINT
FROM (`

	sqlSumsOfLines = `sum(l.total)::BIGINT AS total, sum(l.discount_amount)::BIGINT AS discount_amount, sum(l.tax_amount)::BIGINT AS tax_amount,
    sum(l.returned_amount)::BIGINT AS returned_amount, sum(l.returned_tax)::BIGINT AS returned_tax, sum(COALESCE(l.cost, 0))::BIGINT AS cost,
    sum(CASE WHEN l.cost IS NULL THEN 0 ELSE l.total - l.tax_amount - l.returned_amount + l.returned_tax END)::BIGINT AS costed,
    (sum(l.qty - l.returned_qty) * 1000)::BIGINT AS qty
  FROM orders AS o JOIN order_lines AS l ON l.company_id = o.company_id AND l.order_id = o.id
  WHERE o.company_id = $1 AND o.created_at >= $2 AND o.created_at < $3 GROUP BY `
)

// Of the lines with one tax rate.
const sqlSumTaxes = `SELECT t.status, t.payment_status, t.channel, t.tax, ` + sqlOfLines + `
  SELECT o.status, o.payment_status, COALESCE(o.channel, '') AS channel, COALESCE(l.tax_rate_id::TEXT || ' ' || l.tax_rate_bp::TEXT, '') AS tax,
    ` + sqlSumsOfLines + `o.id, o.status, o.payment_status, o.channel, l.tax_rate_id, l.tax_rate_bp
) AS t GROUP BY t.status, t.payment_status, t.channel, t.tax`

// Of the lines with one item of the catalog, and of those without one.
const sqlSumItems = `SELECT t.warehouse, t.item, ` + sqlOfLines + `
  SELECT o.status, COALESCE(o.warehouse_id::TEXT, '') AS warehouse, COALESCE(l.kind || ' ' || l.ref_id::TEXT, '') AS item,
    ` + sqlSumsOfLines + `o.id, o.status, o.warehouse_id, l.kind, l.ref_id
) AS t GROUP BY t.warehouse, t.item`

const sqlSumPayments = `SELECT method, sum(CASE WHEN delta > 0 THEN 1 ELSE 0 END)::BIGINT, sum(CASE WHEN delta < 0 THEN 1 ELSE 0 END)::BIGINT,
  sum(CASE WHEN delta > 0 THEN delta ELSE 0 END)::BIGINT, sum(CASE WHEN delta < 0 THEN -delta ELSE 0 END)::BIGINT, sum(delta)::BIGINT
FROM order_payments WHERE company_id = $1 AND paid_at >= $2 AND paid_at < $3 GROUP BY method`

var (
	// Sums adds up orders by the day of their creation, status, payment status and channel: how many there are and how many are cancelled; the
	// total of those that are not, and of those that are; and discount, cost of delivery, what is paid, what is due, tax, what returns took off, the tax in that, the known cost, and
	// the net revenue that this belongs to, of those that are not.
	Sums = dailytotals.Report{Name: "orders", Form: 5, Keys: 3, Amounts: 14, SQL: sqlSumOrders}

	// HourSums adds up the same by warehouse and the quarter of an hour, as its number since 1970.
	HourSums = dailytotals.Report{Name: "order_hours", Counter: "orders", Form: 1, Keys: 2, Amounts: 14, SQL: sqlSumHours}

	// TaxSums adds up what [Sums] does of the lines of orders, and the quantity in thousandths that has not come back, also by tax rate: its id and its basis points, or "" of lines without one. Cost
	// of delivery, what is paid and what is due are 0, and returns take off what they credit for the lines.
	TaxSums = dailytotals.Report{Name: "order_taxes", Counter: "order_lines", Form: 4, Keys: 4, Amounts: 14, SQL: sqlSumTaxes}

	// ItemSums adds up the same by warehouse and item: its kind and id, or "" of lines without one.
	ItemSums = dailytotals.Report{Name: "order_items", Counter: "order_lines", Form: 1, Keys: 2, Amounts: 14, SQL: sqlSumItems}

	// PaymentSums adds up payments by the day of paidAt and the method: how many payments and refunds, their totals, and the difference.
	PaymentSums = dailytotals.Report{Name: "order_payments", Form: 1, Keys: 1, Amounts: 5, SQL: sqlSumPayments}
)

// summed is what [Sums] and [HourSums] sum of an order.
type summed struct {
	status, paymentStatus, channel                     string
	warehouse                                          uuid.UUID
	total, discountAmount, deliveryCost, prepaidAmount money.Amount
	taxAmount, returnedAmount, returnedTax             money.Amount
	cost, costed                                       money.Amount
}

func (h *Header) summed() summed {
	return summed{
		h.Status, h.PaymentStatus, record.OrZero(h.Channel), record.OrZero(h.WarehouseID), h.Total, h.DiscountAmount, h.DeliveryCost, h.PrepaidAmount,
		h.TaxAmount, h.ReturnedAmount, h.ReturnedTax, h.Cost, h.Costed,
	}
}

// summedLine is what [TaxSums] and [ItemSums] sum of a line.
type summedLine struct {
	kind                                                    string
	ref, rate                                               uuid.UUID
	percent                                                 money.Percent
	taxed, costed                                           bool
	qty                                                     money.Qty
	total, discount, tax, returnedAmount, returnedTax, cost money.Amount
}

func (l *Line) summed() summedLine {
	return summedLine{
		l.Kind, record.OrZero(l.RefID), record.OrZero(l.TaxRateID), record.OrZero(l.TaxRate), l.TaxRate != nil, l.Cost != nil, l.Qty - l.ReturnedQty,
		l.Total, l.DiscountAmount, l.TaxAmount, l.ReturnedAmount, l.ReturnedTax, record.OrZero(l.Cost),
	}
}

// countSummed counts a change of what reports sum.
func countSummed(tx *db.Tx, before, after *Order) {
	of := cmp.Or(after, before)
	same := before != nil && after != nil && before.summed() == after.summed()
	if !same {
		Sums.Changed(tx, of.CompanyID, of.CreatedAt.Std())
	}
	if !same || !slices.EqualFunc(before.Lines, after.Lines, func(a, b Line) bool { return a.summed() == b.summed() }) {
		TaxSums.Changed(tx, of.CompanyID, of.CreatedAt.Std())
	}
}

// countPayment counts a new payment or refund in what reports sum: later changes leave that as it is.
func countPayment(tx *db.Tx, before, after *Payment) {
	if before == nil {
		PaymentSums.Changed(tx, after.CompanyID, after.PaidAt.Std())
	}
}
