package outbox

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/topics"
)

// A row that was dead is published and logged like any other, however long ago it failed.
func TestRestoredRowsArePublished(t *testing.T) {
	t.Parallel()
	g := setup(t)
	c, record := company(), uuid.New()
	old := time.Now().Add(-24 * time.Hour)
	for i := range 3 {
		m := message(record, int64(i+1), old.UnixMicro()+int64(i))
		_, err := g.db.Write(t.Context(), sqlInsertDead, Bucket(c), m.Pos, m.ID, c, topics.Events, c.String(), m.Name, m.AggType, m.AggID, m.Version, m.Payload, "", "", old, "too large", old)
		require.NoError(t, err)
	}
	backlog, err := ReadBacklog(t.Context(), g.db)
	require.NoError(t, err)
	require.Equal(t, Backlog{Dead: 3}, backlog)
	in := DeadFilter{Company: &c, Before: time.Now()}
	first, err := DeadRows(t.Context(), g.db, in, DeadRow{}, 1)
	require.NoError(t, err)
	rest, err := DeadRows(t.Context(), g.db, in, first[0], 10)
	require.NoError(t, err)
	require.Len(t, rest, 2)
	none, err := DeadRows(t.Context(), g.db, DeadFilter{Company: &c, Before: old.Add(-time.Second)}, DeadRow{}, 10)
	require.NoError(t, err)
	require.Empty(t, none)

	r := g.relay("a", func(r *Relay) { r.cfg.FullSweep = time.Hour }) // it finds the rows by their positions
	g.run(r)
	g.append(c, message(uuid.New(), 1, nowMicro())) // the first scan of a bucket is a full sweep
	g.drained()
	var waiting bool
	require.NoError(t, g.db.RunTx(t.Context(), "test.restore", func(ctx context.Context, tx *db.Tx) error {
		RestoreDead(tx, append(first, rest...))
		published, err := Published(ctx, tx, c)
		waiting = !published
		return err
	}))
	require.True(t, waiting, "of this transaction")
	g.drained()
	published, err := Published(t.Context(), g.db, c)
	require.NoError(t, err)
	require.True(t, published)
	require.Zero(t, g.count("outbox_dead"))
	numbers, repeated := versions(g.records(topics.Events), record)
	require.Equal(t, []string{"1", "2", "3"}, numbers)
	require.Zero(t, repeated)
	require.Equal(t, []string{"1", "1", "2", "3"}, g.logged(c))
}
