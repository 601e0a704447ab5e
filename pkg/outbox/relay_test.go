package outbox

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/tradegrid/tradegrid/topics"
)

// ends is the number of records in a topic from which nothing was removed.
func (g *rig) ends(topic string) (n int64) {
	g.t.Helper()
	offsets, err := kadm.NewClient(g.client()).ListEndOffsets(g.t.Context(), topic)
	require.NoError(g.t, err)
	offsets.Each(func(o kadm.ListedOffset) { n += o.Offset })
	return n
}

func TestRelayPublishesWithAllHeaders(t *testing.T) {
	t.Parallel()
	g := setup(t)
	c, record := company(), uuid.New()
	m := message(record, 3, nowMicro())
	g.append(c, m)
	stop := g.run(g.relay("a"))
	g.drained()
	stop()
	got := g.records(topics.Events)
	require.Len(t, got, 1)
	rec := got[0].rec
	require.Equal(t, c.String(), string(rec.Key))
	require.Equal(t, m.Payload, rec.Value)
	require.Equal(t, m.ID.String(), header(rec, "ce_id"))
	require.Equal(t, "order.updated", header(rec, "ce_type"))
	require.Equal(t, "tradegrid", header(rec, "ce_source"))
	require.Equal(t, c.String(), header(rec, "companyid"))
	require.Equal(t, "order", header(rec, "agg_type"))
	require.Equal(t, record.String(), header(rec, "agg_id"))
	require.Equal(t, "3", header(rec, "version"))
	require.Equal(t, "1", header(rec, "schema"))
	entry, err := LogEvent(t.Context(), g.db, c, m.ID)
	require.NoError(t, err)
	require.Equal(t, m.Payload, entry.Body)
	require.Equal(t, int64(1), entry.Seq)
	require.True(t, entry.OccurredAt.Equal(m.CreatedAt))
}
