package list_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
)

// What is read by its order alone has a plan that the server keeps, and what is filtered is planned for its values each time.
func TestOnlyUnfilteredPagesKeepTheirPlan(t *testing.T) {
	t.Parallel()
	f := setup(t)
	if f.db.Dialect() != db.PostgreSQL {
		return // has no such plans
	}
	d, err := db.Open(t.Context(), db.Config{URL: f.db.Pool().Config().ConnString(), MaxConns: 1})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	company, node := tenant.NewID(), list.NewNode(list.NodeConfig{})
	for range 7 {
		f.add(t, company, book{Title: "A"})
	}
	one := kit{db: d}
	plans := func(like string) (kept, anew int) {
		require.NoError(t, d.QueryRow(t.Context(), `SELECT sum(generic_plans), sum(custom_plans) FROM pg_prepared_statements WHERE statement LIKE 'SELECT % LIMIT %' AND statement LIKE $1`, like).Scan(&kept, &anew))
		return kept, anew
	}
	for range 10 {
		_, err := one.read(t, node, company, list.Params{}, "title")
		require.NoError(t, err)
	}
	kept, _ := plans("%company_id = $1 ORDER BY%")
	require.Positive(t, kept)
	for range 10 {
		_, err := one.read(t, node, company, list.Params{}, "title", "title <> 'B'")
		require.NoError(t, err)
	}
	kept, anew := plans("%title <> 'B'%")
	require.Zero(t, kept)
	require.Equal(t, 10, anew)
}
