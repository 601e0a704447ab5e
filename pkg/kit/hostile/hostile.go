// Package hostile makes files for tests that are small to send and cost much to read: what a stranger would upload to bring a process
// down. Each is as bad as its format allows, or just within the limits of docs/reference/limits.md.
package hostile

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// File is a file to be uploaded.
type File struct {
	Name  string
	Media string
	Body  []byte
	Fine  bool // it can be read within all limits; an import refuses it for what it says
}

// chunk is a chunk of a PNG.
func chunk(name string, body []byte) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	out = append(append(out, name...), body...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[4:]))
}

// Zeros returns n zeros, compressed as a PNG has them.
func zeros(t testing.TB, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := zlib.NewWriterLevel(&b, zlib.BestSpeed)
	require.NoError(t, err)
	part := make([]byte, 1<<20)
	for ; n > 0; n -= len(part) {
		_, err := w.Write(part[:min(n, len(part))])
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

// png is a black image of a kind: depth, color type and interlacing.
func png(t testing.TB, w, h uint32, depth, kind, interlace byte, bytesOfPixels int) []byte {
	t.Helper()
	header := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h)
	out := append([]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", append(header, depth, kind, 0, 0, interlace))...)
	return append(append(out, chunk("IDAT", zeros(t, bytesOfPixels))...), chunk("IEND", nil)...)
}

// jpegFrame is a frame header of three components of which none is smaller.
func jpegFrame(marker byte, w, h uint16) []byte {
	b := []byte{0xff, marker, 0, 17, 8}
	b = binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(b, h), w)
	return append(b, 3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0)
}

// jpegBlank is a progressive image whose coefficients are all zero. behind comes after its only scan.
func jpegBlank(w, h uint16, behind ...[]byte) []byte {
	out := append([]byte{0xff, 0xd8}, jpegFrame(0xc2, w, h)...)
	out = append(out, 0xff, 0xdb, 0, 67, 0)
	out = append(out, bytes.Repeat([]byte{1}, 64)...)
	out = append(out, 0xff, 0xc4, 0, 20, 0, 1) // one code of one bit
	out = append(out, make([]byte, 16)...)
	out = append(out, 0xff, 0xda, 0, 12, 3, 1, 0, 2, 0, 3, 0, 0, 0, 0)
	blocks := (int(w) + 7) / 8 * ((int(h) + 7) / 8) * 3
	out = append(out, make([]byte, blocks/8+1)...)
	for _, b := range behind {
		out = append(out, b...)
	}
	return append(out, 0xff, 0xd9)
}

// riff is a WebP of chunks.
func riff(chunks ...[]byte) []byte {
	body := append([]byte("WEBP"), bytes.Join(chunks, nil)...)
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
}

// part is a chunk of a WebP that says how long it is.
func part(name string, says int, body []byte) []byte {
	out := append(binary.LittleEndian.AppendUint32([]byte(name), uint32(says)), body...)
	return append(out, make([]byte, len(body)%2)...)
}

// vp8 is the header of a lossy image.
func vp8(w, h uint16) []byte {
	b := []byte{0x10, 0, 0, 0x9d, 0x01, 0x2a}
	return binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(b, w), h)
}

// vp8x is the body of an extended header with alpha.
func vp8x(w, h uint32) []byte {
	b := []byte{0x10, 0, 0, 0}
	b = append(b, byte(w-1), byte((w-1)>>8), byte((w-1)>>16))
	return append(b, byte(h-1), byte((h-1)>>8), byte((h-1)>>16))
}

// bits writes bits, the lowest first.
type bits struct {
	out []byte
	n   uint
}

func (b *bits) write(v uint32, n uint) {
	for ; n > 0; n-- {
		if b.n%8 == 0 {
			b.out = append(b.out, 0)
		}
		b.out[b.n/8] |= byte(v&1) << (b.n % 8)
		v >>= 1
		b.n++
	}
}

// orderOfLengths is that in which VP8L has the lengths of code lengths.
var orderOfLengths = [19]uint32{17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15} //nolint:gochecknoglobals // a constant

// tree writes a Huffman tree of code lengths, of which there are two.
func (b *bits) tree(low, high uint32, lengths []uint32) {
	b.write(0, 1) // not a simple one
	b.write(uint32(len(orderOfLengths)-4), 4)
	for _, length := range orderOfLengths {
		if length == low || length == high {
			b.write(1, 3)
		} else {
			b.write(0, 3)
		}
	}
	b.write(0, 1)
	for _, l := range lengths {
		if l == high {
			b.write(1, 1)
		} else {
			b.write(0, 1)
		}
	}
}

// single writes a Huffman tree of the symbol 0.
func (b *bits) single() { b.write(1, 4) }

// lengthsOf are code lengths: first of one length, then of another.
func lengthsOf(n1 int, l1 uint32, n2 int, l2 uint32) []uint32 {
	all := make([]uint32, 0, n1+n2)
	for range n1 {
		all = append(all, l1)
	}
	for range n2 {
		all = append(all, l2)
	}
	return all
}

// vp8l is a lossless image of 208 × 208 pixels with 2 600 groups of the largest Huffman trees, one for each tile, and no pixels.
func vp8l() []byte {
	const side, tiles, groups = 208, 52 * 52, 2600
	var b bits
	b.write(0x2f, 8)
	b.write(side-1, 14)
	b.write(side-1, 14)
	b.write(0, 1+3) // no alpha, version
	b.write(0, 1)   // no transform
	b.write(1, 1)   // a color cache
	b.write(11, 4)  // of 2 048 colors
	b.write(1, 1)   // more than one group
	b.write(0, 3)   // tiles of 4 × 4 pixels
	b.write(0, 1)   // no color cache for the image of groups, whose number is red and green
	b.tree(0, 8, lengthsOf(256, 8, 24, 0))
	b.tree(0, 4, lengthsOf(16, 4, 240, 0))
	for range 3 {
		b.single()
	}
	for i := range uint32(tiles) {
		group := min(i, groups-1)
		for _, c := range []struct{ v, n uint32 }{{group & 255, 8}, {group >> 8, 4}} {
			for n := c.n; n > 0; n-- { // the highest bit of a code comes first
				b.write(c.v>>(n-1)&1, 1)
			}
		}
	}
	green, other := lengthsOf(1768, 11, 560, 12), lengthsOf(256, 8, 0, 0)
	for range groups {
		b.tree(11, 12, green)
		for range 3 {
			b.tree(0, 8, append([]uint32{}, other...))
		}
		b.single()
	}
	return b.out
}

// gif is a black interlaced image of w × h pixels, whose data repeat one code.
func gif(w, h uint16) []byte {
	size := binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(nil, w), h)
	out := append([]byte("GIF89a"), size...)
	out = append(out, 0x80, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, ',', 0, 0, 0, 0)
	return append(append(out, size...), 0x40, 2, 2, 'L', 1, 0, ';')
}

// Images are images of all formats that are read.
func Images(t testing.TB) []File {
	t.Helper()
	const jpg, pn, gf, web = "image/jpeg", "image/png", "image/gif", "image/webp"
	small := jpegFrame(0xc2, 16, 16)
	trees := vp8l()
	return []File{
		{"one row of 40 million pixels", pn, png(t, 40_000_000, 1, 1, 0, 0, 5_000_001), false},
		{"one column of 40 million pixels", pn, png(t, 1, 40_000_000, 1, 0, 0, 80_000_000), false},
		{"a row of 65 535 pixels of 16 bits", pn, png(t, 65_535, 300, 16, 6, 0, 300*(65_535*8+1)), true},
		{"24 million pixels of 16 bits", pn, png(t, 4_800, 4_500, 16, 6, 0, 4_500*(4_800*8+1)), true},
		{"30 million pixels of 16 bits", pn, png(t, 6_000, 5_000, 16, 6, 0, 1<<20), false},
		{"40 million pixels, interlaced", pn, png(t, 8_000, 5_000, 8, 6, 1, 1<<20), false},
		{"40 million pixels", pn, png(t, 8_000, 5_000, 8, 2, 0, 5_000*(8_000*3+1)), true},
		{"a second frame behind the scan", jpg, jpegBlank(6_300, 6_300, small), false},
		{"a second frame before the scan", jpg, append(append([]byte{0xff, 0xd8}, small...), jpegBlank(6_300, 6_300)[2:]...), false},
		{"progressive", jpg, jpegBlank(6_300, 6_300), false},
		{"progressive within the limit", jpg, jpegBlank(3_500, 3_300), true},
		{"one column of JPEG", jpg, jpegBlank(1, 65_535), true},
		{"screen of 65 535 × 610", gf, gif(65_535, 610), false},
		{"an empty first image", gf, []byte("GIF89a\x0a\x00\x0a\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x02L\x01\x00;"), false},
		{"a chunk of 2 GB", web, append(binary.LittleEndian.AppendUint32([]byte("RIFF"), 1<<31-1), append([]byte("WEBP"), part("VP8 ", 1<<31-100, vp8(16, 16))...)...), false},
		{"a small canvas of a large image", web, riff(part("VP8X", 10, vp8x(1, 1)), part("ALPH", 2, []byte{0, 0}), part("VP8 ", 10, vp8(16_383, 16_383))), false},
		{"two canvases", web, riff(part("VP8X", 10, vp8x(1, 1)), part("VP8X", 10, vp8x(6_000, 6_000)), part("ALPH", 2, []byte{1, 0}), part("VP8 ", 10, vp8(1, 1))), false},
		{"alpha twice", web, riff(part("VP8X", 10, vp8x(4_000, 4_000)), part("ALPH", 2, []byte{1, 0}), part("ALPH", 2, []byte{1, 0}), part("VP8 ", 10, vp8(4_000, 4_000))), false},
		{"2 600 groups of Huffman trees", web, riff(part("VP8L", len(trees), trees)), false},
	}
}

// Workbooks are XLSX files. Most have random bytes besides, so that their compression is not what they are refused for.
func Workbooks(t testing.TB) []File {
	t.Helper()
	const header = `<row><c t="inlineStr"><is><t>sku</t></is></c></row>`
	const size = 8 << 20
	many := func(s string) string { return strings.Repeat(s, size/len(s)) }
	var all []File
	for _, w := range []struct {
		name, rows, shared string
		fine               bool
	}{
		{"attributes of a row", header + "<row " + many(`a="" `) + "/>", "", false},
		{"attributes with angle brackets", header + "<row " + many(`a=">" `) + "/>", "", false},
		{"attributes of a text", header, "<si " + many(`a="" `) + "/>", false},
		{"a long name", header + "<" + many("a") + "/>", "", false},
		{"a long comment", header + "<!--->" + many("<a>") + "-->", "", false},
		{"a long instruction", header + "<?a " + many("a") + "?>", "", false},
		{"a long CDATA section", header + "<![CDATA[" + many("a") + "]]>", "", false},
		{"a long text", header + many("a"), "", false},
		{"a document type", "<!DOCTYPE a [" + many(`<!ENTITY a "a">`) + "]>" + header, "", false},
		{"empty texts", header, many("<si/>"), false},
		{"long texts", header, many("<si><t>" + strings.Repeat("a", 10_000) + "</t></si>"), true},
		{"a text of many runs", header, "<si>" + many("<r><t>"+strings.Repeat("a", 10_000)+"</t></r>") + "</si>", false},
		{"rows that repeat a long text", header + many("<row>"+strings.Repeat(`<c t="s"><v>0</v></c>`, 100)+"</row>"), "<si><t>" + strings.Repeat("a", 250_000) + "</t></si>", false},
		{"empty rows", header + many("<row/>"), "", false},
		{"empty cells", header + "<row>" + many("<c/>") + "</row>", "", true},
		{"elements in elements", header + many("<a>"), "", true},
	} {
		all = append(all, File{w.name, xlsx, workbook(t, w.rows, w.shared, true), w.fine})
	}
	all = append(all, File{"a small file of attributes", xlsx, workbook(t, header+"<row "+strings.Repeat(`a="" `, 12<<20)+"/>", "", false), false})
	return append(all, File{"a directory of 100 000 parts", xlsx, parts(t, 100_000), false})
}

const xlsx = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

// noise are comments that cannot be compressed.
var noise = sync.OnceValue(func() string { //nolint:gochecknoglobals // made once
	var b strings.Builder
	random := rand.NewChaCha8([32]byte{1})
	raw := make([]byte, 4<<10)
	for range 25 {
		_, _ = random.Read(raw)
		b.WriteString("<!--" + base64.StdEncoding.EncodeToString(raw) + "-->")
	}
	return b.String()
})

// workbook is a file with a sheet of these rows, and these texts.
func workbook(t testing.TB, rows, shared string, dense bool) []byte {
	t.Helper()
	if dense {
		rows, shared = noise()+rows, noise()+shared
	}
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestSpeed) })
	for name, body := range map[string]string{
		"xl/workbook.xml":            `<workbook xmlns:r="r"><sheets><sheet name="a" sheetId="1" r:id="x"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="x" Target="worksheets/sheet1.xml"/></Relationships>`,
		"xl/worksheets/sheet1.xml":   `<worksheet><sheetData>` + rows + `</sheetData></worksheet>`,
		"xl/sharedStrings.xml":       `<sst>` + shared + `</sst>`,
	} {
		f, err := z.Create(name)
		require.NoError(t, err)
		_, err = io.WriteString(f, body)
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return out.Bytes()
}

// parts is an archive of n empty parts.
func parts(t testing.TB, n int) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for range n {
		_, err := z.CreateHeader(&zip.FileHeader{Name: "a"})
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return out.Bytes()
}

// Tables are CSV files.
func Tables() []File {
	const csv, size = "text/csv", 9 << 20
	const header = "sku,name\n"
	return []File{
		{"a quoted cell of 9 MiB", csv, []byte(header + `A,"` + strings.Repeat("a", size) + `"`), false},
		{"a quoted cell without an end", csv, []byte(header + `A,"` + strings.Repeat(`""`, size/2)), false},
		{"a row of 9 million cells", csv, []byte(header + strings.Repeat(",", size)), false},
		{"a header of 9 million cells", csv, []byte(strings.Repeat(",", size)), false},
		{"9 million empty rows", csv, []byte(header + strings.Repeat("\n", size)), false},
		{"3 million rows", csv, []byte(header + strings.Repeat("A,\n", size/3)), false},
		{"a column with a name of 200 KB", csv, []byte("sku,name," + strings.Repeat("a", 200_000) + "\nA,B,C\n"), true},
		{"a header of 9 MiB", csv, []byte(strings.Repeat("a", size)), false},
	}
}
