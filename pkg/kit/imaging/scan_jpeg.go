package imaging

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

// Markers of segments of a JPEG.
const (
	markerSOF0  = 0xc0 // SOF0 to SOF15 are frames, apart from the three below
	markerSOF2  = 0xc2 // progressive
	markerDHT   = 0xc4
	markerJPG   = 0xc8
	markerDAC   = 0xcc
	markerRST0  = 0xd0
	markerRST7  = 0xd7
	markerEOI   = 0xd9
	markerSOS   = 0xda
	markerAPP1  = 0xe1 // EXIF
	markerAPP14 = 0xee // Adobe
)

// jpegScan is what the walk over the segments of a JPEG has found.
type jpegScan struct {
	header
	frame       []byte // of the only SOF
	progressive bool
	rgb         bool // Adobe says that colors are not transformed
	scans       int
}

// scanJPEG walks the segments of a JPEG, as its decoder does.
func scanJPEG(raw io.ReadSeeker) (header, error) {
	r := bufio.NewReaderSize(raw, 32<<10)
	if _, err := r.Discard(2); err != nil {
		return header{}, err
	}
	var s jpegScan
	for {
		marker, err := nextMarker(r)
		if errors.Is(err, io.EOF) && s.scans > 0 {
			return s.end() // without an end; the decoder decides
		}
		if err != nil {
			return header{}, err
		}
		if marker == markerEOI {
			return s.end()
		}
		if marker >= markerRST0 && marker <= markerRST7 { // no length
			continue
		}
		body, err := segment(r)
		if err == nil {
			err = s.add(marker, body)
		}
		if err != nil {
			return header{}, err
		}
	}
}

// add takes a segment.
func (s *jpegScan) add(marker byte, body []byte) error {
	switch {
	case isFrame(marker):
		if s.frame != nil {
			return errTwice
		}
		s.frame, s.progressive = body, marker == markerSOF2
	case marker == markerSOS:
		if s.frame == nil {
			return errors.New("pixels come before its size")
		}
		if s.scans++; s.scans > maxScans {
			return apierr.InvalidField(Field, apierr.Max, "the JPEG has more than %d scans; store it again with another program", maxScans)
		}
	case marker == markerAPP1 && s.turn == 0:
		s.turn = exifOfJPEG(body)
	case marker == markerAPP14:
		s.rgb = s.rgb || len(body) >= 12 && string(body[:5]) == "Adobe" && body[11] == 0
	}
	return nil
}

func isFrame(marker byte) bool {
	return marker >= markerSOF0 && marker < markerRST0 && marker != markerDHT && marker != markerJPG && marker != markerDAC
}

// end returns what the segments say: the decoder makes a byte of each sample, in whole blocks; of each coefficient of a progressive
// image an int32; and a second image of four bytes for each pixel, if colors are not those of a usual JPEG.
func (s *jpegScan) end() (header, error) {
	f := s.frame
	if len(f) < 6 || len(f) != 6+3*int(f[5]) || f[5] == 0 {
		return header{}, errSegment
	}
	h := s.header
	h.height, h.width = int(binary.BigEndian.Uint16(f[1:])), int(binary.BigEndian.Uint16(f[3:]))
	parts, ids := int(f[5]), ""
	across, down, samples := int64(1), int64(1), int64(0)
	for i := range parts {
		ids += string(f[6+3*i])
		horizontal, vertical := int64(f[7+3*i]>>4), int64(f[7+3*i]&15)
		across, down, samples = max(across, horizontal), max(down, vertical), samples+max(1, horizontal)*max(1, vertical)
	}
	if parts == 1 { // its sampling is ignored
		across, down, samples = 1, 1, 1
	}
	const block = 8
	units := (int64(h.width)/(block*across) + 1) * (int64(h.height)/(block*down) + 1)
	h.bytes = units * samples * block * block
	if s.progressive {
		h.bytes *= 1 + 4
	}
	if parts == 4 || parts == 3 && (s.rgb || ids == "RGB") {
		h.bytes += 4 * int64(h.width) * int64(h.height)
	}
	return h, nil
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

func exifOfJPEG(segment []byte) orientation {
	const name = "Exif\x00\x00"
	if len(segment) < len(name) || string(segment[:len(name)]) != name {
		return 0
	}
	return exifOrientation(segment[len(name):])
}
