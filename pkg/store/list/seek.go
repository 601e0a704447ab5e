package list

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// place is where a page of a list ends: the key of its last record.
type place struct {
	page  int
	id    uuid.UUID
	sort  *string
	began time.Time // of the read that found it
}

const placesKept = 16 // of one list with its filters

// seek turns a deep page into the records that follow a known key. The key is that of an earlier page, or is looked up in
// the index alone, without reading the records that are skipped. ok is false if the page lies past the end.
func (q *Query) seek(ctx context.Context, d *db.DB, s Sort) (ok bool, err error) {
	n, k := q.params.node, q.orderKey()
	if q.skip <= int64(n.cfg.Skip) {
		return true, nil
	}
	p, found := n.nearest(k, q.params.Page-1, q.notBefore())
	between := int64(q.params.Page-1-p.page) * int64(q.params.PageSize)
	if found && (between == 0 || !s.Nullable || p.sort == nil) {
		q.seekFrom, q.skip = &p, between
		return true, nil
	}
	p = place{page: q.params.Page - 1, began: time.Now()}
	b := &pgx.Batch{}
	found = false
	b.Queue(q.placeSQL(s), append(slices.Clone(q.args), q.skip-1)...).Query(func(rows pgx.Rows) error {
		defer rows.Close()
		for rows.Next() {
			found = true
			if err := rows.Scan(&p.id, &p.sort); err != nil {
				return fmt.Errorf("read key of page: %w", err)
			}
		}
		return rows.Err()
	})
	if err := n.page(db.DeclareReads(ctx, d, b, q.reads), d, q.keyOf(b), q.plan(), b); err != nil {
		return false, fmt.Errorf("find page of %s: %w", q.spec.From, err)
	}
	if found {
		n.learn(k, p)
		q.seekFrom, q.skip = &p, 0
	}
	return found, nil
}

// placeSQL selects the key of one record in the order of the list; its last argument is how many come before.
func (q *Query) placeSQL(s Sort) string {
	return fmt.Sprintf("SELECT %s AS cursor_id, (%s)::TEXT AS cursor_value FROM %s WHERE %s ORDER BY %s LIMIT 1 OFFSET $%d",
		q.spec.ID, s.Column, q.spec.From, strings.Join(q.where, " AND "), q.orderBy(s, whole), len(q.args)+1)
}

// nearest returns the last known place that is not behind the page.
func (n *Node) nearest(k key, page int, notBefore time.Time) (best place, found bool) {
	known, _ := n.places.Get(k)
	for _, p := range known {
		if p.page <= page && p.page > best.page && !p.began.Before(notBefore) && time.Since(p.began) < totalTTL {
			best, found = p, true
		}
	}
	return best, found
}

// learn remembers a place; the oldest ones make room.
func (n *Node) learn(k key, p place) {
	n.mu.Lock()
	defer n.mu.Unlock()
	known, _ := n.places.Get(k)
	kept := slices.DeleteFunc(slices.Clone(known), func(o place) bool { return o.page == p.page })
	if len(kept) >= placesKept {
		kept = kept[1:]
	}
	n.places.Add(k, append(kept, p))
}
