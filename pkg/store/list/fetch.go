package list

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// Fetch reads the page and, if requested, the count in one round trip.
// targets returns the scan destinations of Spec.Columns in a record.
func Fetch[T any](ctx context.Context, d db.Querier, q *Query, targets func(*T) []any) (*Page[T], error) {
	return fetch(ctx, d, q, func(rows pgx.Rows, end ...any) (item T, err error) {
		err = rows.Scan(append(targets(&item), end...)...)
		return item, err
	})
}

// fetch reads each item with read, which also scans the two cursor columns that follow its own.
func fetch[T any](ctx context.Context, d db.Querier, q *Query, read func(rows pgx.Rows, end ...any) (T, error)) (*Page[T], error) {
	if err := checkFields[T](q.params.Fields); err != nil {
		return nil, err
	}
	s, err := q.begin()
	if err != nil {
		return nil, err
	}
	page := &Page[T]{PageSize: q.params.PageSize, Items: []T{}, fields: q.params.Fields, query: q}
	var end lastRow
	queue := func(b *pgx.Batch, p part) {
		sql, args := q.pageSQL(s, p, q.limit()+1-len(page.Items))
		b.Queue(sql, args...).Query(func(rows pgx.Rows) error { return page.take(rows, read, &end) })
	}
	done, err := q.readHits(ctx, d, queue)
	if err == nil && !done {
		page.Items, page.ends, end = page.Items[:0], nil, lastRow{}
		err = q.read(ctx, d, s, queue, &end)
	}
	if err != nil {
		if q.params.Cursor != "" && isDataError(err) {
			return nil, errCursor // the cursor is forged: its value does not have the type of the column
		}
		return nil, fmt.Errorf("read page of %s: %w", q.spec.From, err)
	}
	if page.Total, err = q.total(ctx, d, len(page.Items), end.more); err != nil {
		return nil, fmt.Errorf("count %s: %w", q.spec.From, err)
	}
	if q.params.Cursor == "" {
		n := max(q.params.Page, 1)
		page.Page = &n
	}
	page.end(end)
	if q.params.UpdatedSince != nil {
		// Open transactions may commit older timestamps, so the next read overlaps by 15 s.
		page.Watermark = jsontype.At(q.now.Add(-15 * time.Second)).String()
	}
	return page, nil
}

// isDataError reports whether the database rejected a value.
func isDataError(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && strings.HasPrefix(pg.Code, "22")
}

// part is the part of a list that a statement reads. A list that is sorted by a nullable column is read in two parts, each
// in the order of an index: first the records with a value, then those without.
type part int

const (
	whole part = iota
	values
	nulls
	hits // of a search, in their order; see [Query.readHits]
)

// parts lists the parts that the page may lie in.
func (q *Query) parts(s Sort) []part {
	switch {
	case !s.Nullable, q.seekFrom == nil && q.skip > 0:
		return []part{whole}
	case q.seekFrom != nil && q.seekFrom.sort == nil:
		return []part{nulls}
	}
	return []part{values, nulls}
}

// pageSQL returns the SELECT of a part of the page, with one extra row that tells whether there is a next page.
func (q *Query) pageSQL(s Sort, p part, limit int) (sql string, args []any) {
	where, args := q.wherePart(s, p, q.seekFrom)
	if p == hits {
		sql = q.hitsSQL(s, limit)
	} else {
		sql = fmt.Sprintf("SELECT %s FROM %s WHERE %s ORDER BY %s LIMIT %d", q.columns(s), q.spec.From, where, q.orderBy(s, p), limit)
	}
	if q.skip > 0 {
		args = append(args, q.skip)
		sql += fmt.Sprintf(" OFFSET $%d", len(args))
	}
	return sql, args
}

// columns are those of a page. The aliases keep the names in ORDER BY unambiguous.
func (q *Query) columns(s Sort) string {
	return fmt.Sprintf("%s, %s AS cursor_id, (%s)::TEXT AS cursor_value", q.spec.Columns, q.spec.ID, s.Column)
}

// wherePart selects the records of a part behind a place, if there is one.
func (q *Query) wherePart(s Sort, p part, behind *place) (string, []any) {
	where, args := slices.Clone(q.where), slices.Clone(q.args)
	if behind != nil && (p != nulls || behind.sort == nil) {
		var after string
		after, args = q.after(s, *behind, args)
		where = append(where, after)
	}
	switch p {
	case values:
		where = append(where, s.Column+" IS NOT NULL")
	case nulls:
		where = append(where, s.Column+" IS NULL")
	case whole, hits:
	}
	return strings.Join(where, " AND "), args
}

// orderBy is the order of a part. Nulls are named only where they can occur, because indexes have them elsewhere.
func (q *Query) orderBy(s Sort, p part) string {
	dir := "ASC"
	if q.desc {
		dir = "DESC"
	}
	switch {
	case p == nulls:
		return q.spec.ID + " " + dir
	case p == whole && s.Nullable:
		return fmt.Sprintf("%s %s NULLS LAST, %s %s", s.Column, dir, q.spec.ID, dir)
	}
	return fmt.Sprintf("%s %s, %s %s", s.Column, dir, q.spec.ID, dir)
}
