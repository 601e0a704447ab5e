package exports

import (
	"bytes"
	"encoding/csv"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/httpapi"
	"github.com/tradegrid/tradegrid/pkg/jsontype"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

func cell[T any](t require.TestingT, v T) string {
	w := &writer{}
	require.NoError(t, w.cell(reflect.ValueOf(&v).Elem()))
	return w.buf.String()
}

func TestTextsOfACSV(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`=HYPERLINK("http://x")`: `"'=HYPERLINK(""http://x"")"`, "+49 30 12345": "'+49 30 12345", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)",
		"＝1": "'＝1", "＋1": "'＋1", "－1": "'－1", "＠a": "'＠a", "\t=1": "'\t=1", "\r=1": "\"'\r=1\"", "=": "'=", "": "", "a=1": "a=1", " =1": `" =1"`, "'=1": "'=1", "Äpfel": "Äpfel", "\n=1": "\"\n=1\"",
		"a,b": `"a,b"`, `\.`: `"\."`, "a\xffb": "a\ufffdb",
	} {
		require.Equal(t, want, cell(t, text), "%q", text)
		require.Equal(t, want, cell(t, &text), "%q", text)
	}
}

func TestCellsOfACSV(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 10, 30, 0, 123_456_789, time.FixedZone("", 3600))
	id := uuid.MustParse("019AA111-0000-7000-8000-000000000001")
	require.Equal(t, "-5", cell(t, -5))
	require.Equal(t, "-5", cell(t, int32(-5)))
	require.Equal(t, "9223372036854775807", cell(t, int64(math.MaxInt64)))
	require.Equal(t, "-12", cell(t, money.Amount(-12)))
	require.Equal(t, "-0.5", cell(t, new(money.Qty(-500))))
	require.Equal(t, "7.25", cell(t, money.Percent(725)))
	require.Equal(t, "1.5", cell(t, 1.5))
	require.Equal(t, "true", cell(t, true))
	require.Equal(t, "false", cell(t, new(false)))
	require.Equal(t, "2026-11-20T09:30:00.123Z", cell(t, jsontype.Time(at)))
	require.Equal(t, "2026-11-20T09:30:00.123Z", cell(t, new(jsontype.Time(at))))
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

// What quotes are for is a matter of encoding/csv, which reads back any text.
func TestRowsAreReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.OneOf(rapid.String(), rapid.StringMatching(`[ ,"'\n\\.;=a]{0,4}`)), 1, 5).Draw(t, "texts")
		w := &writer{}
		var want bytes.Buffer
		for i, s := range texts {
			w.begin(i)
			w.quoted(s)
		}
		out := csv.NewWriter(&want)
		require.NoError(t, out.Write(texts))
		out.Flush()
		require.Equal(t, want.String(), w.buf.String()+"\n")
	})
}

// item is the item of a list with fields that are left out.
type item struct {
	ID    string    `json:"id"`
	Qty   money.Qty `json:"qty"`
	Lines *[]int    `json:"lines,omitempty"`
	Tags  []string  `json:"tags,omitempty"`
	Note  *string   `json:"note"`
	Inner struct {
		A int `json:"a"`
	} `json:"inner"`
}

func TestOmittedFieldsAreEmptyCells(t *testing.T) {
	t.Parallel()
	source := &httpapi.ListSource{Fields: httpapi.ItemFields[item]()}
	w := newWriter(order{Format: "csv"}, source, true)
	require.NoError(t, w.row(reflect.ValueOf(&item{ID: "x", Tags: []string{}}).Elem()))
	require.NoError(t, w.row(reflect.ValueOf(&item{ID: "y", Lines: &[]int{}, Tags: []string{"a"}, Note: new("n")}).Elem()))
	rows, err := csv.NewReader(&w.buf).ReadAll()
	require.NoError(t, err)
	require.Equal(t, [][]string{
		{"id", "qty", "lines", "tags", "note", "inner"}, {"x", "0", "", "", "", `{"a":0}`}, {"y", "0", "[]", `["a"]`, "n", `{"a":0}`},
	}, rows)
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
