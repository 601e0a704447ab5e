package list

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/store/db"
)

const (
	segmentsMade  = 128              // of a total when it is counted
	segmentsKept  = 4 * segmentsMade // above it, the total is counted anew
	segmentsFor   = time.Hour        // a total is counted anew after that, in case that something else than the platform changed rows
	changesRead   = 20_000           // above it, all segments are counted
	segmentsBatch = 16               // statements that are sent at once

	// A request ends after 30 s, and a clock may be off. A change that is committed later than this after its time would not
	// be seen until the total is counted anew.
	latest = 45 * time.Second
)

// The outer bounds of segments: later and earlier than any record.
var (
	everBefore = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	everAfter  = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
)

// segments are a total by the time of creation of the records, which never changes. A segment in which nothing was created
// or changed since it was counted still has as many matches, so that a total is renewed by counting the other ones.
type segments struct {
	bounds []time.Time // segment i has the records from bounds[i] to before bounds[i+1]; everBefore is the first bound and everAfter the last
	n      []int64
	made   time.Time
	began  time.Time     // changes that were committed before are included
	width  time.Duration // of a segment when they were made
}

// at is the segment of a time.
func (s *segments) at(created time.Time) int {
	return sort.Search(len(s.bounds), func(i int) bool { return s.bounds[i].After(created) }) - 1
}

func (s *segments) total() (sum int64) {
	for _, n := range s.n {
		sum += n
	}
	return sum
}

// divide makes equal segments of the time from the first to the last record.
func divide(first, last time.Time) *segments {
	s := &segments{bounds: []time.Time{everBefore}, width: max(last.Sub(first)/segmentsMade, time.Second).Truncate(time.Microsecond)} // what the database distinguishes
	for i := range segmentsMade {
		s.bounds = append(s.bounds, first.Add(time.Duration(i+1)*s.width))
	}
	s.bounds = append(s.bounds, everAfter)
	s.n = make([]int64, len(s.bounds)-1)
	return s
}

// grow adds a segment for what is created from now on when the last one covers as much time as the others. It returns the
// segments that have to be counted because of that.
func (s *segments) grow(now time.Time) (changed []int) {
	last := len(s.n) - 1
	if from := now.Add(-latest).Truncate(time.Microsecond); from.Sub(s.bounds[last]) > s.width {
		s.bounds = slices.Insert(slices.Clone(s.bounds), last+1, from)
		s.n = append(s.n, 0)
		changed = []int{last, last + 1}
	}
	return changed
}

// createdColumn is the column of the time of creation.
func (q *Query) createdColumn() string { return q.spec.Sorts["createdAt"].Column }

// divisible reports whether the total may be kept in segments: whatever can change it is a change of a record of the list.
func (q *Query) divisible() bool {
	return q.spec.Permanent && !q.spec.Platform && !q.foreign && q.createdColumn() != ""
}

// count returns the total as it is now. A large one is counted in segments from the second time on.
func (q *Query) count(ctx context.Context, d *db.DB, k key) (int64, error) {
	n := q.params.node
	if !q.divisible() {
		return q.countAll(ctx, d, n.cfg.Limit)
	}
	if s, ok := n.parted.Get(k); ok {
		return q.countSegments(ctx, d, k, s)
	}
	began := time.Now()
	all, err := q.countAll(ctx, d, n.cfg.Limit/4)
	switch {
	case errors.Is(err, db.ErrTooLong):
		return q.countSegments(ctx, d, k, &segments{})
	case err == nil && (all >= n.cfg.Large || time.Since(began) > n.cfg.Limit/10):
		n.parted.Add(k, &segments{}) // next time
	}
	return all, err
}

func (q *Query) readWithin(ctx context.Context, d *db.DB, limit time.Duration, b *pgx.Batch) error {
	return d.ReadWithTimeout(db.DeclareReads(ctx, d, b, q.reads), limit, db.PlanForValues, b)
}

// countAll counts in one statement.
func (q *Query) countAll(ctx context.Context, d *db.DB, limit time.Duration) (all int64, err error) {
	b := &pgx.Batch{}
	b.Queue(q.countSQL(), q.args...).QueryRow(func(row pgx.Row) error { return row.Scan(&all) })
	err = q.readWithin(ctx, d, limit, b)
	return all, err
}

// countSegments counts the segments in which something has changed, and remembers all of them. The counts of one total run
// one after the other.
func (q *Query) countSegments(ctx context.Context, d *db.DB, k key, known *segments) (int64, error) {
	n, began := q.params.node, time.Now()
	s, changed, err := q.changedSegments(ctx, d, known)
	if err != nil || s == nil {
		return 0, err
	}
	s.began = began
	for part := range slices.Chunk(changed, segmentsBatch) {
		b := &pgx.Batch{}
		for _, i := range part {
			sql, args := q.segmentSQL(s.bounds[i], s.bounds[i+1])
			b.Queue(sql, args...).QueryRow(func(row pgx.Row) error { return row.Scan(&s.n[i]) })
		}
		if err := q.readWithin(ctx, d, n.cfg.Limit, b); err != nil {
			return 0, fmt.Errorf("count segments: %w", err)
		}
	}
	n.parted.Add(k, s)
	return s.total(), nil
}

// changedSegments returns a copy of the segments, or new ones where there are none or they are too old, and which of them
// have to be counted. There are none for a list without records.
func (q *Query) changedSegments(ctx context.Context, d *db.DB, known *segments) (s *segments, changed []int, err error) {
	if now := time.Now(); len(known.n) > 0 && len(known.n) < segmentsKept && now.Sub(known.made) < segmentsFor {
		s = &segments{known.bounds, slices.Clone(known.n), known.made, known.began, known.width}
		var few bool
		if changed, few, err = q.changes(ctx, d, s); err != nil {
			return nil, nil, err
		}
		if few {
			for _, i := range s.grow(now) {
				if !slices.Contains(changed, i) {
					changed = append(changed, i)
				}
			}
			return s, changed, nil
		}
	}
	s, err = q.newSegments(ctx, d)
	if s != nil {
		for i := range s.n {
			changed = append(changed, i)
		}
	}
	return s, changed, err
}

func (q *Query) newSegments(ctx context.Context, d *db.DB) (*segments, error) {
	made, column := time.Now(), q.createdColumn()
	var first, last *time.Time
	b := &pgx.Batch{}
	b.Queue(fmt.Sprintf(`SELECT min(%s), max(%s) FROM %s WHERE %s = $1`, column, column, q.spec.From, q.spec.Company), q.company).
		QueryRow(func(row pgx.Row) error { return row.Scan(&first, &last) })
	if err := q.readWithin(ctx, d, q.params.node.cfg.Limit, b); err != nil || first == nil {
		return nil, err
	}
	s := divide(*first, *last)
	s.made = made
	return s, nil
}

// changes lists the segments of records that may have changed since the total was counted. few is false if there are too
// many of them to read.
func (q *Query) changes(ctx context.Context, d *db.DB, s *segments) (changed []int, few bool, err error) {
	rows := 0
	seen := map[int]bool{}
	b := &pgx.Batch{}
	b.Queue(q.changesSQL(), q.company, s.began.Add(-latest)).Query(func(found pgx.Rows) error {
		var created time.Time
		_, err := pgx.ForEachRow(found, []any{&created}, func() error {
			rows++
			seen[s.at(created)] = true
			return nil
		})
		return err
	})
	if err := q.readWithin(ctx, d, q.params.node.cfg.Limit, b); err != nil {
		return nil, false, fmt.Errorf("read changes: %w", err)
	}
	for i := range seen {
		changed = append(changed, i)
	}
	slices.Sort(changed)
	return changed, rows <= changesRead, nil
}

// changesSQL selects when the records were created that have changed.
func (q *Query) changesSQL() string {
	return fmt.Sprintf(`SELECT %s FROM %s WHERE %s = $1 AND %s >= $2 ORDER BY %s LIMIT %d`,
		q.createdColumn(), q.spec.From, q.spec.Company, q.spec.Updated, q.spec.Updated, changesRead+1)
}

// segmentSQL counts the matching records of an interval.
func (q *Query) segmentSQL(from, to time.Time) (string, []any) {
	args := append(slices.Clone(q.args), from, to)
	return fmt.Sprintf(`%s AND %s >= $%d AND %s < $%d`, q.countSQL(), q.createdColumn(), len(args)-1, q.createdColumn(), len(args)), args
}
