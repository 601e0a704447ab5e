package binding_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/apierr"
	"github.com/tradegrid/tradegrid/pkg/httpapi/binding"
)

// Parsing a body takes memory in proportion to its size, whatever it is made of, and so do its faults.
func TestMemoryOfBodies(t *testing.T) { //nolint:paralleltest // counts what the process allocates
	const size, most = 2 << 20, 40 // bytes of a body, and those allocated for each, garbage included
	many := func(s string) string { return strings.Repeat(s, size/len(s)) }
	for name, c := range map[string]struct {
		body string
		want string // fault; "" = none
	}{
		"order lines":      {`[` + many(`{"refId":"0192d3a5-6f0e-7c1a-9b1e-2f6d8a4c1e55","qty":2},`) + `0]`, ""},
		"custom lines":     {`[` + many(`{"kind":"custom","name":"Tea","price":100,"qty":1},`) + `0]`, ""},
		"small objects":    {`[` + many(`{"a":0},`) + `0]`, "too many small values"},
		"empty objects":    {`[` + many(`{},`) + `0]`, "too many small values"},
		"empty arrays":     {`[` + many(`[],`) + `0]`, "too many small values"},
		"objects in one":   {`[` + many(`{"a":{"a":{"a":{}}}},`) + `0]`, "too many small values"},
		"empty texts":      {`[` + many(`"",`) + `0]`, ""},
		"digits":           {`[` + many(`1`) + `]`, ""},
		"escapes":          {`["` + many(`\u0041`) + `"]`, ""},
		"depth":            {strings.Repeat(`[`, size), "at most 24 levels"},
		"many fields":      {`{` + fields(200_000) + `}`, "at most 1000 fields"},
		"a long key":       {`{"` + many(`a`) + `":1}`, "a key of more than 1024 bytes"},
		"a long key twice": {`{"` + many(`a`) + `":{` + strings.Repeat(`"a":1,`, 200) + `"b":1}}`, "a key of more than 1024 bytes"},
		"long keys above faults": {
			strings.Repeat(`{"`+strings.Repeat("a", 1000)+`":`, 20) + `{` + strings.Repeat(`"a":1,`, 200) + `"b":1}` + strings.Repeat(`}`, 20),
			"is a duplicate key",
		},
	} {
		var err error
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = binding.Parse([]byte(c.body))
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(most*size), name)
		if c.want == "" {
			require.NoError(t, err, name)
			continue
		}
		fault, ok := apierr.As(err)
		require.True(t, ok, name)
		require.Contains(t, fault.Fields[0].Message, c.want, name)
		require.Less(t, len(err.Error()), 5<<20, name)
	}
}

// fields are n fields of different names.
func fields(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`"` + string(rune('a'+i%26)) + strings.Repeat("x", i%7) + string(rune('0'+i/26%10)) + string(rune('0'+i/260%10)) + string(rune('0'+i/2600%10)) + `":0,`)
	}
	return b.String() + `"last":0`
}
