package processes_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/processes"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

func nodes(all []processes.Process) (names []string) {
	for _, p := range all {
		names = append(names, p.Role+" on "+p.Node)
	}
	return names
}

// announced waits until exactly these processes run.
func announced(t *testing.T, d *db.DB, want ...string) {
	t.Helper()
	require.Eventually(t, func() bool {
		all, err := processes.List(context.Background(), d)
		return err == nil && slices.Equal(nodes(all), want)
	}, time.Minute, 5*time.Millisecond, "announced: %v", want)
}

func TestProcessesAnnounceThemselves(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenNew(t)
	start := func(p processes.Process) (stop func()) {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() {
			done <- p.Announce(ctx, d, slog.New(slog.DiscardHandler), func(ctx context.Context) error { <-ctx.Done(); return nil })
		}()
		return func() { cancel(); require.NoError(t, <-done) }
	}
	began := time.Now()
	stopOld := start(processes.Process{Node: "web-1", Role: "api", Release: "1.0", Contracts: []string{"193.contract"}})
	stopNew := start(processes.Process{Node: "web-2", Role: "api", Release: "2.0", Contracts: []string{"193.contract", "300.contract"}})
	announced(t, d, "api on web-1", "api on web-2")
	all, err := processes.List(t.Context(), d)
	require.NoError(t, err)
	require.Equal(t, "1.0", all[0].Release)
	require.WithinDuration(t, began, time.Time(all[0].StartedAt), time.Minute)
	require.WithinDuration(t, began, time.Time(all[0].SeenAt), time.Minute)

	for contract, want := range map[string][]string{"193.contract": nil, "300.contract": {"api on web-1"}, "301.contract": {"api on web-1", "api on web-2"}} {
		old, err := processes.Earlier(t.Context(), d, []string{contract}, nil)
		require.NoError(t, err)
		require.Equal(t, want, nodes(old), contract)
	}

	stopOld()
	announced(t, d, "api on web-2")
	_, err = d.Exec(t.Context(), `UPDATE processes SET expires_at = now()`)
	require.NoError(t, err)
	announced(t, d) // as one that was killed, a while later
	old, err := processes.Earlier(t.Context(), d, []string{"301.contract"}, nil)
	require.NoError(t, err)
	require.Empty(t, old)
	tag, err := d.Write(t.Context(), processes.CleanupJob.Delete, time.Now().Add(time.Second))
	require.NoError(t, err)
	require.EqualValues(t, 1, tag.RowsAffected())
	stopNew()
}

// A process that was told to end still works for a while.
func TestWorkIsAnnouncedFromBeginningToEnd(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenNew(t)
	ctx, stop := context.WithCancel(t.Context())
	running := func() []string {
		all, err := processes.List(t.Context(), d)
		require.NoError(t, err)
		return nodes(all)
	}
	failed := errors.New("the work failed")
	err := processes.Process{Node: "relay-1", Role: "relay", Contracts: []string{"193.contract"}}.Announce(ctx, d, slog.New(slog.DiscardHandler), func(context.Context) error {
		require.Equal(t, []string{"relay on relay-1"}, running(), "before the work begins")
		stop()
		for range 20 {
			require.NotEmpty(t, running(), "until the work has ended")
			time.Sleep(10 * time.Millisecond) // an announcement would be withdrawn meanwhile
		}
		return failed
	})
	require.ErrorIs(t, err, failed)
	require.Empty(t, running())
}

// A process that is not announced is known by the leases that it holds, as long as it renews them.
func TestOwnersOfLeasesThatAnnounceNothing(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenNew(t)
	exec := func(sql string) {
		_, err := d.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	exec(`INSERT INTO job_leases (name, owner, epoch, expires_at) VALUES ('probe.disk', 'old-2/12345678', 1, now() + INTERVAL '1 hour'), ('probe.outbox', 'gone-2/12345678', 1, now())`)
	_, err := d.Exec(t.Context(), `INSERT INTO processes (id, node, role, release, contracts, started_at, expires_at)
VALUES ($1, 'new-1', 'relay', '2.0', '{300.contract}', now(), now() + INTERVAL '1 hour')`, uuid.New())
	require.NoError(t, err)
	old, err := processes.Earlier(t.Context(), d, []string{"300.contract"}, []string{"old-1/abcdef12", "new-1/abcdef12"})
	require.NoError(t, err)
	require.Equal(t, []string{"owner of probe.disk on old-2", "relay on old-1"}, nodes(old))
}
