package migrate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Homing configures the home region of rows in a multi-region CockroachDB. The region is computed from the key of a row,
// so writers need not set it, each lookup by key goes to one region, and uniqueness checks need not visit the others.
type Homing struct {
	Column string                     // first column of the primary key of each table whose rows have a home region
	Code   func(region string) string // four hexadecimal digits that the column's values end in if the region is their home
	Global []string                   // tables that are read in every region and rarely written
}

const homePrefix = "crdb_home_"

// locality is the current locality of a table.
type locality struct {
	name  string
	where string   // as in SHOW TABLES, such as REGIONAL BY ROW AS crdb_home_1a2b3c4d
	homes []string // its computed region columns
}

const sqlHomedTables = `SELECT table_name FROM information_schema.key_column_usage
WHERE table_schema = 'public' AND column_name = $1 AND ordinal_position = 1 AND constraint_name = table_name || '_pkey' ORDER BY table_name`

const sqlHomeColumns = `SELECT table_name, column_name FROM information_schema.columns
WHERE table_schema = 'public' AND column_name LIKE 'crdb\_home\_%' ORDER BY table_name, column_name`

// PendingRegions lists the statements that assign each row to its home region. It changes nothing.
// A database without regions is an error. If regions were added or dropped, the statements assign the rows again.
func PendingRegions(ctx context.Context, pool *pgxpool.Pool, h Homing) ([]string, error) {
	regions, err := showRegions(ctx, pool)
	if err != nil {
		return nil, err
	}
	tables, err := localities(ctx, pool, h)
	if err != nil {
		return nil, err
	}
	return h.statements(regions, tables)
}

// Regions runs the statements of [PendingRegions] one after the other while it holds the migration lock.
// The statements are repeatable. They rewrite tables online, which takes time and disk space.
func Regions(ctx context.Context, pool *pgxpool.Pool, statements []string, log *slog.Logger) error {
	if len(statements) == 0 {
		return nil
	}
	r := newRunner(pool, log)
	lock, err := r.take(ctx)
	if err != nil {
		return err
	}
	defer lock.release(ctx)
	return r.run(lock.ctx, statements) //nolint:contextcheck // ends with the lock, too
}

func (r *runner) run(ctx context.Context, statements []string) error {
	conn, err := r.connection(ctx)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for _, stmt := range statements {
		began := time.Now()
		if err := r.retry(ctx, func() error { return exec(ctx, conn, stmt) }); err != nil {
			return fmt.Errorf("%s: %w", head(stmt), errors.Join(err, context.Cause(ctx)))
		}
		r.log.InfoContext(ctx, "region statement applied", "statement", head(stmt), "duration", time.Since(began))
	}
	return nil
}

// statements returns the missing statements. The first region is the primary one, the home of rows without another region.
func (h Homing) statements(regions []string, tables []locality) ([]string, error) {
	home, err := h.expression(regions)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(home))
	column := homePrefix + hex.EncodeToString(sum[:4])
	var out []string
	for _, t := range tables {
		name := pgx.Identifier{t.name}.Sanitize()
		if slices.Contains(h.Global, t.name) {
			if t.where != "GLOBAL" {
				out = append(out, "ALTER TABLE "+name+" SET LOCALITY GLOBAL")
			}
			continue
		}
		if !slices.Contains(t.homes, column) {
			out = append(out, "ALTER TABLE "+name+" ADD COLUMN IF NOT EXISTS "+column+" crdb_internal_region NOT NULL AS ("+home+") STORED")
		}
		if t.where != "REGIONAL BY ROW AS "+column {
			out = append(out, "ALTER TABLE "+name+" SET LOCALITY REGIONAL BY ROW AS "+column)
		}
		for _, old := range t.homes {
			if old != column {
				out = append(out, "ALTER TABLE "+name+" DROP COLUMN IF EXISTS "+old)
			}
		}
	}
	return out, nil
}

// expression returns the SQL expression for the region of a row. Its constants take their type from the column.
func (h Homing) expression(regions []string) (string, error) {
	if len(regions) == 0 {
		return "", errors.New("the database has no regions: set the primary one with ALTER DATABASE … SET PRIMARY REGION, and add others with ADD REGION")
	}
	byCode := map[string]string{}
	var b strings.Builder
	fmt.Fprintf(&b, "CASE substring(%s::STRING, 33, 4)", h.Column)
	for _, region := range regions {
		code := h.Code(region)
		if other, taken := byCode[code]; taken {
			return "", fmt.Errorf("the regions %s and %s have the same code %s: one database can hold only one of them", other, region, code)
		}
		byCode[code] = region
		fmt.Fprintf(&b, " WHEN '%s' THEN %s", code, literal(region))
	}
	fmt.Fprintf(&b, " ELSE %s END", literal(regions[0]))
	return b.String(), nil
}

func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// showRegions returns the regions of the database, the primary one first, then the others by name.
func showRegions(ctx context.Context, pool *pgxpool.Pool) ([]string, error) {
	all, err := show(ctx, pool, "SHOW REGIONS FROM DATABASE")
	if err != nil {
		return nil, fmt.Errorf("read regions: %w", err)
	}
	var primary, others []string
	for _, row := range all {
		if is, _ := row["primary"].(bool); is {
			primary = append(primary, fmt.Sprint(row["region"]))
		} else {
			others = append(others, fmt.Sprint(row["region"]))
		}
	}
	slices.Sort(others)
	return append(primary, others...), nil
}

func localities(ctx context.Context, pool *pgxpool.Pool, h Homing) ([]locality, error) {
	homed, err := texts(ctx, pool, sqlHomedTables, h.Column)
	if err != nil {
		return nil, fmt.Errorf("read tables: %w", err)
	}
	homes, err := homeColumns(ctx, pool)
	if err != nil {
		return nil, fmt.Errorf("read region columns: %w", err)
	}
	shown, err := show(ctx, pool, "SHOW TABLES")
	if err != nil {
		return nil, fmt.Errorf("read localities: %w", err)
	}
	var tables []locality
	for _, row := range shown {
		name, _ := row["table_name"].(string)
		where, _ := row["locality"].(string)
		if slices.Contains(h.Global, name) || slices.Contains(homed, name) {
			tables = append(tables, locality{name: name, where: where, homes: homes[name]})
		}
	}
	slices.SortFunc(tables, func(a, b locality) int { return strings.Compare(a.name, b.name) })
	return tables, nil
}

func homeColumns(ctx context.Context, pool *pgxpool.Pool) (map[string][]string, error) {
	rows, err := pool.Query(ctx, sqlHomeColumns)
	if err != nil {
		return nil, err
	}
	homes := map[string][]string{}
	var table, column string
	_, err = pgx.ForEachRow(rows, []any{&table, &column}, func() error {
		homes[table] = append(homes[table], column)
		return nil
	})
	return homes, err
}

func texts(ctx context.Context, pool *pgxpool.Pool, query string, args ...any) ([]string, error) {
	rows, err := pool.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// show runs a SHOW statement, whose columns differ between releases, and returns its rows by column name.
func show(ctx context.Context, pool *pgxpool.Pool, stmt string) ([]map[string]any, error) {
	rows, err := pool.Query(ctx, stmt)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToMap)
}
