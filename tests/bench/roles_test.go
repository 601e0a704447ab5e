package bench

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/tradegrid/tradegrid/pkg/dbtest"
)

// BenchmarkRoles runs each role in a process of its own: first at a steady rate of orders, then with 64 clients that
// order as fast as they get answers, until every webhook has arrived. The chart's resource requests come from it.
//
//   - <role>-µs/order: time of processors that the role spends on one order, its event and its webhook at the steady rate
//   - <role>-peak-MB: most memory that the role has held, the flood included
//   - flood-orders/s: placed meanwhile; relay and dispatcher share the processors with the API
func BenchmarkRoles(b *testing.B) {
	p := &platform{kit: newKit(b), arrived: map[string]time.Time{}}
	backends := []string{"--database-url", p.url, "--kafka-brokers", strings.Join(dbtest.Broker(b), ",")}
	address := freeAddress(b)
	roles := map[string]*process{}
	for role, flags := range map[string][]string{
		"api": {"--listen", address, "--allow-insecure"}, "relay": nil, "dispatcher": {"--allow-insecure"},
	} {
		ops := freeAddress(b)
		roles[role] = p.start(append(append([]string{role, "--ops-listen", ops}, flags...), backends...)...)
		roles[role].answers("http://" + ops + "/readyz")
	}
	p.process = roles["api"]
	p.open(address, deliveryShops)
	for b.Loop() {
		p.steady(2 * time.Second) // warm-up
		before := p.cpuOf(roles)
		placed := p.steady(steadyFor)
		for role, used := range p.cpuOf(roles) {
			reportCPU(b, role+"-µs/order", used-before[role], float64(len(placed)))
		}
		p.mu.Lock()
		arrived := len(p.arrived)
		p.mu.Unlock()
		rate, n := p.api.placeOrders(p.shops, false)
		p.await(arrived + int(n))
		b.ReportMetric(rate, "flood-orders/s")
	}
	for role := range maps.Keys(roles) {
		b.ReportMetric(roles[role].peakMB(), role+"-peak-MB")
	}
	b.ReportMetric(0, "ns/op")
}

// cpuOf is the time of processors that each role has used.
func (p *platform) cpuOf(roles map[string]*process) map[string]time.Duration {
	p.b.Helper()
	used := map[string]time.Duration{}
	for role, process := range roles {
		used[role] = process.cpu()
	}
	return used
}
