package outbox

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/compress"
	"github.com/tradegrid/tradegrid/topics"
)

// wordy is a message with a payload of 20 kB that compresses well.
func wordy(record uuid.UUID, version int64) Message {
	m := message(record, version, nowMicro()+version)
	m.Payload = fmt.Appendf(nil, `{"eventId":%q,"version":%d,"text":%q}`, m.ID, version, strings.Repeat("a line of an order ", 1000))
	return m
}

// Rows of both forms are published and logged byte for byte; large ones take little room. A damaged one moves aside.
func TestCompressedBodiesArePublishedAndLoggedAsTheyWere(t *testing.T) {
	t.Parallel()
	g := setup(t)
	c, record := company(), uuid.New()
	packed, damaged, small := wordy(record, 1), wordy(record, 3), message(record, 4, nowMicro()+4)
	g.append(c, packed, damaged, small)
	_, err := g.db.Exec(t.Context(), `UPDATE outbox SET payload = substring(payload FROM 1 FOR 60) WHERE id = $1`, damaged.ID)
	require.NoError(t, err)
	var stored, asItIs int
	require.NoError(t, g.db.QueryRow(t.Context(), `SELECT octet_length(payload) FROM outbox WHERE id = $1`, packed.ID).Scan(&stored))
	require.Less(t, stored, 500)
	require.NoError(t, g.db.QueryRow(t.Context(), `SELECT octet_length(payload) FROM outbox WHERE id = $1`, small.ID).Scan(&asItIs))
	require.Equal(t, len(small.Payload), asItIs)

	g.run(g.relay("a"))
	g.drained()
	want := map[string]string{packed.ID.String(): string(packed.Payload), small.ID.String(): string(small.Payload)}
	got := map[string]string{}
	for _, r := range g.records(topics.Events) {
		got[r.id] = string(r.rec.Value)
	}
	require.Equal(t, want, got)
	for _, m := range []Message{packed, small} {
		entry, err := LogEvent(t.Context(), g.db, c, m.ID)
		require.NoError(t, err)
		require.Equal(t, string(m.Payload), string(entry.Body))
	}
	entries, _, err := ReadLog(t.Context(), g.db, c, 0, 10, LogFilter{})
	require.NoError(t, err)
	require.Len(t, entries, 2, "the damaged one is not logged")
	var body []byte
	require.NoError(t, g.db.QueryRow(t.Context(), `SELECT body FROM events WHERE company_id = $1 AND id = $2`, c, packed.ID).Scan(&body))
	require.True(t, compress.Packed(body))
	var reason string
	require.NoError(t, g.db.QueryRow(t.Context(), `SELECT error FROM outbox_dead WHERE id = $1`, damaged.ID).Scan(&reason))
	require.Contains(t, reason, "expand stored body")
}
