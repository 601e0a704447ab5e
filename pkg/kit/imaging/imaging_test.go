package imaging_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/imaging"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// quadrants is an image with a colour in each corner.
func quadrants(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.Set(x, y, corners[x*2/w][y*2/h])
		}
	}
	return img
}

var (
	red, green, blue, white = color.NRGBA{255, 0, 0, 255}, color.NRGBA{0, 255, 0, 255}, color.NRGBA{0, 0, 255, 255}, color.NRGBA{255, 255, 255, 255}
	corners                 = [2][2]color.NRGBA{{red, blue}, {green, white}} // [right][bottom]
)

func asJPEG(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, jpeg.Encode(&b, img, &jpeg.Options{Quality: 95}))
	return b.Bytes()
}

func asPNG(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, img))
	return b.Bytes()
}

func asGIF(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, gif.Encode(&b, img, nil))
	return b.Bytes()
}

// webpPixel is a lossless WebP of 1 × 1 pixel.
var webpPixel, _ = base64.StdEncoding.DecodeString("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")

// exif is EXIF data with an orientation and a position.
func exif(order binary.AppendByteOrder, orientation uint16) []byte {
	b := []byte("Exif\x00\x00II*\x00")
	if order.String() == binary.BigEndian.String() {
		b = []byte("Exif\x00\x00MM\x00*")
	}
	b = order.AppendUint32(b, 8)
	b = order.AppendUint16(b, 2)
	for _, e := range [][4]uint32{{0x010f, 2, 4, 0x47505300}, {0x0112, 3, 1, uint32(orientation)}} {
		b = order.AppendUint16(b, uint16(e[0]))
		b = order.AppendUint16(b, uint16(e[1]))
		b = order.AppendUint32(b, e[2])
		if e[1] == 3 {
			b = order.AppendUint16(order.AppendUint16(b, uint16(e[3])), 0)
		} else {
			b = order.AppendUint32(b, e[3])
		}
	}
	return append(b, "SECRET POSITION"...)
}

// withSegment puts a segment behind the first marker of a JPEG.
func withSegment(jpg []byte, marker byte, body []byte) []byte {
	out := append([]byte{}, jpg[:2]...)
	out = append(out, 0xff, marker)
	out = binary.BigEndian.AppendUint16(out, uint16(len(body)+2))
	return append(append(out, body...), jpg[2:]...)
}

func chunk(name string, body []byte) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	out = append(append(out, name...), body...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[4:]))
}

// pngOf is a PNG whose header says anything.
func pngOf(w, h uint32, depth, kind, interlace byte, pixels []byte) []byte {
	header := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h)
	out := append([]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", append(header, depth, kind, 0, 0, interlace))...)
	return append(append(out, chunk("IDAT", pixels)...), chunk("IEND", nil)...)
}

func deflated(t testing.TB, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	zeros := make([]byte, 1<<20)
	for ; n > 0; n -= len(zeros) {
		_, err := w.Write(zeros[:min(n, len(zeros))])
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

// thumbnails inspects and decodes.
func thumbnails(t testing.TB, raw []byte, sizes ...int) (imaging.Info, []imaging.Thumbnail, error) {
	t.Helper()
	info, err := imaging.Inspect(bytes.NewReader(raw))
	if err != nil {
		return info, nil, err
	}
	all, err := imaging.NewDecoder().Thumbnails(t.Context(), tenant.NewID(), bytes.NewReader(raw), info, sizes)
	return info, all, err
}

func TestKindsOfImages(t *testing.T) {
	t.Parallel()
	transparent := quadrants(40, 20)
	transparent.SetNRGBA(39, 19, color.NRGBA{})
	for name, c := range map[string]struct {
		raw          []byte
		media, thumb string
		w, h         int
	}{
		"jpeg":            {asJPEG(t, quadrants(40, 20)), imaging.JPEG, imaging.JPEG, 40, 20},
		"png":             {asPNG(t, quadrants(40, 20)), imaging.PNG, imaging.JPEG, 40, 20},
		"transparent png": {asPNG(t, transparent), imaging.PNG, imaging.PNG, 40, 20},
		"gif":             {asGIF(t, quadrants(40, 20)), imaging.GIF, imaging.JPEG, 40, 20},
		"webp":            {webpPixel, imaging.WebP, imaging.PNG, 1, 1},
	} {
		info, all, err := thumbnails(t, c.raw, 100, 10)
		require.NoError(t, err, name)
		require.Equal(t, []any{c.media, c.w, c.h}, []any{info.Media, info.Width, info.Height}, name)
		require.Len(t, all, 2)
		require.Equal(t, []any{c.thumb, c.w, c.h}, []any{all[0].Media, all[0].Width, all[0].Height}, name)
		require.LessOrEqual(t, max(all[1].Width, all[1].Height), 10, name)
		_, kind, err := image.Decode(bytes.NewReader(all[1].Body))
		require.NoError(t, err)
		require.Equal(t, strings.TrimPrefix(c.thumb, "image/"), kind)
	}
}

// What is sent to harm is refused with a 400 that says why, without being decoded where that would take much.
func TestHostileImages(t *testing.T) {
	t.Parallel()
	good := asJPEG(t, quadrants(64, 64))
	scans := append([]byte{}, good[:len(good)-2]...)
	for range 200 {
		scans = append(scans, 0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0)
	}
	svg := `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`
	for name, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"nothing":               {nil, "must be a JPEG"},
		"one byte":              {[]byte{0xff}, "must be a JPEG"},
		"svg":                   {[]byte(svg), "must be a JPEG"},
		"html":                  {[]byte("<html><script>alert(1)</script>"), "must be a JPEG"},
		"svg that claims gif":   {[]byte("GIF89a" + svg), "may have at most"},
		"script that is a gif":  {[]byte("GIF89a/*" + strings.Repeat(" ", 40) + "*/=1;alert(1)"), "may have at most"},
		"pdf":                   {[]byte("%PDF-1.7\n"), "must be a JPEG"},
		"zip":                   {[]byte("PK\x03\x04 and so on, a long way"), "must be a JPEG"},
		"tiff":                  {[]byte("II*\x00\x08\x00\x00\x00\x00\x00"), "must be a JPEG"},
		"only a magic number":   {[]byte("\x89PNG\r\n\x1a\n"), "too early"},
		"png with huge sides":   {pngOf(1<<31-1, 1<<31-1, 8, 2, 0, nil), ""},
		"png of 65 000²":        {pngOf(65_000, 65_000, 8, 0, 0, deflated(t, 1000)), "may have at most 40000000"},
		"png without pixels":    {pngOf(0, 10, 8, 2, 0, nil), ""},
		"png bomb, 16 bits":     {pngOf(6_000, 6_000, 16, 6, 0, deflated(t, 1<<20)), "of this kind"},
		"png bomb, interlaced":  {pngOf(6_200, 6_200, 8, 6, 1, deflated(t, 1<<20)), "of this kind"},
		"png that ends early":   {pngOf(6_000, 6_000, 8, 6, 0, deflated(t, 1<<20)), "image/png"},
		"gif with huge sides":   {[]byte("GIF89a\xff\xff\xff\xff\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\xff\xff\xff\xff\x00\x02\x02L\x01\x00;"), "may have at most"},
		"jpeg, half":            {good[:len(good)/2], "image/jpeg"},
		"jpeg, only the header": {good[:300], "image/jpeg"},
		"jpeg of many scans":    {scans, "100 scans"},
		"jpeg, wrong length":    {append([]byte{0xff, 0xd8, 0xff, 0xe0, 0, 0}, good[2:]...), "image/jpeg"},
		"webp, half":            {webpPixel[:20], "image/webp"},
		"webp, animated":        {[]byte("RIFF\x24\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x02\x00\x00\x00\x09\x00\x00\x09\x00\x00ANIM\x06\x00\x00\x00\x00\x00\x00\x00\x00\x00"), ""},
		"webp, not an image":    {[]byte("RIFF\x24\x00\x00\x00WAVEfmt and so on, a long way"), "must be a JPEG"},
	} {
		_, _, err := thumbnails(t, c.raw, 100)
		f, ok := apierr.As(err)
		require.True(t, ok, "%s: %v", name, err)
		require.Equal(t, 400, f.Status, name)
		require.Equal(t, "body", f.Fields[0].Field, name)
		require.Contains(t, f.Fields[0].Message, c.want, name)
	}
}

// An image that is a valid one and something else is taken as the image. The thumbnails have nothing of the rest.
func TestPolyglots(t *testing.T) {
	t.Parallel()
	const script = "<script>alert(document.cookie)</script>"
	for _, raw := range [][]byte{
		append(asJPEG(t, quadrants(8, 8)), script...),
		append(asPNG(t, quadrants(8, 8)), script...),
		append(asGIF(t, quadrants(8, 8)), script...),
		withSegment(asJPEG(t, quadrants(8, 8)), 0xfe, []byte(script)), // a comment
	} {
		_, all, err := thumbnails(t, raw, 100)
		require.NoError(t, err)
		require.NotContains(t, string(all[0].Body), "script")
	}
}

// The thumbnails are turned as the original says, and say nothing of where it was taken.
func TestOrientation(t *testing.T) {
	t.Parallel()
	// The corners of the image as it is shown: top left, top right, bottom left, bottom right.
	shown := map[uint16][4]color.NRGBA{
		0: {red, green, blue, white}, 1: {red, green, blue, white}, 2: {green, red, white, blue}, 3: {white, blue, green, red}, 4: {blue, white, red, green},
		5: {red, blue, green, white}, 6: {blue, red, white, green}, 7: {white, green, blue, red}, 8: {green, white, red, blue}, 9: {red, green, blue, white},
	}
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		for o, want := range shown {
			raw := withSegment(asJPEG(t, quadrants(80, 40)), 0xe1, exif(order, o))
			info, all, err := thumbnails(t, raw, 60, 20)
			require.NoError(t, err)
			w, h := 80, 40
			if o >= 5 && o <= 8 {
				w, h = h, w
			}
			require.Equal(t, [2]int{w, h}, [2]int{info.Width, info.Height}, "%d", o)
			for _, thumb := range all {
				require.NotContains(t, string(thumb.Body), "SECRET")
				require.NotContains(t, string(thumb.Body), "Exif")
				img, err := jpeg.Decode(bytes.NewReader(thumb.Body))
				require.NoError(t, err)
				b := img.Bounds()
				require.Equal(t, w > h, b.Dx() > b.Dy(), "%d", o)
				for i, c := range want {
					x, y := b.Dx()/4+i%2*b.Dx()/2, b.Dy()/4+i/2*b.Dy()/2
					near(t, c, img.At(x, y), "orientation %d, corner %d", o, i)
				}
			}
		}
	}
	// PNG and WebP have the same data without its name.
	body := exif(binary.BigEndian, 6)[6:]
	raw := asPNG(t, quadrants(80, 40))
	raw = append(append(append([]byte{}, raw[:33]...), chunk("eXIf", body)...), raw[33:]...)
	info, _, err := thumbnails(t, raw, 10)
	require.NoError(t, err)
	require.Equal(t, [2]int{40, 80}, [2]int{info.Width, info.Height})
}

func near(t *testing.T, want color.NRGBA, got color.Color, format string, args ...any) {
	t.Helper()
	r, g, b, _ := got.RGBA()
	for i, v := range [3]uint32{r >> 8, g >> 8, b >> 8} {
		require.InDelta(t, float64([3]uint8{want.R, want.G, want.B}[i]), float64(v), 40, fmt.Sprintf(format, args...))
	}
}

// Scaling down keeps the mean of the image, and transparent pixels have no colour.
func TestMeansAreKept(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, h, to := rapid.IntRange(1, 70).Draw(t, "w"), rapid.IntRange(1, 70).Draw(t, "h"), rapid.IntRange(1, 40).Draw(t, "to")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		img := image.NewNRGBA(image.Rect(0, 0, w, h))
		for i := range img.Pix {
			img.Pix[i] = uint8(r.UintN(256))
			if i%4 == 3 && r.UintN(2) == 0 {
				img.Pix[i] = 255
			}
		}
		img.SetNRGBA(0, 0, color.NRGBA{200, 200, 200, 10}) // some pixel is transparent: the thumbnail has no loss
		var b bytes.Buffer
		if err := png.Encode(&b, img); err != nil {
			t.Fatal(err)
		}
		raw := b.Bytes()
		info, err := imaging.Inspect(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		all, err := imaging.NewDecoder().Thumbnails(context.Background(), tenant.NewID(), bytes.NewReader(raw), info, []int{to})
		if err != nil {
			t.Fatal(err)
		}
		small, err := png.Decode(bytes.NewReader(all[0].Body))
		if err != nil {
			t.Fatal(err)
		}
		before, after := mean(img), mean(small)
		for i := range before {
			if d := before[i] - after[i]; d > 1.5 || d < -1.5 {
				t.Fatalf("channel %d: %f became %f", i, before[i], after[i])
			}
		}
	})
}

// mean is that of the channels of all pixels.
func mean(img image.Image) (sum [4]float64) {
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			r, g, bl, a := img.At(x, y).RGBA()
			for i, v := range [4]uint32{r, g, bl, a} {
				sum[i] += float64(v) / 257 / float64(b.Dx()*b.Dy())
			}
		}
	}
	return sum
}

// Images of one company wait for each other, those of all companies for the memory that they take together.
func TestFewAtATime(t *testing.T) {
	t.Parallel()
	raw := asPNG(t, quadrants(600, 600))
	info, err := imaging.Inspect(bytes.NewReader(raw))
	require.NoError(t, err)
	d, own := imaging.NewDecoder(), tenant.NewID()
	var running, most, ofOwn, mostOfOwn atomic.Int64
	count := func(n, top *atomic.Int64) func() {
		now := n.Add(1)
		for old := top.Load(); now > old && !top.CompareAndSwap(old, now); old = top.Load() {
		}
		return func() { n.Add(-1) }
	}
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			company := own
			if i%2 == 0 {
				company = tenant.NewID()
			}
			leave, leaveOwn := func() {}, func() {}
			from := &watched{ReadSeeker: bytes.NewReader(raw), left: len(raw), begin: func() {
				if leave = count(&running, &most); company == own {
					leaveOwn = count(&ofOwn, &mostOfOwn)
				}
			}, end: func() { leaveOwn(); leave() }}
			_, err := d.Thumbnails(t.Context(), company, from, info, []int{100})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.LessOrEqual(t, most.Load(), int64(max(1, runtime.GOMAXPROCS(0)/2)))
	require.EqualValues(t, 1, mostOfOwn.Load())
}

// watched is a file that tells when it begins and ends to be read.
type watched struct {
	io.ReadSeeker
	left       int
	begun      bool
	begin, end func()
}

func (w *watched) Read(p []byte) (int, error) {
	if !w.begun {
		w.begun = true
		w.begin()
	}
	n, err := w.ReadSeeker.Read(p)
	if w.left -= n; n > 0 && w.left == 0 {
		w.end()
	}
	return n, err
}

// Who gets no turn in time is told so, and does not keep the others waiting.
func TestWaitingEnds(t *testing.T) {
	t.Parallel()
	raw := asPNG(t, quadrants(6, 6))
	info, err := imaging.Inspect(bytes.NewReader(raw))
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		d, company := imaging.NewDecoder(), tenant.NewID()
		decode := func(ctx context.Context, from io.ReadSeeker) error {
			_, err := d.Thumbnails(ctx, company, from, info, []int{2})
			return err
		}
		begun, end := make(chan struct{}), make(chan struct{})
		first := make(chan error, 1)
		go func() {
			first <- decode(context.Background(), &watched{ReadSeeker: bytes.NewReader(raw), begin: func() { close(begun); <-end }})
		}()
		<-begun
		start := time.Now()
		err := decode(context.Background(), bytes.NewReader(raw))
		require.True(t, apierr.Is(err, "SERVICE_UNAVAILABLE"), "%v", err)
		require.Equal(t, 10*time.Second, time.Since(start))
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		require.ErrorIs(t, decode(ctx, bytes.NewReader(raw)), context.DeadlineExceeded)
		close(end)
		require.NoError(t, <-first)
		require.NoError(t, decode(context.Background(), bytes.NewReader(raw)))
	})
}

// The first image of an animation is decoded, not the thousand after it.
func TestAnimations(t *testing.T) {
	t.Parallel()
	palette := color.Palette{color.Black, color.White}
	g := &gif.GIF{Config: image.Config{Width: 1000, Height: 1000, ColorModel: palette}}
	frame := image.NewPaletted(image.Rect(0, 0, 1000, 1000), palette)
	for range 30 {
		g.Image, g.Delay = append(g.Image, frame), append(g.Delay, 1)
	}
	var b bytes.Buffer
	require.NoError(t, gif.EncodeAll(&b, g))
	raw := b.Bytes()[:b.Len()/2] // the images that are missing are not looked at
	_, all, err := thumbnails(t, raw, 100)
	require.NoError(t, err)
	require.Equal(t, 100, all[0].Width)
}

func FuzzInspect(f *testing.F) {
	f.Add(asJPEG(f, quadrants(8, 8)))
	f.Add(withSegment(asJPEG(f, quadrants(8, 8)), 0xe1, exif(binary.BigEndian, 6)))
	f.Add(asPNG(f, quadrants(8, 8)))
	f.Add(asGIF(f, quadrants(8, 8)))
	f.Add(webpPixel)
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, _, err := thumbnails(t, raw, 16)
		if _, ok := apierr.As(err); err != nil && !ok {
			t.Fatal(err)
		}
	})
}

func BenchmarkThumbnails(b *testing.B) {
	raw := asJPEG(b, quadrants(4000, 3000))
	info, err := imaging.Inspect(bytes.NewReader(raw))
	require.NoError(b, err)
	d := imaging.NewDecoder()
	for b.Loop() {
		_, err := d.Thumbnails(b.Context(), tenant.ID{}, bytes.NewReader(raw), info, []int{1200, 480, 160})
		require.NoError(b, err)
	}
}
