package binding_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/hostile"
	"github.com/tradegrid/tradegrid/pkg/httpapi/binding"
)

// Parsing a body takes memory in proportion to its size, whatever it is made of, and so do its faults. Bodies of records are read.
func TestMemoryOfBodies(t *testing.T) { //nolint:paralleltest // counts what the process allocates
	const size, most = 2 << 20, 40 // bytes of a body, and those allocated for each, garbage included
	allocated := func(body []byte) (bytes uint64, err error) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = binding.Parse(body)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc, err
	}
	for name, body := range hostile.Bodies(size) {
		n, err := allocated(body)
		require.Less(t, n, uint64(most*size), name)
		if err != nil {
			require.Less(t, len(err.Error()), 5<<20, name)
		}
	}
	for _, line := range []string{`{"refId":"0192d3a5-6f0e-7c1a-9b1e-2f6d8a4c1e55","qty":2},`, `{"kind":"custom","name":"Tea","price":100,"qty":1},`} {
		n, err := allocated([]byte(`[` + strings.Repeat(line, size/len(line)) + `0]`))
		require.NoError(t, err)
		require.Less(t, n, uint64(most*size))
	}
	_, err := binding.Parse([]byte(`{"a":{"b":[{"` + strings.Repeat("k", 1025) + `":1}]}}`))
	require.ErrorContains(t, err, "a.b[0]: has a key of more than 1024 bytes")
	_, err = binding.Parse([]byte(`[` + strings.Repeat(`{"a":0},`, size/8) + `0]`))
	require.ErrorContains(t, err, "body: has too many small values for its size")
}
