package outbox

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// A process that has seen higher positions, or a later epoch, begins a new epoch; others take it over.
func TestEpochWatch(t *testing.T) {
	t.Parallel()
	g := setup(t)
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	found := func() int { return strings.Count(out.String(), "database was restored") }
	first, second := NewEpochWatch(g.db, log), NewEpochWatch(g.db, log)
	exec := func(sql string, args ...any) {
		t.Helper()
		_, err := g.db.Exec(t.Context(), sql, args...)
		require.NoError(t, err)
	}
	look := func() {
		t.Helper()
		require.NoError(t, first.look(t.Context()))
		require.NoError(t, second.look(t.Context()))
		require.Equal(t, first.epoch.Number, second.epoch.Number)
	}
	exec(`UPDATE event_log_heads SET n = 100`)
	look()
	exec(`UPDATE event_log_heads SET n = 120 WHERE bucket < 7`)
	look()
	require.Zero(t, first.epoch.Number)
	require.Empty(t, first.Notes())

	exec(`UPDATE event_log_heads SET n = 119 WHERE bucket = 3`)
	look()
	restored := first.epoch
	require.NotZero(t, restored.Number)
	require.Contains(t, restored.Cause, "position 120 of bucket 3 became 119")
	require.Contains(t, first.Notes()[0], "position 120 of bucket 3 became 119")
	require.Equal(t, 1, found(), "one process begins the epoch, the other follows")
	look()
	require.Equal(t, restored.Number, first.epoch.Number)

	exec(`UPDATE event_log_epoch SET epoch = 0, began_at = $1, cause = ''`, time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))
	look()
	require.NotContains(t, []int64{0, restored.Number}, first.epoch.Number, "the epoch before was restored")
	require.Contains(t, first.epoch.Cause, "is gone")
	require.Equal(t, 2, found())

	exec(`DROP TABLE event_log_epoch`)
	require.True(t, db.IsUndefinedTable(first.look(t.Context())), "a schema that is not migrated yet is no reason to complain")
}
