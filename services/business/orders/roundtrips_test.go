package orders_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// The test's catalog and clients are in memory: their reads are not counted. They would share the batch of the others.
// It runs alone: transactions beside it could make it start again.
func TestRoundTrips(t *testing.T) {
	open(t, nil) // the tables of the test are there
	trips := &dbtest.RoundTrips{}
	d, err := db.Open(t.Context(), db.Config{URL: dbtest.URL(t), MaxConns: 2, QueryTracer: trips})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	s := open(t, d)
	id := s.create()["id"]
	var payment string
	for _, row := range []struct {
		what  string
		limit int64
		run   func()
	}{
		{"create", 4, func() { s.create("assignedToId", s.bob, "externalId", "1") }},
		{"create with a prepayment", 4, func() { s.create("customerId", s.ann, "prepaidAmount", 100) }},
		{"payment", 3, func() { payment = s.pay(id.(string), `{"amount":100,"method":"card"}`).OK(201)["id"].(string) }},
		{"payment with an external id", 4, func() { s.pay(id.(string), `{"amount":100,"method":"card","externalId":"1"}`).OK(201) }},
		{"refund", 4, func() { s.refund(id.(string), payment, nil).OK(201) }},
		{"change of prepaidAmount", 3, func() { s.patch(id, `{"prepaidAmount":7}`).OK(200) }},
		{"list of payments", 2, func() { s.Do(t, "GET", "/payments", nil).OK(200) }},
		{"change", 3, func() { s.patch(id, `{"note":"x"}`).OK(200) }},
		{"change of items", 4, func() { s.patch(id, s.body("externalId", "2")).OK(200) }},
		{"move", 3, func() { s.move(id, "confirmed").OK(200) }},
		{"read", 1, func() { s.Do(t, "GET", "/orders/"+id.(string), nil).OK(200) }},
		{"list", 1, func() { s.Do(t, "GET", "/orders", nil).OK(200) }},
		{"list with lines", 2, func() { s.Do(t, "GET", "/orders?include=lines", nil).OK(200) }},
	} {
		require.LessOrEqual(t, trips.Of(row.run), row.limit, row.what)
	}
}
