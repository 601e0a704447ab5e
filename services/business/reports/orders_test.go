package reports_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/orders"
)

func TestOrdersByDay(t *testing.T) {
	t.Parallel()
	k := open(t).in("Europe/Berlin")
	k.add(at(t, "2025-06-01T21:59:59.999999Z"), func(o *order) { o.total, o.discount, o.delivery, o.prepaid, o.returned = 900, 100, 50, 300, 200 })
	k.add(at(t, "2025-06-01T22:00:00Z"), func(o *order) { o.status, o.total = "cancelled", 700 })
	k.add(at(t, "2025-06-02T21:59:59Z"), func(o *order) { o.status, o.payment, o.channel = "completed", "paid", nil })
	k.add(at(t, "2025-06-03T22:00:00Z"))
	for range 2 { // summed, and kept
		r := k.read("orders?from=2025-06-01&to=2025-06-03")
		require.Equal(t, []string{"2025-06-01", "2025-06-03", "Europe/Berlin", "EUR", "[day]"}, []string{r.From, r.To, r.TimeZone, r.Currency, fmt.Sprint(r.GroupBy)})
		require.Equal(t, []string{"2025-06-01 - 1 0 900 0 100 50 300 200 750 450", "2025-06-02 - 2 1 1000 700 0 0 0 0 1000 1000"},
			r.lines("day", "status", "ordersCount", "cancelledCount", "total", "cancelledTotal", "discountAmount", "deliveryCost", "prepaidAmount", "returnedAmount", "payable", "amountDue"))
		require.Equal(t, map[string]any{
			"ordersCount": 3.0, "cancelledCount": 1.0, "total": 1900.0, "taxAmount": 0.0, "cancelledTotal": 700.0, "discountAmount": 100.0, "deliveryCost": 50.0, "prepaidAmount": 300.0, "returnedAmount": 200.0, "returnedTaxAmount": 0.0, "payable": 1750.0, "amountDue": 1450.0,
			"qty": nil, "costedAmount": nil, "cost": nil, "margin": nil, "marginPercent": nil,
		}, r.Totals)
	}
	r := k.read("orders?from=2025-06-01&to=2025-06-04&groupBy=channel,status")
	require.Equal(t, []string{"status", "channel"}, r.GroupBy)
	require.Equal(t, []string{"- cancelled manual 1", "- completed - 1", "- new manual 2"}, r.lines("day", "status", "channel", "ordersCount"))
	require.Equal(t, []string{"2025-06-02 paid 1", "2025-06-02 unpaid 1"}, k.read("orders?from=2025-06-02&to=2025-06-02&groupBy=day,paymentStatus").lines("day", "paymentStatus", "ordersCount"))
	require.Empty(t, k.read("orders?from=2025-06-05&to=2025-06-06").Rows)
	require.Equal(t, 0.0, k.read("orders?from=2025-06-05&to=2025-06-06").Totals["total"])
	require.Equal(t, 6, k.kept(orders.Sums), "all days that are over, also those without orders")
}

// Days of 23 and 25 hours, in both hemispheres, and days whose midnight is skipped or repeated.
func TestDaysOfChangesOfTheClock(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		zone, day, start, end string
		hours                 float64
	}{
		{"Europe/Berlin", "2025-03-30", "2025-03-29T23:00:00Z", "2025-03-30T22:00:00Z", 23},
		{"Europe/Berlin", "2025-10-26", "2025-10-25T22:00:00Z", "2025-10-26T23:00:00Z", 25},
		{"America/New_York", "2025-03-09", "2025-03-09T05:00:00Z", "2025-03-10T04:00:00Z", 23},
		{"America/New_York", "2025-11-02", "2025-11-02T04:00:00Z", "2025-11-03T05:00:00Z", 25},
		{"Australia/Sydney", "2025-10-05", "2025-10-04T14:00:00Z", "2025-10-05T13:00:00Z", 23},
		{"Australia/Sydney", "2025-04-06", "2025-04-05T13:00:00Z", "2025-04-06T14:00:00Z", 25},
		{"America/Santiago", "2025-09-07", "2025-09-07T04:00:00Z", "2025-09-08T03:00:00Z", 23}, // midnight is skipped
		{"America/Santiago", "2025-04-05", "2025-04-05T03:00:00Z", "2025-04-06T04:00:00Z", 25}, // the hour before midnight is repeated
		{"America/Havana", "2025-11-02", "2025-11-02T04:00:00Z", "2025-11-03T05:00:00Z", 25},   // the hour after midnight is repeated
		{"Africa/Cairo", "2025-04-25", "2025-04-24T22:00:00Z", "2025-04-25T21:00:00Z", 23},
		{"Australia/Lord_Howe", "2025-04-06", "2025-04-05T13:00:00Z", "2025-04-06T13:30:00Z", 24.5},
		{"Asia/Kathmandu", "2025-04-06", "2025-04-05T18:15:00Z", "2025-04-06T18:15:00Z", 24},
	} {
		start, end := at(t, row.start), at(t, row.end)
		require.InDelta(t, row.hours, end.Sub(start).Hours(), 0)
		k := open(t).in(row.zone)
		for _, edge := range []time.Time{start.Add(-time.Microsecond), start, end.Add(-time.Microsecond), end} {
			k.add(edge)
		}
		for range 2 {
			require.Equal(t, []string{row.day + " 2"}, k.read("orders?from="+row.day+"&to="+row.day).lines("day", "ordersCount"), row.zone)
		}
		require.Equal(t, 1, k.kept(orders.Sums))
	}
}

var zones = []string{
	"UTC", "Europe/Berlin", "America/New_York", "America/Santiago", "America/Havana", "Australia/Sydney", "Australia/Lord_Howe", "Africa/Cairo", "Asia/Kathmandu",
	"Pacific/Kiritimati", "Pacific/Pago_Pago", "Pacific/Chatham", "America/St_Johns",
}

// drawInstant draws an instant near a midnight, mostly of the days around a change of the clock.
func drawInstant(rt *rapid.T, zone *time.Location) time.Time {
	month := rapid.SampledFrom([]int{3, 4, 9, 10, 11}).Draw(rt, "month")
	midnight := time.Date(2025, time.Month(month), rapid.IntRange(1, 12).Draw(rt, "day"), 0, 0, 0, 0, zone)
	return midnight.Add(rapid.SampledFrom([]time.Duration{time.Microsecond, time.Second, time.Hour, 5 * time.Hour}).Draw(rt, "unit") *
		time.Duration(rapid.IntRange(-2, 2).Draw(rt, "n"))).UTC().Truncate(time.Microsecond)
}

// The report always is what its records add up to, whatever was kept before, in whichever time zone the company works.
func TestOrdersAgainstModel(t *testing.T) {
	t.Parallel()
	base := open(t)
	rapid.Check(t, func(rt *rapid.T) {
		k := &kit{t: t, d: base.d, server: base.server, Client: base.server.Company()}
		zone := rapid.SampledFrom(zones).Draw(rt, "zone")
		k = k.in(zone)
		var all []order
		statuses, payments := []string{"new", "ready", "completed", "cancelled"}, []string{"unpaid", "paid"}
		steps := rapid.IntRange(3, 12).Draw(rt, "steps")
		for range steps {
			switch rapid.SampledFrom([]string{"add", "add", "change", "read", "read", "move"}).Draw(rt, "step") {
			case "add":
				loc, err := time.LoadLocation(zone)
				require.NoError(rt, err)
				when := drawInstant(rt, loc)
				all = append(all, k.add(when, func(o *order) {
					o.status, o.total = rapid.SampledFrom(statuses).Draw(rt, "status"), rapid.Int64Range(0, 1<<40).Draw(rt, "total")
					o.channel = rapid.SampledFrom([]*string{nil, new("manual"), new("phone")}).Draw(rt, "channel")
				}))
			case "change":
				if len(all) == 0 {
					continue
				}
				o := &all[rapid.IntRange(0, len(all)-1).Draw(rt, "which")]
				o.status, o.payment = rapid.SampledFrom(statuses).Draw(rt, "status"), rapid.SampledFrom(payments).Draw(rt, "payment")
				o.total = rapid.Int64Range(0, 1<<40).Draw(rt, "total")
				k.tx(func(_ context.Context, tx *db.Tx) error { k.updateOrder(tx, *o); return nil })
			case "move":
				zone = rapid.SampledFrom(zones).Draw(rt, "zone")
				k = k.in(zone)
			case "read":
				from := time.Date(2025, time.Month(rapid.IntRange(3, 11).Draw(rt, "from")), rapid.IntRange(1, 12).Draw(rt, "fromDay"), 0, 0, 0, 0, time.UTC)
				checkOrders(rt, k, zone, all, from, from.AddDate(0, 0, rapid.IntRange(0, 13).Draw(rt, "days")))
			}
		}
		for _, month := range []time.Month{3, 4, 9, 10, 11} {
			checkOrders(rt, k, zone, all, time.Date(2025, month, 0, 0, 0, 0, 0, time.UTC), time.Date(2025, month, 13, 0, 0, 0, 0, time.UTC))
		}
	})
}

// checkOrders compares a report with the sums of the orders that a clock of the zone shows on its days.
func checkOrders(rt *rapid.T, k *kit, zone string, all []order, from, to time.Time) {
	loc, err := time.LoadLocation(zone)
	require.NoError(rt, err)
	first, last := from.Format(time.DateOnly), to.Format(time.DateOnly)
	want := map[string][2]int64{}
	for _, o := range all {
		day := o.at.In(loc).Format(time.DateOnly)
		if day < first || day > last {
			continue
		}
		channel := "-"
		if o.channel != nil {
			channel = *o.channel
		}
		key := strings.Join([]string{day, o.status, o.payment, channel}, " ")
		sums := want[key]
		want[key] = [2]int64{sums[0] + 1, sums[1] + o.total}
	}
	var lines []string
	for key, sums := range want {
		total, cancelled := sums[1], int64(0)
		if strings.Contains(key, " cancelled ") {
			total, cancelled = 0, sums[1]
		}
		lines = append(lines, fmt.Sprint(key, " ", sums[0], " ", total, " ", cancelled))
	}
	slices.Sort(lines)
	got := k.read("orders?groupBy=day,status,paymentStatus,channel&from="+first+"&to="+last).lines("day", "status", "paymentStatus", "channel", "ordersCount", "total", "cancelledTotal")
	slices.Sort(got)
	require.Equal(rt, lines, got)
}

const sqlSumAll = `SELECT count(*), COALESCE(sum(CASE status WHEN 'cancelled' THEN 0 ELSE total END), 0)::BIGINT FROM orders WHERE company_id = $1`

// Writers that add and change orders of days that are over, while others read: each sees its own changes at once, and in the end
// the report is what the table adds up to.
func TestReportsAmongWriters(t *testing.T) {
	t.Parallel()
	base := open(t)
	path := "orders?groupBy=day,channel&from=2025-05-01&to=2025-05-06"
	day := at(t, "2025-05-01T12:00:00Z")
	var wg sync.WaitGroup
	for w := range 6 {
		wg.Go(func() {
			k := *base
			k.number = int64(w * 1000)
			channel := fmt.Sprint("w", w)
			own := map[string]int64{}
			var placed []order
			for i := range 40 {
				var o order
				if i%3 == 0 || len(placed) == 0 {
					o = order{id: uuid.New(), status: "new", payment: "unpaid", channel: &channel, total: int64(1 + i), at: day.AddDate(0, 0, i%5)}
					k.number++
					k.tx(func(_ context.Context, tx *db.Tx) error { k.insertOrder(tx, o, k.number); return nil })
					placed = append(placed, o)
					own[o.at.Format(time.DateOnly)] += o.total
				} else {
					n := i % len(placed)
					o = placed[n]
					own[o.at.Format(time.DateOnly)] -= o.total
					o.total += int64(i)
					own[o.at.Format(time.DateOnly)] += o.total
					k.tx(func(_ context.Context, tx *db.Tx) error { k.updateOrder(tx, o); return nil })
					placed[n] = o
				}
				got := map[string]int64{}
				for _, row := range k.read(path).Rows {
					if row["channel"] == channel {
						got[row["day"].(string)] += int64(row["total"].(float64))
					}
				}
				if !equal(own, got) {
					t.Errorf("writer %d, change %d: has %v, the report says %v", w, i, own, got)
					return
				}
			}
		})
	}
	wg.Wait()
	var n, total float64
	require.NoError(t, base.d.QueryRow(t.Context(), sqlSumAll, base.company()).Scan(&n, &total))
	r := base.read(path)
	require.Equal(t, []any{n, total}, []any{r.Totals["ordersCount"], r.Totals["total"]})
	require.Equal(t, 6, base.kept(orders.Sums))
}

func equal(a, b map[string]int64) bool {
	for _, m := range []map[string]int64{a, b} {
		for key := range m {
			if a[key] != b[key] {
				return false
			}
		}
	}
	return true
}
