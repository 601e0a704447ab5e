// Package compress stores bodies in compressed form. The form describes itself: its first byte, 1 or 2, begins no JSON text
// and no sealed text, so that [Open] also reads bodies that were stored as they are.
package compress

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
)

// Threshold is the size in bytes up to which a body is stored as it is.
const Threshold = 1 << 10

// large is the size in bytes above which zstd is used: it makes a third of what S2 does, in the same time. Below, its
// tables cost several times as much as the compression itself.
const large = 8 << 10

// maxSize bounds what [Open] expands. No body that the platform stores is larger.
const maxSize = 64 << 20

// window is the distance over which repetitions are found; most bodies are smaller. It bounds the memory of an encoder.
const window = 256 << 10

// The first byte of a compressed body.
const (
	byS2   = 1
	byZstd = 2
)

// Both pools serve any number of goroutines, with one coder per CPU.
var (
	encoder = must(zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(window), zstd.WithLowerEncoderMem(true)))
	decoder = must(zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxSize), zstd.WithDecoderLowmem(true)))
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err) // the options are constants
	}
	return v
}

// Pack returns the form in which a body is stored: compressed if it is larger than [Threshold] and becomes smaller.
func Pack(body []byte) []byte {
	if len(body) <= Threshold && !reserved(body) {
		return body
	}
	packed := pack(body)
	if len(packed) >= len(body) && !reserved(body) {
		return body
	}
	return packed
}

func pack(body []byte) []byte {
	if len(body) > large {
		return encoder.EncodeAll(body, append(make([]byte, 0, len(body)/4), byZstd))
	}
	buf := make([]byte, 1+s2.MaxEncodedLen(len(body)))
	buf[0] = byS2
	n := len(s2.Encode(buf[1:], body))
	return buf[:1+n]
}

var (
	errTooLarge = errors.New("its size is above the limit")
	errEmpty    = errors.New("nothing follows the first byte")
)

// ErrNewer means that a body has a form which only a later release knows.
var ErrNewer = errors.New("the body has a form that only a later release reads")

// Open returns the body that was handed to [Pack], byte for byte. The error for a form of a later release is [ErrNewer].
func Open(stored []byte) ([]byte, error) {
	if !Packed(stored) {
		if reserved(stored) {
			return nil, ErrNewer
		}
		return stored, nil
	}
	body, err := open(stored[0], stored[1:])
	if err != nil {
		return nil, fmt.Errorf("expand stored body of %d bytes: %w", len(stored), err)
	}
	return body, nil
}

func open(form byte, packed []byte) ([]byte, error) {
	if len(packed) == 0 {
		return nil, errEmpty
	}
	if form == byZstd {
		return decoder.DecodeAll(packed, nil)
	}
	if n, err := s2.DecodedLen(packed); err != nil || n > maxSize {
		return nil, errors.Join(errTooLarge, err)
	}
	return s2.Decode(nil, packed)
}

// reserved reports whether the first byte is that of a form: [byS2], [byZstd], or one that later releases may use.
func reserved(stored []byte) bool { return len(stored) > 0 && stored[0] >= 1 && stored[0] <= 8 }

// Packed reports whether a stored body is compressed.
func Packed(stored []byte) bool {
	return len(stored) > 0 && (stored[0] == byS2 || stored[0] == byZstd)
}

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
