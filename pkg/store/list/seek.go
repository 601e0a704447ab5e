package list

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/cputime"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// place is a position in the order of a list: behind the record with this key, or behind where it would be.
type place struct {
	id     uuid.UUID
	sort   *string
	before int64 // records of the list up to it

	read    time.Time // before the page was read that ends there
	counted time.Time // before the records up to it were counted
}

// records is how many records of the list lie before the place; nil is its start.
func (p *place) records() int64 {
	if p == nil {
		return 0
	}
	return p.before
}

const (
	placesKept = 16 // of one list with its filters

	// passing is the processor time of the database for a record that is passed over in the index: 100 to 200 ns were measured.
	passing = 150 * time.Nanosecond

	// far is a way through the index, in skips of the node, that takes so long that it needs a slot of the counts, of which there are fewer.
	far = 50
)

// seek turns a deep page into the records that follow a known place. It begins at the nearest one that is known: the end of an
// earlier page, or a bound of the segments in which the total is kept. The way from there is looked up in the index alone, without
// reading the records that are passed over, and is charged to the token. ok is false if the page lies past the end.
func (q *Query) seek(ctx context.Context, d *db.DB, s Sort) (ok bool, err error) {
	n, k := q.params.node, q.orderKey()
	if q.skip <= int64(n.cfg.Skip) {
		return true, nil
	}
	from := n.nearest(k, q.skip, q.notBefore())
	if from.records() != q.skip {
		bound, err := q.bound(ctx, d, s)
		if err != nil {
			return false, err
		}
		if bound.records() > from.records() {
			from = bound
		}
	}
	between := q.skip - from.records()
	if between > int64(n.cfg.Skip) || between > 0 && s.Nullable {
		if from, err = q.find(ctx, d, s, from); err != nil || from == nil {
			return false, err
		}
		n.learn(k, *from)
		between = 0
	}
	q.seekFrom, q.skip = from, between
	return true, nil
}

// bound returns the last bound of segments that is not behind the page; nil if there are none, or if the list is sorted by something else.
// The total that this takes belongs to the page anyway.
func (q *Query) bound(ctx context.Context, d *db.DB, s Sort) (*place, error) {
	if !q.divisible() || s.Column != q.createdColumn() || s.Nullable {
		return nil, nil
	}
	n, k, since := q.params.node, q.totalKey(), q.notBefore()
	switch known := n.parted.Contains(k); {
	case !known && (q.searching || q.skip < n.cfg.Large):
		return nil, nil
	case !known:
		n.parted.Add(k, &segments{})
	}
	for range 2 { // the total that is known may have been counted as a whole
		if _, err := q.countTotal(ctx, d, k, since); err != nil {
			return nil, fmt.Errorf("count records before page of %s: %w", q.spec.From, err)
		}
		if kept, ok := n.parted.Get(k); ok && len(kept.n) > 0 && !kept.began.Before(since) {
			return kept.bound(q.skip, q.desc), nil
		}
		since = time.Now()
	}
	return nil, nil
}

// span is a part of the list and where it lies, as it was counted.
type span struct {
	part       part
	start, end int64
	counted    time.Time
}

// span returns the part in which the page begins. ok is false if it lies past the end.
func (q *Query) span(ctx context.Context, d *db.DB, s Sort) (in span, ok bool, err error) {
	all, err := q.countTotal(ctx, d, q.totalKey(), q.notBefore())
	if err != nil || q.skip >= all.n || !s.Nullable {
		return span{whole, 0, all.n, all.began}, q.skip < all.n, err
	}
	v := q.valuesOf(s)
	with, err := v.countTotal(ctx, d, v.totalKey(), q.notBefore())
	if q.skip <= with.n {
		return span{values, 0, with.n, with.began}, true, err
	}
	return span{nulls, with.n, all.n, with.began}, true, err
}

// valuesOf is the query of the records that have a value to sort by.
func (q *Query) valuesOf(s Sort) *Query {
	v := *q
	v.spec.Count, v.where = "", append(slices.Clone(q.where), s.Column+" IS NOT NULL")
	return &v
}

// find looks up the place where the page begins: on the way from another place, or from the end if that is shorter. It returns nil if
// the page lies past the end.
func (q *Query) find(ctx context.Context, d *db.DB, s Sort, from *place) (*place, error) {
	in, ok, err := q.span(ctx, d, s)
	if err != nil {
		return nil, fmt.Errorf("count records before page of %s: %w", q.spec.From, err)
	}
	if !ok {
		return nil, nil
	}
	way := *q
	if s.Nullable && (from.records() <= in.start || (from.sort == nil) != (in.part == nulls)) {
		from = nil
	}
	ahead, back := q.skip-max(from.records(), in.start), in.end-q.skip
	if back < ahead {
		way.desc, from, ahead = !q.desc, nil, back+1
	}
	if from != nil {
		in.counted = from.counted
	}
	p, err := way.lookUp(ctx, d, s, in.part, from, ahead)
	if err != nil {
		return nil, err
	}
	if p == nil { // there are fewer records now
		in.counted = time.Now()
		if p, err = q.lookUp(ctx, d, s, whole, nil, q.skip); p == nil {
			return nil, err
		}
	}
	p.before, p.counted = q.skip, in.counted
	return p, nil
}

// lookUp looks up a record in a part of the list, so many behind a place. It returns nil if there are fewer.
func (q *Query) lookUp(ctx context.Context, d *db.DB, s Sort, in part, from *place, ahead int64) (found *place, err error) {
	n, p := q.params.node, &place{read: time.Now()}
	sql, args := q.placeSQL(s, in, from, ahead-1)
	b := &pgx.Batch{}
	b.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		defer rows.Close()
		for rows.Next() {
			found = p
			if err := rows.Scan(&p.id, &p.sort); err != nil {
				return fmt.Errorf("read key of page: %w", err)
			}
		}
		return rows.Err()
	})
	slots := n.pages
	if ahead > far*int64(n.cfg.Skip) {
		slots = n.counts
	}
	ChargePassing(ahead)
	if err := n.read(db.DeclareReads(ctx, d, b, q.reads), slots, d, q.keyOf(b), q.plan(), b); err != nil {
		return nil, fmt.Errorf("find page of %s: %w", q.spec.From, err)
	}
	return found, nil
}

// ChargePassing charges the token of the request for records that the database passes over in an index.
func ChargePassing(records int64) { cputime.Current().Add(time.Duration(records) * passing) }

// placeSQL selects the key of one record in the order of the list, behind a place and so many records more.
func (q *Query) placeSQL(s Sort, in part, from *place, skip int64) (sql string, args []any) {
	where, args := q.wherePart(s, in, from)
	args = append(args, skip)
	return fmt.Sprintf("SELECT %s AS cursor_id, (%s)::TEXT AS cursor_value FROM %s WHERE %s ORDER BY %s LIMIT 1 OFFSET $%d",
		q.spec.ID, s.Column, q.spec.From, where, q.orderBy(s, in), len(args)), args
}

// nearest returns the last known place that is not behind so many records. The page that ends there may have been read from a place that
// was counted earlier; that only matters if records lie between.
func (n *Node) nearest(k key, skip int64, notBefore time.Time) (best *place) {
	known, _ := n.places.Get(k)
	for i, p := range known {
		began := p.counted
		if p.before == skip {
			began = p.read
		}
		if p.before <= skip && p.before > best.records() && !began.Before(notBefore) && time.Since(began) < totalTTL {
			best = &known[i]
		}
	}
	return best
}

// learn remembers a place; the oldest ones make room.
func (n *Node) learn(k key, p place) {
	n.mu.Lock()
	defer n.mu.Unlock()
	known, _ := n.places.Get(k)
	kept := slices.DeleteFunc(slices.Clone(known), func(o place) bool { return o.before == p.before })
	if len(kept) >= placesKept {
		kept = kept[1:]
	}
	n.places.Add(k, append(kept, p))
}
