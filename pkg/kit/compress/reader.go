package compress

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// ReaderMemory is about what a reader of [NewReader] holds, in bytes.
const ReaderMemory = 4*window + large

// NewReader reads what [Open] would return, without holding all of it. Close it when it is not needed any more.
func NewReader(stored io.Reader) (io.ReadCloser, error) {
	from := bufio.NewReader(stored)
	first, err := from.Peek(1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read stored body: %w", err)
	}
	switch {
	case !reserved(first):
		return io.NopCloser(from), nil
	case !Packed(first):
		return nil, ErrNewer
	case first[0] == byS2: // small
		packed, err := io.ReadAll(from)
		if err != nil {
			return nil, fmt.Errorf("read stored body: %w", err)
		}
		body, err := Open(packed)
		return io.NopCloser(bytes.NewReader(body)), err
	}
	_, _ = from.Discard(1) // it was peeked
	d, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(window))
	if err != nil {
		return nil, fmt.Errorf("expand stored body: %w", err)
	}
	return d.IOReadCloser(), nil
}
