package spreadsheet

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// archive writes a ZIP file that can be continued: its state is a small JSON value, and what was written before is not needed. It
// differs in that from archive/zip, whose writer cannot stop within an entry. Entries are compressed in parts that end at a whole
// byte, and their sizes follow them in a data descriptor. Sizes have 32 bits: see maxSheetBytes.
type archive struct {
	archiveState
	out  *bytes.Buffer
	pack *flate.Writer
	from int // length of out that archiveState.Offset and the open entry count
}

// archiveState is where an archive stands.
type archiveState struct {
	Offset  int64   `json:"offset"`  // bytes written
	Entries []entry `json:"entries"` // the last one may be open
	Open    bool    `json:"open"`
}

type entry struct {
	Name   string `json:"name"`
	Offset int64  `json:"offset"` // of its header
	CRC    uint32 `json:"crc"`
	Size   int64  `json:"size"`   // bytes
	Packed int64  `json:"packed"` // bytes, compressed
}

// Parts of a ZIP file, by the application note of PKWARE.
const (
	sigLocal      = 0x04034b50
	sigDescriptor = 0x08074b50
	sigCentral    = 0x02014b50
	sigEnd        = 0x06054b50
	zipVersion    = 20
	zipFlags      = 0x0808 // a data descriptor follows; names are UTF-8
	zipDeflate    = 8
	zipDate       = 1<<5 | 1 // 1980-01-01: the same records make the same file
)

func newArchive(out *bytes.Buffer, at archiveState) (*archive, error) {
	pack, err := flate.NewWriter(out, flate.BestSpeed)
	if err != nil {
		return nil, fmt.Errorf("compress file: %w", err)
	}
	return &archive{archiveState: at, out: out, pack: pack, from: out.Len()}, nil
}

func (a *archive) last() *entry { return &a.Entries[len(a.Entries)-1] }

// count takes what was written to out into the offset, and returns how much it is.
func (a *archive) count() int64 {
	n := int64(a.out.Len() - a.from)
	a.from = a.out.Len()
	a.Offset += n
	return n
}

// raw appends fixed parts of the format in little-endian order.
func (a *archive) raw(values ...any) {
	room := a.out.AvailableBuffer()
	for _, v := range values {
		switch v := v.(type) {
		case uint16:
			room = binary.LittleEndian.AppendUint16(room, v)
		case uint32:
			room = binary.LittleEndian.AppendUint32(room, v)
		case string:
			room = append(room, v...)
		}
	}
	a.out.Write(room)
}

// begin opens an entry; the one before is closed.
func (a *archive) begin(name string) {
	a.count()
	a.Entries, a.Open = append(a.Entries, entry{Name: name, Offset: a.Offset}), true
	a.raw(uint32(sigLocal), uint16(zipVersion), uint16(zipFlags), uint16(zipDeflate), uint16(0), uint16(zipDate),
		uint32(0), uint32(0), uint32(0), uint16(len(name)), uint16(0), name)
	a.count()
	a.pack.Reset(a.out)
}

// Write implements [io.Writer] for the open entry.
func (a *archive) Write(p []byte) (int, error) {
	e := a.last()
	e.CRC, e.Size = crc32.Update(e.CRC, crc32.IEEETable, p), e.Size+int64(len(p))
	return a.pack.Write(p)
}

// suspend writes what the open entry has so far. The archive can be continued from its state.
func (a *archive) suspend() error {
	if !a.Open {
		a.count()
		return nil
	}
	err := a.pack.Flush()
	a.last().Packed += a.count()
	return err
}

// end closes the open entry.
func (a *archive) end() error {
	if err := a.pack.Close(); err != nil {
		return err
	}
	e := a.last()
	e.Packed += a.count()
	a.raw(uint32(sigDescriptor), e.CRC, uint32(e.Packed), uint32(e.Size))
	a.count()
	a.Open = false
	return nil
}

// add writes a whole entry.
func (a *archive) add(name, body string) error {
	a.begin(name)
	if _, err := a.Write([]byte(body)); err != nil {
		return err
	}
	return a.end()
}

// finish writes the directory.
func (a *archive) finish() {
	a.count()
	start := a.Offset
	for _, e := range a.Entries {
		a.raw(uint32(sigCentral), uint16(zipVersion), uint16(zipVersion), uint16(zipFlags), uint16(zipDeflate), uint16(0), uint16(zipDate),
			e.CRC, uint32(e.Packed), uint32(e.Size), uint16(len(e.Name)), uint16(0), uint16(0), uint16(0), uint16(0), uint32(0), uint32(e.Offset), e.Name)
	}
	a.count()
	count := uint16(len(a.Entries))
	a.raw(uint32(sigEnd), uint16(0), uint16(0), count, count, uint32(a.Offset-start), uint32(start), uint16(0))
	a.count()
}
