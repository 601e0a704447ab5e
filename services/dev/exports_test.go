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
	export := func(list, format string) string {
		id := w.OK(t, "POST", "/exports", `{"resource":"`+list+`","format":"`+format+`"}`).ID(t)
		require.Eventually(t, func() bool { return w.OK(t, "GET", "/jobs/"+id, "").Body["status"] == "done" }, time.Minute, 5*time.Millisecond, list)
		found, err := job.Get(t.Context(), n.DB, by, uuid.MustParse(id))
		require.NoError(t, err)
		raw, err := io.ReadAll(job.Result(t.Context(), n.DB, found))
		require.NoError(t, err)
		return string(raw)
	}
	records := 0
	for _, list := range slices.Sorted(maps.Keys(n.API.Lists())) {
		rows, err := csv.NewReader(strings.NewReader(export(list, "csv"))).ReadAll()
		require.NoError(t, err, list)
		lines := slices.Collect(strings.Lines(export(list, "ndjson")))
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
