package console_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/services/business/sales"
	"github.com/tradegrid/tradegrid/services/business/scheduling"
	"github.com/tradegrid/tradegrid/services/business/warehouse"
)

var (
	consoleCall = regexp.MustCompile(`web\.(Call|CallAdmin|List)\[(.+?)\]\((?:ctx|within), (?:d\.)?q, "(\w+)"`)
	importPath  = regexp.MustCompile(`[\w./-]+/`)
)

// Pages name the operations that they call, and the types that these return. A page that no test opens fails here if it is wrong.
func TestPagesCallOperationsWithTheirTypes(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	files, err := filepath.Glob("*/*.go")
	require.NoError(t, err)
	calls := 0
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range consoleCall.FindAllStringSubmatch(string(source), -1) {
			api, returned, id := p.external, m[2], m[3]
			switch m[1] {
			case "CallAdmin":
				api = p.admin
			case "List":
				returned = "*list.Page[" + returned + "]"
			}
			calls++
			err := api.Call(t.Context(), httpapi.InternalCaller{}, id, httpapi.Input{}, new(struct{}))
			require.ErrorContains(t, err, "the operation "+id+" returns ", file)
			if returned != "web.JSON" {
				types, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "the operation "+id+" returns "), ", not ")
				require.Equal(t, importPath.ReplaceAllString(types, ""), returned, "%s: %s", file, id)
			}
		}
	}
	require.Greater(t, calls, 80)
}

// twice calls an operation twice with the same key, as a form that is sent twice does. The second answer is made of the JSON that was stored.
func twice[T any](c integration, id string, in httpapi.Input) {
	c.p.t.Helper()
	var first, again T
	in.Key = uuid.NewString()
	require.NoError(c.p.t, c.api.Call(c.p.t.Context(), c.by, id, in, &first), id)
	require.NoError(c.p.t, c.api.Call(c.p.t.Context(), c.by, id, in, &again), id)
	want, err := json.Marshal(first)
	require.NoError(c.p.t, err)
	got, err := json.Marshal(again)
	require.NoError(c.p.t, err)
	require.JSONEq(c.p.t, string(want), string(got), id)
}

func TestFormsThatAreSentTwiceGetTheSameRecord(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	s := p.boardShop()
	c := p.calls(s)
	at := time.Now().UTC().AddDate(0, 0, 2).Truncate(24 * time.Hour).Add(10 * time.Hour)
	twice[scheduling.Booking](c, "createBooking", httpapi.Input{Body: map[string]any{"resourceId": s.records["resource"], "startAt": at, "customerName": s.name, "customerPhone": "+49 30 23125 707", "durationMinutes": 60}})
	twice[warehouse.Stock](c, "adjustStock", httpapi.Input{Body: map[string]any{"productId": s.records["/stock"], "warehouseId": s.records["warehouse"], "targetQty": 3, "reason": "counted"}})
	shift := map[string]string{"id": s.records["/shifts"]}
	twice[sales.CashMovement](c, "createCashMovement", httpapi.Input{Path: shift, Body: map[string]any{"type": "in", "amount": 500, "reason": "change"}})
	require.NoError(t, c.api.Call(t.Context(), c.by, "closeShift", httpapi.Input{Path: shift, Body: map[string]any{"closingCash": 10500}}, new(sales.Shift)))
	twice[sales.Shift](c, "openShift", httpapi.Input{Body: map[string]any{"openingCash": 100}})
}
