package outbox

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/compress"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// Rows that are published and not settled are left out. PostgreSQL looks them up in a hash table, if their ids come from a query
// that it may not join with; CockroachDB reads on to the limit, as long as it has nothing to join.
const (
	fromProbed = ` FROM unnest($1::INT4[], $2::BIGINT[]) AS u(b, low)
WHERE EXISTS (SELECT 1 FROM outbox WHERE outbox.bucket = u.b AND outbox.pos >= u.low AND `
	sqlProbe = `SELECT u.b` + fromProbed + `id <> ALL($3::UUID[]))`
	// Without IS TRUE, PostgreSQL joins with the whole outbox where it takes that for small. CockroachDB looks up each bucket
	// as long as it may join.
	sqlProbePostgreSQL = `SELECT u.b` + fromProbed + `(id IN (SELECT unnest($3::UUID[]))) IS NOT TRUE) IS TRUE`

	scanned    = `x.bucket, x.pos, x.id, x.company_id, x.topic, x.key, x.event, x.agg_type, x.agg_id, x.agg_version, x.payload, x.traceparent, x.tracestate, x.request_id, x.created_at, `
	fromOutbox = `
FROM unnest($1::INT4[], $2::BIGINT[]) AS u(b, low) CROSS JOIN LATERAL (
 SELECT bucket, pos, id, company_id, topic, key, event, agg_type, agg_id, agg_version, payload, traceparent, tracestate, request_id, created_at
 FROM outbox WHERE bucket = u.b AND pos >= u.low AND `
	inOrder = ` ORDER BY bucket, pos, id LIMIT $3) AS x ORDER BY x.bucket, x.pos, x.id`
)

// scanStatements are the statements that read the rows of buckets, with what the stamp adds.
func scanStatements(s Stamp) map[db.Dialect]string {
	head := "SELECT " + scanned + cmp.Or(s.SQL, "0") + fromOutbox
	return map[db.Dialect]string{
		db.CockroachDB: head + `id <> ALL($4::UUID[])` + inOrder,
		db.PostgreSQL:  head + `(id IN (SELECT unnest($4::UUID[]))) IS NOT TRUE` + inOrder,
	}
}

const (
	activeFor   = time.Second            // how long after the last row of which no writer told the shortest poll interval is kept
	slowAfter   = 250 * time.Millisecond // a bucket that waits longer for Kafka is completed alone, and its batch releases its slot
	retryFirst  = 100 * time.Millisecond
	retryMax    = 5 * time.Second
	retryLimit  = 50       // maximum number of rows of a batch after a failure
	batchBytes  = 4 << 20  // of the payloads of a batch, stored and opened, of which each bucket has an equal part; each may have one row in any case
	heldBytes   = 64 << 20 // no batch is started while a relay holds so much
	maxPassTime = 30 * time.Second
	lastSettle  = 5 * time.Second // for what is left when a relay stops

	// Buckets of one batch; together they may have groupRows times the rows of one. A batch takes at most groupRows buckets
	// with a backlog, whole: small pieces of a bucket would have each scan pass the remains of all pieces before.
	minGroup, maxGroup, groupRows = 8, 64, 4
)

// row is one row of the outbox.
type row struct {
	Bucket      int32
	Pos         int64
	ID          uuid.UUID
	Company     tenant.ID
	Topic       string
	Key         string
	Event       string
	AggType     string
	AggID       uuid.UUID
	AggVersion  int64
	Stored      []byte // payload as the row has it, perhaps compressed; the event log gets it as it is
	Traceparent string
	Tracestate  string
	RequestID   string
	CreatedAt   time.Time
	Stamp       int64
	Payload     []byte    `db:"-"` // as it is published
	corrupt     error     // why there is no payload
	answered    time.Time // when Kafka had accepted or rejected it
}

// probe finds the idle buckets that have rows, with a single statement. It counts those whose writers send no wake-ups.
func (r *Relay) probe(ctx context.Context) (missed int, err error) {
	look := r.idle()
	if len(look.buckets) == 0 {
		return 0, nil
	}
	sql := sqlProbe
	if r.db.Dialect() == db.PostgreSQL {
		sql = sqlProbePostgreSQL
	}
	full, err := read(ctx, r.db, pgx.RowTo[int32], sql, look.buckets, look.lows, look.unsettled)
	if err != nil {
		return 0, fmt.Errorf("probe outbox: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range full {
		look.found[b] = true
		r.suspect(r.parts[b], look.at)
		r.enqueue(r.parts[b])
	}
	for i, b := range look.buckets {
		if p := r.parts[b]; !p.busy && !look.found[b] {
			p.low = max(p.low, r.behind(look.at))
			if look.lows[i] == 0 {
				p.swept(look.at, r.cfg)
			}
		}
	}
	return r.missed(time.Now()), nil
}

// look is a snapshot of the idle buckets.
type look struct {
	at      time.Time
	buckets []int32
	lows    []int64 // positions to scan from; 0 for a full sweep
	found   map[int32]bool

	unsettled []uuid.UUID // rows that are left out
}

// idle lists the owned buckets that are neither busy, queued nor waiting for a retry.
func (r *Relay) idle() look {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := look{at: time.Now(), found: make(map[int32]bool), unsettled: []uuid.UUID{}}
	for _, p := range r.parts {
		if !p.usable(l.at) || p.leaving || p.paused || p.busy || p.queued || l.at.Before(p.notBefore) {
			continue
		}
		low := p.low
		if !l.at.Before(p.nextSweep) {
			low = 0
		}
		l.buckets = append(l.buckets, p.bucket)
		l.lows = append(l.lows, low)
		l.unsettled = p.unsettled(l.unsettled)
	}
	return l
}

// view is the result of one scan of a bucket.
type view struct {
	p     *part
	at    time.Time
	low   int64 // 0 in a full sweep
	bound int64 // where the scan would have started without a sweep
	sweep bool
	limit int
	// backlog: the scan before found as many rows as it might.
	backlog   bool
	unsettled []uuid.UUID // rows that are left out
	rows      []row
	bytes     int  // of their payloads
	cut       bool // further rows were left for the next scan, because these have many bytes
}

// full reports whether there may be rows after the last one.
func (v *view) full() bool { return v.cut || len(v.rows) == v.limit }

// take adds a row, unless the rows before have the bytes that a bucket may have.
func (v *view) take(rows pgx.CollectableRow, most int) error {
	if v.cut = v.cut || v.bytes >= most; v.cut {
		return nil
	}
	m, err := pgx.RowToStructByPos[row](rows)
	if err != nil {
		return err
	}
	m.Payload, m.corrupt = compress.Open(m.Stored)
	v.bytes += len(m.Stored) + len(m.Payload)
	v.rows = append(v.rows, m)
	return nil
}

func (r *Relay) view(p *part) view {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := view{p: p, at: time.Now(), low: p.low, bound: p.low, limit: p.limit, backlog: p.backlog, unsettled: p.unsettled([]uuid.UUID{})}
	if !v.at.Before(p.nextSweep) {
		v.low, v.sweep = 0, true
	}
	return v
}

// countStragglers counts rows that only a full sweep could find, because a transaction was open for longer than the
// lookback or a clock was off by that much. A later change of the same record may have been published before them.
func (r *Relay) countStragglers(ctx context.Context, v *view) {
	n := 0
	for i := range v.rows {
		if v.rows[i].Pos < v.bound {
			n++
		}
	}
	if n > 0 {
		stragglers.Add(float64(n))
		r.log.WarnContext(ctx, "outbox rows older than the lookback", "bucket", v.p.bucket, "rows", n, "first_event_id", v.rows[0].ID)
	}
}

// advance raises the position at which the next scan starts and adjusts the size of the next batch.
// It is not called after an error; the next scan then starts where this one did.
func (r *Relay) advance(v *view, b *batch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := v.p
	if p.republish {
		return // the next scan starts in front of what is published again
	}
	if v.sweep {
		p.swept(v.at, r.cfg)
	}
	p.backlog = len(v.rows) > 0 && v.full()
	low := r.behind(v.at)
	if len(v.rows) > 0 && v.full() {
		low = min(low, v.rows[len(v.rows)-1].Pos-r.cfg.Lookback.Microseconds())
	}
	if b.firstOpen != 0 {
		low = min(low, b.firstOpen-r.cfg.Lookback.Microseconds())
	}
	p.low = max(low, 0)
	const most = batchBytes / groupRows // of a bucket with a backlog
	switch {
	case v.cut:
		p.limit = min(max(len(v.rows)*most/v.bytes, 1), r.cfg.BatchSize)
	case v.full() && v.bytes < most/2:
		p.limit = min(p.limit*2, r.cfg.BatchSize)
	}
}

// scan reads the next rows of several buckets in one round trip.
func (r *Relay) scan(ctx context.Context, group []*part) ([]*view, error) {
	ctx, cancel := context.WithTimeout(ctx, maxPassTime)
	defer cancel()
	views, batch := make([]*view, len(group)), &pgx.Batch{}
	for i, p := range group {
		v := r.view(p)
		views[i] = &v
	}
	statements := r.statements(views)
	for _, s := range statements {
		batch.Queue(r.scans[r.db.Dialect()], s.buckets, s.lows, s.limit, s.unsettled)
	}
	began, found := time.Now(), 0
	res := r.db.SendBatch(ctx, batch)
	defer func() { _ = res.Close() }() // it repeats the error of an earlier statement
	for _, s := range statements {
		if err := s.read(res, batchBytes/len(group)); err != nil {
			return nil, fmt.Errorf("scan outbox buckets %v: %w", s.buckets, err)
		}
	}
	for _, v := range views {
		found += len(v.rows)
	}
	r.noteScan(views, began, found)
	return views, nil
}

// statement reads buckets that have the same limit.
type statement struct {
	views     map[int32]*view
	buckets   []int32
	lows      []int64
	limit     int
	unsettled []uuid.UUID
}

// statements divides the buckets of a batch: those without a backlog share one and the rows of a batch, as far as their limits are
// not lower; each other has its own.
func (r *Relay) statements(views []*view) (all []*statement) {
	shared := &statement{limit: max(min(r.cfg.BatchSize, r.cfg.BatchSize*groupRows/len(views)), 1)}
	for _, v := range views {
		s := shared
		if v.backlog || v.limit < shared.limit {
			s = &statement{limit: v.limit}
		}
		if s.views == nil {
			s.views, s.unsettled = map[int32]*view{}, []uuid.UUID{}
			all = append(all, s)
		}
		v.limit, s.views[v.p.bucket] = s.limit, v
		s.buckets, s.lows, s.unsettled = append(s.buckets, v.p.bucket), append(s.lows, v.low), append(s.unsettled, v.unsettled...)
	}
	return all
}

// read reads the rows, which come in order of bucket and position.
func (s *statement) read(res pgx.BatchResults, most int) error {
	rows, err := res.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	var bucket int32
	first := []any{&bucket, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil}
	for rows.Next() {
		if err := rows.Scan(first...); err != nil {
			return err
		}
		if err := s.views[bucket].take(rows, most); err != nil {
			return err
		}
	}
	return rows.Err()
}

// noteScan notes what a batch holds, and how long its scan took.
func (r *Relay) noteScan(views []*view, began time.Time, rows int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, v := range views {
		v.p.bytes = v.bytes
	}
	r.pace.observe(began, time.Since(began), rows)
}

// read runs one query and collects its rows in one round trip. It runs outside a transaction, so that it cannot cause
// serialization failures in transactions that insert into the outbox.
func read[T any](ctx context.Context, d *db.DB, to pgx.RowToFunc[T], sql string, args ...any) ([]T, error) {
	ctx, cancel := context.WithTimeout(ctx, maxPassTime)
	defer cancel()
	rows, err := d.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, to)
}
