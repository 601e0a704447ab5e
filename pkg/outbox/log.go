package outbox

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// Rows that are over are hidden here: the databases delete them some time later.
const (
	sqlReadLog = `SELECT seq, id, event, agg_type, agg_id, agg_version, body, occurred_at FROM events
WHERE company_id = $1 AND seq > $2 AND expires_at > $3
AND ($4::TEXT[] IS NULL OR event LIKE ANY($4::TEXT[]))
AND ($5::TIMESTAMPTZ IS NULL OR occurred_at >= $5::TIMESTAMPTZ)
AND ($6::TIMESTAMPTZ IS NULL OR occurred_at <= $6::TIMESTAMPTZ)
ORDER BY company_id, seq LIMIT $7`
	sqlReadLogOfEntity = `SELECT seq, id, event, agg_type, agg_id, agg_version, body, occurred_at FROM events
WHERE company_id = $1 AND seq > $2 AND expires_at > $3
AND ($4::TEXT[] IS NULL OR event LIKE ANY($4::TEXT[]))
AND ($5::TIMESTAMPTZ IS NULL OR occurred_at >= $5::TIMESTAMPTZ)
AND ($6::TIMESTAMPTZ IS NULL OR occurred_at <= $6::TIMESTAMPTZ)
AND agg_id = $8
ORDER BY company_id, agg_id, seq LIMIT $7`
	sqlSelectLogged = `SELECT seq, id, event, agg_type, agg_id, agg_version, body, occurred_at FROM events
WHERE company_id = $1 AND id = $2 AND expires_at > $3`
)

// ErrNotLogged says that the event log does not have the event, or no longer.
var ErrNotLogged = errors.New("event is not in the log")

// LogEntry is one event of the log. Body is the frozen envelope, byte for byte.
type LogEntry struct {
	Seq        int64 // position; grows in commit order within a company, with gaps
	ID         uuid.UUID
	Event      string
	AggType    string
	AggID      uuid.UUID
	AggVersion int64
	Body       []byte
	OccurredAt time.Time
}

// LogFilter narrows what [ReadLog] returns. Zero values do not narrow.
type LogFilter struct {
	Events   []string  // names, "order.*" or "*"; any of them
	From, To time.Time // bounds of OccurredAt, both inclusive
	EntityID uuid.UUID // the record
}

// ReadLog returns up to limit events of the company behind the position after, oldest first; see docs/reference/events.md#event-log.
// A cursor over positions skips nothing: they become visible in their order.
func ReadLog(ctx context.Context, q db.Querier, company tenant.ID, after int64, limit int, f LogFilter) ([]LogEntry, error) {
	args := []any{company, after, time.Now().UTC(), likePatterns(f.Events), orNull(f.From), orNull(f.To), limit}
	sql := sqlReadLog
	if f.EntityID != uuid.Nil {
		sql, args = sqlReadLogOfEntity, append(args, f.EntityID)
	}
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("read event log: %w", err)
	}
	entries, err := pgx.CollectRows(rows, pgx.RowToStructByPos[LogEntry])
	if err != nil {
		return nil, fmt.Errorf("read event log: %w", err)
	}
	return entries, nil
}

// LogEvent returns one event of the company, or [ErrNotLogged].
func LogEvent(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID) (LogEntry, error) {
	rows, err := q.Query(ctx, sqlSelectLogged, company, id, time.Now().UTC())
	if err != nil {
		return LogEntry{}, fmt.Errorf("read event %s: %w", id, err)
	}
	entry, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[LogEntry])
	if errors.Is(err, pgx.ErrNoRows) {
		return LogEntry{}, ErrNotLogged
	}
	if err != nil {
		return LogEntry{}, fmt.Errorf("read event %s: %w", id, err)
	}
	return entry, nil
}

// Cursor is where a reader of the log stands. Besides the position it keeps the time up to which the reader has seen
// everything: positions of companies have gaps, so the position alone does not tell whether events behind
// it were removed.
type Cursor struct {
	After int64     // position of the last event read; 0 = from the oldest
	Seen  time.Time // nothing behind After is older than this
}

// Next is the cursor after a page that was read with c at the time now. With more to come the reader has seen
// everything up to the last entry, else everything up to now.
func (c Cursor) Next(page []LogEntry, more bool, now time.Time) Cursor {
	next := Cursor{After: c.After, Seen: now}
	if len(page) > 0 {
		last := page[len(page)-1]
		next.After = last.Seq
		if more {
			next.Seen = last.OccurredAt
		}
	}
	return next
}

// Expired reports whether events behind the cursor may have been removed from the log (EVENTS_CURSOR_EXPIRED).
func (c Cursor) Expired(now time.Time, retention time.Duration) bool {
	return !c.Seen.IsZero() && c.Seen.Add(retention).Before(now)
}

// String is the text form: position and milliseconds.
func (c Cursor) String() string {
	return strconv.FormatInt(c.After, 36) + "." + strconv.FormatInt(c.Seen.UnixMilli(), 36)
}

// ParseCursor reads the text form; the empty text is the start of the log.
func ParseCursor(s string) (Cursor, error) {
	if s == "" {
		return Cursor{}, nil
	}
	pos, ms, _ := strings.Cut(s, ".")
	after, err := strconv.ParseInt(pos, 36, 64)
	seen, err2 := strconv.ParseInt(ms, 36, 64)
	if err = errors.Join(err, err2); err != nil || after < 0 {
		return Cursor{}, fmt.Errorf("cursor %q is not one that the event log gave out: %w", s, err)
	}
	return Cursor{After: after, Seen: time.UnixMilli(seen).UTC()}, nil
}

// likePatterns turns names and wildcards into LIKE patterns; nil means all.
func likePatterns(names []string) []string {
	escape := strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`, `*`, `%`)
	var out []string
	for _, name := range names {
		if name == "*" {
			return nil
		}
		out = append(out, escape.Replace(name))
	}
	return out
}

func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
