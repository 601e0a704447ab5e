package spreadsheet_test

import (
	"bytes"
	"context"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/hostile"
	"github.com/tradegrid/tradegrid/pkg/kit/spreadsheet"
)

// usual are the limits of an import.
var usual = spreadsheet.Limits{Rows: 50_000, Columns: 200, Cell: 256 << 10, Row: 1 << 20, Expand: 64 << 20}

// watch notes how much memory is in use whenever the file is read.
type watch struct {
	io.ReaderAt
	before, most uint64
}

func (w *watch) ReadAt(p []byte, at int64) (int, error) {
	w.look()
	return w.ReaderAt.ReadAt(p, at)
}

func (w *watch) look() {
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	w.most = max(w.most, now.HeapAlloc)
	if w.before == 0 {
		w.before = now.HeapAlloc
	}
}

// Memory is bounded by the limits, whatever a file is made of: for a workbook by its texts, for a CSV by its size.
func TestHostileFiles(t *testing.T) { //nolint:paralleltest // counts what the process holds
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	for _, f := range append(hostile.Workbooks(t), hostile.Tables()...) {
		runtime.GC()
		w := &watch{ReaderAt: bytes.NewReader(f.Body)}
		w.look()
		rows, err := open(t, f, w)
		for err == nil {
			_, err = rows.Next()
		}
		w.look()
		t.Logf("%s: %d bytes take %d MiB: %v", f.Name, len(f.Body), (w.most-w.before)>>20, err)
		require.Less(t, w.most-w.before, uint64(64<<20), f.Name)
		if f.Fine {
			require.ErrorIs(t, err, io.EOF, f.Name)
			continue
		}
		var wrong *spreadsheet.FileError
		require.ErrorAs(t, err, &wrong, f.Name)
	}
}

func open(t *testing.T, f hostile.File, raw io.ReaderAt) (spreadsheet.Rows, error) {
	t.Helper()
	if f.Media == spreadsheet.MediaXLSX {
		return spreadsheet.ReadXLSX(t.Context(), raw, int64(len(f.Body)), usual)
	}
	return spreadsheet.ReadCSV(t.Context(), f.Body, "", usual)
}

// The rows end with the request, also where none of them has a cell.
func TestRowsEndWithTheContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	rows := strings.Repeat("<row/>", 100_000)
	raw := workbook(t, `<row><c><v>1</v></c></row>`+rows)
	book, err := spreadsheet.ReadXLSX(ctx, bytes.NewReader(raw), int64(len(raw)), usual)
	require.NoError(t, err)
	table, err := spreadsheet.ReadCSV(ctx, []byte("a\n"+strings.Repeat("\n", 100_000)), "", usual)
	require.NoError(t, err)
	for _, r := range []spreadsheet.Rows{book, table} {
		_, err = r.Next()
		require.NoError(t, err)
	}
	cancel()
	for _, r := range []spreadsheet.Rows{book, table} {
		_, err = r.Next()
		require.ErrorIs(t, err, context.Canceled)
	}
}
