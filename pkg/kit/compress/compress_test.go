package compress_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/kit/compress"
)

// Whatever is stored comes back byte for byte, compressed or not, also what looks compressed already.
func TestBodiesComeBackByteForByte(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.SliceOfN(rapid.Byte(), 0, 4000).Draw(t, "body")
		if rapid.Bool().Draw(t, "repeated") {
			body = bytes.Repeat(body, 3)
		}
		if rapid.Bool().Draw(t, "packed before") {
			body = compress.Pack(body)
		}
		stored := compress.Pack(body)
		got, err := compress.Open(stored)
		require.NoError(t, err)
		require.True(t, bytes.Equal(body, got))
		requireRead(t, stored, body)
	})
}

// requireRead reads a stored body that comes in small parts.
func requireRead(t require.TestingT, stored, want []byte) {
	r, err := compress.NewReader(iotest.HalfReader(bytes.NewReader(stored)))
	require.NoError(t, err)
	got, err := io.ReadAll(r)
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, got))
	require.NoError(t, r.Close())
}

func TestReaderExpandsAsOpenDoes(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, 5000, 100_000, 256 << 10, 300_000, 700_000, 1 << 20, 3 << 20} {
		lines := []byte(strings.Repeat("abcdefghij\n", size/11+1))[:size]
		requireRead(t, lines, lines)
		requireRead(t, compress.Pack(lines), lines)
	}
	_, err := compress.NewReader(bytes.NewReader([]byte{7, 7}))
	require.ErrorIs(t, err, compress.ErrNewer)
	for _, n := range []int{200, 20_000} {
		packed := compress.Pack([]byte(strings.Repeat(`{"name":"value"},`, n)))
		r, err := compress.NewReader(bytes.NewReader(packed[:len(packed)-1]))
		if err == nil {
			_, err = io.ReadAll(r)
		}
		require.Error(t, err, "cut")
	}
}

func TestOnlyLargeBodiesAreCompressed(t *testing.T) {
	t.Parallel()
	text := func(n int) []byte { return []byte(strings.Repeat("a", n)) }
	require.Equal(t, text(compress.Threshold), compress.Pack(text(compress.Threshold)))
	require.True(t, compress.Packed(compress.Pack(text(compress.Threshold+1))))
	require.Less(t, len(compress.Pack(text(100_000))), 1000)
	require.False(t, compress.Packed([]byte(`{"a":1}`)))
	require.False(t, compress.Packed(nil))
}

func TestDamagedBodyIsAnError(t *testing.T) {
	t.Parallel()
	for _, n := range []int{200, 2000} {
		packed := compress.Pack([]byte(strings.Repeat(`{"name":"value"},`, n)))
		for _, damaged := range [][]byte{packed[:len(packed)-1], packed[:2], packed[:1], {packed[0], 0xff, 0xff, 0xff, 0xff, 0x0f, 1}} {
			_, err := compress.Open(damaged)
			require.ErrorContains(t, err, "expand stored body")
		}
	}
}

func BenchmarkPack(b *testing.B) {
	for _, lines := range []int{1, 10, 100} {
		body := order(lines)
		packed := compress.Pack(body)
		b.Run(fmt.Sprintf("lines=%d", lines), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				compress.Pack(body)
			}
			b.ReportMetric(float64(len(body)), "bytes")
			b.ReportMetric(float64(len(packed)), "packed-bytes")
		})
		b.Run(fmt.Sprintf("open/lines=%d", lines), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := compress.Open(packed); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// order resembles the JSON of an order; ids differ from line to line.
func order(lines int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"id":"019ab3c1-7a61-7f4e-9b0c-%012x","companyId":"5b0d4c4e-61a2-4a54-8d3f-0b0c5f6f8e11","number":%d,"status":"new","lines":[`, 77, 1042)
	for i := range lines {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":"019ab3c1-7a61-7f4e-9b0c-%012x","kind":"product","refId":"019ab3c1-%04x-7f4e-8b0c-%012x","variantId":null,"sku":"P-%04d",`+
			`"name":"Item number %d","unit":"pcs","qty":%d,"unitPrice":%d,"amount":%d,"discountAmount":0,"total":%d,"reservedQty":%d,"shippedQty":0,"modifiers":[],"note":null,"sortOrder":%d}`,
			i*7919, i*31, i*104729, i, i, i%9+1, 100+i, 100*i, 100*i, i%9+1, i)
	}
	b.WriteString(`],"createdAt":"2026-11-20T09:30:00.000Z","updatedAt":"2026-11-20T09:30:00.000Z"}`)
	return b.Bytes()
}
