package imaging

import (
	"encoding/binary"
	"errors"
	"io"
)

// maxExif is how many bytes of a segment with EXIF data are looked at. The orientation is near the beginning.
const maxExif = 64 << 10

var errSegment = errors.New("a segment has a wrong length")

// scanPNG walks the chunks of a PNG up to its pixels.
func scanPNG(raw io.ReadSeeker) (h header, err error) {
	if _, err = raw.Seek(8, io.SeekStart); err != nil {
		return h, err
	}
	for first := true; ; first = false {
		var head [8]byte
		if _, err := io.ReadFull(raw, head[:]); err != nil {
			return h, err
		}
		size, name := int64(binary.BigEndian.Uint32(head[:4])), string(head[4:])
		if first != (name == "IHDR") {
			return h, errTwice
		}
		left := size + 4 // the check sum
		switch name {
		case "IHDR":
			if h, err = headerOfPNG(raw); err != nil {
				return h, err
			}
			left -= sizeIHDR
		case "eXIf":
			body, err := io.ReadAll(io.LimitReader(raw, min(size, maxExif)))
			if err != nil {
				return h, err
			}
			h.turn, left = exifOrientation(body), left-int64(len(body))
		case "IDAT", "IEND":
			return h, nil
		}
		if left < 0 {
			return h, errSegment
		}
		if _, err := raw.Seek(left, io.SeekCurrent); err != nil {
			return h, err
		}
	}
}

const sizeIHDR = 13

// headerOfPNG reads the chunk IHDR. The decoder makes four bytes of a pixel, or eight; holds two rows as they are in the file; and
// takes the passes of an interlaced image for images of their own.
func headerOfPNG(raw io.Reader) (h header, err error) {
	var ihdr [sizeIHDR]byte
	if _, err := io.ReadFull(raw, ihdr[:]); err != nil {
		return h, err
	}
	width, height := binary.BigEndian.Uint32(ihdr[:]), binary.BigEndian.Uint32(ihdr[4:])
	if width > MaxSide || height > MaxSide {
		return h, errSegment // the decoder has read another header
	}
	h.width, h.height = int(width), int(height)
	perPixel := int64(4)
	if ihdr[8] == 16 {
		perPixel = 8
	}
	h.bytes = perPixel * int64(h.width) * int64(h.height+2)
	if ihdr[12] != 0 {
		h.bytes *= 2
	}
	return h, nil
}

// scanGIF reads the screen of a GIF, in which the first image is: a byte for each pixel, and another one if it is interlaced.
func scanGIF(raw io.ReadSeeker) (h header, err error) {
	var screen [10]byte
	if _, err := io.ReadFull(raw, screen[:]); err != nil {
		return h, err
	}
	h.width, h.height = int(binary.LittleEndian.Uint16(screen[6:])), int(binary.LittleEndian.Uint16(screen[8:]))
	h.bytes = 2 * int64(h.width) * int64(h.height)
	return h, nil
}
