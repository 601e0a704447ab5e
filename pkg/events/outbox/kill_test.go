//go:build failpoint

package outbox

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/topics"
)

const (
	envChildDatabase = "TRADEGRID_TEST_CHILD_DATABASE"
	envChildBrokers  = "TRADEGRID_TEST_CHILD_BROKERS"
)

// TestChildRelay is not a test itself, but the process that TestKilledRelay kills.
func TestChildRelay(t *testing.T) { //nolint:paralleltest // the only one in its process
	if os.Getenv(envChildDatabase) == "" {
		t.Skip("runs as the child of TestKilledRelay only")
	}
	d, err := db.Open(t.Context(), db.Config{URL: os.Getenv(envChildDatabase), MaxConns: 8})
	require.NoError(t, err)
	client, err := NewClient(kafka.Config{Brokers: strings.Split(os.Getenv(envChildBrokers), ","), ClientID: "child"})
	require.NoError(t, err)
	r, err := NewRelay(d, client, RelayConfig{Settings: Settings{LeaseTTL: time.Second, LeaseMargin: 200 * time.Millisecond, Renew: 100 * time.Millisecond, BatchSize: 10}, EventRetention: 30 * day, Node: "child"})
	require.NoError(t, err)
	require.NoError(t, r.Run(t.Context()))
}

// A relay process that is killed or frozen at any point loses nothing and reorders nothing.
func TestKilledRelay(t *testing.T) {
	t.Parallel()
	for _, place := range []string{"relay.before_produce", "relay.after_ack", "relay.before_settle", "relay.after_delete"} {
		for _, how := range []string{"", "@3", ":stop", "@3:stop"} {
			t.Run(place+how, func(t *testing.T) {
				t.Parallel()
				g := setup(t)
				c, record := company(), uuid.New()
				_, want := history(record, 1, 50)
				before, _ := history(record, 1, 40)
				child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChildRelay$")
				child.Env = append(os.Environ(), "TRADEGRID_FAILPOINT="+place+how,
					envChildDatabase+"="+g.db.Pool().Config().ConnString(), envChildBrokers+"="+strings.Join(g.brokers, ","))
				require.NoError(t, child.Start())
				var status syscall.WaitStatus
				stricken := func() bool {
					pid, err := syscall.Wait4(child.Process.Pid, &status, syscall.WUNTRACED|syscall.WNOHANG, nil)
					require.NoError(t, err)
					return pid != 0
				}
				over := false
				for some := range slices.Chunk(before, 10) { // one after the other, so that it settles several times
					g.append(c, some...)
					require.Eventually(t, func() bool { over = over || stricken(); return over || g.count("outbox") == 0 }, eventually, 5*time.Millisecond)
				}
				require.Eventually(t, func() bool { over = over || stricken(); return over }, eventually, 5*time.Millisecond)
				require.Equal(t, strings.HasSuffix(how, ":stop"), status.Stopped(), "%v", status)
				after, _ := history(record, 41, 50)
				g.append(c, after...)
				g.run(g.relay("successor"))
				g.drained()
				if status.Stopped() {
					require.NoError(t, child.Process.Signal(syscall.SIGCONT))
					require.Eventually(t, func() bool { return g.count("relay_members") == 2 }, eventually, 10*time.Millisecond)
					require.NoError(t, child.Process.Kill())
				}
				first, repeats := versions(g.records(topics.Events), record)
				require.Equal(t, want, first)
				require.LessOrEqual(t, repeats, 10, "at most what was not settled")
				require.Equal(t, want, g.logged(c), "also where it was frozen in a transaction that holds the rows")
			})
		}
	}
}
