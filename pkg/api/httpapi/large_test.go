package httpapi_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/api/loadshed"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

type hugeThing struct {
	httpapi.Call
	MiB int `query:"mib"`
}

// huge has operations whose responses may be large, within 40 MiB for all companies and 10 for one.
func huge(t *testing.T) (f *kit, changes *atomic.Int64) {
	t.Helper()
	f = setup(t, func(cfg *httpapi.Config) {
		cfg.Responses = loadshed.New(loadshed.Config{Limits: loadshed.Limits{ResponseBytes: 40 << 20}}).Responses()
	})
	f.token("other", func(p *access.Principal) { p.Company = tenant.NewID() })
	group, changes := httpapi.Group{Tag: "Things", Scope: "orders", Component: "orders"}, new(atomic.Int64)
	answer := func(_ context.Context, in *hugeThing) (*httpapi.Reply[string], error) {
		if in.MiB > 0 {
			changes.Add(1)
		}
		return httpapi.OK(strings.Repeat("x", in.MiB<<20)), nil
	}
	httpapi.Register(f.api, group.Op("GET", "/huge", "readHuge", "Read", 200), answer)
	httpapi.Register(f.api, group.Op("POST", "/huge", "changeHuge", "Change", 200), answer)
	return f, changes
}

func (f *kit) huge(method, token string, mib int, headers ...string) response {
	return f.do(request{method: method, path: fmt.Sprintf("/huge?mib=%d", mib), token: token, headers: pairs(headers)})
}

func (f *kit) slow(address, method string, mib int) *client {
	return f.slowly(address, method, fmt.Sprintf("/huge?mib=%d", mib))
}

// slowly asks for a response and reads no more of it than its headers.
func (f *kit) slowly(address, method, path string) *client {
	c := dial(f.t, address)
	c.send("%s %s%s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer all\r\nContent-Length: 0\r\n\r\n", method, httpapi.BasePath, path)
	status, err := c.r.ReadString('\n')
	require.NoError(f.t, err)
	require.Equal(f.t, "HTTP/1.1 200 OK\r\n", status)
	for line := status; line != "\r\n"; {
		line, err = c.r.ReadString('\n')
		require.NoError(f.t, err)
	}
	return c
}

func requireOverloaded(t *testing.T, got response) {
	t.Helper()
	got.is(t, 503, "SERVICE_UNAVAILABLE")
	require.Equal(t, map[string]any{"reason": string(apierr.Overloaded)}, got.body["meta"])
	require.NotEmpty(t, got.Header.Get("Retry-After"))
}

func TestLargeResponsesThatAreNotReadAreBounded(t *testing.T) {
	t.Parallel()
	f, _ := huge(t)
	c := f.slow(f.listen(), "GET", 24) // more than the buffers of a connection
	requireOverloaded(t, f.huge("GET", "all", 1))
	f.huge("GET", "all", 0).is(t, 200, "")
	f.huge("POST", "all", 1).is(t, 200, "")
	f.huge("GET", "other", 8).is(t, 200, "")
	requireOverloaded(t, f.huge("GET", "other", 20))
	require.NoError(t, c.Close())
	require.Eventually(t, func() bool { return f.huge("GET", "all", 1).StatusCode == http.StatusOK }, time.Minute, time.Millisecond, "released with the connection")
}

func TestLargeResponsesThatAreReadAreReleased(t *testing.T) {
	t.Parallel()
	f, _ := huge(t)
	for range 3 {
		got := f.huge("GET", "all", 24)
		got.is(t, 200, "")
		require.Len(t, got.raw, 24<<20+2)
		require.Equal(t, fmt.Sprint(len(got.raw)), got.Header.Get("Content-Length"))
		f.huge("HEAD", "all", 24).is(t, 200, "")
		for _, encoding := range []string{"gzip", "br"} {
			require.Len(t, unpack(t, encoding, f.huge("GET", "all", 24, "Accept-Encoding", encoding).raw), 24<<20+2)
		}
	}
	c := f.slow(f.listen(), "GET", 24)
	requireOverloaded(t, f.huge("GET", "all", 1))
	_, err := io.CopyN(io.Discard, c.r, 24<<20)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return f.huge("GET", "all", 1).StatusCode == http.StatusOK }, time.Minute, time.Millisecond, "released when it is written")
	c.send("GET %s/open HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer all\r\n\r\n", httpapi.BasePath)
	_, err = io.CopyN(io.Discard, c.r, 2)
	require.NoError(t, err)
	c.answer().is(t, 200, "")
}

// A change is made by the time that its response is known to be large.
func TestLargeResponsesToChangesRefuseTheNextChange(t *testing.T) {
	t.Parallel()
	f, changes := huge(t)
	c := f.slow(f.listen(), "POST", 24)
	requireOverloaded(t, f.huge("POST", "all", 1))
	require.EqualValues(t, 1, changes.Load(), "refused before the change")
	f.huge("POST", "other", 24).is(t, 200, "")
	f.huge("GET", "all", 1).is(t, 200, "")
	require.NoError(t, c.Close())
	require.Eventually(t, func() bool { return f.huge("POST", "all", 1).StatusCode == http.StatusOK }, time.Minute, time.Millisecond)
}

// countedFile is a file of some size that notes when it is closed.
type countedFile struct {
	io.Reader
	closed *atomic.Int64
}

func (f countedFile) Close() error {
	f.closed.Add(1)
	return nil
}

// A file counts with what reading it holds, until it is sent or its connection is closed.
func TestFilesAreBounded(t *testing.T) {
	t.Parallel()
	f, _ := huge(t)
	closed := new(atomic.Int64)
	op := httpapi.Group{Tag: "Things", Scope: "orders", Component: "orders"}.Op("GET", "/file", "readFile", "Read", 200)
	httpapi.Register(f.api, op, func(_ context.Context, in *hugeThing) (*httpapi.Reply[httpapi.File], error) {
		size := int64(in.MiB) << 20
		body := countedFile{io.LimitReader(rand.NewChaCha8([32]byte{}), size), closed}
		return httpapi.OK(httpapi.File{Media: "text/csv", Name: "a.csv", Size: size, Memory: 6 << 20, Body: body}), nil
	})
	get := func() response { return f.do(request{method: "GET", path: "/file?mib=1", token: "all"}) }
	got := get()
	got.is(t, 200, "")
	require.Len(t, got.raw, 1<<20)
	require.EqualValues(t, 1, closed.Load())

	c := f.slowly(f.listen(), "GET", "/file?mib=64")
	requireOverloaded(t, get())
	require.EqualValues(t, 2, closed.Load(), "that of the refused one")
	require.NoError(t, c.Close())
	require.Eventually(t, func() bool { return get().StatusCode == http.StatusOK }, time.Minute, time.Millisecond, "released with the connection")
	require.GreaterOrEqual(t, closed.Load(), int64(4))
}
