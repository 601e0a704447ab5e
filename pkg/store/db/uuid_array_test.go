package db_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

func TestArraysOfIDsArrive(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	many := make([]uuid.UUID, 1000)
	companies := make([]tenant.ID, len(many))
	texts := make([]string, len(many))
	for i := range many {
		many[i] = uuid.New()
		companies[i], texts[i] = tenant.ID(many[i]), many[i].String()
	}
	for name, row := range map[string]struct {
		ids  any
		want []string
	}{
		"NULL":               {[]uuid.UUID(nil), nil},
		"NULL of companies":  {[]tenant.ID(nil), nil},
		"empty":              {[]uuid.UUID{}, []string{}},
		"empty of companies": {[]tenant.ID{}, []string{}},
		"one":                {many[:1], texts[:1]},
		"many":               {many, texts},
		"companies":          {companies, texts},
		"pointers":           {[]*uuid.UUID{&many[0], nil}, []string{texts[0], "NULL"}},
		"plain":              {[][16]byte{many[0]}, texts[:1]},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var is bool
			require.NoError(t, d.QueryRow(t.Context(), `SELECT $1::UUID[] IS NULL`, row.ids).Scan(&is))
			require.Equal(t, row.want == nil, is)
			var got []string
			require.NoError(t, d.QueryRow(t.Context(), `SELECT ARRAY(SELECT COALESCE(u.id::TEXT, 'NULL') FROM unnest($1::UUID[]) WITH ORDINALITY AS u(id, n) ORDER BY u.n)`, row.ids).Scan(&got))
			require.Len(t, got, len(row.want))
			for i := range got {
				require.Equal(t, row.want[i], got[i])
			}
		})
	}
}
