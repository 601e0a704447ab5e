package clients_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

func (f kit) enter(t testing.TB, client uuid.UUID, e trade.LedgerEntry) {
	t.Helper()
	require.NoError(t, f.db.RunTx(context.Background(), "test", func(_ context.Context, tx *db.Tx) error {
		f.service.Enter(tx, f.Principal.Company, client, e)
		return nil
	}))
}

// walk reads a statement to its end. after is called behind each page.
func (f kit) walk(t testing.TB, client, query string, after func()) (opening, closing float64, items []map[string]any) {
	t.Helper()
	path, cursor := "/clients/"+client+"/statement?"+query, ""
	for n := 0; n == 0 || cursor != ""; n++ {
		if cursor != "" {
			path = "/clients/" + client + "/statement?" + query + "&cursor=" + cursor
		}
		page := f.Do(t, "GET", path, nil).OK(200)
		if n > 0 {
			require.Equal(t, []any{opening, closing}, []any{page["openingBalance"], page["closingBalance"]}, "the balances of the first page")
		}
		opening, closing = page["openingBalance"].(float64), page["closingBalance"].(float64)
		for _, it := range page["items"].([]any) {
			items = append(items, it.(map[string]any))
		}
		cursor, _ = page["nextCursor"].(string)
		require.Equal(t, cursor != "", page["hasMore"])
		after()
	}
	return opening, closing, items
}

// adds requires that a statement adds up: what it opens with and its entries are what it closes with, with each balance in between.
func adds(t require.TestingT, opening, closing float64, items []map[string]any, asc bool) {
	if !asc {
		items = slices.Clone(items)
		slices.Reverse(items)
	}
	for _, it := range items {
		require.Equal(t, it["paid"].(float64)-it["charged"].(float64), it["amount"])
		opening += it["amount"].(float64)
		require.Equal(t, opening, it["balance"])
	}
	require.Equal(t, closing, opening)
}

// Whatever is entered, in whatever order of dates, the statement of any period has its entries, and opening and closing balances are those
// of all entries before it and up to its end.
func TestStatementAgainstModel(t *testing.T) {
	t.Parallel()
	f := setup(t)
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	f.Client = f.server.Company(func(p *access.Principal) { p.Settings.TimeZone, p.Currency = berlin.String(), "EUR" })
	days := []time.Time{time.Date(2026, 10, 24, 0, 0, 0, 0, berlin), time.Date(2026, 10, 25, 0, 0, 0, 0, berlin), time.Date(2026, 10, 26, 0, 0, 0, 0, berlin), time.Date(2026, 10, 27, 0, 0, 0, 0, berlin)}
	rapid.Check(t, func(rt *rapid.T) {
		id := f.client(t)
		client := uuid.MustParse(id)
		var model []trade.LedgerEntry
		for range rapid.IntRange(0, 12).Draw(rt, "entries") {
			e := trade.LedgerEntry{Kind: trade.LedgerOrder, Number: int64(len(model) + 1)}
			// Entries of the same time, and at the bounds of days, of which one has 25 hours.
			e.At = jsontype.At(rapid.SampledFrom(days).Draw(rt, "day").Add(time.Duration(rapid.SampledFrom([]int{-1, 0, 1}).Draw(rt, "ms")) * time.Millisecond))
			e.Charged = money.Amount(rapid.Int64Range(-5, 5).Draw(rt, "charged"))
			if e.Paid = money.Amount(rapid.Int64Range(-5, 5).Draw(rt, "paid")); rapid.Bool().Draw(rt, "even") {
				e.Paid = e.Charged
			}
			f.enter(t, client, e)
			if e.Charged != 0 || e.Paid != 0 {
				model = append(model, e)
			}
		}
		var balance money.Amount
		for _, e := range model {
			balance += e.Delta()
		}
		slices.SortStableFunc(model, func(a, b trade.LedgerEntry) int { return a.At.Std().Compare(b.At.Std()) })
		require.EqualValues(t, balance, f.Do(t, "GET", "/clients/"+id, nil).OK(200)["balance"])

		from, to := rapid.IntRange(-1, 2).Draw(rt, "from"), rapid.IntRange(0, 3).Draw(rt, "to")
		query, first, last := fmt.Sprintf("pageSize=%d", rapid.IntRange(1, 5).Draw(rt, "size")), time.Time{}, days[3].AddDate(1, 0, 0)
		if from >= 0 {
			query, first = query+"&from="+days[from].Format(time.DateOnly), days[from]
		}
		if to < 3 {
			to = max(to, from)
			query, last = query+"&to="+days[to].Format(time.DateOnly), days[to+1]
		}
		asc := rapid.Bool().Draw(rt, "asc")
		if asc {
			query += "&order=asc"
		}
		opening, closing, items := f.walk(t, id, query, func() {})
		adds(t, opening, closing, items, asc)
		var before, until money.Amount
		var want, got []string
		for _, e := range model {
			if e.At.Std().Before(first) {
				before += e.Delta()
			}
			if e.At.Std().Before(last) {
				until += e.Delta()
			}
			if !e.At.Std().Before(first) && e.At.Std().Before(last) {
				want = append(want, fmt.Sprintln(e.At, e.Charged, e.Paid))
			}
		}
		for _, it := range items {
			got = append(got, fmt.Sprintln(it["date"], it["charged"], it["paid"]))
		}
		slices.Sort(want)
		slices.Sort(got)
		require.Equal(t, want, got)
		require.Equal(t, []any{float64(before), float64(until)}, []any{opening, closing})
		require.True(t, slices.IsSortedFunc(items, func(a, b map[string]any) int {
			if !asc {
				a, b = b, a
			}
			return cmp.Compare(a["date"].(string), b["date"].(string))
		}))
	})
}

// What is recorded while a statement is read is not in it, wherever its date belongs, so that it adds up.
func TestStatementIsReadWhileTheLedgerGrows(t *testing.T) {
	t.Parallel()
	f := setup(t)
	id := f.client(t)
	client, at := uuid.MustParse(id), time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	enter := func(i int) {
		f.enter(t, client, trade.LedgerEntry{Kind: trade.LedgerPayment, At: jsontype.At(at.Add(time.Duration(i) * time.Minute)), Paid: money.Amount(i + 1)})
	}
	for i := range 6 {
		enter(2 * i)
	}
	for _, query := range []string{"limit=2&order=asc", "limit=2", "limit=2&from=2026-05-01&to=2026-05-01"} {
		want := f.Do(t, "GET", "/clients/"+id, nil).OK(200)["balance"]
		var wg sync.WaitGroup
		opening, closing, items := f.walk(t, id, query, func() {
			for i := range 6 {
				wg.Go(func() { enter(2*i + 1) })
			}
			wg.Wait()
		})
		require.Equal(t, []any{0.0, want}, []any{opening, closing})
		adds(t, opening, closing, items, query == "limit=2&order=asc")
	}
}

func TestStatementIsOfOneClient(t *testing.T) {
	t.Parallel()
	f := setup(t)
	id, other := f.client(t), f.client(t)
	order, payment := uuid.New(), uuid.New()
	for i := range 3 {
		at := jsontype.At(time.Date(2026, 5, 1, 12, i, 0, 0, time.UTC))
		f.enter(t, uuid.MustParse(id), trade.LedgerEntry{Kind: trade.LedgerPayment, At: at, Paid: 500, OrderID: &order, Number: 7, PaymentID: &payment})
	}
	page := f.Do(t, "GET", "/clients/"+id+"/statement?limit=1", nil).OK(200)
	e := page["items"].([]any)[0].(map[string]any)
	require.Equal(t, map[string]any{
		"id": e["id"], "date": "2026-05-01T12:02:00.000Z", "kind": "payment", "charged": 0.0, "paid": 500.0, "amount": 500.0, "balance": 1500.0, "orderId": order.String(),
		"saleId": nil, "number": 7.0, "paymentId": payment.String(), "returnId": nil, "otherClientId": nil, "createdAt": e["createdAt"],
	}, e)
	cursor := page["nextCursor"].(string)
	at := func(id, query string) string { return "/clients/" + id + "/statement?" + query }
	for _, path := range []string{at(other, "cursor="+cursor), at(id, "order=asc&cursor="+cursor), at(id, "to=2026-05-01&cursor="+cursor), at(id, "cursor=x")} {
		require.Equal(t, map[string]string{"cursor": "FORMAT"}, f.Do(t, "GET", path, nil).Fields(), path)
	}
	require.Equal(t, map[string]string{"from": "CONFLICT"}, f.Do(t, "GET", at(id, "from=2026-05-02&to=2026-05-01"), nil).Fields())
	f.Do(t, "GET", at(uuid.NewString(), ""), nil).Fault(404, "CLIENT_NOT_FOUND")
	f.server.Company().Do(t, "GET", at(id, ""), nil).Fault(404, "CLIENT_NOT_FOUND")
	f.server.Company().Do(t, "GET", at(id, "cursor="+cursor), nil).Fault(404, "CLIENT_NOT_FOUND")
}
