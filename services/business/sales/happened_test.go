package sales_test

import (
	"log/slog"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/services/business/dailytotals"
	"github.com/tradegrid/tradegrid/services/business/sales"
)

// midnight is the one of the day before yesterday, in UTC.
func midnight() time.Time { return time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -2) }

func at(minutes int) string {
	return midnight().Add(time.Duration(minutes) * time.Minute).Format(jsontype.Layout)
}

// A till that was offline over midnight sends its shift the day after: both days have what happened in them.
func TestOfflineOverMidnight(t *testing.T) {
	t.Parallel()
	f := open(t)
	first, second := jsontype.Date(midnight().AddDate(0, 0, -1)), jsontype.Date(midnight())
	reader := dailytotals.NewReader(dailytotals.Config{DB: f.d, Log: slog.New(slog.DiscardHandler)})
	days := func(report *dailytotals.Report, amount int) map[string]int64 {
		groups, err := reader.Read(t.Context(), f.Principal.Company, time.UTC, first, second, report)
		require.NoError(t, err)
		sums := map[string]int64{}
		for _, g := range groups[0] {
			sums[g.Day.String()] += g.Amounts[amount]
		}
		return sums
	}
	const difference = 4
	require.Empty(t, days(&sales.Sums, difference)) // and kept

	shift := f.shift("openedAt", at(-120))
	before := f.sale(shift, "soldAt", at(-10), "items", []any{custom(1000)})
	require.Equal(t, at(-10), before["soldAt"])
	require.Greater(t, before["createdAt"], before["soldAt"])
	f.sale(shift, "soldAt", at(20), "items", []any{custom(200)})
	require.Equal(t, at(-5), f.moveCash(shift, "in", 50, "occurredAt", at(-5)).OK(201)["occurredAt"])
	require.Equal(t, map[string]string{"closedAt": "MIN"}, f.Do(t, "POST", "/shifts/"+shift+"/close", object([]any{"closedAt", at(19)})).Fields())
	shut := f.Do(t, "POST", "/shifts/"+shift+"/close", object([]any{"closedAt", at(60), "closingCash", 2280})).OK(200)
	require.Equal(t, []any{at(-120), at(60), 30.0}, []any{shut["openedAt"], shut["closedAt"], shut["cashDifference"]})

	late := f.sale(shift, "soldAt", at(30), "items", []any{custom(30)})
	require.Equal(t, []any{true, false}, []any{late["late"], before["late"]})
	back := f.refund(before["id"], "soldAt", at(40)).OK(200)
	require.Equal(t, []any{shift, true, at(40)}, []any{back["shiftId"], back["late"], back["soldAt"]})
	require.Equal(t, true, f.moveCash(shift, "out", 50, "occurredAt", at(50)).OK(201)["late"])
	now := f.readShift(shift)
	require.Equal(t, []any{"closed", at(60), 3.0, 1.0, 1230.0, 1000.0, 1230.0, 1050.0}, []any{
		now["status"], now["closedAt"], now["salesCount"], now["refundsCount"], now["salesTotal"], now["refundsTotal"], now["expectedCash"], now["cashDifference"],
	})

	want := map[string]int64{first.String(): 1000, second.String(): 230 - 1000}
	require.Equal(t, want, days(&sales.Sums, difference))
	require.Equal(t, want, days(&sales.PaymentSums, difference))
	list := func(query string) []any { return f.Do(t, "GET", "/sales?"+query, nil).OK(200)["items"].([]any) }
	require.Len(t, list("dateTo="+first.String()), 1)
	require.Len(t, list("dateFrom="+second.String()+"&dateTo="+second.String()), 3)
	sorted := list("sort=soldAt&order=asc&dateFrom=" + url.QueryEscape(at(-10)) + "&dateTo=" + url.QueryEscape(at(30)))
	require.Len(t, sorted, 3)
	require.Equal(t, before["id"], sorted[0].(map[string]any)["id"])
	require.Equal(t, late["id"], sorted[2].(map[string]any)["id"])
	f.noGaps()
}

func TestTimesThatCannotBe(t *testing.T) {
	t.Parallel()
	f := open(t)
	ago := func(d time.Duration) string { return time.Now().Add(-d).UTC().Format(jsontype.Layout) }
	shift := f.shift("openedAt", ago(2*time.Hour))
	for said, code := range map[string]string{ago(-10 * time.Minute): "MAX", ago(8 * 24 * time.Hour): "MIN", ago(3 * time.Hour): "MIN"} {
		require.Equal(t, map[string]string{"soldAt": code}, f.post(shift, "soldAt", said).Fields(), said)
		require.Equal(t, map[string]string{"occurredAt": code}, f.moveCash(shift, "in", 1, "occurredAt", said).Fields())
	}
	soon := f.sale(shift, "soldAt", ago(-2*time.Minute))
	require.Equal(t, soon["createdAt"], soon["soldAt"], "a clock that is a little ahead")
	sold := f.sale(shift, "soldAt", ago(time.Hour))
	require.Equal(t, map[string]string{"soldAt": "MIN"}, f.refund(sold["id"], "soldAt", ago(90*time.Minute)).Fields())
	require.Equal(t, map[string]string{"openedAt": "MAX"}, f.Do(t, "POST", "/shifts/open", object([]any{"openingCash", 0, "openedAt", ago(-time.Hour)})).Fields())
	require.Equal(t, map[string]string{"closedAt": "MAX"}, f.Do(t, "POST", "/shifts/"+shift+"/close", object([]any{"closedAt", ago(-time.Hour)})).Fields())
	f.Do(t, "POST", "/shifts/"+shift+"/close", "{}").OK(200)
	f.post(shift).Fault(409, "SHIFT_CLOSED")
	f.post(shift, "soldAt", ago(0)).Fault(409, "SHIFT_CLOSED")
	f.moveCash(shift, "in", 1, "occurredAt", ago(0)).Fault(409, "SHIFT_CLOSED")
	f.refund(sold["id"], "soldAt", ago(0)).Fault(409, "SHIFT_NOT_OPEN")
	require.Equal(t, true, f.sale(shift, "soldAt", ago(time.Hour))["late"])

	strict := open(t, func(p *access.Principal) { p.Settings.BackdateDays = 0 })
	require.Equal(t, map[string]string{"openedAt": "MIN"}, strict.Do(t, "POST", "/shifts/open", object([]any{"openingCash", 0, "openedAt", ago(time.Second)})).Fields())
}

// Of sales that are told later while their shift is closed, none is refused, and each that the closed shift does not have yet is late.
func TestLateSalesWhileTheShiftIsClosed(t *testing.T) {
	t.Parallel()
	f := open(t)
	shift := f.shift("openedAt", at(0))
	nodes := []*kit{f, f.another()}
	const n = 16
	answers := make([]*apitest.Response, n)
	var closing *apitest.Response
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { answers[i] = nodes[i%2].post(shift, "soldAt", at(i+1), "items", []any{custom(10)}) })
		if i == n/2 {
			wg.Go(func() { closing = nodes[1].Do(t, "POST", "/shifts/"+shift+"/close", "{}") })
		}
	}
	wg.Wait()
	shut, late := closing.OK(200), 0
	for _, a := range answers {
		if a.OK(201)["late"].(bool) {
			late++
		}
	}
	require.Equal(t, float64(n-late), shut["salesCount"])
	require.Equal(t, float64(n), f.readShift(shift)["salesCount"])
	f.noGaps()
}
