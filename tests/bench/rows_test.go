package bench

import (
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// fillLimit is how long the data of a benchmark may take; above it, its figures are not worth the wait.
const fillLimit = 4 * time.Minute

// fill runs a statement that adds many rows to a table, without the indexes that only speed up reads, and builds those
// afterwards, which takes a fraction of the time.
func (r *kit) fill(table, sql string, args ...any) {
	r.b.Helper()
	ctx, start := r.b.Context(), time.Now()
	conn, err := r.db.Pool().Acquire(ctx)
	require.NoError(r.b, err)
	defer conn.Release()
	exec := func(sql string, args ...any) {
		_, err := conn.Exec(ctx, sql, args...)
		require.NoError(r.b, err, "%s", sql)
	}
	exec(`SET statement_timeout = 0`)
	exec(`SET maintenance_work_mem = '256MB'`)
	rows, err := conn.Query(ctx, `SELECT indexname, indexdef FROM pg_indexes WHERE tablename = $1 AND indexdef NOT LIKE 'CREATE UNIQUE%'`, table)
	require.NoError(r.b, err)
	indexes := map[string]string{}
	var name, definition string
	_, err = pgx.ForEachRow(rows, []any{&name, &definition}, func() error { indexes[name] = definition; return nil })
	require.NoError(r.b, err)
	for name := range indexes {
		exec(`DROP INDEX ` + name)
	}
	exec(sql, args...)
	for _, definition := range indexes {
		exec(definition)
	}
	exec(`VACUUM ANALYZE ` + table)
	took := time.Since(start)
	r.b.Logf("filled %s in %s", table, took.Round(time.Second))
	require.Less(r.b, took, fillLimit)
}

// fillOrders gives a company orders of all statuses, each half a minute after the one before; the last ones are of today.
const fillOrders = `INSERT INTO orders (company_id, id, number, status, payment_status, customer_id, customer_name, customer_phone, channel,
delivery_cost, due_at, subtotal, discount_percent_bp, discount_amount, total, prepaid_amount, was_paid, lines_count, assigned_to_id, created_by_id, search_text,
version, ev_pos, created_at, updated_at)
SELECT $1::UUID, gen_random_uuid(), g,
  (ARRAY['new', 'confirmed', 'in_progress', 'ready', 'completed', 'cancelled'])[1 + CASE WHEN h < 60 THEN 4 ELSE h % 6 END],
  (ARRAY['unpaid', 'partial', 'paid', 'refunded'])[1 + (h / 7) % 4], md5('client' || g % 5000)::UUID, 'Customer ' || g % 5000, '+4930' || g, 'manual', 0,
  CASE WHEN g % 3 = 0 THEN now() - g * interval '29 seconds' END, 100 + h * 37, 0, 0, 100 + h * 37, 0, false, 2, md5('user' || g % 20)::UUID, md5('actor')::UUID,
  g || ' customer ' || g % 5000, 1, 1, now() - ($2::BIGINT - g) * interval '30 seconds', now() - ($2::BIGINT - g) * interval '30 seconds'
FROM (SELECT g, (hashint4(g::INT) & 2147483647) % 100 AS h FROM generate_series(1, $2::BIGINT) AS g) AS s`

// fillProducts gives a company products.
const fillProducts = `INSERT INTO products (company_id, id, sku, name, name_i18n, description_i18n, price, cost, unit, cost_components, component_ids, is_bundle,
modifier_groups, status, has_stock, search_text, version, ev_pos, created_at, updated_at)
SELECT $1::UUID, gen_random_uuid(), 'S-' || g, 'Thing ' || g || ' of ' || g % 977, '{}', '{}', g, 0, 'pcs', '[]', '{}', false, '[]', 'active', false,
  'thing ' || g || ' of ' || g % 977 || chr(10) || 's-' || g, 1, 1, now() - g * interval '1 second', now() - g * interval '1 second'
FROM generate_series(1, $2::BIGINT) AS g`

// fillNeighbours gives other companies ten orders each.
const fillNeighbours = `INSERT INTO orders (company_id, id, number, status, payment_status, customer_name, channel, delivery_cost, subtotal, discount_percent_bp,
discount_amount, total, prepaid_amount, was_paid, lines_count, search_text, version, ev_pos, created_at, updated_at)
SELECT md5('neighbour' || g % $1::BIGINT)::UUID, gen_random_uuid(), 1 + g / $1::BIGINT, 'new', 'unpaid', 'Customer', 'manual', 0, 100, 0, 0, 100, 0, false, 1, g || ' customer',
  1, 1, now() - g * interval '1 second', now() - g * interval '1 second'
FROM generate_series(0, $1::BIGINT * 10 - 1) AS g`

// insertsOf returns statements of pgbench that store the rows of a document again. replace has the expressions for columns
// that differ from one to the next, such as the key.
func (r *kit) insertsOf(table, condition string, replace map[string]string, args ...any) string {
	r.b.Helper()
	rows, err := r.db.Query(r.b.Context(), `SELECT column_name::TEXT FROM information_schema.columns WHERE table_name = $1 ORDER BY ordinal_position`, table)
	require.NoError(r.b, err)
	columns, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(r.b, err)
	literals := make([]string, len(columns))
	for i, c := range columns {
		literals[i] = "quote_nullable(" + c + "::TEXT)"
	}
	rows, err = r.db.Query(r.b.Context(), `SELECT ARRAY[`+strings.Join(literals, ", ")+`] FROM `+table+` WHERE `+condition, args...)
	require.NoError(r.b, err)
	stored, err := pgx.CollectRows(rows, pgx.RowTo[[]string])
	require.NoError(r.b, err)
	require.NotEmpty(r.b, stored, table)
	lines := make([]string, len(stored))
	for i, values := range stored {
		for j, c := range columns {
			if e, ok := replace[c]; ok {
				values[j] = e
			}
		}
		lines[i] = "(" + strings.Join(values, ", ") + ")"
	}
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES %s;\n", table, strings.Join(columns, ", "), strings.Join(lines, ",\n"))
}
