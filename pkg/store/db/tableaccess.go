package db

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// TableAccess is what was declared of a statement.
type TableAccess struct {
	Changes []Table `json:"changes"`
	Reads   []Table `json:"reads"`             // besides
	Partial bool    `json:"partial,omitempty"` // Reads were not declared
}

type tableAccessKey struct{}

// declarations are those of statements that are sent with a context, and those of the context around it.
type declarations struct {
	of    map[string]TableAccess // by the text of the statement
	outer *declarations
}

// TableAccessOf returns what was declared of a statement that a [Config.QueryTracer] sees, if it was a [Write], or a statement of a
// transaction, or of [DeclareReads]. It is kept for such a tracer only.
func TableAccessOf(ctx context.Context, sql string) (TableAccess, bool) {
	for d, _ := ctx.Value(tableAccessKey{}).(*declarations); d != nil; d = d.outer {
		if known, ok := d.of[sql]; ok {
			return known, true
		}
	}
	return TableAccess{}, false
}

// DeclareReads declares the tables that the statements of a batch read, for [TableAccessOf]. q is what they are sent by.
func DeclareReads(ctx context.Context, q Querier, b *pgx.Batch, tables []Table) context.Context {
	switch q := q.(type) {
	case *DB:
		if !q.traced() {
			return ctx
		}
	case *Tx:
		if !q.run.traced {
			return ctx
		}
	default:
		return ctx
	}
	of := make(map[string]TableAccess, b.Len())
	for _, s := range b.QueuedQueries {
		of[s.SQL] = TableAccess{Reads: tables}
	}
	return with(ctx, of)
}

func with(ctx context.Context, of map[string]TableAccess) context.Context {
	outer, _ := ctx.Value(tableAccessKey{}).(*declarations)
	return context.WithValue(ctx, tableAccessKey{}, &declarations{of, outer})
}

func declare(ctx context.Context, sql string, d TableAccess) context.Context {
	return with(ctx, map[string]TableAccess{sql: d})
}

// traced reports whether somebody asks for what was declared.
func (d *DB) traced() bool { return d.cfg.QueryTracer != nil }

func (s *statement) tableAccess() TableAccess {
	if s == nil {
		return TableAccess{Partial: true}
	}
	return TableAccess{Changes: s.changes, Reads: s.reads}
}

func (t *Tx) declare(ctx context.Context, w Write) context.Context {
	if !t.run.traced {
		return ctx
	}
	return declare(ctx, w.s.sql, w.s.tableAccess())
}

// read declares that a statement changes nothing.
func (t *Tx) read(ctx context.Context, sql string) context.Context {
	if !t.run.traced {
		return ctx
	}
	return declare(ctx, sql, TableAccess{Partial: true})
}

// readBatch is [Tx.read] for the statements of a batch, unless more is declared of them.
func (t *Tx) readBatch(ctx context.Context, b *pgx.Batch) context.Context {
	if !t.run.traced {
		return ctx
	}
	of := map[string]TableAccess{}
	for _, s := range b.QueuedQueries {
		if _, known := TableAccessOf(ctx, s.SQL); !known {
			of[s.SQL] = TableAccess{Partial: true}
		}
	}
	return with(ctx, of)
}

func (t *Tx) declareQueue(ctx context.Context, queue []*Queued) context.Context {
	if !t.run.traced {
		return ctx
	}
	of := make(map[string]TableAccess, len(queue))
	for _, q := range queue {
		of[q.sql] = q.write.tableAccess()
	}
	return with(ctx, of)
}
