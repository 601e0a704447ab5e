package processes

import (
	"log/slog"
	"testing"

	"github.com/google/uuid"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// start announces a process, which is withdrawn by the function returned.
func start(t *testing.T, d *db.DB, node, role string, settings ...string) (stop func()) {
	t.Helper()
	a := &announcement{Process: Process{Node: node, Role: role, Contracts: []string{}, Settings: settings}, id: uuid.New(), db: d, log: slog.New(slog.DiscardHandler)}
	a.announce(t.Context())
	return func() { a.withdraw(t.Context()) }
}

// differing is the metric of a setting.
func differing(t *testing.T, name string) float64 {
	t.Helper()
	var m dto.Metric
	require.NoError(t, settingsDiffer.WithLabelValues(name).Write(&m))
	return m.GetGauge().GetValue()
}

// A setting that others have a value of that is not that of this process is reported until they are gone.
func TestSettingsThatDifferAreReported(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenNew(t)
	w := NewSettingsWatch(d, []string{"attempts=7", "ttl=22h", "bucket="}, slog.New(slog.DiscardHandler))
	look := func(want ...string) {
		t.Helper()
		require.NoError(t, w.look(t.Context()))
		require.Equal(t, want, w.Notes())
	}
	start(t, d, "a", "api", "attempts=7", "ttl=22h", "bucket=")
	start(t, d, "b", "relay", "attempts=7", "ttl=22h", "delays=1s,2s")
	start(t, d, "c", "dev")
	look()
	stops := []func(){
		start(t, d, "d", "dispatcher", "attempts=3", "ttl=22h", "delays=5s,6s"), start(t, d, "e", "dispatcher", "attempts=3", "ttl=22h"),
		start(t, d, "f", "relay", "attempts=9"), start(t, d, "g", "api", "bucket=x"),
	}
	look("attempts is 7 here, 3 in dispatcher on d and 1 more, 9 in relay on f", "bucket is empty here, x in api on g")
	require.EqualValues(t, 3, differing(t, "attempts"))
	require.Zero(t, differing(t, "ttl"))
	for _, stop := range stops {
		stop()
	}
	look()
	require.Zero(t, differing(t, "attempts"))
}
