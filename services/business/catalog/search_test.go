package catalog

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

const (
	sqlFillFamilies = `INSERT INTO products (company_id, id, sku, name, name_i18n, description_i18n, price, cost, unit, cost_components, component_ids, is_bundle,
modifier_groups, status, has_stock, search_text, version, ev_pos, created_at, updated_at)
SELECT $1, ('00000000-0000-4000-8000-' || lpad(g::TEXT, 12, '0'))::UUID, 'S-' || g, 'Thing ' || g, '{}', '{}', g, 0, 'pcs', '[]', ARRAY[]::UUID[], false,
'[]', 'active', false, 'thing', 1, 1, now(), now() FROM generate_series(1, 700) AS g`
	sqlFillMembers = `INSERT INTO product_variants (company_id, id, product_id, sku, attribute_values, status, sort_order, search_text, version, ev_pos, created_at, updated_at)
SELECT $1, gen_random_uuid(), ('00000000-0000-4000-8000-' || lpad(g::TEXT, 12, '0'))::UUID, 'V-' || g, '[]', 'active', 0, CASE WHEN g <= 400 THEN 'many few' ELSE 'many' END, 1, 1, now(), now()
FROM generate_series(1, 600) AS g`
)

// However many variants a search finds, the list has all of their products.
func TestSearchOfManyVariants(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenNew(t) // so many rows would change plans that other tests look at
	company := tenant.ID(uuid.New())
	for _, sql := range []string{sqlFillFamilies, sqlFillMembers} {
		_, err := d.Exec(t.Context(), sql, company)
		require.NoError(t, err)
	}
	s := New(Config{DB: d})
	for text, want := range map[string]int64{"many": 600, "few": 400, "thing": 700, "nothing": 0} {
		q, err := s.query(t.Context(), company, ProductFilter{Params: list.Params{Search: text, PageSize: 10}})
		require.NoError(t, err)
		page, err := productItems.Fetch(t.Context(), db.Querier(d), q)
		require.NoError(t, err)
		require.Equal(t, want, *page.Total, text)
	}
}
