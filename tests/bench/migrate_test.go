package bench

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/migrate"
	"github.com/tradegrid/tradegrid/schemas/sql"
)

const (
	migratedOrders = 200_000
	writeEvery     = 10 * time.Millisecond
)

// BenchmarkMigration adds a column to a table of 200 000 orders, fills it and builds an index on it, while a writer changes one
// order after the other, 100 a second. "steps" is what `tradegrid migrate` does, "plain" the same statements as they are.
//
//   - s: how long it takes
//   - longest-wait-ms: how long a change of an order takes at most meanwhile
func BenchmarkMigration(b *testing.B) {
	r := newKit(b)
	company := uuid.New()
	r.fill("orders", fillOrders, company, migratedOrders)
	made := 0
	script := func() (alter, update, index string) { // each with a column of its own
		made++
		column := fmt.Sprintf("filled%d", made)
		return "ALTER TABLE orders ADD COLUMN IF NOT EXISTS " + column + " INT8",
			"UPDATE orders SET " + column + " = total WHERE " + column + " IS NULL",
			"CREATE INDEX IF NOT EXISTS orders_" + column + "_idx ON orders (company_id, " + column + ")"
	}
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			r.beside(b, company, func() {
				alter, update, index := script()
				for _, stmt := range []string{alter, update, index} {
					r.long(b, stmt)
				}
			})
		}
	})
	b.Run("steps", func(b *testing.B) {
		for b.Loop() {
			r.beside(b, company, func() {
				alter, update, index := script()
				r.migrate(b, made, alter+";\n-- batches\n"+update+";\n"+index+";\n")
			})
		}
	})
}

// migrate applies a release that has one more file than this one.
func (r *kit) migrate(b *testing.B, n int, src string) {
	b.Helper()
	files := fstest.MapFS{fmt.Sprintf("%d_next.sql", 900+n): {Data: []byte(src)}}
	names, err := fs.Glob(sql.Files, "*.sql")
	require.NoError(b, err)
	for _, name := range names {
		data, err := fs.ReadFile(sql.Files, name)
		require.NoError(b, err)
		files[name] = &fstest.MapFile{Data: data}
	}
	_, err = migrate.Up(b.Context(), r.db.Pool(), files, r.db.Dialect(), migrate.Expand, slog.New(slog.DiscardHandler))
	require.NoError(b, err)
}

// long runs a statement that takes longer than others may.
func (r *kit) long(b *testing.B, stmt string) {
	b.Helper()
	require.NoError(b, pgx.BeginFunc(b.Context(), r.db.Pool(), func(tx pgx.Tx) error {
		if _, err := tx.Exec(b.Context(), "SET LOCAL statement_timeout = 0"); err != nil {
			return err
		}
		_, err := tx.Exec(b.Context(), stmt)
		return err
	}), stmt)
}

// beside runs work beside a writer and reports both.
func (r *kit) beside(b *testing.B, company uuid.UUID, work func()) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	longest := make(chan time.Duration)
	go func() { longest <- r.write(ctx, b, company) }()
	began := time.Now()
	work()
	b.ReportMetric(time.Since(began).Seconds(), "s")
	cancel()
	b.ReportMetric(float64((<-longest).Milliseconds()), "longest-wait-ms")
	b.ReportMetric(0, "ns/op")
}

// write changes orders in turns until ctx is done, and returns how long a change has taken at most.
func (r *kit) write(ctx context.Context, b *testing.B, company uuid.UUID) (longest time.Duration) {
	b.Helper()
	conn, err := pgx.Connect(b.Context(), r.url)
	require.NoError(b, err)
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	tick := time.NewTicker(writeEvery)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return longest
		case <-tick.C:
		}
		began := time.Now()
		_, err := conn.Exec(b.Context(), fmt.Sprintf(`UPDATE orders SET note = 'n%d' WHERE company_id = $1 AND number = $2`, i), company, 1+(i*7919)%migratedOrders)
		if err != nil {
			b.Errorf("change an order: %v", err)
			return longest
		}
		longest = max(longest, time.Since(began))
	}
}
