package orders

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
)

// orderOf is an order of lines with the amounts.
func orderOf(amounts ...money.Amount) Order {
	var o Order
	for _, a := range amounts {
		o.Lines = append(o.Lines, Line{Line: lineitem.Line{Qty: money.Units(1), UnitPrice: a, Amount: a}})
	}
	return o
}

func TestPrices(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		amounts                 []money.Amount
		percent                 money.Percent // basis points
		delivery, prepaid       money.Amount
		wasPaid                 bool
		subtotal, discount, due money.Amount
		shares                  []money.Amount
		status, code            string
	}{
		"nothing":                    {amounts: []money.Amount{0}, shares: []money.Amount{0}, status: paid},
		"no discount":                {amounts: []money.Amount{1000, 500}, subtotal: 1500, due: 1500, shares: []money.Amount{0, 0}, status: unpaid},
		"half a unit is rounded up":  {amounts: []money.Amount{5}, percent: 1000, subtotal: 5, discount: 1, due: 4, shares: []money.Amount{1}, status: unpaid},
		"shares make the discount":   {amounts: []money.Amount{100, 100, 100}, percent: 333, subtotal: 300, discount: 10, due: 290, shares: []money.Amount{4, 3, 3}, status: unpaid},
		"free":                       {amounts: []money.Amount{700, 300}, percent: 10000, subtotal: 1000, discount: 1000, shares: []money.Amount{700, 300}, status: paid},
		"delivery is not discounted": {amounts: []money.Amount{1000}, percent: 5000, delivery: 300, subtotal: 1000, discount: 500, due: 800, shares: []money.Amount{500}, status: unpaid},
		"part is paid":               {amounts: []money.Amount{1000}, delivery: 300, prepaid: 1299, subtotal: 1000, due: 1, shares: []money.Amount{0}, status: partial},
		"all is paid":                {amounts: []money.Amount{1000}, delivery: 300, prepaid: 1300, subtotal: 1000, shares: []money.Amount{0}, status: paid},
		"paid back":                  {amounts: []money.Amount{1000}, wasPaid: true, subtotal: 1000, due: 1000, shares: []money.Amount{0}, status: refunded},
		"too much is paid":           {amounts: []money.Amount{1000}, prepaid: 1001, code: "ORDER_OVERPAID"},
		"discounted below payment":   {amounts: []money.Amount{1000}, percent: 5000, prepaid: 501, code: "ORDER_OVERPAID"},
		"out of range":               {amounts: []money.Amount{money.MaxAmount, 1}, code: "VALIDATION_ERROR"},
		"out of range by delivery":   {amounts: []money.Amount{money.MaxAmount}, delivery: 1, code: "VALIDATION_ERROR"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := orderOf(row.amounts...)
			o.DiscountPercent, o.DeliveryCost, o.PrepaidAmount, o.WasPaid = row.percent, row.delivery, row.prepaid, row.wasPaid
			meta := requireFault(t, row.code, o.price())
			if row.code == "ORDER_OVERPAID" {
				require.Equal(t, row.prepaid, meta["prepaidAmount"])
				require.Less(t, meta["payable"], row.prepaid)
			}
			if row.code != "" {
				return
			}
			o.Derive()
			require.Equal(t, row.subtotal, o.Subtotal)
			require.Equal(t, row.discount, o.DiscountAmount)
			require.Equal(t, row.subtotal-row.discount, o.Total)
			require.Equal(t, row.due, o.AmountDue)
			require.Equal(t, row.status, o.PaymentStatus)
			require.Equal(t, row.wasPaid || row.prepaid > 0, o.WasPaid, "a payment is remembered after it is paid back")
			for i, l := range o.Lines {
				require.Equal(t, row.shares[i], l.DiscountAmount, "line %d", i)
				require.Equal(t, l.Amount-l.DiscountAmount, l.Total, "line %d", i)
			}
		})
	}
}

func TestCreditLimits(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		limit, used, due money.Amount
		code             string
	}{
		{0, 1_000_000, 1_000_000, ""}, // no limit
		{1000, 0, 1000, ""},
		{1000, 0, 1001, "CREDIT_LIMIT_EXCEEDED"},
		{1000, 400, 600, ""},
		{1000, 400, 601, "CREDIT_LIMIT_EXCEEDED"},
		{1000, 1001, 0, "CREDIT_LIMIT_EXCEEDED"},
	} {
		meta := requireFault(t, row.code, (&Header{AmountDue: row.due}).checkLimit(row.limit, row.used), row)
		if row.code != "" {
			require.Equal(t, map[string]any{"creditLimit": row.limit, "used": row.used, "required": row.due}, meta)
		}
	}
}

func TestPaymentTerms(t *testing.T) {
	t.Parallel()
	at := time.Date(2028, 2, 28, 23, 30, 0, 0, time.UTC)
	require.Equal(t, "2028-02-28T23:30:00.000Z", dueAfter(at, 0).String())
	require.Equal(t, "2028-03-01T23:30:00.000Z", dueAfter(at, 2).String(), "a leap year")
}
