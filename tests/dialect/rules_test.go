package dialect

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

var sampleSchema = Schema{Tables: map[string]map[string]bool{
	"orders": {"company_id": false, "id": false, "due_at": true, "created_at": false, "total": false},
	"outbox": {"company_id": false, "bucket": false, "pos": false, "id": false},
	"plans":  {"name": false},
}}

func rulesHit(sql string) (names []string) {
	st := Statement{SQL: sql, Complete: true}
	for _, hit := range append(Check(st, sampleSchema), CheckTenant(st, sampleSchema)...) {
		names = append(names, hit.Rule)
	}
	return names
}

// TestEveryRuleRefuses holds one statement for each thing that must not pass.
func TestEveryRuleRefuses(t *testing.T) {
	t.Parallel()
	const of = ` FROM orders WHERE company_id = $1`
	covered := map[string]bool{}
	for _, tc := range []struct{ sql, rule string }{
		{`SELECT pg_advisory_xact_lock($1)`, "advisory lock"},
		{`SELECT pg_try_advisory_lock($1)`, "advisory lock"},
		{`LISTEN outbox`, "LISTEN/NOTIFY"},
		{`NOTIFY outbox`, "LISTEN/NOTIFY"},
		{`SELECT pg_notify('outbox', '')`, "LISTEN/NOTIFY"},
		{`CREATE TRIGGER t BEFORE INSERT ON orders EXECUTE FUNCTION f()`, "trigger or function"},
		{`DO $$ BEGIN END $$`, "trigger or function"},
		{`CREATE TYPE state AS ENUM ('a', 'b')`, "enum, domain or composite type"},
		{`CREATE DOMAIN d AS TEXT`, "enum, domain or composite type"},
		{`CREATE TABLE t (id SERIAL PRIMARY KEY)`, "serial or identity"},
		{`CREATE TABLE t (id BIGSERIAL PRIMARY KEY)`, "serial or identity"},
		{`CREATE TABLE t (id BIGINT GENERATED ALWAYS AS IDENTITY)`, "serial or identity"},
		{`CREATE TABLE t (n INT NOT NULL)`, "INT or INTEGER"},
		{`SELECT $2::INTEGER` + of, "INT or INTEGER"},
		{`CREATE TABLE t (n FLOAT8)`, "float"},
		{`CREATE TABLE t (n DOUBLE PRECISION)`, "float"},
		{`SELECT total::REAL` + of, "float"},
		{`CREATE TABLE t (n CITEXT)`, "type of one product"},
		{`SELECT total::MONEY` + of, "type of one product"},
		{`CREATE TABLE t (n TSTZRANGE)`, "range type"},
		{`CREATE TABLE t (at TIMESTAMP NOT NULL)`, "TIMESTAMP without zone"},
		{`SELECT created_at AT TIME ZONE 'UTC'` + of, "time zone in SQL"},
		{`CREATE TABLE t (a TEXT, EXCLUDE USING gist (a WITH =))`, "exclusion constraint"},
		{`SELECT *` + of, "SELECT *"},
		{`SELECT o.* FROM orders AS o WHERE o.company_id = $1`, "SELECT *"},
		{`SELECT id, * FROM orders WHERE company_id = $1`, "SELECT *"},
		{`DELETE FROM orders WHERE company_id = $1 RETURNING *`, "SELECT *"},
		{`UPSERT INTO orders (company_id, id) VALUES ($1, $2)`, "MERGE or UPSERT"},
		{`MERGE INTO orders USING u ON company_id = u.c WHEN MATCHED THEN DELETE`, "MERGE or UPSERT"},
		{`SELECT id` + of + ` FOR UPDATE SKIP LOCKED`, "SKIP LOCKED"},
		{`LOCK TABLE orders`, "LOCK TABLE"},
		{`SELECT xmin` + of, "system column"},
		{`DELETE FROM orders WHERE company_id = $1 AND ctid = $2`, "system column"},
		{`SELECT txid_current()`, "system column"},
		{`SELECT nextval('s')`, "sequence"},
		{`SELECT id` + of + ` ORDER BY id COLLATE "C"`, "COLLATE"},
		{`SELECT id` + of + ` ORDER BY id COLLATE de`, "COLLATE"},
		{`SELECT id` + of + ` AND name LIKE $2 ESCAPE '!'`, "ESCAPE"},
		{`SELECT id` + of + ` AND v @@ websearch_to_tsquery($2)`, "full text search"},
		{`SELECT id` + of + ` AND jsonb_path_exists(doc, '$.a')`, "JSON path"},
		{`SELECT id` + of + ` ORDER BY name <-> $2`, "similarity order"},
		{`SELECT now() - make_interval(secs => 5)`, "named argument"},
		{`SELECT total // 2` + of, "integer division operator"},
		{`SELECT total / 2` + of, "division"},
		{`CREATE UNIQUE INDEX i ON orders (company_id, due_at) NULLS NOT DISTINCT`, "NULLS NOT DISTINCT"},
		{`CREATE TABLE t (a UUID REFERENCES orders (id) DEFERRABLE)`, "deferred constraint"},
		{`CREATE TABLE t (a UUID REFERENCES orders (id) ON DELETE CASCADE)`, "cascade"},
		{`CREATE TABLE t (a TEXT, b TEXT GENERATED ALWAYS AS (a) STORED)`, "generated column"},
		{`ALTER TABLE orders ALTER COLUMN total TYPE TEXT`, "column type change"},
		{`ALTER TABLE orders ENABLE ROW LEVEL SECURITY`, "row security"},
		{`CREATE UNLOGGED TABLE t (a TEXT)`, "UNLOGGED"},
		{`CREATE EXTENSION IF NOT EXISTS pg_trgm`, "CREATE EXTENSION"},
		{`CREATE INDEX i ON orders USING GIST (company_id)`, "index method"},
		{`CREATE TABLE t (a UUID) PARTITION BY HASH (a)`, "partitions"},
		{`COPY orders FROM STDIN`, "COPY"},
		{`CREATE INDEX i ON orders (company_id, due_at NULLS LAST)`, "NULL order in an index"},
		{`CREATE INDEX CONCURRENTLY i ON orders (company_id)`, "CONCURRENTLY"},
		{`SELECT id` + of + ` ORDER BY due_at DESC, id LIMIT 5`, "order of nulls"},
		{`SELECT id FROM orders AS o WHERE o.company_id = $1 ORDER BY o.id, o.due_at`, "order of nulls"},
		{`SELECT id` + of + ` OR total > 0 AND due_at IS NOT NULL ORDER BY due_at`, "order of nulls"},
		{`SELECT id` + of + ` AND ready_by IS NOT NULL ORDER BY due_at`, "order of nulls"},
		{`WITH a AS (UPDATE orders SET total = 1 WHERE company_id = $1 RETURNING id) DELETE FROM orders WHERE company_id = $1`, "two changes of one table"},
		{`INSERT INTO orders VALUES ($1, $2)`, "INSERT without columns"},
		{`DELETE FROM orders WHERE company_id = $1 LIMIT 5`, "DELETE with LIMIT"},
		{`UPDATE orders SET total = 0 WHERE company_id = $1 LIMIT 5`, "UPDATE with LIMIT"},
		{`SELEC 1`, "syntax"},
		{`SELECT id FROM orders WHERE id = $1`, "company"},
		{`SELECT company_id, id FROM orders WHERE id = $1`, "company"},
		{`SELECT p.name FROM plans AS p JOIN orders AS o ON o.id = p.id`, "company"},
		{`UPDATE orders SET total = 0 WHERE id = $1`, "company"},
		{`DELETE FROM orders`, "company"},
		{`INSERT INTO orders (id, total) SELECT $1, company_id FROM plans`, "company"},
	} {
		require.Contains(t, rulesHit(tc.sql), tc.rule, tc.sql)
		covered[tc.rule] = true
	}
	for _, r := range denied {
		require.True(t, covered[r.name], "no statement tries rule %q", r.name)
	}
}

func TestGoodStatementsPass(t *testing.T) {
	t.Parallel()
	for _, sql := range []string{
		`SELECT id, count(*) OVER (PARTITION BY id) FROM orders WHERE company_id = $1 ORDER BY due_at DESC NULLS LAST, id LIMIT 5`,
		`SELECT 'pg_advisory_lock; SELECT * / INT' FROM orders WHERE company_id = $1 -- INT *`,
		`SELECT CAST(total AS DECIMAL) / 2 FROM orders WHERE company_id = $1 FOR UPDATE`,
		`SELECT total * 2 FROM orders WHERE company_id = $1 ORDER BY created_at, id`,
		`SELECT id FROM orders WHERE company_id = $1 AND (total > 0 OR id = ANY($2::UUID[])) AND orders.due_at IS NOT NULL ORDER BY due_at DESC, id`,
		`INSERT INTO orders (company_id, id) VALUES ($1, $2) ON CONFLICT (company_id, id) DO UPDATE SET total = excluded.total RETURNING id`,
		`INSERT INTO orders (company_id, id) SELECT $1, u.i FROM unnest($2::UUID[]) AS u(i)`,
		`DELETE FROM outbox WHERE bucket = $1 AND (pos, id) IN (SELECT p, i FROM unnest($2::BIGINT[], $3::UUID[]) AS u(p, i))`,
		`SELECT name FROM plans ORDER BY name`,
		`CREATE INDEX i ON orders USING GIN (company_id, search_text gin_trgm_ops)`,
		`UPDATE orders SET total = u.t FROM unnest($2::UUID[], $3::BIGINT[]) AS u(i, t) WHERE orders.company_id = $1 AND orders.id = u.i`,
	} {
		require.Empty(t, rulesHit(sql), sql)
	}
}

func TestSourceStatementsAreFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	src := "package p\n\nconst cols = `id, total`\n\nconst whole = `SELECT ` + cols + ` FROM orders`\n\n" +
		"func f(where string) []string {\n\treturn []string{`DELETE FROM orders WHERE ` + where, \"DELETE /orders\", \"\\n  UPDATE orders SET a = 1\", " +
		"sprintf(`SELECT %s FROM orders`, where), \"select a thing\"}\n}\n" +
		"const (\n\torders = db.Table(\"orders\")\n\tset = `SET a = 1`\n)\n\n" +
		"var (\n\tone = orders.Update(set + ` WHERE id = $1`).Reading(\"lines\")\n\trow = orders.InsertRow(\"id\", \"n\")\n)\n\n" +
		"var both = row.OnConflict(`(id) DO NOTHING`).With(\"l\", db.Table(\"lines\").Delete(`WHERE id = $1`))\n\n" +
		"func g(what string) any { return orders.Update(`SET ` + what) }\n\n" +
		"var other = table.Update(tx, \"x\")\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "p.go"), []byte(src), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "p_test.go"), []byte("package p\n\nconst x = `SELECT 1`\n"), 0o600))
	found, err := SourceStatements(dir, false)
	require.NoError(t, err)
	require.ElementsMatch(t, []Statement{
		{SQL: `SELECT id, total FROM orders`, Origin: "p.go:5", Complete: true},
		{SQL: `DELETE FROM orders WHERE`, Origin: "p.go:8"},
		{SQL: `UPDATE orders SET a = 1`, Origin: "p.go:8", Complete: true},
		{SQL: `SELECT %s FROM orders`, Origin: "p.go:8"},
		{SQL: `UPDATE orders SET a = 1 WHERE id = $1`, Origin: "p.go:16", Complete: true, Declared: &Declared{Changes: []string{"orders"}, Reads: []string{"lines"}}},
		{SQL: "INSERT INTO orders (id, n)\nVALUES ($1, $2)", Origin: "p.go:17", Complete: true, Declared: &Declared{Changes: []string{"orders"}}},
		{SQL: "WITH l AS (\nDELETE FROM lines WHERE id = $1)\nINSERT INTO orders (id, n)\nVALUES ($1, $2)\nON CONFLICT (id) DO NOTHING", Origin: "p.go:20", Complete: true, Declared: &Declared{Changes: []string{"orders", "lines"}}},
		{SQL: `UPDATE orders SET`, Origin: "p.go:22", Declared: &Declared{Changes: []string{"orders"}}},
	}, found)
}

func TestLogIsRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	require.NoError(t, os.WriteFile(path, []byte(`{"sql":"DELETE FROM\n a","declared":{"changes":["a"],"reads":null}}
{"sql":"begin isolation level serializable"}
{"sql":"DELETE FROM\n a","declared":{"changes":["a"],"reads":null}}
{"sql":"DELETE FROM\n a"}
`), 0o600))
	found, err := LoggedStatements(path)
	require.NoError(t, err)
	require.Equal(t, []Statement{
		{SQL: "DELETE FROM\n a", Origin: "SQL log line 1", Complete: true, Declared: &Declared{Changes: []string{"a"}}},
		{SQL: "DELETE FROM\n a", Origin: "SQL log line 4", Complete: true},
	}, found)
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	_, err = LoggedStatements(path)
	require.ErrorContains(t, err, "empty")
}
