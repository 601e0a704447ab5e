package warehouse

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// The lag grows while nothing is told, and only in the process that is in charge.
func TestLagOfAvailableStock(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenNew(t) // nothing is to be told there
	closed, err := db.Open(t.Context(), db.Config{URL: d.Pool().Config().ConnString(), MaxConns: 1})
	require.NoError(t, err)
	closed.Close()
	away, here := NewAnnouncer(New(Config{DB: closed}), slog.New(slog.DiscardHandler)), NewAnnouncer(New(Config{DB: d}), slog.New(slog.DiscardHandler))
	inCharge, other := func() bool { return true }, func() bool { return false }
	start := time.Now()
	after := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	away.pass(t.Context(), other, start)
	require.Zero(t, untoldAt(after(10)))
	away.pass(t.Context(), inCharge, start)
	away.pass(t.Context(), inCharge, after(30))
	require.InDelta(t, 31, untoldAt(after(31)), 0.001, "the database was away")
	here.pass(t.Context(), func() bool { return true }, after(40))
	require.InDelta(t, 2, untoldAt(after(42)), 0.001)
	here.pass(t.Context(), other, after(43))
	require.Zero(t, untoldAt(after(50)))
}
