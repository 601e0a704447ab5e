package bench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

const (
	idleSettles = 20 * time.Second // after the start, until what a start causes is over
	idleFor     = 30 * time.Second
)

// BenchmarkIdle measures what costs something while nobody calls.
//
//   - dev: `tradegrid dev` with its embedded database and broker; %core is the share of one core that all of it takes
//   - roles: a process for each role on 256 buckets; <role>-%core, database-%core, and what they send to the database:
//     statements/s, of which a batch counts as one
func BenchmarkIdle(b *testing.B) {
	b.Run("dev", idleDev)
	b.Run("roles", idleRoles)
}

func idleDev(b *testing.B) {
	r, state := newKit(b), b.TempDir()
	require.NoError(b, os.Chmod(state, 0o755))
	dev := r.start("dev", "--demo-data=none", "--state", state, "--listen", freeAddress(b), "--ops-listen", freeAddress(b),
		"--receiver-listen", freeAddress(b), "--admin-listen", freeAddress(b), "--console-listen", freeAddress(b))
	require.Eventually(b, func() bool {
		_, err := os.Stat(filepath.Join(state, "dev.json"))
		return err == nil
	}, time.Minute, 50*time.Millisecond, "%s", dev)
	all := func() time.Duration { return dev.cpu() + descendantsCPU(dev.PID()) }
	for b.Loop() {
		time.Sleep(idleSettles)
		before := all()
		time.Sleep(idleFor)
		b.ReportMetric(percent(all()-before), "%core")
	}
	b.ReportMetric(0, "ns/op")
}

func idleRoles(b *testing.B) {
	p := &platform{kit: newKit(b)}
	backends := []string{"--database-url", p.url, "--kafka-brokers", strings.Join(dbtest.Broker(b), ",")}
	roles, ops := map[string]*process{}, map[string]string{}
	for role, flags := range map[string][]string{"api": {"--listen", freeAddress(b)}, "relay": nil, "dispatcher": nil} {
		ops[role] = freeAddress(b)
		roles[role] = p.start(append(append([]string{role, "--ops-listen", ops[role]}, flags...), backends...)...)
		roles[role].answers("http://" + ops[role] + "/readyz")
	}
	statements := func() (n float64) {
		for _, address := range ops {
			n += p.metric(address, "db_client_operation_duration_seconds_count")
		}
		return n
	}
	for b.Loop() {
		time.Sleep(idleSettles)
		before, sent := p.cpuOf(roles), statements()
		time.Sleep(idleFor)
		for part, used := range p.cpuOf(roles) {
			b.ReportMetric(percent(used-before[part]), part+"-%core")
		}
		b.ReportMetric((statements()-sent)/idleFor.Seconds(), "statements/s")
	}
	b.ReportMetric(0, "ns/op")
}

// percent is a time of processors as a share of one core in the time that was measured.
func percent(used time.Duration) float64 { return 100 * used.Seconds() / idleFor.Seconds() }
