package imaging

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/tradegrid/tradegrid/pkg/apierr"
)

// maxExif is how many bytes of a segment with EXIF data are looked at. The orientation is near the beginning.
const maxExif = 64 << 10

var errSegment = errors.New("a segment has a wrong length")

// scanJPEG walks the segments of a JPEG.
func scanJPEG(raw io.ReadSeeker) (turn orientation, perPixel float64, err error) {
	r := bufio.NewReaderSize(raw, 32<<10)
	if _, err = r.Discard(2); err != nil {
		return turn, 0, err
	}
	for scans := 0; ; {
		marker, err := nextMarker(r)
		if errors.Is(err, io.EOF) && scans > 0 {
			return turn, perPixel, nil // without an end; the decoder decides
		}
		if err != nil {
			return turn, 0, err
		}
		switch {
		case marker == 0xd9: // end of image
			return turn, perPixel, nil
		case marker >= 0xd0 && marker <= 0xd7 || marker == 0x01: // no length
			continue
		case marker == 0xda:
			if scans++; scans > maxScans {
				return turn, 0, apierr.InvalidField(Field, apierr.Max, "the JPEG has more than %d scans; store it again with another program", maxScans)
			}
		}
		body, err := segment(r)
		if err != nil {
			return turn, 0, err
		}
		switch {
		case marker == 0xe1 && turn == 0:
			turn = exifOfJPEG(body)
		case marker == 0xc0 || marker == 0xc1 || marker == 0xc2:
			perPixel = jpegMemory(body, marker == 0xc2)
		}
	}
}

// nextMarker skips to the next marker, over compressed data, in which a 0xff is followed by 0.
func nextMarker(r *bufio.Reader) (byte, error) {
	for {
		if _, err := r.ReadSlice(0xff); err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return 0, err
		} else if err != nil {
			continue
		}
		b, err := r.ReadByte()
		for err == nil && b == 0xff { // fill bytes
			b, err = r.ReadByte()
		}
		if err != nil || b != 0 {
			return b, err
		}
	}
}

// segment reads the segment of a marker.
func segment(r *bufio.Reader) ([]byte, error) {
	var length [2]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, err
	}
	n := int(binary.BigEndian.Uint16(length[:])) - 2
	if n < 0 {
		return nil, errSegment
	}
	body := make([]byte, n) // 64 KiB at most
	_, err := io.ReadFull(r, body)
	return body, err
}

// jpegMemory is how many bytes decoding takes for each pixel: one for each component, as its sampling says, four more for the
// coefficients of a progressive image, and four for the conversion of four components.
func jpegMemory(frame []byte, progressive bool) float64 {
	const most = 24
	if len(frame) < 6 || len(frame) < 6+3*int(frame[5]) {
		return most // the decoder refuses it
	}
	var horizontal, vertical, samples float64
	for i := range int(frame[5]) {
		h, v := float64(frame[7+3*i]>>4), float64(frame[7+3*i]&15)
		horizontal, vertical, samples = max(horizontal, h), max(vertical, v), samples+h*v
	}
	if horizontal*vertical == 0 {
		return most
	}
	perPixel := samples / (horizontal * vertical)
	if progressive {
		perPixel *= 5
	}
	if frame[5] == 4 {
		perPixel += 4
	}
	return perPixel
}

func exifOfJPEG(segment []byte) orientation {
	const name = "Exif\x00\x00"
	if len(segment) < len(name) || string(segment[:len(name)]) != name {
		return 0
	}
	return exifOrientation(segment[len(name):])
}

// scanPNG walks the chunks of a PNG up to its pixels.
func scanPNG(raw io.ReadSeeker) (turn orientation, perPixel float64, err error) {
	if _, err = raw.Seek(8, io.SeekStart); err != nil {
		return turn, 0, err
	}
	for {
		var head [8]byte
		if _, err := io.ReadFull(raw, head[:]); err != nil {
			return turn, 0, err
		}
		size, name := int64(binary.BigEndian.Uint32(head[:4])), string(head[4:])
		left := size + 4 // the check sum
		switch name {
		case "IHDR":
			var ihdr [13]byte
			if _, err := io.ReadFull(raw, ihdr[:]); err != nil {
				return turn, 0, err
			}
			left -= int64(len(ihdr))
			perPixel = 4
			if ihdr[8] == 16 {
				perPixel = 8
			}
			if ihdr[12] != 0 { // interlaced: passes are images of their own
				perPixel *= 1.5
			}
		case "eXIf":
			body, err := io.ReadAll(io.LimitReader(raw, min(size, maxExif)))
			if err != nil {
				return turn, 0, err
			}
			turn, left = exifOrientation(body), left-int64(len(body))
		case "IDAT", "IEND":
			return turn, perPixel, nil
		}
		if left < 0 {
			return turn, 0, errSegment
		}
		if _, err := raw.Seek(left, io.SeekCurrent); err != nil {
			return turn, 0, err
		}
	}
}

// scanGIF knows that a pixel is a byte, and that only the first image of an animation is decoded.
func scanGIF(io.ReadSeeker) (turn orientation, perPixel float64, err error) { return 0, 1, nil }

// scanWebP walks the chunks of a WebP.
func scanWebP(raw io.ReadSeeker) (turn orientation, perPixel float64, err error) {
	const most = 10 // the decoder has colours and transparency in buffers of their own
	if _, err = raw.Seek(12, io.SeekStart); err != nil {
		return turn, 0, err
	}
	for {
		var head [8]byte
		if _, err := io.ReadFull(raw, head[:]); err != nil {
			return turn, most, nil //nolint:nilerr // its end: what is missing, the decoder reports
		}
		size := int64(binary.LittleEndian.Uint32(head[4:]))
		switch string(head[:4]) {
		case "ANIM", "ANMF":
			return turn, 0, apierr.InvalidField(Field, apierr.Format, "must not be an animated WebP; send one image, or a GIF")
		case "EXIF":
			body, err := io.ReadAll(io.LimitReader(raw, min(size, maxExif)))
			if err != nil {
				return turn, 0, fmt.Errorf("read EXIF: %w", err)
			}
			return exifOrientation(body), most, nil
		}
		if _, err := raw.Seek(size+size%2, io.SeekCurrent); err != nil {
			return turn, 0, err
		}
	}
}
