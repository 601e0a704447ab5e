package sweeper

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/delivery/dispatchtest"
	"github.com/tradegrid/tradegrid/topics"
)

// An injection after which nothing happens is no success: the second one says so, in the log and in /readyz, until it helps.
func TestSweeperTellsOfInjectionsWithoutEffect(t *testing.T) {
	t.Parallel()
	k := dispatchtest.New(t, dbtest.OpenNew(t))
	senders := &outage{Kit: k, adm: kadm.NewClient(k.Client)}
	sub := k.Subscription()
	id := insert(k, row{sub: sub, held: true, updated: time.Minute, created: time.Hour, left: 20 * time.Hour})
	works := insert(k, row{sub: sub, due: time.Hour, updated: time.Hour, left: 20 * time.Hour}) // never injected before
	var log bytes.Buffer
	s := newSweeper(k, "a", func(c *Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	later := time.Duration(0)
	s.now = func() time.Time { return time.Now().Add(later) }
	pass := func(wait time.Duration) []string {
		t.Helper()
		later += wait
		senders.read(topics.Senders, topics.Deliveries, 0) // what was injected, without effect
		_, err := s.pass(t.Context())
		require.NoError(t, err)
		return s.StuckNotes()
	}
	require.Empty(t, pass(0), "the first time")
	k.Exec(`UPDATE deliveries SET state = 2, next_attempt_at = NULL, completed_at = now() WHERE company_id = $1 AND id = $2`, k.Company, works)
	require.Empty(t, pass(9*time.Minute))
	for range 2 {
		notes := pass(11 * time.Minute)
		require.Len(t, notes, 1)
		require.Contains(t, notes[0], id.String())
	}
	require.Contains(t, log.String(), `msg="deliveries injected again after an injection without effect" count=1`)
	require.Contains(t, s.StuckNotes()[0], "again 2 times")
	k.Exec(`UPDATE deliveries SET attempt = 1, updated_at = $3 WHERE company_id = $1 AND id = $2`, k.Company, id, s.now().UTC())
	require.Len(t, pass(time.Minute), 1, "for a while")
	require.Empty(t, pass(20*time.Minute))
}
