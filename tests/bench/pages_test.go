package bench

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
)

// What the company of BenchmarkPages has besides orders.
const (
	pageOrders        = 20_000
	pageProducts      = 40
	pageWarehouses    = 3
	pageResources     = 5
	pageBookings      = 8 // of each resource on one day
	pageSubscriptions = 5
)

// fillStocks gives a company stock of its products in each of its warehouses; a tenth of it is to be ordered again.
const fillStocks = `INSERT INTO stocks (company_id, warehouse_id, product_id, variant_id, id, qty, reserved, reorder_point, version, ev_pos, created_at, updated_at)
SELECT p.company_id, w.id, p.id, '00000000-0000-0000-0000-000000000000', gen_random_uuid(), p.price % 100, 0, CASE WHEN p.price % 10 = 0 THEN 200 ELSE 1 END, 1, 1, p.created_at, p.created_at
FROM products p JOIN warehouses w ON w.company_id = p.company_id WHERE p.company_id = $1::UUID AND p.sku LIKE 'S-%'`

// fillWarehouses gives a company further warehouses.
const fillWarehouses = `INSERT INTO warehouses (company_id, id, name, is_default, search_text, version, ev_pos, created_at, updated_at)
SELECT $1::UUID, gen_random_uuid(), 'Depot ' || g, false, 'depot ' || g, 1, 1, now(), now() FROM generate_series(2, $2::BIGINT) AS g`

// BenchmarkPages opens pages of the console, one after the other, in a company with 20 000 orders, 40 products in 3 warehouses,
// 40 bookings of a day and 5 subscriptions: the time until the console answers.
//
//   - stock-p50-ms, stock-p99-ms: the stock by product; and so for bookings (the calendar of that day), webhooks, home, orders, order (the page of one), deals,
//     events, requests, find (the number of an order)
func BenchmarkPages(b *testing.B) {
	r := newKit(b)
	address, ops := freeAddress(b), freeAddress(b)
	p := r.start("api", "--listen", address, "--ops-listen", ops, "--database-url", r.url, "--kafka-brokers", "127.0.0.1:1")
	p.answers("http://" + ops + "/livez")
	a := r.api(address)
	s := a.shop("Usual")
	day := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1)
	a.furnish(s, day)
	r.fill("orders", fillOrders, s.company, pageOrders)
	r.fill("products", fillProducts, s.company, pageProducts)
	r.fill("warehouses", fillWarehouses, s.company, pageWarehouses)
	r.fill("stocks", fillStocks, s.company)
	v := r.visitor(s.company)
	ids := r.someOrders(s.company)
	for b.Loop() {
		for name, path := range map[string]func(i int) string{
			"stock":    func(int) string { return "/stock" },
			"bookings": func(int) string { return "/bookings?day=" + day.Format(time.DateOnly) },
			"webhooks": func(int) string { return "/webhooks" },
			"home":     func(int) string { return "/" },
			"orders":   func(int) string { return "/orders" },
			"order":    func(i int) string { return "/orders/" + ids[i%len(ids)] },
			"deals":    func(int) string { return "/deals" },
			"events":   func(int) string { return "/events" },
			"requests": func(int) string { return "/requests" },
			"find":     func(i int) string { return fmt.Sprintf("/find?q=%d", 1+(i*7919+977)%pageOrders) },
		} {
			reportPercentiles(b, name+"-", v.times(finds/2, path))
		}
	}
	b.ReportMetric(0, "ns/op")
}

// furnish creates resources with their bookings of a day, and subscriptions.
func (a *api) furnish(s *shop, day time.Time) {
	a.r.b.Helper()
	var made struct{ ID string }
	for i := range pageSubscriptions {
		a.create(s.token, "/webhooks/subscriptions", map[string]any{"url": fmt.Sprintf("https://example.com/hook/%d", i), "events": []string{"order.*"}}, &made)
	}
	var hours []map[string]any
	for day := range 7 {
		hours = append(hours, map[string]any{"weekday": day + 1, "from": "00:00", "to": "24:00"})
	}
	for i := range pageResources {
		a.create(s.token, "/scheduling/resources", map[string]any{"type": "staff", "name": fmt.Sprintf("Chair %d", i+1), "workingHours": hours}, &made)
		resource := made.ID
		for k := range pageBookings {
			a.create(s.token, "/scheduling/bookings", map[string]any{
				"resourceId": resource, "startAt": day.Add(time.Duration(k+18) * 30 * time.Minute), "durationMinutes": 30,
				"customerName": "Erika Example", "customerPhone": "+49 30 5550100", "externalId": uuid.NewString(),
			}, &made)
		}
	}
}
