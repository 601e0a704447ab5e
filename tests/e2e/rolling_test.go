package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/tests/role"
)

// The next release, as far as this test knows it: orders tell which release took them. Its schema grows by a column with a default,
// so that binaries of this release can still insert, and loses the default when they are gone.
var nextFiles = map[string]string{ //nolint:gochecknoglobals // a constant
	"schemas/sql/900_next.sql":          "ALTER TABLE orders ADD COLUMN IF NOT EXISTS taken_by TEXT NOT NULL DEFAULT 'this';\n",
	"schemas/sql/900_next.contract.sql": "ALTER TABLE orders ALTER COLUMN taken_by DROP DEFAULT;\n",
}

// nextCode gives the orders of the next release their new field.
var nextCode = []struct{ file, this, next string }{ //nolint:gochecknoglobals // a constant
	{"services/business/orders/order.go", "type Order struct {\n", "type Order struct {\n\tTakenBy string `json:\"-\" db:\",insert\"`\n"},
	{"services/business/orders/create.go", "o := Order{Header: Header{", "o := Order{TakenBy: \"next\", Header: Header{"},
}

// nextRelease builds the binary of the next release. What it does not change comes from Go's build cache.
func nextRelease(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	replaced := map[string]string{}
	replace := func(name, text string) {
		file := filepath.Join(dir, filepath.Base(name))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		replaced[filepath.Join(root, name)] = file
	}
	for name, text := range nextFiles {
		replace(name, text)
	}
	for _, c := range nextCode {
		raw, err := os.ReadFile(filepath.Join(root, c.file))
		require.NoError(t, err)
		require.Equal(t, 1, strings.Count(string(raw), c.this), "the code that the next release changes has changed: mend this test")
		replace(c.file, strings.Replace(string(raw), c.this, c.next, 1))
	}
	overlay := filepath.Join(dir, "overlay.json")
	raw, err := json.Marshal(map[string]any{"Replace": replaced})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(overlay, raw, 0o600))

	out := filepath.Join(dir, "tradegrid")
	build := exec.CommandContext(t.Context(), "go", "build", "-overlay", overlay, "-buildvcs=false", "-ldflags", "-s -X github.com/tradegrid/tradegrid/services/roles.Release=next", "-o", out, "./cmd/tradegrid")
	build.Dir = root
	said, err := build.CombinedOutput()
	require.NoError(t, err, string(said))
	return out
}

// fleet is a platform of several processes per role behind a load balancer that asks for readiness.
type fleet struct {
	*kit
	next string // binary of the next release

	mu  sync.Mutex
	api map[string]*role.Process
}

func (f *fleet) start(binary, name string) *role.Process {
	f.t.Helper()
	role, _, _ := strings.Cut(name, "-")
	args := []string{role}
	if role == "dispatcher" {
		args = append(args, "--static-membership", "--member-name="+name)
	}
	p := f.launchFrom(binary, nil, args...)
	p.AwaitStart()
	if role == "api" {
		f.mu.Lock()
		f.api[name] = p
		f.mu.Unlock()
	}
	return p
}

// replace stops a process as an orchestrator does, and starts its successor from the binary.
func (f *fleet) replace(p *role.Process, binary, name string) *role.Process {
	f.t.Helper()
	f.mu.Lock()
	delete(f.api, name)
	f.mu.Unlock()
	require.NoError(f.t, p.Signal(syscall.SIGTERM))
	require.Zero(f.t, p.AwaitEnd(25*time.Second), "%s\n%s", p.Name, p.Tail())
	return f.start(binary, name)
}

// node picks an API node that takes requests.
func (f *fleet) node() *client {
	f.mu.Lock()
	defer f.mu.Unlock()
	names := slices.Sorted(maps.Keys(f.api))
	if len(names) == 0 {
		return nil
	}
	return f.client(f.api[names[rand.IntN(len(names))]])
}

// placed is an order as its client knows it.
type placed struct {
	order
	tries int
}

// integrate places orders one after the other, as a careful integration does, until ctx ends: what has no answer, or
// one that asks for role.Patience, is repeated under its key. The errors are those of answers that no repeat would mend.
func (f *fleet) integrate(ctx context.Context, product string, done func(placed)) error {
	for ctx.Err() == nil {
		p, key := placed{}, uuid.NewString()
		for p.tries = 1; ; p.tries++ {
			if p.tries > 200 {
				return errors.New("an order was not taken in 200 tries")
			}
			node := f.node()
			if node == nil {
				continue
			}
			a, err := node.do(http.MethodPost, "/orders", key, orderOf(product))
			if err == nil && a.status == http.StatusCreated {
				p.order = a.order(f.t)
				done(p)
				break
			}
			if err == nil && a.status != http.StatusServiceUnavailable && a.status != http.StatusConflict {
				return fmt.Errorf("an order was answered %d: %s", a.status, a.body)
			}
		}
	}
	return nil
}

// A release is rolled out, and once back, role by role under load, with its migrations around it: no order is lost, doubled or
// failed beyond repeats, numbers have no gap, every webhook arrives, and each process stops within its bound.
func TestRollingUpgrade(t *testing.T) {
	t.Parallel()
	f := &fleet{kit: newKit(t), api: map[string]*role.Process{}, next: nextRelease(t)}
	names := []string{"relay-1", "relay-2", "dispatcher-1", "dispatcher-2", "api-1", "api-2"}
	running := map[string]*role.Process{}
	for _, name := range names {
		running[name] = f.start(binary, name)
	}
	api := f.node()
	api.subscribe("all", "order.created")
	product := api.product()

	var mu sync.Mutex
	var taken []placed
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	g, ctx := errgroup.WithContext(ctx)
	for range 4 {
		g.Go(func() error {
			return f.integrate(ctx, product, func(p placed) { mu.Lock(); taken = append(taken, p); mu.Unlock() })
		})
	}
	more := func(n int) {
		t.Helper()
		mu.Lock()
		want := len(taken) + n
		mu.Unlock()
		role.Eventually(t, func() bool { mu.Lock(); defer mu.Unlock(); return len(taken) >= want || ctx.Err() != nil }, "%d more orders are taken", n)
	}

	f.unready(f.next)
	f.run(f.next, "migrate")
	roll := func(binary string, names ...string) {
		t.Helper()
		for _, name := range names {
			running[name] = f.replace(running[name], binary, name)
			more(10)
		}
	}
	roll(f.next, names...)
	roll(binary, "api-1", "dispatcher-1", "relay-1") // back, and forth again
	for _, name := range []string{"api", "dispatcher", "relay"} {
		require.Contains(t, f.refused(f.next, "migrate", "--contract"), name+" on ")
	}
	roll(f.next, "api-1", "dispatcher-1", "relay-1")
	// One that was stopped while it took a lease leaves that to expire; until then the command refuses.
	role.Eventually(t, func() bool {
		return f.count(`SELECT count(*) FROM job_leases AS l WHERE l.expires_at > now()
AND NOT EXISTS (SELECT 1 FROM processes AS p WHERE p.node = split_part(l.owner, '/', 1) AND p.expires_at > now())`) == 0
	}, "no process that has ended holds a lease")
	f.run(f.next, "migrate", "--contract")
	for _, command := range [][]string{{"migrate"}, {"relay", "--ops-listen=127.0.0.1:0"}} {
		require.Contains(t, f.refused(binary, command...), "contracted for a later release", "there is no way back")
	}
	more(20)
	stop()
	require.NoError(t, g.Wait())

	require.Equal(t, len(taken), f.count(sqlOrders, f.company), "each order once")
	require.Equal(t, len(taken), f.count(`SELECT max(number) FROM orders WHERE company_id = $1`, f.company), "numbers without a gap")
	for _, release := range []string{"this", "next"} {
		require.Positive(t, f.count(`SELECT count(*) FROM orders WHERE company_id = $1 AND taken_by = $2`, f.company, release), "both releases took orders")
	}
	f.delivered(taken)
}

// delivered waits until each order has its webhook.
func (f *fleet) delivered(taken []placed) {
	f.t.Helper()
	missing := new(counter)
	role.Eventually(f.t, func() bool {
		seen := map[string]bool{}
		for _, id := range f.received() {
			seen[id] = true
		}
		*missing = 0
		for _, p := range taken {
			if !seen[p.ID] {
				*missing++
			}
		}
		return *missing == 0
	}, "the webhook of every order arrives; missing of %d: %s", len(taken), missing)
	for _, d := range f.deliveries("all") {
		require.True(f.t, d.Verified, d.Error)
	}
}

// counter is printed as it is at the end of a wait.
type counter int

func (c *counter) String() string { return strconv.Itoa(int(*c)) }

// received lists the records that deliveries were about.
func (r *kit) received() (ids []string) {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, body := range r.bodies {
		var e envelope
		require.NoError(r.t, json.Unmarshal(body, &e))
		ids = append(ids, e.Data.ID)
	}
	return ids
}

// joined reports whether each group of the dispatchers has that many members, and none of them waits for another.
func joined(t *testing.T, admin *kadm.Client, members int) bool {
	t.Helper()
	groups, err := admin.DescribeGroups(t.Context(), "tradegrid-router", "tradegrid-sender")
	require.NoError(t, err)
	for _, g := range groups {
		if g.State != "Stable" || len(g.Members) != members {
			return false
		}
	}
	return len(groups) == 2
}

// Dispatchers come and die in quick succession: whatever is repeated, nothing is lost.
func TestRebalanceStorm(t *testing.T) {
	t.Parallel()
	f := &fleet{kit: newKit(t), api: map[string]*role.Process{}}
	client, err := kgo.NewClient(kgo.SeedBrokers(f.brokers...))
	require.NoError(t, err)
	t.Cleanup(client.Close)
	f.start(binary, "api-1")
	f.role(nil, "relay")
	survivor := f.role(nil, "dispatcher")
	api := f.node()
	api.subscribe("all", "order.created")
	product := api.product()
	var taken []placed
	for range 5 {
		p := f.role(nil, "dispatcher")
		for range 20 {
			taken = append(taken, placed{order: api.order(product)})
		}
		if !dbtest.OnRealBrokers() {
			// The embedded broker keeps a member for ever that dies while it waits to join a group.
			role.Eventually(t, func() bool { return joined(t, kadm.NewClient(client), 2) }, "both dispatchers have joined their groups")
		}
		survivor.Kill()
		survivor = p
	}
	f.delivered(taken)
	f.accounted()
}

// unready sees that a binary whose schema is not there yet is not ready, and says what to do.
func (f *fleet) unready(binary string) {
	f.t.Helper()
	p := f.launchFrom(binary, nil, "api")
	p.AwaitStart()
	status, why := p.Ask("/readyz")
	require.Equal(f.t, http.StatusServiceUnavailable, status)
	require.Contains(f.t, why, "900_next.sql, step 1: run tradegrid migrate")
	require.NoError(f.t, p.Signal(syscall.SIGTERM))
	require.Zero(f.t, p.AwaitEnd(10*time.Second))
}

// refused runs a command that fails, and returns what it says.
func (f *fleet) refused(binary string, args ...string) string {
	f.t.Helper()
	p := spawnFrom(f.t, binary, f.env, args...)
	require.Equal(f.t, 1, p.AwaitEnd(time.Minute), p.Tail())
	return p.Tail()
}

// run runs a command of a binary to its end.
func (f *fleet) run(binary string, args ...string) {
	f.t.Helper()
	p := spawnFrom(f.t, binary, f.env, args...)
	require.Zero(f.t, p.AwaitEnd(role.Patience), p.Tail())
}
