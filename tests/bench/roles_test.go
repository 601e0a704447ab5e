package bench

import (
	"fmt"
	"testing"
	"time"
)

const floodShops = 100

// BenchmarkRoles runs each role in a process of its own: first at a steady rate of orders of all companies, then with 64 clients
// that order as fast as they get answers until every webhook has arrived, once for one company and once for all of them. The
// chart's resource requests come from it.
//
//   - <role>-µs/order, database-µs/order: time of processors that is spent on one order, its event and its webhook at the steady
//     rate; all-µs/order is the sum
//   - flood-<n>-<role>-µs/order, flood-<n>-µs/order: the same in the flood of n companies
//   - flood-<n>-orders/s: orders over the time from the first request to the arrival of the last webhook; relay, dispatcher and
//     database share the processors with the API
//   - flood-ratio: that of all companies to that of one
//   - <role>-peak-MB: most memory that the role has held, the floods included
func BenchmarkRoles(b *testing.B) {
	p := &platform{kit: newKit(b), arrived: map[string]time.Time{}}
	roles := p.startApart(floodShops).roles
	for b.Loop() {
		p.steady(2 * time.Second) // warm-up
		before := p.cpuOf(roles)
		placed := p.steady(steadyFor)
		var all time.Duration
		for part, used := range p.cpuOf(roles) {
			all += used - before[part]
			reportCPU(b, part+"-µs/order", used-before[part], float64(len(placed)))
		}
		reportCPU(b, "all-µs/order", all, float64(len(placed)))
		one, many := p.flood(roles, p.shops[:1]), p.flood(roles, p.shops)
		b.ReportMetric(many/one, "flood-ratio")
	}
	for role, process := range roles {
		b.ReportMetric(process.peakMB(), role+"-peak-MB")
	}
	b.ReportMetric(0, "ns/op")
}

// flood orders for the shops as fast as it goes, and returns how many orders a second have arrived.
func (p *platform) flood(roles map[string]*process, shops []*shop) float64 {
	p.b.Helper()
	p.clear()
	before, began := p.cpuOf(roles), time.Now()
	_, n := p.api.placeOrders(shops, false)
	p.await(int(n))
	rate := float64(n) / p.lastArrival(began).Sub(began).Seconds()
	var all time.Duration
	for part, used := range p.cpuOf(roles) {
		all += used - before[part]
		reportCPU(p.b, fmt.Sprintf("flood-%d-%s-µs/order", len(shops), part), used-before[part], float64(n))
	}
	reportCPU(p.b, fmt.Sprintf("flood-%d-µs/order", len(shops)), all, float64(n))
	p.b.ReportMetric(rate, fmt.Sprintf("flood-%d-orders/s", len(shops)))
	return rate
}

// cpuOf is the time of processors that each role, and the database, has used.
func (p *platform) cpuOf(roles map[string]*process) map[string]time.Duration {
	p.b.Helper()
	used := map[string]time.Duration{"database": p.databaseCPU()}
	for role, process := range roles {
		used[role] = process.cpu()
	}
	return used
}
