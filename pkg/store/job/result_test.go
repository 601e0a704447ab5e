package job_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/compress"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/job"
)

// stored stores pieces as the result of a job.
func (k *kit) stored(pieces ...[]byte) (f job.Found) {
	k.t.Helper()
	f.CompanyID, f.ID = tenant.NewID(), uuid.New()
	for n, piece := range pieces {
		_, err := k.db.Exec(k.t.Context(), `INSERT INTO job_chunks (company_id, job_id, n, body, expires_at) VALUES ($1, $2, $3, $4, $5)`,
			f.CompanyID, f.ID, 3*n, piece, time.Now().Add(time.Hour))
		require.NoError(k.t, err)
	}
	return f
}

func noise(size int) []byte {
	b := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(b)
	b[0] = 'a'
	return b
}

// Pieces are read in slices, compressed or not, also if they end with a slice.
func TestResultIsReadInSlices(t *testing.T) {
	t.Parallel()
	k := setup(t)
	const slice = 256 << 10
	lines := bytes.Repeat([]byte("1234567,name,\n"), 100_000)
	pieces := [][]byte{noise(1), noise(slice), noise(2 * slice), noise(2*slice + 1), lines, lines[:1200], append(noise(slice), lines...)}
	packed := make([][]byte, len(pieces))
	for i, p := range pieces {
		if packed[i] = p; i > 2 {
			packed[i] = compress.Pack(p)
		}
	}
	want := bytes.Join(pieces, nil)
	f := k.stored(packed...)
	f.Bytes = int64(len(want))
	r := job.Result(t.Context(), k.db, f)
	got, err := io.ReadAll(iotest.HalfReader(r))
	require.NoError(t, err)
	require.NoError(t, r.Close())
	require.True(t, bytes.Equal(want, got))

	f.Bytes++
	_, err = io.ReadAll(job.Result(t.Context(), k.db, f))
	require.ErrorContains(t, err, "the one after it")
}

// A result that nobody reads on holds little, however large its pieces are.
func TestResultHoldsLittle(t *testing.T) { //nolint:paralleltest // measures the memory of the process
	k := setup(t)
	const size, most = 32 << 20, 3 << 20
	require.Less(t, job.ResultMemory, most/2)
	read := func(f job.Found, bytes int64) io.Closer {
		r := job.Result(t.Context(), k.db, f)
		_, err := io.CopyN(io.Discard, r, bytes)
		require.NoError(t, err)
		return r
	}
	held := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	for name, piece := range map[string][]byte{"as it is": noise(size), "compressed": compress.Pack(bytes.Repeat(noise(100_000), size/100_000))} {
		f := k.stored(piece)
		f.Bytes = size
		require.NoError(t, read(f, 1).Close()) // frees what the connection needed to store it
		before := held()
		r := read(f, 20<<20)
		require.Less(t, held()-before, int64(most), name)
		require.NoError(t, r.Close())
		runtime.KeepAlive(piece) // it counts before and after
	}
}
