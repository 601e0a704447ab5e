package outbox

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/compress"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// fillLog inserts events directly into the log: one per minute from start, alternating between two records and three names.
func fillLog(t *testing.T, c tenant.ID, start time.Time, n int) (records [2]uuid.UUID, ids []uuid.UUID) {
	t.Helper()
	records = [2]uuid.UUID{uuid.New(), uuid.New()}
	names := []string{"order.created", "order.status_changed", "client.updated"}
	d := dbtest.Open(t)
	for i := range n {
		id := uuid.Must(uuid.NewV7())
		ids = append(ids, id)
		at := start.Add(time.Duration(i) * time.Minute)
		_, err := d.Exec(t.Context(), `INSERT INTO events (company_id, seq, id, event, agg_type, agg_id, agg_version, body, occurred_at, expires_at)
			VALUES ($1, $2, $3, $4, 'order', $5, $6, $7, $8, $9)`,
			c, 10*(i+1), id, names[i%3], records[i%2], i+1, fmt.Appendf(nil, `{"b":%d, "a":1}`, i), at, at.Add(30*day))
		require.NoError(t, err)
	}
	return records, ids
}

func seqs(entries []LogEntry) (out []int64) {
	for _, e := range entries {
		out = append(out, e.Seq)
	}
	return out
}

func TestReadLogNarrows(t *testing.T) {
	t.Parallel()
	d, c := dbtest.Open(t), company()
	start := time.Now().Add(-time.Hour).UTC().Truncate(time.Microsecond)
	records, _ := fillLog(t, c, start, 6)
	fillLog(t, company(), start, 3)
	at := func(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }
	for name, row := range map[string]struct {
		after  int64
		limit  int
		filter LogFilter
		want   []int64
	}{
		"all":             {0, 100, LogFilter{}, []int64{10, 20, 30, 40, 50, 60}},
		"page":            {20, 2, LogFilter{}, []int64{30, 40}},
		"between":         {25, 1, LogFilter{}, []int64{30}},
		"end":             {60, 10, LogFilter{}, nil},
		"star":            {0, 100, LogFilter{Events: []string{"client.updated", "*"}}, []int64{10, 20, 30, 40, 50, 60}},
		"name":            {0, 100, LogFilter{Events: []string{"client.updated"}}, []int64{30, 60}},
		"wildcard":        {0, 100, LogFilter{Events: []string{"order.*"}}, []int64{10, 20, 40, 50}},
		"two":             {0, 100, LogFilter{Events: []string{"order.created", "client.*"}}, []int64{10, 30, 40, 60}},
		"underscore":      {0, 100, LogFilter{Events: []string{"order_created", "order.status_changed"}}, []int64{20, 50}},
		"percent":         {0, 100, LogFilter{Events: []string{"%"}}, nil},
		"backslash":       {0, 100, LogFilter{Events: []string{`\`}}, nil},
		"record":          {0, 100, LogFilter{EntityID: records[1]}, []int64{20, 40, 60}},
		"record and name": {20, 1, LogFilter{EntityID: records[1], Events: []string{"order.*"}}, []int64{40}},
		"from, inclusive": {0, 100, LogFilter{From: at(4)}, []int64{50, 60}},
		"to, inclusive":   {0, 100, LogFilter{To: at(1)}, []int64{10, 20}},
		"from to":         {0, 100, LogFilter{From: at(1), To: at(2)}, []int64{20, 30}},
		"unknown record":  {0, 100, LogFilter{EntityID: uuid.New()}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _, err := ReadLog(t.Context(), d, c, row.after, row.limit, row.filter)
			require.NoError(t, err)
			require.Equal(t, row.want, seqs(got))
		})
	}
}

func TestPagesOfLargeEventsAreShort(t *testing.T) {
	t.Parallel()
	d, c := dbtest.Open(t), company()
	fillLog(t, c, time.Now(), 7)
	for seq, size := range map[int]int{10: 1 << 20, 20: 1 << 20, 30: 1 << 20, 40: 1 << 20, 50: 5 << 20, 60: 1} { // 70 is small, too
		body := compress.Pack(bytes.Repeat([]byte("a"), size))
		_, err := d.Exec(t.Context(), `UPDATE events SET body = $3 WHERE company_id = $1 AND seq = $2`, c, seq, body)
		require.NoError(t, err)
	}
	var pages [][]int64
	for after, more := int64(0), true; more; {
		var page []LogEntry
		var err error
		page, more, err = ReadLog(t.Context(), d, c, after, 6, LogFilter{})
		require.NoError(t, err)
		pages, after = append(pages, seqs(page)), page[len(page)-1].Seq
	}
	require.Equal(t, [][]int64{{10, 20, 30, 40}, {50}, {60, 70}}, pages, "at most 4 MiB, but at least one event")
}

func TestLogHidesWhatIsOver(t *testing.T) {
	t.Parallel()
	d, c := dbtest.Open(t), company()
	_, ids := fillLog(t, c, time.Now().Add(-30*day-150*time.Second), 5) // the first three have expired
	got, _, err := ReadLog(t.Context(), d, c, 0, 100, LogFilter{})
	require.NoError(t, err)
	require.Equal(t, []int64{40, 50}, seqs(got))
	_, err = LogEvent(t.Context(), d, c, ids[0])
	require.ErrorIs(t, err, ErrNotLogged)
}

func TestLogEventIsTheCompanysOwn(t *testing.T) {
	t.Parallel()
	d, c := dbtest.Open(t), company()
	_, ids := fillLog(t, c, time.Now(), 1)
	entry, err := LogEvent(t.Context(), d, c, ids[0])
	require.NoError(t, err)
	require.Equal(t, `{"b":0, "a":1}`, string(entry.Body), "byte for byte")
	_, err = LogEvent(t.Context(), d, company(), ids[0])
	require.ErrorIs(t, err, ErrNotLogged)
}

func TestCursorExpiresOnlyWhenSomethingMayBeMissing(t *testing.T) {
	t.Parallel()
	now := time.Now().UTC().Truncate(time.Millisecond)
	page := []LogEntry{{Seq: 7, OccurredAt: now.Add(-29 * day)}}
	start := Cursor{}
	require.False(t, start.Expired(now, 30*day), "the start is wherever the log begins")
	caughtUp := start.Next(page, false, now)
	require.Equal(t, Cursor{After: 7, Seen: now}, caughtUp)
	require.False(t, caughtUp.Expired(now.Add(29*day), 30*day))
	require.True(t, caughtUp.Expired(now.Add(31*day), 30*day))
	behind := start.Next(page, true, now)
	require.False(t, behind.Expired(now, 30*day))
	require.True(t, behind.Expired(now.Add(2*day), 30*day))
	idle := caughtUp
	for range 60 {
		now = now.Add(day)
		require.False(t, idle.Expired(now, 30*day), "a reader that polls an idle company loses nothing")
		idle = idle.Next(nil, false, now)
	}
	parsed, err := ParseCursor(idle.String())
	require.NoError(t, err)
	require.Equal(t, idle, parsed)
	for _, bad := range []string{"x!", "7", "-1.5", ".", "7.y z"} {
		_, err := ParseCursor(bad)
		require.Error(t, err, bad)
	}
}
