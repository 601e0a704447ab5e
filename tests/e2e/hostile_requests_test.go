package e2e

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/hostile"
)

// hostileRequest is a request of an API. It is refused.
type hostileRequest struct {
	Name   string
	Method string
	Path   string // below the root of the API
	Header map[string]string
	Body   []byte
	Want   int // status
}

// hostileRequests are requests whose headers, queries and bodies cost much to parse.
func hostileRequests(t testing.TB) []hostileRequest {
	t.Helper()
	all := []hostileRequest{
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
	for name, body := range hostile.Bodies(1 << 20) {
		all = append(all, hostileRequest{"JSON: " + name, "POST", "/orders", map[string]string{"Content-Type": "application/json"}, body, 400})
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
