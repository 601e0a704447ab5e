package catalog

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// spy keeps the statements of a list.
type spy struct {
	db.Querier
	queries []*pgx.QueuedQuery
}

// SendBatch implements [db.Querier].
func (s *spy) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	s.queries = append(s.queries, b.QueuedQueries...)
	return s.Querier.SendBatch(ctx, b)
}

// Query implements [db.Querier].
func (s *spy) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	s.queries = append(s.queries, &pgx.QueuedQuery{SQL: sql, Arguments: args})
	return s.Querier.Query(ctx, sql, args...)
}

const sqlFillProducts = `INSERT INTO products (company_id, id, sku, name, name_i18n, description_i18n, price, cost, unit, cost_components, component_ids, is_bundle,
modifier_groups, status, has_stock, search_text, version, ev_pos, created_at, updated_at)
SELECT ('00000000-0000-4000-8000-0000000000' || lpad((g % 20)::TEXT, 2, '0'))::UUID, gen_random_uuid(), 'S-' || g, 'Thing ' || g, '{}', '{}', g, 0, 'pcs', '[]', '{}', false,
'[]', 'active', false, 'thing ' || g || chr(10) || 's-' || g, 1, 1, now() - g * interval '1 second', now() - g * interval '1 second' FROM generate_series(1, 40000) AS g`

const sqlFillUses = `INSERT INTO attribute_uses (company_id, owner_id, product_id, attribute_id, value_key, number_value)
SELECT company_id, id, id, $1, (price / 20 % 500)::TEXT, price / 20 FROM products`

// Lists of products enter by an index that begins with the company, also in a database where it is one of many.
func TestListsOfProductsUseTheirIndexes(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenNew(t)
	var version string
	require.NoError(t, d.QueryRow(t.Context(), "SELECT version()").Scan(&version))
	if strings.Contains(version, "CockroachDB") {
		return // prints other plans; tests/dialect looks at those
	}
	company := tenant.ID(uuid.MustParse("00000000-0000-4000-8000-000000000007"))
	s := New(Config{DB: d})
	by := access.Caller{Principal: &access.Principal{Company: company, Actor: uuid.New()}}
	var number, text AttributeDefinition
	require.NoError(t, d.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) (err error) {
		if number, err = s.CreateAttribute(ctx, tx, by, AttributeFields{Name: "n", Type: typeNumber}); err != nil {
			return err
		}
		text, err = s.CreateAttribute(ctx, tx, by, AttributeFields{Name: "t", Type: typeText})
		return err
	}))
	exec := func(sql string, args ...any) {
		_, err := d.Pool().Exec(t.Context(), sql, args...)
		require.NoError(t, err)
	}
	exec(sqlFillProducts)
	exec(sqlFillUses, number.ID)
	exec(sqlFillUses, text.ID)
	exec("ANALYZE products")
	exec("ANALYZE attribute_uses")
	for what, row := range map[string]struct {
		filter  ProductFilter
		total   int64
		indexes []string // any of
	}{
		"newest first": {ProductFilter{}, 2000, []string{"products_created_idx"}},
		"by name":      {ProductFilter{Sort: "name"}, 2000, []string{"products_name"}},
		"by price":     {ProductFilter{Sort: "price"}, 2000, []string{"products_price_idx"}},
		"search":       {ProductFilter{Params: list.Params{Search: "s-12347"}}, 1, []string{"products_search_idx"}},
		"a number":     {ProductFilter{Attr: map[string]string{number.ID.String(): "17"}}, 1, []string{"attribute_uses_number_idx"}},
		"a range":      {ProductFilter{Attr: map[string]string{number.ID.String(): "100:120"}}, 21, []string{"attribute_uses_number_idx"}},
		"a text":       {ProductFilter{Attr: map[string]string{text.ID.String(): "33"}}, 4, []string{"attribute_uses_key_idx"}},
		"both":         {ProductFilter{Attr: map[string]string{text.ID.String(): "33", number.ID.String(): "500:600"}}, 1, []string{"attribute_uses_key_idx"}},
	} {
		row.filter.PageSize = 50
		q, err := s.query(t.Context(), company, row.filter)
		require.NoError(t, err, what)
		seen := &spy{Querier: d}
		page, err := productItems.Fetch(t.Context(), seen, q)
		require.NoError(t, err, what)
		require.Equal(t, row.total, *page.Total, what)
		require.NotEmpty(t, seen.queries, what)
		for i, query := range seen.queries {
			plan := explain(t, d, query)
			require.NotContains(t, plan, "Seq Scan", "%s: %s", what, query.SQL)
			if i == 0 {
				used := false
				for _, index := range row.indexes {
					used = used || strings.Contains(plan, index)
				}
				require.True(t, used, "%s: none of %v in\n%s\n%s", what, row.indexes, query.SQL, plan)
			}
		}
	}
}

func explain(t *testing.T, d *db.DB, query *pgx.QueuedQuery) string {
	t.Helper()
	rows, err := d.Pool().Query(t.Context(), "EXPLAIN "+query.SQL, query.Arguments...)
	require.NoError(t, err)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return fmt.Sprintln(strings.Join(lines, "\n"))
}
