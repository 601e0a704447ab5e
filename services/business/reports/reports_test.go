package reports_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/services/business/dailytotals"
	"github.com/tradegrid/tradegrid/services/business/orders"
	"github.com/tradegrid/tradegrid/services/business/sales"
	"github.com/tradegrid/tradegrid/services/business/scheduling"
)

var (
	sqlInsertShift = db.Table("shifts").Insert(`(company_id, id, number, status, branch_id, opened_at, opened_by_id, opening_cash, sales_count, refunds_count, sales_total, refunds_total, cash_total,
  card_total, sbp_total, version, ev_pos, created_at, updated_at) VALUES ($1, $2, $3, 'closed', $4, now(), $2, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, now(), now())`)
	sqlInsertSale = db.Table("sales").Insert(`(company_id, id, shift_id, number, kind, subtotal, discount_percent_bp, discount_amount, total, redeemed_points, earned_points, payment_method, cashier_id, created_by_id,
  channel, lines_count, search_text, version, ev_pos, sold_at, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, 0, 0, $6, 0, 0, $7, $2, $2, $8, 1, '', 1, 1, $9, now(), now())`)
	sqlInsertSalePayment  = db.Table("sale_payments").Insert(`(company_id, sale_id, id, sort_order, payment_method, amount, created_at) VALUES ($1, $2, $3, 0, $4, $5, $6)`)
	sqlInsertOrderPayment = db.Table("order_payments").Insert(`(company_id, order_id, id, delta, method, paid_at, created_at) VALUES ($1, $2, $2, $3, $4, $5, now())`)
	sqlInsertBooking      = db.Table("bookings").Insert(`(company_id, id, number, resource_id, customer_name, customer_phone, start_at, duration_minutes, resource_name, end_at, status, price, source, search_text,
  version, ev_pos, created_at, updated_at) VALUES ($1, $2, $3, $2, 'Bo', '1', $4, $5, 'Ann', $6, $7, $8, 'api', '', 1, 1, now(), now())`)
	sqlMoveBooking = db.Table("bookings").Update(`SET start_at = $3, end_at = $4, status = $5, updated_at = now() WHERE company_id = $1 AND id = $2`)
)

func (k *kit) shift(branch *uuid.UUID) uuid.UUID {
	k.t.Helper()
	id := uuid.New()
	k.number++
	k.tx(func(_ context.Context, tx *db.Tx) error {
		tx.Queue(sqlInsertShift, k.company(), id, k.number, branch)
		return nil
	})
	return id
}

// paid is what was paid of a sale by one method.
type paid struct {
	method string
	amount int64
}

// sale stores a sale or refund.
func (k *kit) sale(shift uuid.UUID, kind string, channel *string, at time.Time, payments ...paid) {
	k.t.Helper()
	id, total, method := uuid.New(), int64(0), "cash"
	for i, p := range payments {
		total += p.amount
		if method = p.method; i > 0 {
			method = "mixed"
		}
	}
	k.number++
	k.tx(func(_ context.Context, tx *db.Tx) error {
		tx.Queue(sqlInsertSale, k.company(), id, shift, k.number, kind, total, method, channel, at)
		for _, p := range payments {
			tx.Queue(sqlInsertSalePayment, k.company(), id, uuid.New(), p.method, p.amount, at)
		}
		sales.Sums.Changed(tx, k.company(), at)
		sales.PaymentSums.Changed(tx, k.company(), at)
		return nil
	})
}

func (k *kit) pay(method string, delta int64, at time.Time) {
	k.t.Helper()
	k.tx(func(_ context.Context, tx *db.Tx) error {
		tx.Queue(sqlInsertOrderPayment, k.company(), uuid.New(), delta, method, at)
		orders.PaymentSums.Changed(tx, k.company(), at)
		return nil
	})
}

func TestSalesByDay(t *testing.T) {
	t.Parallel()
	k := open(t).in("America/New_York")
	north := uuid.New()
	main, branch := k.shift(nil), k.shift(&north)
	k.sale(main, "sale", new("pos"), at(t, "2025-07-01T04:00:00Z"), paid{"cash", 500})
	k.sale(main, "sale", new("Kiosk 7"), at(t, "2025-07-02T03:59:59.999999Z"), paid{"cash", 300}, paid{"card", 200})
	k.sale(branch, "refund", nil, at(t, "2025-07-02T04:00:00Z"), paid{"cash", 120})
	k.sale(branch, "sale", new("qr_menu"), at(t, "2025-07-02T04:00:00Z"))
	for range 2 {
		r := k.read("sales?from=2025-07-01&to=2025-07-02")
		require.Equal(t, []string{"2025-07-01 - - - 2 0 1000 0 1000", "2025-07-02 - - - 1 1 0 120 -120"},
			r.lines("day", "method", "channel", "branchId", "salesCount", "refundsCount", "salesTotal", "refundsTotal", "netTotal"))
		require.Equal(t, map[string]any{"salesCount": 3.0, "refundsCount": 1.0, "salesTotal": 1000.0, "refundsTotal": 120.0, "netTotal": 880.0, "taxAmount": 0.0, "discountAmount": 0.0, "qty": nil, "costedAmount": nil, "cost": nil, "margin": nil, "marginPercent": nil}, r.Totals)
		require.Equal(t, []string{"- cash other " + north.String() + " 0 1 -120", "- cash pos - 1 0 500", "- cash qr_menu " + north.String() + " 1 0 0", "- mixed other - 1 0 500"},
			k.read("sales?groupBy=branch,channel,method&from=2025-07-01&to=2025-07-02").lines("day", "method", "channel", "branchId", "salesCount", "refundsCount", "netTotal"))
	}
	require.Equal(t, 2, k.kept(sales.Sums))
}

func TestPaymentsByDay(t *testing.T) {
	t.Parallel()
	k := open(t).in("Australia/Sydney")
	shift, noon := k.shift(nil), at(t, "2025-10-05T02:00:00Z")
	k.sale(shift, "sale", nil, noon, paid{"cash", 500})
	k.sale(shift, "sale", nil, noon, paid{"cash", 300}, paid{"cash", 50}, paid{"card", 200})
	k.sale(shift, "sale", nil, noon)
	k.sale(shift, "refund", nil, noon, paid{"sbp", 70})
	k.pay("transfer", 900, at(t, "2025-10-04T14:00:00Z"))
	k.pay("unspecified", 10, at(t, "2025-10-04T13:59:59.999999Z"))
	k.pay("cash", -400, at(t, "2025-10-05T12:59:59.999999Z"))
	k.pay("cash", 1, at(t, "2025-10-05T13:00:00Z"))
	fields := []string{"day", "method", "origin", "paymentsCount", "refundsCount", "paymentsTotal", "refundsTotal", "netTotal"}
	for range 2 {
		r := k.read("payments?from=2025-10-05&to=2025-10-05&groupBy=day,method,origin")
		require.Equal(t, []string{
			"2025-10-05 card sale 1 0 200 0 200", "2025-10-05 cash order 0 1 0 400 -400", "2025-10-05 cash sale 2 0 850 0 850", "2025-10-05 sbp sale 0 1 0 70 -70",
			"2025-10-05 transfer order 1 0 900 0 900",
		}, r.lines(fields...))
		require.Equal(t, map[string]any{"paymentsCount": 4.0, "refundsCount": 2.0, "paymentsTotal": 1950.0, "refundsTotal": 470.0, "netTotal": 1480.0}, r.Totals)
	}
	require.Equal(t, []string{"2025-10-04 - - 1 0 10 0 10", "2025-10-05 - - 1 1 900 400 500", "2025-10-06 - - 1 0 1 0 1"},
		k.read("payments?from=2025-10-04&to=2025-10-06&origin=order").lines(fields...))
	require.Equal(t, []string{"- cash - 2 0 850 0 850"}, k.read("payments?from=2025-10-05&to=2025-10-05&origin=sale&groupBy=method").lines(fields...)[1:2])

	k.pay("cash", 5, noon) // of a day that is kept
	require.Equal(t, []string{"2025-10-05 - - 2 1 905 400 505"}, k.read("payments?from=2025-10-05&to=2025-10-05&origin=order").lines(fields...))
}

// A token sees the payments of what it may read, and has to say so if that is not all.
func TestPaymentsNeedTheRightsOfTheirOrigins(t *testing.T) {
	t.Parallel()
	k := open(t)
	path := "/reports/payments?from=2025-10-05&to=2025-10-05"
	till := k.server.Caller(k.company(), func(p *access.Principal) { p.Scopes = apitest.Scopes("sales:read") })
	require.Equal(t, []any{"orders:read"}, till.Do(t, "GET", path, nil).Fault(403, "AUTH_API_SCOPE_INSUFFICIENT")["meta"].(map[string]any)["scopes"])
	till.Do(t, "GET", path+"&origin=order", nil).Fault(403, "AUTH_API_SCOPE_INSUFFICIENT")
	till.Do(t, "GET", path+"&origin=sale", nil).OK(200)
	shop := k.server.Caller(k.company(), func(p *access.Principal) { p.Components = apitest.Registry().With("orders") })
	require.Equal(t, "cashier", shop.Do(t, "GET", path, nil).Fault(403, "MODULE_ACCESS_INACTIVE")["meta"].(map[string]any)["alias"])
	shop.Do(t, "GET", path+"&origin=order", nil).OK(200)
}

func TestBookingsByDay(t *testing.T) {
	t.Parallel()
	k := open(t).in("Europe/Berlin")
	booking := func(start time.Time, minutes int64, status string, price any) uuid.UUID {
		id := uuid.New()
		k.number++
		k.tx(func(_ context.Context, tx *db.Tx) error {
			tx.Queue(sqlInsertBooking, k.company(), id, k.number, start, minutes, start.Add(time.Duration(minutes)*time.Minute), status, price)
			scheduling.Sums.Changed(tx, k.company(), start)
			return nil
		})
		return id
	}
	first, second := at(t, "2025-03-29T23:30:00Z"), at(t, "2025-03-30T22:00:00Z")
	id := booking(first, 30, "completed", int64(2500))
	booking(first, 45, "pending", nil)
	booking(first, 60, "cancelled", int64(100))
	booking(first, 60, "no_show", int64(200))
	later := time.Now().UTC().AddDate(0, 0, 40)
	booking(later, 15, "confirmed", int64(300))
	fields := []string{"day", "status", "bookingsCount", "cancelledCount", "noShowCount", "total", "durationMinutes"}
	for range 2 {
		require.Equal(t, []string{"2025-03-30 - 4 1 1 2500 75"}, k.read("bookings?from=2025-03-29&to=2025-03-31").lines(fields...))
	}
	require.Equal(t, []string{"- confirmed 1 0 0 300 15"}, k.read("bookings?groupBy=status&from="+later.AddDate(0, 0, -1).Format(time.DateOnly)+"&to="+later.AddDate(0, 0, 1).Format(time.DateOnly)).lines(fields...))
	require.Equal(t, 3, k.kept(scheduling.Sums), "days to come are not kept")

	k.tx(func(_ context.Context, tx *db.Tx) error {
		tx.Queue(sqlMoveBooking, k.company(), id, second, second.Add(time.Hour), "completed")
		scheduling.Sums.Changed(tx, k.company(), first, second)
		return nil
	})
	require.Equal(t, []string{"2025-03-30 - 3 1 1 0 45", "2025-03-31 - 1 0 0 2500 30"}, k.read("bookings?from=2025-03-29&to=2025-03-31").lines(fields...))
}

func TestBadReports(t *testing.T) {
	t.Parallel()
	k := open(t)
	for query, want := range map[string]map[string]string{
		"":                                              {"from": "REQUIRED", "to": "REQUIRED"},
		"?from=2025-01-01&to=yesterday":                 {"to": "FORMAT"},
		"?from=2025-01-02&to=2025-01-01":                {"from": "CONFLICT"},
		"?from=2025-01-01&to=2026-01-02":                {"to": "MAX"},
		"?from=1999-12-31&to=2000-01-01":                {"from": "MIN"},
		"?from=2099-12-31&to=2100-01-01":                {"to": "MAX"},
		"?from=2025-01-01&to=2025-01-01&groupBy=client": {"groupBy[0]": "ENUM"},
		"?from=2025-01-01&to=2025-01-01&groupBy=":       {"groupBy": "FORMAT"},
		"?from=2025-01-01&to=2025-01-01&zone=UTC":       {"zone": "UNKNOWN"},
	} {
		for _, report := range []string{"orders", "sales", "bookings", "payments"} {
			got := k.Do(t, "GET", "/reports/"+report+query, nil).Fields()
			require.Equal(t, want, got, report+query)
		}
	}
	k.Do(t, "GET", "/reports/orders?from=2024-01-01&to=2024-12-31", nil).OK(200)
}

// Sums beyond what an amount can be are refused, of one day and of several.
func TestSumsOutOfRange(t *testing.T) {
	t.Parallel()
	k := open(t)
	most := func(o *order) { o.total, o.delivery, o.prepaid = int64(money.MaxAmount)-1, 0, 0 }
	k.add(at(t, "2025-05-01T12:00:00Z"), most)
	k.add(at(t, "2025-05-02T12:00:00Z"), most)
	for range 2 {
		k.read("orders?from=2025-05-01&to=2025-05-01")
		k.Do(t, "GET", "/reports/orders?from=2025-05-01&to=2025-05-02", nil).Fault(409, dailytotals.OutOfRange)
	}
	for range 1025 { // more than BIGINT holds
		k.number++
		k.tx(func(_ context.Context, tx *db.Tx) error {
			k.insertOrder(tx, order{id: uuid.New(), status: "new", payment: "unpaid", total: int64(money.MaxAmount), at: at(t, "2025-05-03T12:00:00Z")}, k.number)
			return nil
		})
	}
	k.Do(t, "GET", "/reports/orders?from=2025-05-03&to=2025-05-03", nil).Fault(409, dailytotals.OutOfRange)
}

// Payments and sales add up to the same as their records, also if their days were kept before.
func TestMoneyAgainstModel(t *testing.T) {
	t.Parallel()
	base := open(t)
	rapid.Check(t, func(rt *rapid.T) {
		zone := rapid.SampledFrom(zones).Draw(rt, "zone")
		k := (&kit{t: t, d: base.d, server: base.server, Client: base.server.Company()}).in(zone)
		loc, err := time.LoadLocation(zone)
		require.NoError(rt, err)
		shift := k.shift(nil)
		sums := map[string]int64{} // by day, method and origin
		check := func() {
			var want []string
			for key, n := range sums {
				want = append(want, fmt.Sprint(key, " ", n))
			}
			var got []string
			for _, month := range []int{3, 4, 9, 10, 11} {
				from, to := time.Date(2025, time.Month(month), 0, 0, 0, 0, 0, time.UTC), time.Date(2025, time.Month(month), 13, 0, 0, 0, 0, time.UTC)
				got = append(got, k.read("payments?groupBy=day,method,origin&from="+from.Format(time.DateOnly)+"&to="+to.Format(time.DateOnly)).lines("day", "method", "origin", "netTotal")...)
			}
			slices.Sort(want)
			slices.Sort(got)
			require.Equal(rt, want, got)
		}
		for range rapid.IntRange(1, 8).Draw(rt, "steps") {
			when := drawInstant(rt, loc)
			day := when.In(loc).Format(time.DateOnly)
			switch rapid.SampledFrom([]string{"sale", "payment", "read"}).Draw(rt, "step") {
			case "sale":
				kind, sign := "sale", int64(1)
				if rapid.Bool().Draw(rt, "refund") {
					kind, sign = "refund", -1
				}
				var parts []paid
				for _, method := range []string{"cash", "card", "sbp"}[:rapid.IntRange(0, 3).Draw(rt, "methods")] {
					parts = append(parts, paid{method, rapid.Int64Range(1, 1<<40).Draw(rt, "amount")})
					sums[strings.Join([]string{day, method, "sale"}, " ")] += sign * parts[len(parts)-1].amount
				}
				k.sale(shift, kind, nil, when, parts...)
			case "payment":
				method, delta := rapid.SampledFrom([]string{"cash", "transfer"}).Draw(rt, "method"), rapid.Int64Range(1, 1<<40).Draw(rt, "delta")
				if rapid.Bool().Draw(rt, "refund") {
					delta = -delta
				}
				sums[strings.Join([]string{day, method, "order"}, " ")] += delta
				k.pay(method, delta, when)
			case "read":
				check()
			}
		}
		check()
	})
}

const sqlMarks = `SELECT count(*), COALESCE(sum(n), 0)::BIGINT FROM day_changes WHERE company_id = $1`

// Changes of a day take few rows once it is read, and none is forgotten by that.
func TestChangesAreMerged(t *testing.T) {
	t.Parallel()
	k := open(t)
	count := func() (rows, n int64) {
		require.NoError(t, k.d.QueryRow(t.Context(), sqlMarks, k.company()).Scan(&rows, &n))
		return rows, n
	}
	when := at(t, "2025-05-01T12:00:00Z")
	o := k.add(when)
	for i := range 100 {
		o.total = int64(i)
		k.tx(func(_ context.Context, tx *db.Tx) error { k.updateOrder(tx, o); return nil })
	}
	rows, n := count()
	require.Equal(t, []int64{101, 101}, []int64{rows, n})
	require.Equal(t, 99.0, k.read("orders?from=2025-05-01&to=2025-05-01").Totals["total"])
	rows, n = count()
	require.Equal(t, []int64{1, 101}, []int64{rows, n})
	k.read("orders?from=2025-05-01&to=2025-05-01")
	o.total = 7
	k.tx(func(_ context.Context, tx *db.Tx) error { k.updateOrder(tx, o); return nil })
	require.Equal(t, 7.0, k.read("orders?from=2025-05-01&to=2025-05-01").Totals["total"])
}

// Another company has sums of its own.
func TestReportsOfOthers(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.add(at(t, "2025-05-01T12:00:00Z"))
	k.read("orders?from=2025-05-01&to=2025-05-01")
	other := *k
	other.Client = k.server.Caller(tenant.NewID())
	require.Empty(t, other.read("orders?from=2025-05-01&to=2025-05-01").Rows)
}
