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

	"github.com/tradegrid/tradegrid/pkg/kit/compress"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// Expired rows are filtered out, because cleanup deletes them some time after they expire.
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
	sqlReadLogFromEnd = `SELECT seq, id, event, agg_type, agg_id, agg_version, body, occurred_at FROM events
WHERE company_id = $1 AND seq < $2 AND expires_at > $3
AND ($4::TEXT[] IS NULL OR event LIKE ANY($4::TEXT[]))
AND ($5::TIMESTAMPTZ IS NULL OR occurred_at >= $5::TIMESTAMPTZ)
AND ($6::TIMESTAMPTZ IS NULL OR occurred_at <= $6::TIMESTAMPTZ)
ORDER BY company_id DESC, seq DESC LIMIT $7`
	sqlReadLogOfEntityFromEnd = `SELECT seq, id, event, agg_type, agg_id, agg_version, body, occurred_at FROM events
WHERE company_id = $1 AND seq < $2 AND expires_at > $3
AND ($4::TEXT[] IS NULL OR event LIKE ANY($4::TEXT[]))
AND ($5::TIMESTAMPTZ IS NULL OR occurred_at >= $5::TIMESTAMPTZ)
AND ($6::TIMESTAMPTZ IS NULL OR occurred_at <= $6::TIMESTAMPTZ)
AND agg_id = $8
ORDER BY company_id DESC, agg_id DESC, seq DESC LIMIT $7`
	// In order of the ids, which is about that of time.
	sqlReadLogByID = `SELECT seq, id, event, agg_type, agg_id, agg_version, body, occurred_at FROM events
WHERE company_id = $1 AND id > $2 AND id <= $3 AND expires_at > $4
AND ($5::TEXT[] IS NULL OR event LIKE ANY($5::TEXT[])) AND occurred_at BETWEEN $6 AND $7
ORDER BY company_id, id LIMIT $8`
	sqlReadLogBackwards = `SELECT seq, id, event, agg_type, agg_id, agg_version, body, occurred_at FROM events
WHERE company_id = $1 AND id < $2 AND expires_at > $3
AND ($4::TEXT[] IS NULL OR event LIKE ANY($4::TEXT[]))
ORDER BY company_id DESC, id DESC LIMIT $5`
	sqlCountLogByID = `SELECT count(*), COALESCE(max(l.id::TEXT), '') FROM (SELECT id FROM events
WHERE company_id = $1 AND id > $2 AND id <= $3 AND expires_at > $4
AND ($5::TEXT[] IS NULL OR event LIKE ANY($5::TEXT[])) AND occurred_at BETWEEN $6 AND $7
ORDER BY company_id, id LIMIT $8) AS l`
	sqlSelectManyLogged = `SELECT seq, id, event, agg_type, agg_id, agg_version, body, occurred_at FROM events
WHERE company_id = $1 AND id = ANY($2::UUID[]) AND expires_at > $3`
	sqlSelectOrigin   = `SELECT request_id, traceparent, published_at FROM events WHERE company_id = $1 AND id = $2`
	sqlSelectLatestOf = `SELECT id FROM events WHERE company_id = $1 AND agg_id = $2 AND expires_at > $3
ORDER BY company_id DESC, agg_id DESC, seq DESC LIMIT $4`
	sqlSelectRequestsOf = `SELECT DISTINCT e.request_id FROM (SELECT request_id FROM events WHERE company_id = $1 AND agg_id = $2 AND expires_at > $3
ORDER BY company_id DESC, agg_id DESC, seq DESC LIMIT $4) AS e WHERE e.request_id <> ''`
	sqlSelectCausedBy = `SELECT id FROM events WHERE company_id = $1 AND id BETWEEN $2 AND $3 AND request_id = $4 AND expires_at > $5
ORDER BY company_id, id LIMIT $6`
)

// ErrNotLogged means that there is no such event, or that it has expired.
var ErrNotLogged = errors.New("event is not in the log")

// LogEntry is one event of the log. Body is the serialized envelope, byte for byte.
type LogEntry struct {
	Seq        int64 // position; increases in commit order within a company, with gaps; or NotLoggedYet
	ID         uuid.UUID
	Event      string
	AggType    string
	AggID      uuid.UUID
	AggVersion int64
	Body       []byte
	OccurredAt time.Time
}

// LogFilter filters the events that [ReadLog] returns. Zero fields do not filter.
type LogFilter struct {
	Events   []string  // event names, "order.*" or "*"; an event must match one of them
	From, To time.Time // bounds of OccurredAt, both inclusive
	EntityID uuid.UUID // id of the record
}

// maxPageBytes is how many bytes of events [ReadLog] returns at most, unless a single event is larger.
const maxPageBytes = 4 << 20

// ReadLog returns up to limit events of the company after the position after, oldest first, and whether more follow. A page of
// large events has fewer of them; see docs/reference/events.md#event-log.
// A reader that follows the positions misses nothing, because events become visible in order of position.
func ReadLog(ctx context.Context, q db.Querier, company tenant.ID, after int64, limit int, f LogFilter) (page []LogEntry, more bool, err error) {
	return f.read(ctx, q, company, after, limit, sqlReadLog, sqlReadLogOfEntity)
}

// ReadLogBackwards is [ReadLog] for the events before a position, the latest first.
func ReadLogBackwards(ctx context.Context, q db.Querier, company tenant.ID, before int64, limit int, f LogFilter) (page []LogEntry, more bool, err error) {
	return f.read(ctx, q, company, before, limit, sqlReadLogFromEnd, sqlReadLogOfEntityFromEnd)
}

func (f LogFilter) read(ctx context.Context, q db.Querier, company tenant.ID, from int64, limit int, sql, sqlOfEntity string) ([]LogEntry, bool, error) {
	args := []any{company, from, time.Now().UTC(), likePatterns(f.Events), orNull(f.From), orNull(f.To), limit + 1}
	if f.EntityID != uuid.Nil {
		sql, args = sqlOfEntity, append(args, f.EntityID)
	}
	return readLog(ctx, q, limit, maxPageBytes, sql, args...)
}

// readLog reads a page with a statement that returns one event more than fits.
func readLog(ctx context.Context, q db.Querier, limit, maxBytes int, sql string, args ...any) (page []LogEntry, more bool, err error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, false, fmt.Errorf("read event log: %w", err)
	}
	defer rows.Close()
	// Bodies are stored compressed: their size is known only row by row. Closing the rows drops the rest without expanding it.
	for bytes := 0; rows.Next(); {
		e, err := logEntry(rows)
		if err != nil {
			return nil, false, fmt.Errorf("read event log: %w", err)
		}
		if bytes += len(e.Body); len(page) == limit || (bytes > maxBytes && len(page) > 0) {
			return page, true, nil
		}
		page = append(page, e)
	}
	if err := rows.Err(); err != nil {
		return nil, false, fmt.Errorf("read event log: %w", err)
	}
	return page, false, nil
}

// Interval is the part of a company's log that lies between two times. It is read in the order of the events' ids, which is
// about that of time, so that it need not be searched from the beginning of the log.
type Interval struct {
	Events   []string  // as in [LogFilter]
	From, To time.Time // bounds of OccurredAt, both inclusive
}

// idSkew is by how much the time in an event's id may differ from OccurredAt.
const idSkew = 10 * time.Minute

// args are those of the statements, up to the limit.
func (i Interval) args(company tenant.ID, after uuid.UUID, limit int) []any {
	low, high := record.IDsBetween(i.From.Add(-idSkew), i.To.Add(idSkew))
	if after != uuid.Nil {
		low = after
	}
	return []any{company, low, high, time.Now().UTC(), likePatterns(i.Events), i.From, i.To, limit}
}

// Read returns up to limit events behind the one with the id given, uuid.Nil for the first ones, and whether more may follow. A
// page of large events has fewer of them, so that their bodies have maxBytes together, unless a single event is larger.
func (i Interval) Read(ctx context.Context, q db.Querier, company tenant.ID, after uuid.UUID, limit, maxBytes int) (page []LogEntry, more bool, err error) {
	return readLog(ctx, q, limit, maxBytes, sqlReadLogByID, i.args(company, after, limit+1)...)
}

// Latest returns the last events of the company before the one with the id given, uuid.Max for the very last ones, newest first,
// and whether more may follow. Only those with one of the names or wildcards are returned. A page of large events has fewer.
func Latest(ctx context.Context, q db.Querier, company tenant.ID, before uuid.UUID, names []string, limit, maxBytes int) (page []LogEntry, more bool, err error) {
	return readLog(ctx, q, limit, maxBytes, sqlReadLogBackwards, company, before, time.Now().UTC(), likePatterns(names), limit+1)
}

// Count counts up to limit events behind the one with the id given, and returns the id of the last of them.
func (i Interval) Count(ctx context.Context, q db.Querier, company tenant.ID, after uuid.UUID, limit int) (n int64, last uuid.UUID, err error) {
	var id string
	if err := q.QueryRow(ctx, sqlCountLogByID, i.args(company, after, limit)...).Scan(&n, &id); err != nil {
		return 0, after, fmt.Errorf("count event log: %w", err)
	}
	if n == 0 {
		return 0, after, nil
	}
	last, err = uuid.Parse(id)
	return n, last, err
}

// LogEvents returns the events of the company with these ids, also those that are on their way to the log; others are omitted.
func LogEvents(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) (map[uuid.UUID]LogEntry, error) {
	byID := make(map[uuid.UUID]LogEntry, len(ids))
	if err := addLogged(ctx, q, byID, company, ids); err != nil {
		return nil, err
	}
	missing := missingOf(byID, company, ids)
	waiting, err := OnTheWay(ctx, q, missing)
	if err != nil {
		return nil, err
	}
	for _, e := range waiting {
		if e.Body, err = compress.Open(e.Body); err != nil {
			return nil, fmt.Errorf("read event %s: %w", e.ID, err)
		}
		byID[e.ID] = e.LogEntry
	}
	if len(waiting) < len(missing) { // they may have entered the log meanwhile
		err = addLogged(ctx, q, byID, company, ids)
	}
	return byID, err
}

func addLogged(ctx context.Context, q db.Querier, byID map[uuid.UUID]LogEntry, company tenant.ID, ids []uuid.UUID) error {
	rows, err := q.Query(ctx, sqlSelectManyLogged, company, ids, time.Now().UTC())
	if err != nil {
		return fmt.Errorf("read events: %w", err)
	}
	entries, err := pgx.CollectRows(rows, logEntry)
	if err != nil {
		return fmt.Errorf("read events: %w", err)
	}
	for _, e := range entries {
		byID[e.ID] = e
	}
	return nil
}

func missingOf(byID map[uuid.UUID]LogEntry, company tenant.ID, ids []uuid.UUID) (missing []EventKey) {
	for _, id := range ids {
		if _, ok := byID[id]; !ok {
			missing = append(missing, EventKey{company, id})
		}
	}
	return missing
}

// LatestOf returns the ids of the last events of a record, newest first.
func LatestOf(ctx context.Context, q db.Querier, company tenant.ID, entity uuid.UUID, limit int) ([]uuid.UUID, error) {
	rows, err := q.Query(ctx, sqlSelectLatestOf, company, entity, time.Now().UTC(), limit)
	if err != nil {
		return nil, fmt.Errorf("read events of record %s: %w", entity, err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return nil, fmt.Errorf("read events of record %s: %w", entity, err)
	}
	return ids, nil
}

// RequestsOf returns the ids of the requests that caused the last events of a record.
func RequestsOf(ctx context.Context, q db.Querier, company tenant.ID, entity uuid.UUID, limit int) ([]string, error) {
	rows, err := q.Query(ctx, sqlSelectRequestsOf, company, entity, time.Now().UTC(), limit)
	if err != nil {
		return nil, fmt.Errorf("read requests of record %s: %w", entity, err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("read requests of record %s: %w", entity, err)
	}
	return ids, nil
}

// CausedBy returns the ids of the events that a request caused, oldest first. The process that answered it made them, between its
// beginning and its end.
func CausedBy(ctx context.Context, q db.Querier, company tenant.ID, request string, from, to time.Time, limit int) ([]uuid.UUID, error) {
	low, high := record.IDsBetween(from, to)
	rows, err := q.Query(ctx, sqlSelectCausedBy, company, low, high, request, time.Now().UTC(), limit)
	if err != nil {
		return nil, fmt.Errorf("read events of request %s: %w", request, err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return nil, fmt.Errorf("read events of request %s: %w", request, err)
	}
	return ids, nil
}

// Origin is where an event of the log came from.
type Origin struct {
	RequestID   *string    // of the API request; "" = the platform itself
	Traceparent *string    // of that request
	PublishedAt *time.Time // when Kafka had accepted the event; nil = it is not in the log yet
}

// OriginOf returns the origin of an event that is in the log or on its way there, or [ErrNotLogged].
func OriginOf(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID) (o Origin, err error) {
	logged := func() error {
		return q.QueryRow(ctx, sqlSelectOrigin, company, id).Scan(&o.RequestID, &o.Traceparent, &o.PublishedAt)
	}
	if err = logged(); db.IsNoRows(err) {
		err = q.QueryRow(ctx, sqlSelectOriginOnTheWay, onTheWayArgs([]EventKey{{company, id}})...).Scan(&o.RequestID, &o.Traceparent)
	}
	if db.IsNoRows(err) { // it may have entered the log meanwhile
		err = logged()
	}
	if db.IsNoRows(err) {
		return o, ErrNotLogged
	}
	if err != nil {
		return o, fmt.Errorf("read origin of event %s: %w", id, err)
	}
	return o, nil
}

// LogEvent returns one event of the company that is in the log or on its way there, or [ErrNotLogged].
func LogEvent(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID) (LogEntry, error) {
	found, err := LogEvents(ctx, q, company, []uuid.UUID{id})
	if err != nil {
		return LogEntry{}, err
	}
	entry, ok := found[id]
	if !ok {
		return LogEntry{}, ErrNotLogged
	}
	return entry, nil
}

func logEntry(row pgx.CollectableRow) (LogEntry, error) {
	e, err := pgx.RowToStructByPos[LogEntry](row)
	if err == nil {
		e.Body, err = compress.Open(e.Body)
	}
	return e, err
}

// Cursor is a reader's position in the log. It also holds the time up to which the reader has seen everything: the
// positions of a company have gaps, so the position alone does not tell whether later events were deleted.
type Cursor struct {
	After int64     // position of the last event read; 0 = from the oldest
	Seen  time.Time // no event after After is older than this
	Epoch int64     // of the log when the cursor was issued
}

// Next returns the cursor after a page that was read with c at the time now. If there are more pages, the reader has seen
// everything up to the last entry of this one, otherwise everything up to now.
func (c Cursor) Next(page []LogEntry, more bool, now time.Time) Cursor {
	next := Cursor{After: c.After, Seen: now, Epoch: c.Epoch}
	if len(page) > 0 {
		last := page[len(page)-1]
		next.After = last.Seq
		if more {
			next.Seen = last.OccurredAt
		}
	}
	return next
}

// Expired reports whether events after the cursor may have been deleted from the log (EVENTS_CURSOR_EXPIRED).
func (c Cursor) Expired(now time.Time, retention time.Duration) bool {
	return !c.Seen.IsZero() && c.Seen.Add(retention).Before(now)
}

// String encodes the cursor as text: position, milliseconds and, but for the first, epoch.
func (c Cursor) String() string {
	text := strconv.FormatInt(c.After, 36) + "." + strconv.FormatInt(c.Seen.UnixMilli(), 36)
	if c.Epoch != 0 {
		text += "." + strconv.FormatInt(c.Epoch, 36)
	}
	return text
}

// ParseCursor parses the text form.
func ParseCursor(s string) (Cursor, error) {
	pos, rest, _ := strings.Cut(s, ".")
	ms, number, later := strings.Cut(rest, ".")
	after, err := strconv.ParseInt(pos, 36, 64)
	seen, err2 := strconv.ParseInt(ms, 36, 64)
	var epoch int64
	var err3 error
	if later {
		epoch, err3 = strconv.ParseInt(number, 36, 64)
	}
	if err = errors.Join(err, err2, err3); err != nil || after < 0 {
		return Cursor{}, fmt.Errorf("cursor %q was not issued by the event log: %w", s, err)
	}
	return Cursor{After: after, Seen: time.UnixMilli(seen).UTC(), Epoch: epoch}, nil
}

// likePatterns converts event names and wildcards to LIKE patterns; nil matches all.
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
