package web

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// The tables of an encoder take more than a megabyte: made anew for each page, they cost more than the page.
func TestPagesShareEncoders(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts the whole process
	body := []byte(strings.Repeat("<td>A-1</td>", 1000))
	require.Less(t, testing.AllocsPerRun(100, func() { _, _ = zip(body) }), 15.0)
}

func TestEachPageIsCompressedByItself(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for k := range 20 {
				body := []byte(strings.Repeat(fmt.Sprintf("<td>%d of %d</td>", k, i), 100+k))
				small, err := zip(body)
				if err != nil {
					t.Error(err)
					return
				}
				z, err := gzip.NewReader(bytes.NewReader(small))
				if err != nil {
					t.Error(err)
					return
				}
				if whole, err := io.ReadAll(z); err != nil || !bytes.Equal(body, whole) {
					t.Errorf("page %d of %d is another one after it was compressed: %v", k, i, err)
				}
			}
		})
	}
	all.Wait()
}
