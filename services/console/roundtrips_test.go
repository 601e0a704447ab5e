package console_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

// Pages ask the database so many times at most: three times for the session, the person and their company, and then for what they show.
func TestRoundTripsOfPages(t *testing.T) {
	t.Parallel()
	trips := &dbtest.RoundTrips{}
	dbtest.Open(t) // the tables are there
	d, err := db.Open(t.Context(), db.Config{URL: dbtest.URL(t), MaxConns: 8, QueryTracer: trips})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	p := newPagesOn(t, d)
	s := p.boardShop()
	v := p.signedIn(s.people[company.RoleOwner])
	require.Equal(t, http.StatusSeeOther, v.submit("/c/"+s.id.String()+"/bookings/"+s.records["/bookings"]+"/status", "do", "confirm").status) // a change to tell
	for _, row := range []struct {
		path  string
		limit int64
		what  string
	}{
		{"/", 34, "reports of sales, orders and payments; the latest orders and those that are due; bookings of today and to be confirmed; stock; shifts; subscriptions; tokens; the latest changes, and who made them"},
		{"/stock", 8, "warehouses; stocks, and their names; how much is low, and the name of one"},
		{"/stock?level=reorder", 6, "warehouses; stocks, and their names"},
		{"/bookings", 11, "the change token; resources; days off; bookings; holds; what is free, by resources, days off, bookings and holds"},
		{"/bookings?view=week", 8, "the change token; resources; days off; bookings; holds"},
		{"/webhooks", 7, "the change token; subscriptions, and their health; what they were sent"},
	} {
		load := func() {
			require.Equal(t, http.StatusOK, v.ask(http.MethodGet, "/c/"+s.id.String()+row.path, nil).status, row.path)
		}
		load()
		require.LessOrEqual(t, trips.Of(load), row.limit, "%s reads %s", row.path, row.what)
	}
}
