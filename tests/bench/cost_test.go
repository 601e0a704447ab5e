package bench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

const (
	costShops = 100
	floodFor  = 6 * time.Second
)

// BenchmarkCost measures what one event costs from the request that causes it to the arrival of its webhook: with each role in a process of
// its own, and with all of them in one. Each load runs once for every loop:
//
//   - orders-1, orders-100: orders of one company and of a hundred, from 64 clients as fast as they get answers
//   - clients-100: clients of a hundred companies, the same way
//   - steady, steady-clients: 100 orders or clients a second of a hundred companies
//
// For each of them:
//
//   - <load>-µs: time of processors of all roles and the database
//   - <load>-round-trips: statements that roles sent; a batch counts as one
//   - <load>-commits, <load>-fsyncs, <load>-wal-bytes: of the database
//   - <load>-switches: of the threads of all roles
//   - <load>-calls: reads and writes of all roles, which are nearly all of their system calls
//   - <load>-events/s: from the first request to the last arrival
//   - <load>-p50-ms, <load>-p99-ms: from a request to the arrival of its webhook
//   - <role>-peak-MB: most memory that the role has held
//
// It fails where a figure is above what docs/performance.md says of it by more than noise explains.
func BenchmarkCost(b *testing.B) {
	b.Run("apart", func(b *testing.B) {
		p := &platform{kit: newKit(b), arrived: map[string]time.Time{}}
		p.measureCost(p.startApart(costShops))
	})
	b.Run("together", func(b *testing.B) {
		p := &platform{kit: newKit(b), arrived: map[string]time.Time{}}
		p.measureCost(p.startTogether(costShops))
	})
}

// running are the processes of a platform, and the addresses of their metrics.
type running struct {
	roles map[string]*process
	ops   []string
}

// startApart starts each role in a process of its own, and opens shops.
func (p *platform) startApart(shops int) running {
	p.b.Helper()
	address, all := freeAddress(p.b), running{roles: map[string]*process{}}
	brokers := strings.Join(dbtest.Broker(p.b), ",")
	for role, flags := range map[string][]string{
		"api": {"--listen", address, "--allow-insecure"}, "relay": nil, "dispatcher": {"--allow-insecure"},
	} {
		all.roles[role] = p.startRole(&all, role, append(flags, "--kafka-brokers", brokers)...)
	}
	p.process = all.roles["api"]
	p.open(address, shops)
	return all
}

// startTogether starts one process that is all roles, and opens shops.
func (p *platform) startTogether(shops int) running {
	p.b.Helper()
	address, all := freeAddress(p.b), running{roles: map[string]*process{}}
	p.process = p.startRole(&all, "run", "--listen", address, "--allow-insecure", "--kafka-brokers", strings.Join(dbtest.Broker(p.b), ","))
	all.roles["run"] = p.process
	p.open(address, shops)
	return all
}

// startRole starts a role on the database of the benchmark, and waits until it is ready.
func (p *platform) startRole(all *running, role string, flags ...string) *process {
	p.b.Helper()
	ops := freeAddress(p.b)
	all.ops = append(all.ops, ops)
	started := p.start(append([]string{role, "--ops-listen", ops, "--database-url", p.url}, flags...)...)
	started.answers("http://" + ops + "/readyz")
	return started
}

func (p *platform) measureCost(all running) {
	b := p.b
	client := []byte(`{"kind":"individual","displayName":"Erika Example","phone":"+49 30 5550100","note":"rings twice"}`)
	clientOf := func(*shop) (path string, body []byte) { return "/clients", client }
	for b.Loop() {
		p.steady(2 * time.Second) // warm-up
		p.cost(all, "steady", func() map[string]times { return p.steady(steadyFor) })
		p.cost(all, "steady-clients", func() map[string]times { return p.steadyOf(steadyFor, clientOf) })
		p.cost(all, "orders-1", func() map[string]times { return p.floodOf(p.shops[:1], orderOf) })
		p.cost(all, "orders-100", func() map[string]times { return p.floodOf(p.shops, orderOf) })
		p.cost(all, "clients-100", func() map[string]times { return p.floodOf(p.shops, clientOf) })
	}
	for role, process := range all.roles {
		b.ReportMetric(process.peakMB(), role+"-peak-MB")
	}
	b.ReportMetric(0, "ns/op")
	arrangement := filepath.Base(b.Name())
	p.logCosts(arrangement)
	p.compareCosts(arrangement)
}

// cost reports what each event costs that the load causes.
func (p *platform) cost(all running, name string, load func() map[string]times) {
	b := p.b
	b.Helper()
	p.clear()
	before, began := p.spent(all), time.Now()
	placed := load()
	p.await(len(placed))
	last := p.lastArrival(began)
	for of, used := range p.spent(all) {
		p.report(name+"-"+of, (used-before[of])/float64(len(placed)))
	}
	p.report(name+"-events/s", float64(len(placed))/last.Sub(began).Seconds())
	whole := make([]time.Duration, 0, len(placed))
	p.mu.Lock()
	for id, t := range placed {
		whole = append(whole, p.arrived[id].Sub(t.sent))
	}
	p.mu.Unlock()
	reportPercentiles(b, name+"-", whole)
}

// report keeps a figure, so that it can be compared, besides reporting it.
func (p *platform) report(name string, value float64) {
	p.b.ReportMetric(value, name)
	if p.costs == nil {
		p.costs = map[string]float64{}
	}
	p.costs[name] = value
}

// spent is what the roles and the database have used so far.
func (p *platform) spent(all running) map[string]float64 {
	p.b.Helper()
	used := map[string]float64{}
	for _, d := range p.cpuOf(all.roles) {
		used["µs"] += float64(d.Microseconds())
	}
	for _, address := range all.ops {
		used["round-trips"] += p.metric(address, "db_client_operation_duration_seconds_count")
	}
	for _, process := range all.roles {
		used["switches"] += process.switches()
		used["calls"] += process.calls()
	}
	var commits, fsyncs, bytes *float64 // a server of another version may not tell
	require.NoError(p.b, p.db.QueryRow(p.b.Context(), `SELECT (SELECT sum(xact_commit) FROM pg_stat_database)::FLOAT8,
(to_jsonb(w)->>'wal_sync')::FLOAT8, (to_jsonb(w)->>'wal_bytes')::FLOAT8 FROM pg_stat_wal AS w`).Scan(&commits, &fsyncs, &bytes))
	for of, value := range map[string]*float64{"commits": commits, "fsyncs": fsyncs, "wal-bytes": bytes} {
		if value != nil {
			used[of] = *value
		}
	}
	return used
}

// switches is how often the threads of a process gave up their processor.
func (p *process) switches() (n float64) {
	p.b.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", p.PID()))
	require.NoError(p.b, err)
	for _, thread := range threads {
		status, err := os.ReadFile(thread)
		if err != nil {
			continue // it has ended
		}
		for line := range strings.Lines(string(status)) {
			if name, value, _ := strings.Cut(line, ":"); strings.HasSuffix(name, "voluntary_ctxt_switches") {
				switches, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
				require.NoError(p.b, err)
				n += switches
			}
		}
	}
	return n
}

// calls is how often a process has read from and written to files and sockets.
func (p *process) calls() (n float64) {
	p.b.Helper()
	io, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", p.PID()))
	require.NoError(p.b, err)
	for line := range strings.Lines(string(io)) {
		if name, value, _ := strings.Cut(line, ":"); name == "syscr" || name == "syscw" {
			calls, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			require.NoError(p.b, err)
			n += calls
		}
	}
	return n
}

// floodOf sends requests of the shops from 64 connections as fast as they are answered, and returns when each record was asked for.
func (p *platform) floodOf(shops []*shop, of request) map[string]times {
	p.b.Helper()
	placed := make([]map[string]times, orderClients)
	var next atomic.Int64
	var wg sync.WaitGroup
	until := time.Now().Add(floodFor)
	for i := range placed {
		placed[i] = map[string]times{}
		wg.Go(func() {
			for time.Now().Before(until) {
				id, t, ok := p.create(shops[int(next.Add(1))%len(shops)], of)
				if !ok {
					return
				}
				placed[i][id] = t
			}
		})
	}
	wg.Wait()
	all := placed[0]
	for _, some := range placed[1:] {
		for id, t := range some {
			all[id] = t
		}
	}
	return all
}

// request is what a shop sends to create a record.
type request func(*shop) (path string, body []byte)

// orderOf places an order.
func orderOf(s *shop) (path string, body []byte) { return "/orders", s.order }

// create sends a request of the shop, and tells the id of the record and when it was asked for.
func (p *platform) create(s *shop, of request) (id string, t times, ok bool) {
	p.b.Helper()
	path, body := of(s)
	t = times{shop: s, sent: time.Now()}
	status, answer, err := p.api.post(s.token, path, "", body)
	if err != nil || status != fasthttp.StatusCreated {
		p.b.Errorf("%s: %d %s %v", path, status, answer, err)
		return "", t, false
	}
	t.answered = time.Now()
	return idOf(answer), t, true
}

// idOf is the id of a created record. It takes less time than reading all of the answer, of what is measured on the same processors.
func idOf(answer []byte) string {
	const key = `"id":"`
	_, rest, _ := bytes.Cut(answer, []byte(key))
	return string(rest[:min(len(rest), len(uuid.Nil.String()))])
}

// Noise is smaller than these factors between a figure and the published one. Times depend on the machine, counts on how many events meet.
const (
	noiseOfTimes  = 3
	noiseOfCounts = 1.7
)

// costColumns are the columns of the table in docs/performance.md.
var costColumns = []string{"µs", "round-trips", "commits", "fsyncs", "wal-bytes", "switches", "calls"} //nolint:gochecknoglobals // a constant

// logCosts logs the measured costs as rows of that table.
func (p *platform) logCosts(arrangement string) {
	p.b.Helper()
	for _, load := range []string{"steady", "steady-clients", "orders-1", "orders-100", "clients-100"} {
		row := fmt.Sprintf("| `%s/%s` |", arrangement, load)
		for _, column := range costColumns {
			row += fmt.Sprintf(" %.4g |", p.costs[load+"-"+column])
		}
		p.b.Logf("%s %.0f events/s", row, p.costs[load+"-events/s"])
	}
}

// compareCosts fails where an event has become dearer than the table in docs/performance.md says.
func (p *platform) compareCosts(arrangement string) {
	p.b.Helper()
	for name, published := range publishedCosts(p.b, arrangement) {
		measured, ok := p.costs[name]
		if !ok {
			p.b.Logf("%s is not measured on this server", name)
			continue
		}
		factor := noiseOfCounts
		if strings.HasSuffix(name, "µs") {
			factor = noiseOfTimes
		}
		if measured > factor*published {
			p.b.Errorf("%s: %.2f, published are %.2f: an event has become dearer", name, measured, published)
		}
	}
}

// publishedCosts reads the table of costs: a row for each load, a column for each kind of cost.
func publishedCosts(t testing.TB, arrangement string) map[string]float64 {
	t.Helper()
	page, err := os.ReadFile("../../docs/performance.md")
	require.NoError(t, err)
	published := map[string]float64{}
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		load, ok := strings.CutPrefix(strings.TrimSpace(cells[0]), "`"+arrangement+"/")
		if !ok || len(cells) < len(costColumns)+1 {
			continue
		}
		for i, column := range costColumns {
			value, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(cells[i+1]), " ", ""), 64)
			require.NoError(t, err, "%s", line)
			published[strings.TrimSuffix(load, "`")+"-"+column] = value
		}
	}
	require.NotEmpty(t, published, "docs/performance.md has no costs of %q", arrangement)
	return published
}
