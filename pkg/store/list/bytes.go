package list

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// MaxPageBytes is how many bytes the records of a page may take, with what is listed with them. A page that would be larger
// ends earlier, but has at least one record.
const MaxPageBytes = 4 << 20

// smallChildren is how many bytes of children are read before they are known to fit on the page.
const smallChildren = 64 << 10

// Children are records that are listed with those that they belong to, such as the lines of orders.
type Children interface {
	// QueueSizes queues a statement that calls each with about how many bytes the children of a parent take as JSON.
	QueueSizes(b *pgx.Batch, company tenant.ID, parents []uuid.UUID, each func(parent uuid.UUID, bytes int))
	// QueueRead queues a statement that reads the children of the parents, and tells how many there were when the batch has run.
	// With a limit above 0, it reads none if all of them together take more bytes.
	QueueRead(b *pgx.Batch, company tenant.ID, parents []uuid.UUID, limit int) (read *int)
}

// ReadChildren reads the children of the records of the page, within the limits of lists. Records with which the page would
// be larger than [MaxPageBytes] leave the page. Small children are read in one round trip with their sizes, others when the memory
// for them is reserved.
func (p *Page[T]) ReadChildren(ctx context.Context, d db.Querier, children ...Children) error {
	if len(p.Items) == 0 || len(children) == 0 {
		return nil
	}
	parents := make([]uuid.UUID, len(p.ends))
	for i := range p.ends {
		parents[i] = p.ends[i].id
	}
	return p.query.readChildren(ctx, d, parents, children, func(sizes map[uuid.UUID]int) (left, bytes int) {
		p.fit(sizes)
		return len(p.Items), p.Bytes()
	})
}

// ChildBytes is about the least that [Children.QueueSizes] counts for a child.
const ChildBytes = 500

// ReadRows is [Page.ReadChildren] for a page of which each child becomes a row with the fields of its record: a record counts as often.
func (p *Page[T]) ReadRows(ctx context.Context, d db.Querier, children Children) error {
	return p.ReadChildren(ctx, d, rows{children, p.sizes()})
}

// sizes are what the records of the page take by themselves.
func (p *Page[T]) sizes() map[uuid.UUID]int {
	sizes := make(map[uuid.UUID]int, len(p.ends))
	for _, e := range p.ends {
		sizes[e.id] = e.bytes
	}
	return sizes
}

// rows are children that repeat what their records take.
type rows struct {
	Children
	records map[uuid.UUID]int
}

// QueueSizes implements [Children].
func (r rows) QueueSizes(b *pgx.Batch, company tenant.ID, parents []uuid.UUID, each func(parent uuid.UUID, bytes int)) {
	r.Children.QueueSizes(b, company, parents, func(parent uuid.UUID, bytes int) {
		each(parent, bytes+r.records[parent]*(bytes/ChildBytes))
	})
}

// readChildren reads the children of the parents that are left when fit knows how many bytes the children of each take. fit tells how
// many bytes the page takes with them, too.
func (q *Query) readChildren(ctx context.Context, d db.Querier, parents []uuid.UUID, children []Children, fit func(sizes map[uuid.UUID]int) (left, bytes int)) error {
	sizes, totals, read := make(map[uuid.UUID]int, len(parents)), make([]int, len(children)), make([]*int, len(children))
	b := &pgx.Batch{}
	for i, c := range children {
		c.QueueSizes(b, q.company, parents, func(parent uuid.UUID, bytes int) {
			sizes[parent] += bytes
			totals[i] += bytes
		})
		read[i] = c.QueueRead(b, q.company, parents, smallChildren)
	}
	if err := q.run(ctx, d, b); err != nil {
		return fmt.Errorf("read children or their sizes: %w", err)
	}
	left, bytes := fit(sizes)
	if q.params.reserve != nil {
		if err := q.params.reserve(ctx, bytes); err != nil {
			return err
		}
	}
	b = &pgx.Batch{}
	for i, c := range children {
		if totals[i] > 0 && *read[i] == 0 {
			c.QueueRead(b, q.company, parents[:left], 0)
		}
	}
	if b.Len() == 0 {
		return nil
	}
	if err := q.run(ctx, d, b); err != nil {
		return fmt.Errorf("read children: %w", err)
	}
	return nil
}

// fit cuts the page where it becomes too large with children of these sizes.
func (p *Page[T]) fit(children map[uuid.UUID]int) {
	bytes := 0
	for i := range p.ends {
		p.ends[i].bytes += children[p.ends[i].id]
		if bytes += p.ends[i].bytes; bytes > MaxPageBytes && i > 0 {
			p.cut(i)
			return
		}
	}
}

// Bytes is about how many bytes the page takes.
func (p *Page[T]) Bytes() (n int) {
	for _, e := range p.ends {
		n += e.bytes
	}
	return n
}

// cut leaves the first n items on the page.
func (p *Page[T]) cut(n int) {
	p.Items, p.ends = p.Items[:n], p.ends[:n]
	last := p.ends[n-1]
	last.more, last.cut = true, true
	p.end(last)
}

// run runs a batch within the limits of lists, if the list has any.
func (q *Query) run(ctx context.Context, d db.Querier, b *pgx.Batch) error {
	if n, pool := q.sharedNode(d); n != nil {
		return n.read(ctx, n.pages, pool, q.keyOf(b), db.PlanForValues, b)
	}
	return d.SendBatch(ctx, b).Close()
}

// limit is how many records the page may have.
func (q *Query) limit() int {
	if q.few > 0 {
		return min(q.few, q.params.PageSize)
	}
	return q.params.PageSize
}

// nextLimit is the limit of the page behind one of n records; 0 = pageSize. Behind a page that was cut there are probably more
// large records. The next page reads no more of them from the database than it may hold, and as many again once they are small.
func (q *Query) nextLimit(n int, cut bool) int {
	if limit := 2 * n; (cut || q.few > 0) && limit < q.params.PageSize {
		return limit
	}
	return 0
}
