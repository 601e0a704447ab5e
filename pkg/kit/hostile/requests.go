package hostile

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Request is a request of an API. It is refused.
type Request struct {
	Name   string
	Method string
	Path   string // below the root of the API
	Header map[string]string
	Body   []byte
	Want   int // status
}

// Requests are requests whose headers, queries and bodies cost much to parse.
func Requests(t testing.TB) []Request {
	t.Helper()
	all := []Request{
		{"thousands of parameters", "GET", "/orders?" + strings.Repeat("a&", 3500), nil, nil, 400},
		{"parameters of a map", "GET", "/orders?" + parameters(600), nil, nil, 400},
		{"a long cursor", "GET", "/orders?cursor=" + strings.Repeat("A", 7000), nil, nil, 400},
		{"thousands of ids", "GET", "/orders?ids=" + strings.Repeat(",", 7000), nil, nil, 400},
		{"a long token", "GET", "/orders", map[string]string{"Authorization": "Bearer " + strings.Repeat("a", 7000)}, nil, 401},
		{"many preferences", "GET", "/orders?a=b", map[string]string{"Prefer": strings.Repeat("handling=strict,", 400)}, nil, 400},
		{"a long trace", "GET", "/orders?a=b", map[string]string{"Baggage": strings.Repeat("a=b,", 1800), "Traceparent": strings.Repeat("0-", 300)}, nil, 400},
		{"headers of 64 KiB", "GET", "/orders", map[string]string{"X-Long": strings.Repeat("a", 64<<10)}, nil, 431},
		{"a form of many parts", "POST", "/orders", map[string]string{"Content-Type": "multipart/form-data; boundary=b"}, form(), 415},
		{"an unpacked gigabyte", "POST", "/orders", map[string]string{"Content-Type": "application/json", "Content-Encoding": "gzip"}, packed(t), 415},
	}
	for name, body := range Bodies(1 << 20) {
		all = append(all, Request{"JSON: " + name, "POST", "/orders", map[string]string{"Content-Type": "application/json"}, body, 400})
	}
	return all
}

// parameters are n parameters of different names.
func parameters(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "m[%d]=1&", i)
	}
	return b.String()
}

func form() []byte {
	return []byte(strings.Repeat("--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\r\n", 10_000) + "--b--\r\n")
}

func packed(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, err := io.CopyN(z, spaces{}, 64<<20)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return out.Bytes()
}

type spaces struct{}

// Read implements [io.Reader].
func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// Bodies are JSON bodies of about size bytes, by what is wrong with them.
func Bodies(size int) map[string][]byte {
	many := func(before, s, after string) []byte {
		return []byte(before + strings.Repeat(s, (size-len(before)-len(after))/len(s)) + after)
	}
	const key = 1000
	return map[string][]byte{
		"short objects":          many(`{"items":[`, `{"a":0},`, `0]}`),
		"empty objects":          many(`{"items":[`, `{},`, `0]}`),
		"empty arrays":           many(`{"items":[`, `[],`, `0]}`),
		"objects in objects":     many(`{"items":[`, `{"a":{"a":{"a":{}}}},`, `0]}`),
		"zeros":                  many(`{"items":[`, `0,`, `0]}`),
		"empty texts":            many(`{"items":[`, `"",`, `0]}`),
		"depth":                  many(``, `[`, ``),
		"depth of objects":       many(``, `{"a":`, ``),
		"digits":                 many(`{"items":`, `1`, `}`),
		"an exponent":            many(`{"items":1e`, `9`, `}`),
		"one key many times":     many(`{`, `"a":0,`, `"b":0}`),
		"a long key":             many(`{"`, `a`, `":0}`),
		"a long key with faults": many(`{"`, `a`, `":{`+strings.Repeat(`"a":0,`, 200)+`"b":0}}`),
		"long keys":              []byte(strings.Repeat(`{"`+strings.Repeat("a", key)+`":`, 20) + `{` + strings.Repeat(`"a":1,`, 200) + `"b":1}` + strings.Repeat(`}`, 20)),
		"many fields":            []byte(`{"metadata":{` + fields(size/16) + `}}`),
		"a text that is cut off": many(`{"items":"`, `\u0041`, ``),
	}
}

// fields are n fields of different names.
func fields(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"%d":0,`, i)
	}
	return b.String() + `"last":0`
}
