package binding

import (
	"runtime"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/hostile"
)

// allocated is how many bytes do allocates. No other test may run meanwhile.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Checking values below long keys does not name each of them.
func TestMemoryOfPaths(t *testing.T) { //nolint:paralleltest // counts what the process allocates
	const levels = 18
	row := "[" + strings.Repeat("0,", 400) + "0],"
	wrong := "[" + strings.Repeat("0,", 600) + "0]"
	body := strings.Repeat(`{"`+strings.Repeat("k", 1000)+`":`, levels) + "[" + strings.Repeat(row, 400) + wrong + "]" + strings.Repeat("}", levels)
	tree, err := Parse([]byte(body))
	require.NoError(t, err)
	schema := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{"name": {Type: huma.TypeString}}}
	var into struct{ Name string }
	n := allocated(func() { _, err = BindPart(nil, "", schema, tree, nil, false, &into) })
	require.ErrorContains(t, err, "k[400]: must have at most 500 entries, has 601")
	require.Less(t, n, uint64(2*len(body)))
}

// Parsing a body takes memory in proportion to its size, whatever it is made of, and so do its faults. Bodies of records are read.
func TestMemoryOfBodies(t *testing.T) { //nolint:paralleltest // counts what the process allocates
	const size, most = 2 << 20, 40 // bytes of a body, and those allocated for each, garbage included
	for name, body := range hostile.Bodies(size) {
		var err error
		n := allocated(func() { _, err = Parse(body) })
		require.Less(t, n, uint64(most*size), name)
		if err != nil {
			require.Less(t, len(err.Error()), 5<<20, name)
		}
	}
	for _, line := range []string{`{"refId":"0192d3a5-6f0e-7c1a-9b1e-2f6d8a4c1e55","qty":2},`, `{"kind":"custom","name":"Tea","price":100,"qty":1},`} {
		body := []byte(`[` + strings.Repeat(line, size/len(line)) + `0]`)
		var err error
		n := allocated(func() { _, err = Parse(body) })
		require.NoError(t, err)
		require.Less(t, n, uint64(most*size))
	}
	_, err := Parse([]byte(`{"a":{"b":[{"` + strings.Repeat("k", 1025) + `":1}]}}`))
	require.ErrorContains(t, err, "a.b[0]: has a key of more than 1024 bytes")
	_, err = Parse([]byte(`[` + strings.Repeat(`{"a":0},`, size/8) + `0]`))
	require.ErrorContains(t, err, "body: has too many small values for its size")
}
