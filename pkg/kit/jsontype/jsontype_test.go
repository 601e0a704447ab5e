package jsontype_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
)

func TestTimeReadsAnyOffsetAndWritesMillisecondsOfUTC(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"2026-11-20T09:30:00Z":             "2026-11-20T09:30:00.000Z",
		"2026-11-20T09:30:00.1239Z":        "2026-11-20T09:30:00.123Z",
		"2026-11-20T09:30:00.999999999Z":   "2026-11-20T09:30:00.999Z",
		"2026-11-20T11:30:00+02:00":        "2026-11-20T09:30:00.000Z",
		"2026-01-01T00:30:00.5+01:00":      "2025-12-31T23:30:00.500Z",
		"2026-11-20T09:30:00.123456-00:00": "2026-11-20T09:30:00.123Z",
	} {
		var v jsontype.Time
		require.NoError(t, json.Unmarshal([]byte(`"`+in+`"`), &v), in)
		out, err := json.Marshal(v)
		require.NoError(t, err)
		require.Equal(t, `"`+want+`"`, string(out), in)
		require.Equal(t, want, v.String())
		require.Equal(t, time.UTC, v.Std().Location())
	}
}

func TestTimeRefusesOtherForms(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		`"2026-11-20"`, `"2026-11-20 09:30:00Z"`, `"2026-11-20T09:30:00"`, `"2026-02-30T09:30:00Z"`, `"2026-11-20T25:00:00Z"`,
		`""`, `"now"`, `1763631000`, `true`, `{}`,
	} {
		require.Error(t, json.Unmarshal([]byte(in), new(jsontype.Time)), in)
	}
	require.ErrorContains(t, new(jsontype.Time).UnmarshalText([]byte("tomorrow")), `"tomorrow" is not a date-time: use RFC 3339`)
}

// What the database gives back is what was written, so answers and kept records never differ.
func TestTimeKeepsMicroseconds(t *testing.T) {
	t.Parallel()
	made := jsontype.At(time.Date(2026, 11, 20, 9, 30, 0, 123_456_789, time.FixedZone("", 3600)))
	require.Equal(t, 123_456_000, made.Std().Nanosecond())
	column, err := made.TimestamptzValue()
	require.NoError(t, err)
	var back jsontype.Time
	require.NoError(t, back.ScanTimestamptz(column))
	require.Equal(t, made, back)
	require.Error(t, back.ScanTimestamptz(pgtype.Timestamptz{}), "null")
}

func TestDate(t *testing.T) {
	t.Parallel()
	var d jsontype.Date
	require.NoError(t, json.Unmarshal([]byte(`"2028-02-29"`), &d))
	out, err := json.Marshal(d)
	require.NoError(t, err)
	require.Equal(t, `"2028-02-29"`, string(out))
	column, err := d.DateValue()
	require.NoError(t, err)
	var back jsontype.Date
	require.NoError(t, back.ScanDate(column))
	require.Equal(t, d, back)
	require.Error(t, back.ScanDate(pgtype.Date{}), "null")
	for _, in := range []string{`"2026-02-29"`, `"2026-2-3"`, `"20261120"`, `"2026-11-20T00:00:00Z"`, `"2026-13-01"`, `""`, `5`} {
		require.Error(t, json.Unmarshal([]byte(in), new(jsontype.Date)), in)
	}
	require.ErrorContains(t, new(jsontype.Date).UnmarshalText([]byte("x")), `"x" is not a date: use YYYY-MM-DD`)
}

func TestSchemasSayTheForms(t *testing.T) {
	t.Parallel()
	r := huma.NewMapRegistry("#/", huma.DefaultSchemaNamer)
	for want, v := range map[string]any{"date-time": jsontype.Time{}, "date": jsontype.Date{}} {
		s := r.Schema(reflect.TypeOf(v), true, "")
		require.Equal(t, huma.TypeString, s.Type)
		require.Equal(t, want, s.Format)
	}
	require.Equal(t, huma.TypeObject, r.Schema(reflect.TypeFor[jsontype.Object](), true, "").Type)
}
