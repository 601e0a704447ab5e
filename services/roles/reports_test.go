package roles_test

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

const (
	sqlReportedOrders = `SELECT count(*), COALESCE(sum(CASE status WHEN 'cancelled' THEN 0 ELSE total END), 0)::BIGINT FROM orders WHERE company_id = $1`
	sqlReportedSales  = `SELECT COALESCE(sum(CASE kind WHEN 'refund' THEN -total ELSE total END), 0)::BIGINT FROM sales WHERE company_id = $1`
	sqlReportedMoney  = `SELECT COALESCE((SELECT sum(delta) FROM order_payments WHERE company_id = $1), 0)::BIGINT
  + COALESCE((SELECT sum(CASE s.kind WHEN 'refund' THEN -p.amount ELSE p.amount END)
    FROM sale_payments AS p JOIN sales AS s ON s.company_id = p.company_id AND s.id = p.sale_id WHERE p.company_id = $1), 0)::BIGINT`
	sqlReportedBookings = `SELECT COALESCE(sum(CASE WHEN status IN ('cancelled', 'no_show') THEN 0 ELSE duration_minutes END), 0)::BIGINT FROM bookings WHERE company_id = $1`
	sqlKeptDays         = `SELECT count(*) FROM day_sums WHERE company_id = $1`
)

// The domains count every change of what reports sum: reports of days that are kept follow what the API does with their records.
func TestReportsFollowTheDomains(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	past := rolestest.NewNode(d.WithClock(func() time.Time { return time.Now().AddDate(0, 0, -3) }), rolestest.Alone())
	caller, owner := past.Owner(t)
	day := time.Now().AddDate(0, 0, -3)
	days := fmt.Sprintf("?from=%s&to=%s", day.AddDate(0, 0, -3).Format(time.DateOnly), time.Now().AddDate(0, 0, 1).Format(time.DateOnly))
	total := func(report, field string) int64 {
		return int64(caller.OK(t, "GET", "/reports/"+report+days, "").Body["totals"].(map[string]any)[field].(float64))
	}
	number := func(sql string, targets ...any) {
		require.NoError(t, d.QueryRow(t.Context(), sql, owner).Scan(targets...))
	}
	check := func(step string) {
		t.Helper()
		var count, sum, sold, money, minutes int64
		number(sqlReportedOrders, &count, &sum)
		number(sqlReportedSales, &sold)
		number(sqlReportedMoney, &money)
		number(sqlReportedBookings, &minutes)
		require.Equal(t, []int64{count, sum, sold, money, minutes},
			[]int64{total("orders", "ordersCount"), total("orders", "total"), total("sales", "netTotal"), total("payments", "netTotal"), total("bookings", "durationMinutes")}, step)
	}
	do := func(method, path, body string) string {
		id, _ := caller.OK(t, method, path, body).Body["id"].(string)
		check(method + " " + path)
		return id
	}
	check("nothing")
	order := do("POST", "/orders", `{"items":[{"kind":"custom","name":"Work","unitPrice":1000}],"prepaidAmount":100}`)
	var kept int
	number(sqlKeptDays, &kept)
	require.Greater(t, kept, 4, "the days before yesterday")
	do("PATCH", "/orders/"+order, `{"items":[{"kind":"custom","name":"Work","unitPrice":1500}]}`)
	do("PATCH", "/orders/"+order, `{"discountPercent":10,"deliveryCost":70}`)
	do("PATCH", "/orders/"+order, `{"prepaidAmount":300}`)
	payment := do("POST", "/orders/"+order+"/payments", fmt.Sprintf(`{"amount":200,"method":"card","paidAt":"%s"}`, day.AddDate(0, 0, -2).UTC().Format(time.RFC3339)))
	do("POST", "/orders/"+order+"/payments/"+payment+"/refund", `{"amount":50}`)
	do("POST", "/orders/"+order+"/status/confirmed", "")
	do("POST", "/orders/"+order+"/status/cancelled", "")
	shift := do("POST", "/shifts/open", `{"openingCash":0}`)
	sale := do("POST", "/sales", `{"shiftId":"`+shift+`","items":[{"kind":"custom","name":"Coffee","unitPrice":450}],"paymentMethod":"mixed","payments":[{"method":"cash","amount":400},{"method":"card","amount":50}]}`)
	do("POST", "/sales", `{"shiftId":"`+shift+`","items":[{"kind":"custom","name":"Tea","unitPrice":300}],"paymentMethod":"card"}`)
	do("POST", "/sales/"+sale+"/refund", "")
	resource := do("POST", "/scheduling/resources", `{"type":"unit","name":"Room","workingHours":[{"weekday":1,"from":"00:00","to":"24:00"},{"weekday":2,"from":"00:00","to":"24:00"},{"weekday":3,"from":"00:00","to":"24:00"},
		{"weekday":4,"from":"00:00","to":"24:00"},{"weekday":5,"from":"00:00","to":"24:00"},{"weekday":6,"from":"00:00","to":"24:00"},{"weekday":7,"from":"00:00","to":"24:00"}]}`)
	booking := do("POST", "/scheduling/bookings", fmt.Sprintf(`{"resourceId":"%s","startAt":"%s","durationMinutes":60,"customerName":"Bo","customerPhone":"1"}`, resource, day.Add(time.Hour).UTC().Format(time.RFC3339)))
	do("PATCH", "/scheduling/bookings/"+booking, `{"durationMinutes":90}`)
	do("PATCH", "/scheduling/bookings/"+booking, fmt.Sprintf(`{"startAt":"%s"}`, day.Add(30*time.Hour).UTC().Format(time.RFC3339)))
	do("POST", "/scheduling/bookings/"+booking+"/complete", "")
	do("POST", "/scheduling/bookings/"+booking+"/no-show", "")
	do("POST", "/scheduling/bookings/"+booking+"/complete", "")
}

// trades reports whether a step is about what the further groupings sum.
func trades(step string) bool {
	return strings.Contains(step, " /orders") || strings.Contains(step, " /sales") || strings.Contains(step, " /shifts")
}

// Whatever a report sums, the sums that it keeps of old days are those of its records, after each change of a sample of every domain.
func TestKeptSumsOfReportsAreThoseOfTheRecords(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	n := rolestest.NewNode(d.WithClock(func() time.Time { return time.Now().AddDate(0, 0, -3) }), rolestest.Alone())
	owner, id := n.Owner(t)
	days := fmt.Sprintf("?from=%s&to=%s", rolestest.Today(-6), rolestest.Today(1))
	more := map[string][]string{
		"reportOrders": {"day,tax", "day,branch,hour", "day,branch,product"},
		"reportSales":  {"day,tax", "day,branch,hour", "day,branch,product", "day,branch,shift,cashier"},
	}
	reports := 0
	check := func(step string) {
		t.Helper()
		reports = 0
		kept := map[string]map[string]any{}
		for _, op := range n.API.Ops() {
			if strings.HasPrefix(op.ID, "report") {
				reports++
				kept[op.Path+days] = owner.OK(t, http.MethodGet, op.Path+days, "").Body
			}
			for _, by := range more[op.ID] {
				if !trades(step) {
					break
				}
				path := op.Path + days + "&groupBy=" + by
				kept[path] = owner.OK(t, http.MethodGet, path, "").Body
			}
		}
		_, err := d.Exec(t.Context(), `DELETE FROM day_sums WHERE company_id = $1`, id)
		require.NoError(t, err)
		for path, before := range kept {
			require.Equal(t, owner.OK(t, http.MethodGet, path, "").Body, before, "%s after %s: does OnWrite of the table count the change?", path, step)
		}
	}
	check("nothing")
	require.Greater(t, reports, 3)
	addBranch(t, n, id) // for the second warehouse
	ids := map[string]string{}
	for _, one := range rolestest.Samples() {
		do := owner.OK
		if one.Admin {
			do = n.Operator(rolestest.WriterToken).In(id).OK
		}
		ids[one.Entity] = do(t, http.MethodPost, cmp.Or(one.CreatePath, one.Path), rolestest.FillIn(one.Create, ids)).ID(t)
		check("POST " + one.Path)
		if one.Change != "" {
			do(t, http.MethodPatch, one.Path+"/"+ids[one.Entity], rolestest.FillIn(one.Change, ids))
			check("PATCH " + one.Path)
		}
	}
}
