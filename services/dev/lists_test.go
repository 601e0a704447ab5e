package dev

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/dev/demodata"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// startDemo starts the demo company of a state folder.
func startDemo(ctx context.Context, n *rolestest.Node, state, data string) (*demo, error) {
	dm := &demo{info: &Info{}, domains: n.Domains, state: state, data: data, now: time.Now(), out: io.Discard}
	return dm, dm.seed(ctx)
}

// found are the records that an operation lists; ok is false for an operation that lists none.
func found(t *testing.T, r *rolestest.Reply) (records []map[string]any, ok bool) {
	t.Helper()
	if r.Status != 200 {
		return nil, false
	}
	if strings.HasPrefix(r.Raw, "[") {
		require.NoError(t, json.Unmarshal([]byte(r.Raw), &records))
		return records, true
	}
	items, ok := r.Body["items"].([]any)
	for _, item := range items {
		record, isRecord := item.(map[string]any)
		require.True(t, isRecord, r.Raw)
		records = append(records, record)
	}
	return records, ok
}

// walker reads the lists of a company.
type walker struct {
	*testing.T
	rolestest.Client
	paths []string // of all operations that read
}

func walkLists(t *testing.T, n *rolestest.Node, token string) *walker {
	t.Helper()
	w := &walker{T: t, Client: n.Client(token)}
	for _, op := range n.API.Ops() {
		if !op.Mutating() {
			w.paths = append(w.paths, op.Path)
		}
	}
	return w
}

// most is the largest number of records that the list of a path has: for a list below a record, among all such records. It is
// negative for a path that is not a list.
func (w *walker) most(path string) int {
	w.Helper()
	if path == "/scheduling/bookings/slots" {
		return w.slots()
	}
	parent, below, nested := strings.Cut(path, "/{id}")
	if !nested {
		records, ok := found(w.T, w.Do(w.T, "GET", path, ""))
		if !ok {
			return -1
		}
		return len(records)
	}
	if !slices.Contains(w.paths, parent) || below == "" || below == "/explain" || below == "/held" || below == "/skipped" || below == "/result" || strings.Contains(below, "{") {
		return -1 // it reads one record, or shows what went wrong
	}
	best := -1
	records, _ := found(w.T, w.OK(w.T, "GET", parent, ""))
	for _, r := range records {
		id, _ := r["id"].(string)
		if got, ok := found(w.T, w.OK(w.T, "GET", parent+"/"+id+below, "")); ok {
			best = max(best, len(got))
		}
	}
	return best
}

func (w *walker) slots() int {
	w.Helper()
	resources, _ := found(w.T, w.OK(w.T, "GET", "/scheduling/resources", ""))
	if len(resources) == 0 {
		return 0
	}
	id, _ := resources[0]["id"].(string)
	day := time.Now().AddDate(0, 0, 1)
	if day.Weekday() == time.Sunday {
		day = day.AddDate(0, 0, 1)
	}
	query := url.Values{"resourceId": {id}, "date": {day.Format(time.DateOnly)}}
	slots, _ := found(w.T, w.OK(w.T, "GET", "/scheduling/bookings/slots?"+query.Encode(), ""))
	return len(slots)
}

// sampleWebhook subscribes a receiver and sends it a message, as the start of `tradegrid dev` does.
func (w *walker) sampleWebhook() {
	w.Helper()
	id := w.OK(w.T, "POST", "/webhooks/subscriptions", `{"url":"http://127.0.0.1:9/hook","events":["*"]}`).ID(w.T)
	w.OK(w.T, "POST", "/webhooks/subscriptions/"+id+"/test", `{}`)
}

// sampleJob starts an export. Only people start jobs: the demo company begins with none.
func (w *walker) sampleJob() {
	w.Helper()
	w.OK(w.T, "POST", "/exports", `{"resource":"clients","format":"csv"}`)
}

// sampleHold holds a place of a resource that is booked without a service. Holds expire: the demo company begins with none.
func (w *walker) sampleHold() {
	w.Helper()
	resources, _ := found(w.T, w.OK(w.T, "GET", "/scheduling/resources", ""))
	id := ""
	for _, r := range resources {
		if services, _ := r["serviceIds"].([]any); len(services) == 0 {
			id, _ = r["id"].(string)
		}
	}
	day := time.Now().AddDate(0, 6, 0)
	for day.Weekday() != time.Wednesday {
		day = day.AddDate(0, 0, 1)
	}
	w.OK(w.T, "POST", "/scheduling/holds", `{"resourceId":"`+id+`","startAt":"`+day.Format(time.DateOnly)+`T10:00:00Z","holdMinutes":60}`)
}

// Every list of the API shows something at first sight, and what it shows obeys the rules.
func TestEveryListOfTheDemoCompanyShowsSomething(t *testing.T) {
	t.Parallel()
	n := rolestest.NewNode(dbtest.OpenNew(t), rolestest.Alone())
	dm, err := startDemo(t.Context(), n, t.TempDir(), demodata.Small)
	require.NoError(t, err)
	rolestest.StartRelay(t, n.DB, dbtest.Broker(t))
	w := walkLists(t, n, dm.Token)
	w.sampleWebhook()
	w.sampleJob()
	w.sampleHold()
	require.Eventually(t, func() bool { return w.most("/events") > 0 }, time.Minute, 20*time.Millisecond)

	n.LogRequests(t)
	lists := 0
	for _, path := range w.paths {
		if most := w.most(path); most >= 0 {
			lists++
			require.Positive(t, most, "%s is empty: give its service a method Demo, or let services/dev/demodata make some", path)
		}
	}
	require.Greater(t, lists, 30, "lists that were walked")

	page := func(path string) []map[string]any {
		records, _ := found(t, w.OK(t, "GET", path, ""))
		return records
	}
	require.Empty(t, page("/warehouse/stocks?level=negative"), "nothing is sold that is not there")
	require.NotEmpty(t, page("/warehouse/stocks?level=low"))
	require.NotEmpty(t, page("/shifts?status=open"))
	require.NotEmpty(t, page("/sales?kind=refund"))
	require.NotEmpty(t, page("/deals?outcome=won"))
	require.NotEmpty(t, page("/deals?openOnly=true"))
	w.Do(t, "GET", "/shifts/current", "").Refused(t, 404, "SHIFT_NOT_FOUND", "the open shift is that of the cash register")
	require.GreaterOrEqual(t, len(page("/warehouse/warehouses")), 2)

	orders := page("/orders?sort=number&pageSize=200")
	for i, o := range orders {
		require.InDelta(t, i+1, o["number"], 0, "numbers have no gaps")
		if i > 0 {
			require.GreaterOrEqual(t, o["createdAt"], orders[i-1]["createdAt"], "orders were created in the order of their numbers")
		}
	}
	first, err := time.Parse(time.RFC3339, orders[0]["createdAt"].(string))
	require.NoError(t, err)
	require.Greater(t, time.Since(first), 21*24*time.Hour, "some weeks of orders")
	require.NotEmpty(t, page("/scheduling/bookings?dateFrom="+time.Now().UTC().Format(time.DateOnly)), "bookings that are still to come")
	differences, err := n.StockReconciler(slog.New(slog.DiscardHandler)).Check(t.Context(), dm.CompanyID)
	require.NoError(t, err)
	require.Empty(t, differences, "stock is the sum of its movements and reserves")
}

// With --demo-data none the company is as bare as any new one, and everything works.
func TestDemoCompanyWithoutData(t *testing.T) {
	t.Parallel()
	n := rolestest.NewNode(dbtest.Open(t), rolestest.Alone())
	dm, err := startDemo(t.Context(), n, t.TempDir(), demodata.None)
	require.NoError(t, err)
	w := walkLists(t, n, dm.Token)
	for _, path := range []string{"/catalog/products", "/clients", "/orders", "/sales", "/scheduling/bookings", "/warehouse/stocks"} {
		require.Zero(t, w.most(path), path)
	}
	require.Equal(t, 1, w.most("/warehouse/warehouses"))
	require.Equal(t, 4, w.most("/branches"), "spare ones for more warehouses")
	body, err := json.Marshal(dm.orderBody())
	require.NoError(t, err)
	w.OK(t, "POST", "/orders", string(body))
	for name, value := range map[string]string{
		"companyId": dm.info.CompanyID, "token": dm.info.Token, "token2": dm.info.Token2, "narrowToken": dm.info.NarrowToken, "limitedToken": dm.info.LimitedToken,
		"expiredToken": dm.info.ExpiredToken, "archivedToken": dm.info.ArchivedToken, "noPlanToken": dm.info.NoPlanToken, "noModuleToken": dm.info.NoModuleToken,
	} {
		require.NotEmpty(t, value, name)
	}
}

// The data are made once. A start that was interrupted leaves nothing that the next one shows.
func TestDemoDataIsMadeOnce(t *testing.T) {
	t.Parallel()
	n, state := rolestest.NewNode(dbtest.Open(t), rolestest.Alone()), t.TempDir()
	ctx, interrupt := context.WithCancel(t.Context())
	path := (&demo{state: state}).file()
	apitest.Background(t, func(ctx context.Context) error {
		for ctx.Err() == nil {
			if _, err := os.Stat(path); err == nil {
				interrupt() // the company is there, and its data are under way
				break
			}
		}
		return nil
	})
	half, err := startDemo(ctx, n, state, demodata.Small)
	require.ErrorIs(t, err, context.Canceled)
	require.False(t, half.CompanyID.IsZero())

	made, err := startDemo(t.Context(), n, state, demodata.Small)
	require.NoError(t, err)
	require.NotEqual(t, half.CompanyID, made.CompanyID)
	left, err := n.Company.Get(t.Context(), half.CompanyID)
	require.NoError(t, err)
	require.Equal(t, company.Archived, left.Status)

	count := func(dm *demo) any { return n.Client(dm.Token).OK(t, "GET", "/orders", "").Body["total"] }
	before := count(made)
	again, err := startDemo(t.Context(), n, state, demodata.None)
	require.NoError(t, err)
	require.Equal(t, made.CompanyID, again.CompanyID)
	require.Equal(t, before, count(again))
	users, err := n.Company.Users(t.Context(), access.System(again.CompanyID), false)
	require.NoError(t, err)
	require.Len(t, users, 2)
}

// The data can be made on any day of the week, at night, and after the clocks were changed.
func TestDemoDataCanBeMadeAtAnyTime(t *testing.T) {
	t.Parallel()
	n := rolestest.NewNode(dbtest.Open(t), rolestest.Alone())
	zone, err := time.LoadLocation(demodata.TimeZone)
	require.NoError(t, err)
	for i, hour := range []int{0, 4, 8, 12, 16, 20, 23} {
		now := time.Date(2026, time.March, 30+i, hour, 30, 0, 0, zone)
		t.Run(now.Format("Monday 15:04"), func(t *testing.T) {
			t.Parallel()
			dm := &demo{info: &Info{}, domains: n.Domains, state: t.TempDir(), data: demodata.Small, now: now, out: io.Discard}
			require.NoError(t, dm.seed(t.Context()))
			latest := n.Client(dm.Token).OK(t, "GET", "/orders?pageSize=1", "")
			records, _ := found(t, latest)
			require.LessOrEqual(t, records[0]["createdAt"], now.UTC().Format(time.RFC3339), "nothing of the future")
		})
	}
}
