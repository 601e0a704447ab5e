package dev

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/job"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/dev/demodata"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// The two formats say the same of every record of every list: rows are written field by field, lines as a whole.
func TestFormatsOfExportsAgree(t *testing.T) {
	t.Parallel()
	n := rolestest.NewNode(dbtest.OpenNew(t), rolestest.Alone())
	dm, err := startDemo(t.Context(), n, t.TempDir(), demodata.Small)
	require.NoError(t, err)
	apitest.Work(t, n.DB, n.JobHandlers())
	w := n.Client(dm.Token)
	by, err := dm.caller(t.Context(), dm.Token)
	require.NoError(t, err)
	var id string
	export := func(list, format, rows string, filters ...string) string {
		id = w.OK(t, "POST", "/exports", `{"resource":"`+list+`","format":"`+format+`","rows":"`+rows+`","filters":{`+strings.Join(filters, ",")+`}}`).ID(t)
		require.Eventually(t, func() bool { return w.OK(t, "GET", "/jobs/"+id, "").Body["status"] == "done" }, time.Minute, 5*time.Millisecond, list)
		found, err := job.Get(t.Context(), n.DB, by, uuid.MustParse(id))
		require.NoError(t, err)
		raw, err := io.ReadAll(job.Result(t.Context(), n.DB, found))
		require.NoError(t, err)
		return string(raw)
	}
	records := 0
	for _, list := range slices.Sorted(maps.Keys(n.API.Lists())) {
		rows, err := csv.NewReader(strings.NewReader(export(list, "csv", "records"))).ReadAll()
		require.NoError(t, err, list)
		lines := slices.Collect(strings.Lines(export(list, "ndjson", "records")))
		require.Len(t, rows, 1+len(lines), list)
		for i, line := range lines {
			var record map[string]any
			require.NoError(t, json.Unmarshal([]byte(line), &record))
			for j, name := range rows[0] {
				if _, listed := record[name]; !listed && list == "clients" && name != "currency" {
					continue // see httpapi.Whole
				}
				if name == "currency" && record[name] == nil {
					require.Equal(t, by.Currency, rows[1+i][j])
					continue
				}
				sameCell(t, record[name], rows[1+i][j], fmt.Sprint(list, " ", name))
				delete(record, name)
			}
			require.Empty(t, record, "%s: fields without a column", list)
			records++
		}
	}
	require.Greater(t, records, 300)

	totals := map[string]float64{}
	for _, list := range []string{"orders", "sales", "deals", "returns", "receipts", "transfers", "write-offs", "counts", "purchase-orders", "supplier-returns"} {
		rows, err := csv.NewReader(strings.NewReader(export(list, "csv", "lines"))).ReadAll()
		require.NoError(t, err, list)
		lines := slices.Collect(strings.Lines(export(list, "ndjson", "lines")))
		require.Len(t, rows, 1+len(lines), list)
		require.NotEmpty(t, lines, list)
		documents := map[string]bool{}
		for i, text := range lines {
			var document map[string]any
			require.NoError(t, json.Unmarshal([]byte(text), &document))
			line, ok := document["line"].(map[string]any)
			require.True(t, ok)
			sign := 1.0
			if list == "sales" && document["kind"] == "refund" {
				sign = -1
			}
			for j, name := range rows[0] {
				value := document[name]
				switch of, ofLine := strings.CutPrefix(name, "line."); {
				case ofLine:
					value = line[of]
				case name == "currency":
					value = by.Currency
				}
				cell := rows[1+i][j]
				if n, ok := value.(float64); ok && sign < 0 && (name == "line.qty" || name == "line.total") {
					require.Negative(t, number(t, cell))
					value = -n
				}
				sameCell(t, value, cell, fmt.Sprint(list, " ", name))
			}
			if total, ok := line["total"].(float64); ok {
				totals[list] += sign * total
				if id := document["id"].(string); !documents[id] {
					documents[id] = true
					totals[list] -= sign * document["total"].(float64)
				}
			}
		}
	}
	require.Equal(t, map[string]float64{"orders": 0, "sales": 0, "deals": 0}, totals, "lines add up to their documents")
	for body, field := range map[string]string{
		`{"resource":"suppliers","rows":"lines"}`:                             `"field":"rows"`,
		`{"resource":"orders","rows":"lines","filters":{"include":"lines"}}`:  `"field":"filters.include"`,
		`{"resource":"orders","rows":"lines","format":"csv","columns":["x"]}`: `"field":"columns[0]"`,
	} {
		r := w.Do(t, "POST", "/exports", body)
		require.Equal(t, 400, r.Status, body)
		require.Contains(t, r.Raw, field)
	}
	for report, field := range map[string]string{"sales": "netTotal", "orders": "total", "payments": "netTotal", "bookings": "total"} {
		by := "day"
		if report == "sales" || report == "orders" {
			by = "product"
		}
		query := fmt.Sprintf("from=%s&to=%s&groupBy=%s", rolestest.Today(-300), rolestest.Today(1), by)
		filters := `"` + strings.NewReplacer("=", `":"`, "&", `","`).Replace(query) + `"`
		want := w.OK(t, "GET", "/reports/"+report+"?"+query, "").Body
		lines := slices.Collect(strings.Lines(export("report-"+report, "ndjson", "records", filters)))
		require.Len(t, lines, len(want["rows"].([]any)), report)
		rows, err := csv.NewReader(strings.NewReader(export("report-"+report, "csv", "records", filters))).ReadAll()
		require.NoError(t, err)
		require.Len(t, rows, 1+len(lines))
		sum, at := 0.0, slices.Index(rows[0], field)
		for i, line := range lines {
			var row map[string]any
			require.NoError(t, json.Unmarshal([]byte(line), &row))
			require.Equal(t, want["rows"].([]any)[i], row)
			sum += number(t, rows[1+i][at])
		}
		require.InDelta(t, want["totals"].(map[string]any)[field], 100*sum, 0.01, report)
	}

	cashier := n.Client(n.Issue(t, by.Company, []string{"sales:read", "exports:write"}).Text)
	require.Equal(t, 403, cashier.Do(t, "POST", "/exports", `{"resource":"sales","rows":"lines","filters":{"include":"costs"}}`).Status)
	require.NotRegexp(t, `"unitCost":\d`, export("sales", "ndjson", "lines"), "only on request")
	require.Equal(t, 200, cashier.Do(t, "GET", "/jobs/"+id, "").Status)
	require.Regexp(t, `"unitCost":\d+,"cost":\d+,"margin":\d+,"marginPercent":\d`, export("sales", "ndjson", "lines", `"include":"costs"`))
	require.Equal(t, 404, cashier.Do(t, "GET", "/jobs/"+id, "").Status, "costs that somebody else has asked for")
}

func number(t *testing.T, cell string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(cell, 64)
	require.NoError(t, err)
	return n
}

// sameCell compares a value of a line with the cell of a row.
func sameCell(t *testing.T, value any, cell, what string) {
	t.Helper()
	switch v := value.(type) {
	case nil:
		require.Empty(t, cell, what)
	case string:
		if at, err := time.Parse(jsontype.Layout, v); err == nil {
			local, err := time.Parse(time.RFC3339, cell)
			require.NoError(t, err, what)
			require.True(t, at.Equal(local), what)
			return
		}
		require.Equal(t, v, strings.TrimPrefix(cell, "'"), what)
	case float64:
		number, err := strconv.ParseFloat(cell, 64)
		require.NoError(t, err, what)
		if _, places, decimal := strings.Cut(cell, "."); decimal && len(places) == 2 && math.Abs(math.Abs(number*100)-math.Abs(v)) < 0.001 {
			return // an amount in minor units
		}
		require.InDelta(t, v, number, 0.0001, what)
	default:
		raw, err := json.Marshal(v)
		require.NoError(t, err)
		require.JSONEq(t, string(raw), cell, what)
	}
}
