package imaging

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

// webpScan is what the walk over the chunks of a WebP has found.
type webpScan struct {
	header
	seen     map[string]bool
	file     int64 // bytes
	lossless int64 // bytes of chunks that a lossless decoder reads
	alpha    bool
}

var errAnimated = apierr.InvalidField(Field, apierr.Format, "must not be an animated WebP; send one image, or a GIF")

// scanWebP walks the chunks of a WebP. None may reach beyond the end of the file: the decoder makes room for what a chunk says.
func scanWebP(raw io.ReadSeeker) (header, error) {
	s := webpScan{seen: map[string]bool{}}
	var err error
	if s.file, err = raw.Seek(0, io.SeekEnd); err != nil {
		return header{}, fmt.Errorf("read image: %w", err)
	}
	const riff, head = 12, 8
	for at := int64(riff); at+head <= s.file; {
		if _, err := raw.Seek(at, io.SeekStart); err != nil {
			return header{}, fmt.Errorf("read image: %w", err)
		}
		var b [head]byte
		if _, err := io.ReadFull(raw, b[:]); err != nil {
			return header{}, err
		}
		name, size := string(b[:4]), int64(binary.LittleEndian.Uint32(b[4:]))
		at += head + size + size%2
		if at-size%2 > s.file {
			return header{}, io.ErrUnexpectedEOF
		}
		if err := s.add(raw, name, size); err != nil {
			return header{}, err
		}
	}
	if !s.seen["VP8 "] && !s.seen["VP8L"] {
		return header{}, errors.New("it has no pixels")
	}
	s.bytes = s.memory()
	return s.header, nil
}

// add takes a chunk, in which raw is.
func (s *webpScan) add(raw io.Reader, name string, size int64) (err error) {
	switch name {
	case "ANIM", "ANMF":
		return errAnimated
	case "VP8X", "ALPH", "VP8 ", "VP8L":
		other := map[string]string{"VP8 ": "VP8L", "VP8L": "VP8 "}[name]
		if s.seen[name] || s.seen[other] {
			return errTwice
		}
		s.seen[name] = true
	}
	switch name {
	case "ALPH":
		s.alpha, s.lossless = true, s.lossless+size
	case "VP8 ":
		s.width, s.height, err = sizeOfVP8(raw)
	case "VP8L":
		s.lossless += size
		s.width, s.height, err = sizeOfVP8L(raw)
	case "EXIF":
		var body []byte
		body, err = io.ReadAll(io.LimitReader(raw, min(size, maxExif)))
		s.turn = exifOrientation(body)
	}
	return err
}

// sizeOfVP8 reads the size of a lossy image; see RFC 6386, section 9.1.
func sizeOfVP8(raw io.Reader) (width, height int, err error) {
	var b [10]byte
	_, err = io.ReadFull(raw, b[:])
	return int(binary.LittleEndian.Uint16(b[6:]) & 0x3fff), int(binary.LittleEndian.Uint16(b[8:]) & 0x3fff), err
}

// sizeOfVP8L reads the size of a lossless image; see RFC 9649, section 3.4.
func sizeOfVP8L(raw io.Reader) (width, height int, err error) {
	var b [5]byte
	_, err = io.ReadFull(raw, b[:])
	bits := binary.LittleEndian.Uint32(b[1:])
	return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1, err
}

// memory is how many bytes the decoder takes: for a lossy image a byte and a half for each pixel, in whole blocks, the parameters of
// these, and the chunk itself; for a lossless one, or its transparency, eight for each pixel, and Huffman trees.
func (s *webpScan) memory() (bytes int64) {
	const block, perBlock = 16, 16*16*3/2 + 8
	pixels := int64(s.width) * int64(s.height)
	if s.seen["VP8 "] {
		bytes += perBlock*(int64(s.width)/block+1)*(int64(s.height)/block+1) + s.file
	}
	if s.alpha {
		bytes += pixels
	}
	if s.lossless > 0 {
		bytes += 8*pixels + s.trees()
	}
	return bytes
}

// trees is how many bytes Huffman trees take at most: each tile of 4 × 4 pixels may have a group of its own, up to the number that the
// decoder takes. A group has five tables of 512 bytes, and nodes for 3 136 symbols. Each takes half a bit of the file at least.
func (s *webpScan) trees() int64 {
	const groups, tables, nodes, perByte = 2600, 5 * (512 + 32), 52 << 10, 256
	n := min(groups, (int64(s.width)/4+1)*(int64(s.height)/4+1))
	return n*tables + min(n*nodes, s.lossless*perByte)
}
