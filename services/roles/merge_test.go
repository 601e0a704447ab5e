package roles_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// Documents of a client follow a merge, whatever kind they are; until then, and for what still names the old client, all that is paid and
// earned counts for the one that stays.
func TestDocumentsFollowAMerge(t *testing.T) {
	t.Parallel()
	c := newCustomers(t)
	const line = `"items":[{"kind":"custom","name":"Work","unitPrice":1000}]`
	kind := c.OK(t, "GET", "/deals/types", "").Raw[len(`[{"id":"`):][:36]
	resource := c.OK(t, "POST", "/scheduling/resources", `{"type":"unit","name":"Room","parallelBookings":9,"workingHours":[{"weekday":2,"from":"00:00","to":"24:00"}]}`).ID(t)
	lead := c.OK(t, "POST", "/leads", `{"source":"site","phone":"030 1234567"}`).ID(t)
	c.OK(t, "POST", "/leads/"+lead+"/convert", "")
	bodies := map[string]string{
		"/orders":              `{"customerId":%q,"prepaidAmount":100,` + line + `}`,
		"/sales":               `{"shiftId":"` + c.shift + `","paymentMethod":"cash","customerId":%q,` + line + `}`,
		"/deals":               `{"typeId":"` + kind + `","clientId":%q,` + line + `}`,
		"/scheduling/bookings": `{"resourceId":"` + resource + `","startAt":"2040-01-03T10:00:00Z","durationMinutes":60,"customerName":"Ann","customerPhone":"1","clientId":%q}`,
	}
	made := map[string]string{"/leads": lead}
	versions := map[string]any{}
	for path, body := range bodies {
		made[path] = c.OK(t, "POST", path, fmt.Sprintf(body, c.ann)).ID(t)
	}
	made["/invoices"] = c.OK(t, "POST", "/orders/"+made["/orders"]+"/invoices", "").ID(t)
	for path, id := range made {
		versions[path] = c.OK(t, "GET", path+"/"+id, "").Body["version"]
	}
	c.OK(t, "POST", "/clients/"+c.ann+"/merge", `{"intoId":"`+c.bo+`"}`)

	for path, body := range bodies { // new ones are refused, with the id to use
		refused := c.Do(t, "POST", path, fmt.Sprintf(body, c.ann))
		require.Equal(t, []any{"CLIENT_MERGED", c.bo}, []any{refused.Body["code"], refused.Body["meta"].(map[string]any)["mergedIntoId"]}, path)
	}
	order := "/orders/" + made["/orders"]
	require.Equal(t, c.bo, c.OK(t, "POST", "/orders", `{"customerPhone":"030 1234567","matchCustomer":true,`+line+`}`).Body["customerId"], "the number of the old one")
	c.OK(t, "POST", order+"/payments", `{"amount":300,"method":"card"}`)
	for _, next := range []string{"confirmed", "ready", "completed"} {
		c.OK(t, "POST", order+"/status/"+next, "")
	}
	c.OK(t, "POST", "/sales/"+made["/sales"]+"/refund", "")
	require.Equal(t, []any{0.0, -600.0}, []any{c.OK(t, "GET", "/clients/"+c.ann, "").Body["balance"], c.OK(t, "GET", "/clients/"+c.bo, "").Body["balance"]})
	c.entries(t, c.ann)
	c.entries(t, c.bo)

	apitest.Background(t, func(ctx context.Context) error { return c.node.NewWorker(1, slog.New(slog.DiscardHandler)).Run(ctx) })
	for path, id := range made {
		field := "clientId"
		if path == "/orders" || path == "/sales" {
			field = "customerId"
		}
		require.Eventually(t, func() bool { return c.OK(t, "GET", path+"/"+id, "").Body[field] == c.bo }, time.Minute, 10*time.Millisecond, path)
		require.Greater(t, c.OK(t, "GET", path+"/"+id, "").Body["version"], versions[path], path)
		if path != "/leads" {
			require.Empty(t, c.ids(t, path+"?"+field+"="+c.ann), path)
		}
	}
	c.OK(t, "PATCH", order, `{"note":"as before"}`)
}

// While clients are merged, orders are made and paid and points earned for both: none of it is lost, and none counts twice.
func TestMergeMeetsOrdersAndSales(t *testing.T) {
	t.Parallel()
	c := newCustomers(t)
	const line = `"items":[{"kind":"custom","name":"Work","unitPrice":1000}]`
	apitest.Background(t, func(ctx context.Context) error { return c.node.NewWorker(1, slog.New(slog.DiscardHandler)).Run(ctx) })
	c.OK(t, "POST", "/clients/"+c.ann+"/points", `{"delta":1000}`)
	var mu sync.Mutex
	var paid, redeemed float64
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			order := c.Do(t, "POST", "/orders", `{"customerId":"`+c.ann+`",`+line+`}`)
			if order.Status == 409 {
				order.Refused(t, 409, "CLIENT_MERGED", "made after the merge")
				return
			}
			for range 3 {
				c.OK(t, "POST", "/orders/"+order.ID(t)+"/payments", `{"amount":100,"method":"card"}`)
				mu.Lock()
				paid += 100
				mu.Unlock()
			}
		})
		wg.Go(func() {
			sale := c.Do(t, "POST", "/sales", `{"shiftId":"`+c.shift+`","paymentMethod":"cash","customerId":"`+c.ann+`","redeemPoints":50,`+line+`}`)
			if sale.Status == 409 {
				sale.Refused(t, 409, "CLIENT_MERGED", "made after the merge")
				return
			}
			require.Less(t, sale.Status, 300, sale.Raw)
			mu.Lock()
			redeemed += 50
			mu.Unlock()
		})
		if i == 3 {
			wg.Go(func() { c.OK(t, "POST", "/clients/"+c.ann+"/merge", `{"intoId":"`+c.bo+`"}`) })
		}
	}
	wg.Wait()
	got := c.OK(t, "GET", "/clients/"+c.bo, "").Body
	require.Equal(t, []any{paid, 1000 - redeemed}, []any{got["balance"], got["points"]})
	c.entries(t, c.ann)
	c.entries(t, c.bo)
}

const sqlClientColumns = `SELECT DISTINCT table_name::TEXT FROM information_schema.columns WHERE table_schema = 'public' AND column_name IN ('client_id', 'customer_id') ORDER BY table_name`

// A table that names a client is one whose records follow a merge: it is in Follow of the clients, and a test sees it follow. The ledgers
// stay, whose sums go by an entry.
func TestAllTablesOfClientsAreKnown(t *testing.T) {
	t.Parallel()
	tables, err := db.Collect(t.Context(), dbtest.Open(t), "read columns", pgx.RowTo[string], sqlClientColumns)
	require.NoError(t, err)
	require.Equal(t, []string{
		"bookings", "calendar_events", "client_addresses", "client_assets", "client_interactions", "client_ledger", "client_points", "deals", "invoices", "leads", "orders", "sales",
	}, tables)
}
