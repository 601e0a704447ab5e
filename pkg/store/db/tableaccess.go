package db

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Declared is what was declared of a statement.
type Declared struct {
	Changes []Table `json:"changes"`
	Reads   []Table `json:"reads"`             // besides
	Partial bool    `json:"partial,omitempty"` // Reads were not declared
}

type declaredKey struct{}

// declarations are those of statements that are sent with a context, and those of the context around it.
type declarations struct {
	of    map[string]Declared // by the text of the statement
	outer *declarations
}

// DeclaredFor returns what was declared of a statement that a [Config.QueryTracer] sees, if it was a [Write], or a statement of a
// transaction, or of [DeclareReads]. It is kept for such a tracer only.
func DeclaredFor(ctx context.Context, sql string) (Declared, bool) {
	for d, _ := ctx.Value(declaredKey{}).(*declarations); d != nil; d = d.outer {
		if known, ok := d.of[sql]; ok {
			return known, true
		}
	}
	return Declared{}, false
}

// DeclareReads declares the tables that the statements of a batch read, for [DeclaredFor]. q is what they are sent by.
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
	of := make(map[string]Declared, b.Len())
	for _, s := range b.QueuedQueries {
		of[s.SQL] = Declared{Reads: tables}
	}
	return with(ctx, of)
}

func with(ctx context.Context, of map[string]Declared) context.Context {
	outer, _ := ctx.Value(declaredKey{}).(*declarations)
	return context.WithValue(ctx, declaredKey{}, &declarations{of, outer})
}

func declare(ctx context.Context, sql string, d Declared) context.Context {
	return with(ctx, map[string]Declared{sql: d})
}

// traced reports whether somebody asks for what was declared.
func (d *DB) traced() bool { return d.cfg.QueryTracer != nil }

func (s *statement) declared() Declared {
	if s == nil {
		return Declared{Partial: true}
	}
	return Declared{Changes: s.changes, Reads: s.reads}
}

func (t *Tx) declare(ctx context.Context, w Write) context.Context {
	if !t.run.traced {
		return ctx
	}
	return declare(ctx, w.s.sql, w.s.declared())
}

// read declares that a statement changes nothing.
func (t *Tx) read(ctx context.Context, sql string) context.Context {
	if !t.run.traced {
		return ctx
	}
	return declare(ctx, sql, Declared{Partial: true})
}

// readBatch is [Tx.read] for the statements of a batch, unless more is declared of them.
func (t *Tx) readBatch(ctx context.Context, b *pgx.Batch) context.Context {
	if !t.run.traced {
		return ctx
	}
	of := map[string]Declared{}
	for _, s := range b.QueuedQueries {
		if _, known := DeclaredFor(ctx, s.SQL); !known {
			of[s.SQL] = Declared{Partial: true}
		}
	}
	return with(ctx, of)
}

func (t *Tx) declareQueue(ctx context.Context, queue []*Queued) context.Context {
	if !t.run.traced {
		return ctx
	}
	of := make(map[string]Declared, len(queue))
	for _, q := range queue {
		of[q.sql] = q.write.declared()
	}
	return with(ctx, of)
}
