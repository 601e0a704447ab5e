package imaging_test

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/hostile"
	"github.com/tradegrid/tradegrid/pkg/kit/imaging"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// allocated is how many bytes do allocates. No other test may run meanwhile.
func allocated(do func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// What is refused is refused before it is decoded, and what is decoded takes no more than was estimated. Half as much is left to
// garbage, which decoders of WebP make of each Huffman tree.
func TestMemoryIsEstimated(t *testing.T) { //nolint:paralleltest // counts what the process allocates
	for _, f := range hostile.Images(t) {
		var info imaging.Info
		var err error
		inspecting := allocated(func() { info, err = imaging.Inspect(bytes.NewReader(f.Body)) })
		require.Less(t, inspecting, int64(256<<10), f.Name)
		if err == nil {
			decoding := allocated(func() {
				_, err = imaging.NewDecoder().Thumbnails(t.Context(), tenant.NewID(), bytes.NewReader(f.Body), info, []int{1200, 480, 160})
			})
			t.Logf("%s: %d MiB, estimated %d", f.Name, decoding>>20, info.Memory>>20)
			require.LessOrEqual(t, decoding, info.Memory*3/2, f.Name)
		}
		if f.Fine {
			require.NoError(t, err, f.Name)
			continue
		}
		fault, ok := apierr.As(err)
		require.True(t, ok, "%s: %v", f.Name, err)
		require.Equal(t, 400, fault.Status, f.Name)
		t.Logf("%s: %s", f.Name, fault.Fields[0].Message)
	}
}
