// Package imaging checks images that strangers have sent and makes thumbnails of them. What an image takes is bounded before it is
// decoded: sides, pixels, memory, scans. The decoders are those of Go, which allocate what the header of an image says; this package
// reads the same header before. See docs/reference/files.md#images.
package imaging

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/webp"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

// Media types of images.
const (
	JPEG = "image/jpeg"
	PNG  = "image/png"
	GIF  = "image/gif"
	WebP = "image/webp"
)

// Limits of an image; see docs/reference/files.md#images.
const (
	MaxPixels = 40_000_000
	MaxSide   = 65_535    // pixels: rows are held as a whole, and JPEG and GIF have no longer ones
	maxMemory = 192 << 20 // bytes that decoding and scaling may take
	maxScans  = 100       // of a progressive JPEG: each goes over all pixels
)

// Info says what an image is. Width and Height are in pixels, as it is shown.
type Info struct {
	Media         string
	Width, Height int
	Memory        int64 // bytes that decoding and scaling take at most

	turn   orientation
	decode func(io.Reader) (image.Image, error)
}

// format is one of the kinds of images.
type format struct {
	media  string
	is     func(head []byte) bool
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
	// scan walks the structure of the image: whatever is said twice is refused, because one part of a program may believe the first
	// and another the last.
	scan func(raw io.ReadSeeker) (header, error)
}

// header is what the structure of an image says.
type header struct {
	width, height int
	turn          orientation
	bytes         int64 // that the decoder allocates for it
}

// memory is how many bytes decoding and scaling take.
func (h header) memory() int64 {
	const thumbnails = 12 << 20
	return h.bytes + scaling*int64(h.width) + thumbnails
}

var formats = []format{ //nolint:gochecknoglobals // a constant
	{JPEG, prefix("\xff\xd8\xff"), jpeg.DecodeConfig, jpeg.Decode, scanJPEG},
	{PNG, prefix("\x89PNG\r\n\x1a\n"), png.DecodeConfig, png.Decode, scanPNG},
	{GIF, func(head []byte) bool { return prefix("GIF87a")(head) || prefix("GIF89a")(head) }, gif.DecodeConfig, gif.Decode, scanGIF},
	{WebP, func(head []byte) bool { return prefix("RIFF")(head) && len(head) >= 12 && string(head[8:12]) == "WEBP" }, webp.DecodeConfig, webp.Decode, scanWebP},
}

func prefix(magic string) func([]byte) bool {
	return func(head []byte) bool { return bytes.HasPrefix(head, []byte(magic)) }
}

// Field is the field that errors of this package name: the body of the request.
const Field = "body"

// ErrFormat is the error of what is no image at all.
var ErrFormat = apierr.InvalidField(Field, apierr.Format, "must be a JPEG, PNG, GIF or WebP image; its first bytes are those of none of them")

// Inspect reads what an image is, without decoding it. What is not an image, or too large a one, is a 400.
func Inspect(raw io.ReadSeeker) (Info, error) {
	head := make([]byte, 12)
	n, err := io.ReadFull(raw, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return Info{}, fmt.Errorf("read image: %w", err)
	}
	for _, f := range formats {
		if f.is(head[:n]) {
			return f.inspect(raw)
		}
	}
	return Info{}, ErrFormat
}

func (f format) inspect(raw io.ReadSeeker) (Info, error) {
	var size image.Config
	info := Info{Media: f.media, decode: f.decode}
	if err := rewound(raw, func() (err error) {
		size, err = f.config(raw)
		return err
	}); err != nil {
		return info, broken(f.media, err)
	}
	if err := bounded(size.Width, size.Height); err != nil {
		return info, err
	}
	var h header
	if err := rewound(raw, func() (err error) {
		h, err = f.scan(raw)
		return err
	}); err != nil {
		return info, broken(f.media, err)
	}
	if h.width != size.Width || h.height != size.Height { // the decoder believes another header than is estimated from
		return info, broken(f.media, errTwice)
	}
	if info.Memory = h.memory(); info.Memory > maxMemory {
		pixels := float64(h.width) * float64(h.height)
		return info, apierr.InvalidField(Field, apierr.Max,
			"an image of this kind (progressive, lossless, interlaced, or with 16 bits per color) may have about %d pixels, not %d × %d; scale it down, or store it as a usual JPEG",
			int64(pixels*maxMemory/float64(info.Memory)), h.width, h.height)
	}
	info.turn = h.turn
	info.Width, info.Height = h.turn.size(h.width, h.height)
	return info, nil
}

// bounded refuses an image of too many pixels, or with too long a side.
func bounded(width, height int) error {
	switch {
	case width <= 0 || height <= 0:
		return errNoPixels
	case max(width, height) > MaxSide:
		return apierr.InvalidField(Field, apierr.Max, "the image has %d × %d pixels; neither side may have more than %d; scale it down", width, height, MaxSide)
	case int64(width)*int64(height) > MaxPixels:
		return apierr.InvalidField(Field, apierr.Max, "the image has %d × %d pixels; it may have at most %d; scale it down", width, height, MaxPixels)
	}
	return nil
}

var (
	errNoPixels = apierr.InvalidField(Field, apierr.Min, "the image must have at least one pixel")
	errTwice    = errors.New("it says twice what it may say once, such as its size; store it again with another program")
)

func rewound(raw io.Seeker, read func() error) error {
	if _, err := raw.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read image: %w", err)
	}
	return read()
}

// broken is the fault of an image that cannot be decoded. An error of the API stays what it is.
func broken(media string, err error) error {
	if _, is := apierr.As(err); is {
		return err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return apierr.InvalidField(Field, apierr.Format, "must be a complete %s image; it ends too early", media)
	}
	return apierr.InvalidField(Field, apierr.Format, "must be a valid %s image; decoding fails: %s", media, err.Error())
}
