package reports_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/orders"
	"github.com/tradegrid/tradegrid/services/business/sales"
)

var (
	sqlInsertOrderLine = db.Table("order_lines").Insert(`(company_id, order_id, id, sort_order, kind, name, qty, unit_price, amount, discount_amount, tax_rate_id, tax_rate_bp,
  tax_amount, total, reserved_qty, shipped_qty, modifiers, stock) VALUES ($1, $2, $3, 0, 'custom', 'x', 1, $4::BIGINT + 5, $4::BIGINT + 5, 5, $5, $6, $7, $4, 0, 0, '[]', '[]')`)
	sqlInsertSaleLine = db.Table("sale_lines").Insert(`(company_id, sale_id, id, sort_order, kind, name, qty, unit_price, amount, discount_amount, tax_rate_id, tax_rate_bp,
  tax_amount, total, modifiers, stock) SELECT $1, id, $2, 0, 'custom', 'x', 1, $3::BIGINT, $3, 0, $4, $5, $6, $3, '[]', '[]' FROM sales WHERE company_id = $1 AND number = $7`).Reading("sales")
	sqlSetTax     = db.Table("orders").Update(`SET tax_amount = $3, version = version + 1, updated_at = now() WHERE company_id = $1 AND id = $2`)
	sqlSetSaleTax = db.Table("sales").Update(`SET tax_amount = $3, version = version + 1, updated_at = now() WHERE company_id = $1 AND number = $2`)
)

// taxed is a line of a document.
type taxed struct {
	rate       *uuid.UUID
	bp         any
	total, tax int64
}

func (k *kit) lineOf(o order, l taxed) {
	k.tx(func(_ context.Context, tx *db.Tx) error {
		tx.Queue(sqlInsertOrderLine, k.company(), o.id, uuid.New(), l.total, l.rate, l.bp, l.tax)
		orders.TaxSums.Changed(tx, k.company(), o.at)
		return nil
	})
}

func TestOrdersByTax(t *testing.T) {
	t.Parallel()
	k := open(t).in("Europe/Berlin")
	day := at(t, "2025-07-01T10:00:00Z")
	standard := uuid.New()
	first := k.add(day, func(o *order) { o.total = 360 })
	for _, l := range []taxed{{&standard, 2000, 120, 20}, {&standard, 2000, 120, 20}, {&standard, 1900, 119, 19}, {nil, nil, 1, 0}} {
		k.lineOf(first, l)
	}
	gone := k.add(day, func(o *order) { o.total, o.status = 120, "cancelled" })
	k.lineOf(gone, taxed{&standard, 2000, 120, 20})
	k.tx(func(_ context.Context, tx *db.Tx) error {
		tx.Queue(sqlSetTax, k.company(), first.id, int64(59))
		tx.Queue(sqlSetTax, k.company(), gone.id, int64(20))
		orders.Sums.Changed(tx, k.company(), day)
		return nil
	})
	days := "from=2025-07-01&to=2025-07-01"
	fields := []string{"taxRateId", "taxRate", "ordersCount", "cancelledCount", "total", "cancelledTotal", "discountAmount", "taxAmount"}
	for range 2 {
		r := k.read("orders?groupBy=tax&" + days)
		require.Equal(t, []string{"- - 1 0 1 0 5 0", standard.String() + " 19 1 0 119 0 5 19", standard.String() + " 20 2 1 240 120 10 40"}, r.lines(fields...))
		require.Equal(t, []string{"- - 2 1 360 120 0 59"}, k.read("orders?"+days).lines(fields...))
	}
	require.Equal(t, 1, k.kept(orders.TaxSums))
	k.lineOf(first, taxed{nil, nil, 7, 0})
	require.Equal(t, "- - 1 0 8 0 10 0", k.read("orders?groupBy=tax&" + days).lines(fields...)[0], "a change of a day that is kept")
}

func TestSalesByTax(t *testing.T) {
	t.Parallel()
	k := open(t).in("Europe/Berlin")
	shift, rate, day := k.shift(nil), uuid.New(), at(t, "2025-07-01T10:00:00Z")
	line := func(kind string, lines ...taxed) {
		var total, tax int64
		for _, l := range lines {
			total, tax = total+l.total, tax+l.tax
		}
		k.sale(shift, kind, nil, day, paid{"cash", total})
		k.tx(func(_ context.Context, tx *db.Tx) error {
			tx.Queue(sqlSetSaleTax, k.company(), k.number, tax)
			for _, l := range lines {
				tx.Queue(sqlInsertSaleLine, k.company(), uuid.New(), l.total, l.rate, l.bp, l.tax, k.number)
			}
			sales.Sums.Changed(tx, k.company(), day)
			sales.TaxSums.Changed(tx, k.company(), day)
			return nil
		})
	}
	line("sale", taxed{&rate, 700, 107, 7}, taxed{&rate, 700, 107, 7}, taxed{nil, nil, 50, 0})
	line("refund", taxed{&rate, 700, 107, 7})
	fields := []string{"day", "taxRateId", "taxRate", "salesCount", "refundsCount", "salesTotal", "refundsTotal", "netTotal", "taxAmount"}
	days := "from=2025-07-01&to=" + day.Add(24*time.Hour).Format(time.DateOnly)
	for range 2 {
		require.Equal(t, []string{"2025-07-01 - - 1 0 50 0 50 0", "2025-07-01 " + rate.String() + " 7 1 1 214 107 107 7"}, k.read("sales?groupBy=day,tax&"+days).lines(fields...))
		require.Equal(t, []string{"2025-07-01 - - 1 1 264 107 157 7"}, k.read("sales?"+days).lines(fields...))
	}
}
