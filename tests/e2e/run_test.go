package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/tests/role"
	"github.com/tradegrid/tradegrid/topics"
)

// buckets is how many buckets of the outbox a process has.
func (r *kit) buckets(p *role.Process) int {
	return r.count("SELECT COUNT(*) FROM outbox_leases WHERE expires_at > now() AND owner LIKE $1", fmt.Sprintf("%%-%d/%%", p.PID()))
}

// wakeups is how many wake-ups went through Kafka.
func (r *kit) wakeups() (n int64) {
	client, err := kgo.NewClient(kgo.SeedBrokers(r.brokers...))
	require.NoError(r.t, err)
	defer client.Close()
	ends, err := kadm.NewClient(client).ListEndOffsets(r.t.Context(), topics.OutboxWakeups)
	require.NoError(r.t, err)
	ends.Each(func(end kadm.ListedOffset) { n += end.Offset })
	return n
}

// One process is all roles: what is ordered arrives, by wake-ups in memory; operators reach the console; the metrics and checks of all
// roles are there; and it ends cleanly.
func TestRunIsAllRoles(t *testing.T) {
	t.Parallel()
	r := newKit(t)
	operators := filepath.Join(t.TempDir(), "operators")
	require.NoError(t, os.WriteFile(operators, []byte(secret.OperatorLine("ann", secret.RoleRead, secret.NewOperatorToken())), 0o600))
	run := r.role(nil, "run", "--admin-tokens-file="+operators, "--admin-listen=127.0.0.1:0", "--console-listen=127.0.0.1:0", "--console-url=http://localhost:8084")
	ready(t, run)
	role.Eventually(t, func() bool { return r.buckets(run) == 256 }, "its relay has all buckets")
	api := r.client(run)
	api.subscribe("all", "order.created")
	before := r.wakeups()
	product := api.product()
	for range 3 {
		r.await("all", "order.created", api.order(product).ID)
	}
	require.Equal(t, before, r.wakeups(), "nobody else is to be woken")

	for _, up := range []string{"api listening", "relay running", "dispatcher running", "console listening"} {
		require.Contains(t, run.Said(), `"msg":"`+up+`"`)
	}
	_, metrics := run.Ask("/metrics")
	for _, name := range []string{"http_server_request_duration_seconds", "tradegrid_outbox_", "tradegrid_delivery_", "tradegrid_console_"} {
		require.Contains(t, metrics, "\n"+name)
	}
	require.Equal(t, 1, r.count("SELECT COUNT(*) FROM processes WHERE role = 'run' AND node LIKE $1", fmt.Sprintf("%%-%d", run.PID())))
	require.NoError(t, run.Signal(syscall.SIGTERM))
	require.Zero(t, run.AwaitEnd(25*time.Second), run.Tail())
	require.Zero(t, r.count("SELECT COUNT(*) FROM processes"))
	require.Zero(t, r.buckets(run), "the leases are released")
}

// An installation grows and shrinks without a stop: more processes of its kind, and roles of their own, share its work.
func TestRunsAndRolesShareTheWork(t *testing.T) {
	t.Parallel()
	r := newKit(t)
	first, second, relay := r.launch(nil, "run"), r.launch(nil, "run"), r.launch(nil, "relay")
	all := []*role.Process{first, second, relay}
	for _, p := range all {
		p.AwaitStart()
	}
	role.Eventually(t, func() bool {
		return r.buckets(first) > 0 && r.buckets(second) > 0 && r.buckets(relay) > 0
	}, "each has some of the buckets")
	r.client(first).subscribe("all", "order.created")
	product := r.client(first).product()
	var ordered []string
	order := func(at *role.Process) {
		for range 5 {
			ordered = append(ordered, r.client(at).order(product).ID)
		}
	}
	order(first)
	order(second)
	first.Kill()
	order(second)
	require.NoError(t, relay.Signal(syscall.SIGTERM))
	require.Zero(t, relay.AwaitEnd(25*time.Second), relay.Tail())
	order(second)
	for _, id := range ordered {
		r.await("all", "order.created", id)
	}
	r.accounted()
}

// An API takes orders while the brokers are away, also where relay and dispatcher are in its process: /readyz names these, and answers
// for the API alone.
func TestRunTakesOrdersWithoutBrokers(t *testing.T) {
	t.Parallel()
	r := newKit(t)
	run := r.role([]string{"TRADEGRID_KAFKA_BROKERS=127.0.0.1:1"}, "run")
	for _, name := range []string{"relay", "dispatcher"} {
		notReady(t, run, name+"/kafka", "127.0.0.1:1")
	}
	status, body := run.Ask("/readyz?role=api")
	require.Equal(t, http.StatusOK, status, body)
	api := r.client(run)
	api.order(api.product())
	require.NoError(t, run.Signal(syscall.SIGTERM))
	require.Zero(t, run.AwaitEnd(25*time.Second), run.Tail())
}

// A role that cannot start ends the process with its name.
func TestRunNamesTheRoleThatFails(t *testing.T) {
	t.Parallel()
	r := newKit(t)
	first := r.role(nil, "run")
	taken := strings.TrimSuffix(strings.TrimPrefix(first.URL, "http://"), httpapi.BasePath)
	second := r.launch(nil, "run", "--listen="+taken)
	require.Equal(t, 1, second.AwaitEnd(role.Patience))
	require.Contains(t, second.Said(), "tradegrid run: api: --listen "+taken+": ")
	require.Contains(t, second.Said(), "address already in use")
}
