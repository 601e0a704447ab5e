package exports

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/spreadsheet"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// cell is what a CSV of a company with euros in Berlin has for a value.
func cell[T any](t require.TestingT, v T) string {
	var c spreadsheet.Cell
	require.NoError(t, (&table{digits: 2}).cell(&c, reflect.ValueOf(&v).Elem(), false))
	w := spreadsheet.NewCSV(spreadsheet.CSVOptions{Zone: zoneOf("Europe/Berlin")})
	w.Row([]spreadsheet.Cell{c, {}})
	return w.String()[:w.Len()-len(",\n")]
}

func TestCellsOfValues(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 10, 30, 0, 123_456_789, time.FixedZone("", -3600))
	id := uuid.MustParse("019AA111-0000-7000-8000-000000000001")
	require.Equal(t, "-5", cell(t, -5))
	require.Equal(t, "-5", cell(t, int32(-5)))
	require.Equal(t, "9223372036854775807", cell(t, int64(math.MaxInt64)))
	require.Equal(t, "-0.12", cell(t, money.Amount(-12)))
	require.Equal(t, "1234.50", cell(t, new(money.Amount(123450))))
	require.Equal(t, "-0.5", cell(t, new(money.Qty(-500))))
	require.Equal(t, "7.25", cell(t, money.Percent(725)))
	require.Equal(t, "1.5", cell(t, 1.5))
	require.Equal(t, "true", cell(t, true))
	require.Equal(t, "false", cell(t, new(false)))
	require.Equal(t, "2026-11-20T12:30:00.123+01:00", cell(t, jsontype.Time(at)))
	require.Equal(t, "2026-11-20T12:30:00.123+01:00", cell(t, new(jsontype.Time(at))))
	require.Equal(t, "2026-11-20", cell(t, new(jsontype.Date(at))))
	require.Equal(t, id.String(), cell(t, &id))
	require.Equal(t, id.String(), cell(t, tenant.ID(id)))
	require.Equal(t, `"[""=1""]"`, cell(t, []string{"=1"}))
	require.Equal(t, `"{""a"":-1}"`, cell(t, map[string]int{"a": -1}))
	require.Equal(t, `"{""b"":2}"`, cell(t, jsontype.Object(`{"b":2}`)))
	require.Equal(t, "'=1", cell(t, any("=1")))
	for _, null := range []string{
		cell[*string](t, nil), cell[*int64](t, nil), cell[*jsontype.Time](t, nil), cell[*uuid.UUID](t, nil), cell[*money.Qty](t, nil),
		cell[[]string](t, nil), cell[map[string]int](t, nil), cell[any](t, nil), cell(t, jsontype.Object("")),
	} {
		require.Empty(t, null)
	}
}

// item is the item of a list with fields that are left out. Those with the note "back" are reversals.
type item struct {
	ID    string         `json:"id"`
	Qty   money.Qty      `json:"qty"`
	Lines *[]int         `json:"lines,omitempty"`
	Tags  []string       `json:"tags,omitempty"`
	Note  *string        `json:"note"`
	Total money.Amount   `json:"total"`
	Paid  *money.Amount  `json:"paid"`
	At    *jsontype.Time `json:"at"`
	Inner struct {
		A int `json:"a"`
	} `json:"inner"`
}

func (i *item) Reverses() bool { return i.Note != nil && *i.Note == "back" }

type items []item

func (items) Encode(*json.Encoder, int) error { return nil }

func (i items) Item(n int) reflect.Value { return reflect.ValueOf(&i[n]).Elem() }

func source() *httpapi.ListSource {
	return &httpapi.ListSource{Item: reflect.TypeFor[item](), Fields: httpapi.ItemFields[item]()}
}

func written(t *testing.T, in order, all items) [][]string {
	t.Helper()
	f, err := open(in, source(), state{}, true)
	require.NoError(t, err)
	require.NoError(t, f.add(httpapi.ListPage{Len: len(all), Items: all}))
	raw, err := f.close(true, &state{})
	require.NoError(t, err)
	limits := spreadsheet.Limits{Rows: 100, Columns: 20, Cell: 1000, Row: 20_000, Expand: 1 << 20}
	rows, err := spreadsheet.ReadCSV(t.Context(), raw, "", limits)
	if in.Format == xlsx {
		rows, err = spreadsheet.ReadXLSX(t.Context(), bytes.NewReader(raw), int64(len(raw)), limits)
	}
	require.NoError(t, err)
	var got [][]string
	for {
		row, err := rows.Next()
		if err != nil {
			return got
		}
		var texts []string
		for _, v := range row.Cells {
			texts = append(texts, v.Text)
		}
		got = append(got, texts)
	}
}

func TestTables(t *testing.T) {
	t.Parallel()
	at := jsontype.Time(time.Date(2026, 1, 2, 23, 30, 0, 0, time.UTC))
	all := items{
		{ID: "x", Qty: 1500, Tags: []string{}, Total: 1000, Paid: new(money.Amount(5)), At: &at},
		{ID: "y", Lines: &[]int{}, Tags: []string{"a"}, Note: new("back"), Total: 1000, Paid: new(money.Amount(5))},
	}
	in := order{Resource: "items", Format: csv, Currency: "EUR", Zone: "Europe/Berlin"}
	require.Equal(t, [][]string{
		{"id", "qty", "lines", "tags", "note", "total", "paid", "at", "inner", "currency"},
		{"x", "1.5", "", "", "", "10.00", "0.05", "2026-01-03T00:30:00.000+01:00", `{"a":0}`, "EUR"},
		{"y", "0", "[]", `["a"]`, "back", "-10.00", "-0.05", "", `{"a":0}`, "EUR"},
	}, written(t, in, all))
	in.Currency = "JPY"
	in.Columns = []string{"currency", "total", "id"}
	require.Equal(t, [][]string{{"currency", "total", "id"}, {"JPY", "1000", "x"}, {"JPY", "-1000", "y"}}, written(t, in, all))
	in.Currency, in.Format, in.Columns = "KWD", xlsx, []string{"at", "total", "id"}
	require.Equal(t, [][]string{{"at (Europe/Berlin)", "total", "id"}, {"46025.02083333333", "1.000", "x"}, {"", "-1.000", "y"}}, written(t, in, all))
}

func TestColumnsOfFields(t *testing.T) {
	t.Parallel()
	for fields, want := range map[string][]string{
		"": nil, "note,id": {"note", "id"}, "note": {"id", "note"}, "paid, note": {"id", "paid", "note", "currency"}, "note,note": {"id", "note"},
	} {
		got, err := chosen(source(), nil, fields)
		require.NoError(t, err)
		require.Equal(t, want, got, fields)
	}
	_, err := chosen(source(), []string{"note", "planet", "note"}, "")
	require.ErrorContains(t, err, "columns[1]: must be one of id, qty, lines, tags, note, total, paid, at, inner, currency; columns[2]: repeats the column note; name each once")
}

// A page is as large as it may become in memory, whatever the records are like.
func TestPagesFollowTheSizeOfRecords(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		done, bytes int64
		want        int
	}{{0, 0, 20}, {0, 100, 20}, {200, 200 * 300, 1000}, {200, 200 * 2048, 512}, {200, 200 << 20, 20}, {5_000_000, 5_000_000 * 1000, 1000}} {
		require.Equal(t, row.want, sizeOfPages(row.done, row.bytes), "%+v", row)
	}
}
