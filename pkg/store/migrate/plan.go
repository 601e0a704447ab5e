package migrate

import (
	"context"
	"fmt"
	"io/fs"
	"regexp"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// Planned says what a pending step will do to a database in use.
type Planned struct {
	Step

	Does    string        // what it is, such as "build an index"
	Table   string        // empty if the step changes no table's rows or indexes
	Rows    int64         // of the table, as the database estimates them; -1 if that is unknown or does not matter
	Writers string        // what requests that write to the table notice
	Takes   time.Duration // rough; 0 if that does not depend on the rows, or Rows is unknown
}

// What requests notice of a step.
const (
	notBlocked  = "not blocked"
	waitForLock = "wait up to 500 ms while it takes its lock; repeated until it has it"
	waitForRows = "wait for a batch of rows, some tens of milliseconds"
	waitForAll  = "wait for the rows that it changes until it ends"
	online      = "not blocked: CockroachDB changes schemas online"
)

// Rows a second: of backfills what BenchmarkMigration did on two busy cores, of indexes an assumption on the low side.
const (
	indexedPerSecond    = 100_000
	backfilledPerSecond = 1_500
)

// kinds are the statements that are told apart. The first that matches holds.
var kinds = []struct {
	pattern *regexp.Regexp
	does    string
	writers string // on PostgreSQL
}{
	{regexp.MustCompile(`(?i)^CREATE TABLE (?:IF NOT EXISTS )?(\w+)`), "create a table", notBlocked},
	{createIndex, "build an index", notBlocked},
	{regexp.MustCompile(`(?i)^DROP INDEX`), "drop an index", waitForLock},
	{regexp.MustCompile(`(?i)^ALTER TABLE (\w+) VALIDATE `), "check rows against a constraint", notBlocked},
	{regexp.MustCompile(`(?i)^ALTER TABLE (\w+) ADD COLUMN `), "add a column", waitForLock},
	{regexp.MustCompile(`(?i)^ALTER TABLE (\w+) `), "change a table", waitForLock},
	{updateHead, "change rows", waitForAll},
	{regexp.MustCompile(`(?i)^DELETE +FROM (\w+) `), "delete rows", waitForAll},
	{regexp.MustCompile(`(?i)^INSERT +INTO (\w+) `), "insert rows", notBlocked},
}

// Plan describes the pending steps of the phase in order, and what requests notice of them. It changes nothing.
func Plan(ctx context.Context, pool *pgxpool.Pool, files fs.FS, dialect db.Dialect, phase Phase) ([]Planned, error) {
	steps, err := Pending(ctx, pool, files, dialect, phase)
	if err != nil || len(steps) == 0 {
		return nil, err
	}
	sizes, err := readSizes(ctx, pool)
	if err != nil {
		return nil, fmt.Errorf("read the sizes of tables: %w", err)
	}
	planned := make([]Planned, len(steps))
	for i, step := range steps {
		planned[i] = describe(step, dialect, sizes)
	}
	return planned, nil
}

func describe(step Step, dialect db.Dialect, sizes map[string]int64) Planned {
	p := Planned{Step: step, Does: "other", Rows: -1, Writers: waitForLock}
	for _, k := range kinds {
		m := k.pattern.FindStringSubmatch(step.SQL)
		if m == nil {
			continue
		}
		p.Does, p.Writers = k.does, k.writers
		if ix, ok := parseIndex(step.SQL); ok {
			p.Table = ix.table
		} else if len(m) > 1 {
			p.Table = m[1]
		}
		break
	}
	if step.Batches {
		p.Does, p.Writers = "change rows in batches", waitForRows
	}
	if dialect == db.CockroachDB && p.Writers == waitForLock {
		p.Writers = online
	}
	if rows, known := sizes[p.Table]; known && p.Does != "create a table" {
		p.Rows = rows
		p.Takes = takes(p, rows)
	}
	return p
}

// takes estimates the duration of what reads the whole table.
func takes(p Planned, rows int64) time.Duration {
	perSecond := int64(indexedPerSecond)
	switch {
	case p.Batches || p.Writers == waitForAll:
		perSecond = backfilledPerSecond
	case p.Does != "build an index" && p.Does != "check rows against a constraint":
		return 0
	}
	return (time.Duration(rows) * time.Second / time.Duration(perSecond)).Round(time.Second)
}

// sqlSelectSizes reads what the last ANALYZE has counted; -1 before the first one.
const sqlSelectSizes = `SELECT relname, reltuples::INT8 FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace`

func readSizes(ctx context.Context, pool *pgxpool.Pool) (map[string]int64, error) {
	rows, err := pool.Query(ctx, sqlSelectSizes)
	if err != nil {
		return nil, err
	}
	sizes := map[string]int64{}
	for rows.Next() {
		var table string
		var n int64
		if err := rows.Scan(&table, &n); err != nil {
			return nil, err
		}
		if n >= 0 {
			sizes[table] = n
		}
	}
	return sizes, rows.Err()
}
