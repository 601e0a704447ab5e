package sales_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// The test's catalog and users are in memory: their reads are not counted. They would share the batch of the others.
// It runs alone: transactions beside it could make it start again.
func TestRoundTrips(t *testing.T) {
	open(t) // the tables of the test are there
	trips := &dbtest.RoundTrips{}
	d, err := db.Open(t.Context(), db.Config{URL: dbtest.URL(t), MaxConns: 2, QueryTracer: trips})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	f := openOn(t, d)
	shift := f.shift()
	sold := f.sale(shift, "items", []any{map[string]any{"refId": f.nail, "qty": 3}})
	id := sold["id"].(string)
	for _, row := range []struct {
		what  string
		limit int64
		run   func()
	}{
		{"sale", 7, func() { f.sale(shift, "items", []any{map[string]any{"refId": f.nail, "qty": 3}}) }},
		{"sale without stock", 4, func() { f.sale(shift) }},
		{"read", 1, func() { f.Do(t, "GET", "/sales/"+id, nil).OK(200) }},
		{"list", 1, func() { f.Do(t, "GET", "/sales", nil).OK(200) }},
		{"refund of a part", 8, func() { f.refund(id, "items", []any{item(sold, 0, 1)}).OK(200) }},
		{"refund", 8, func() { f.refund(id).OK(200) }},
		{"shift", 1, func() { f.readShift(shift) }},
		{"end of a shift", 3, func() { f.Do(t, "POST", "/shifts/"+shift+"/close", nil).OK(200) }},
	} {
		require.LessOrEqual(t, trips.Of(row.run), row.limit, row.what)
	}
}
