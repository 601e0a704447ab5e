package httpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
)

// listen serves the kit's API on a free port of the loopback until the test ends.
func (f *kit) listen() (address string) {
	f.t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(f.t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(f.t, err)
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- f.api.Serve(ctx, ln) }()
	f.t.Cleanup(func() {
		stop()
		require.NoError(f.t, <-served)
	})
	return ln.Addr().String()
}

// client is a connection on which a test writes what it likes.
type client struct {
	net.Conn
	t *testing.T
	r *bufio.Reader
}

func dial(t *testing.T, address string) *client {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	require.NoError(t, c.SetDeadline(time.Now().Add(time.Minute)))
	return &client{Conn: c, t: t, r: bufio.NewReader(c)}
}

func (c *client) send(format string, args ...any) {
	c.t.Helper()
	_, err := fmt.Fprintf(c, format, args...)
	require.NoError(c.t, err)
}

func (c *client) answer() response {
	c.t.Helper()
	res, err := http.ReadResponse(c.r, nil)
	require.NoError(c.t, err)
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	require.NoError(c.t, err)
	out := response{Response: res, raw: raw, body: map[string]any{}}
	_ = json.Unmarshal(raw, &out.body) // not every answer is an object
	return out
}

// isClosed requires that the server ends the connection without another answer.
func (c *client) isClosed() {
	c.t.Helper()
	rest, err := io.ReadAll(c.r)
	require.True(c.t, err == nil || errors.Is(err, syscall.ECONNRESET), "%v", err)
	require.Empty(c.t, string(rest))
}

// head is a request line with headers, without the empty line at the end.
func head(method, path, token string, headers ...string) string {
	lines := append([]string{method + " " + httpapi.BasePath + path + " HTTP/1.1", "Host: a", "Content-Type: application/json", "Authorization: Bearer " + token}, headers...)
	return strings.Join(lines, "\r\n") + "\r\n"
}

func heapInUse() uint64 {
	runtime.GC()
	runtime.GC() // what pools kept through the first
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Hundreds of clients declare great bodies, send a few bytes of them, and stay.
func TestBodiesOnTheirWayHoldNoMemory(t *testing.T) { //nolint:paralleltest // measures the heap of the process
	f := setup(t)
	address := f.listen()
	before := heapInUse()
	kinds := []string{
		head("POST", "/things", "nobody", "Content-Length: 10485760"),
		head("POST", "/things", "nobody", "Content-Length: 1048576"),
		head("POST", "/things", "nobody", "Transfer-Encoding: chunked"),
		head("GET", "/docs/swagger-ui.css", "nobody", "Transfer-Encoding: chunked"),
		head("POST", "/things", "all", "Content-Length: 1048576"),
		head("POST", "/things", "all", "Transfer-Encoding: chunked"),
	}
	const each = 60
	var clients []*client
	for range each {
		for _, kind := range kinds {
			c := dial(t, address)
			c.send("%s\r\n%s", kind, "100000\r\n{\"name\"") // the size of the chunk, where there are chunks
			clients = append(clients, c)
		}
	}
	for i, c := range clients {
		if i%len(kinds) < 4 {
			require.Less(t, c.answer().StatusCode, 500) // and without waiting for the body
		}
	}
	for range 20 {
		for i, c := range clients {
			if i%len(kinds) >= 4 {
				c.send("%s", strings.Repeat("x", 100))
			}
		}
	}
	held := heapInUse() - before
	t.Logf("%d connections hold %d KiB", len(clients), held>>10)
	require.Less(t, held, uint64(48<<20))
	for _, c := range clients {
		require.NoError(t, c.Close())
	}
	require.Eventually(t, func() bool { return heapInUse() < before+16<<20 }, time.Minute, 100*time.Millisecond)
}

// What can be decided by the header block is decided there.
func TestAnswersBeforeTheBody(t *testing.T) {
	t.Parallel()
	address := setup(t).listen()
	for name, row := range map[string]struct {
		head   string
		status int
	}{
		"route":            {head("POST", "/nowhere", "all", "Content-Length: 99999999"), 404},
		"method":           {head("PUT", "/things", "all", "Content-Length: 99999999"), 405},
		"size":             {head("POST", "/things", "nobody", "Content-Length: 1048577"), 413},
		"size expected":    {head("POST", "/things", "all", "Content-Length: 1048577", "Expect: 100-continue"), 413},
		"media type":       {"POST " + httpapi.BasePath + "/things HTTP/1.1\r\nHost: a\r\nContent-Length: 7\r\n", 415},
		"token":            {head("POST", "/things", "nobody", "Content-Length: 7"), 401},
		"token expected":   {head("POST", "/things", "nobody", "Content-Length: 7", "Expect: 100-continue"), 401},
		"token of chunks":  {head("POST", "/things", "nobody", "Transfer-Encoding: chunked"), 401},
		"token of a read":  {head("GET", "/open", "nobody", "Content-Length: 7"), 401},
		"page":             {head("GET", "/docs", "nobody", "Content-Length: 7"), 200},
		"page by adaptor":  {head("GET", "/docs/swagger-ui.css", "nobody", "Content-Length: 7"), 200},
		"size of a delete": {head("DELETE", "/things/0192d3a5-6f0e-7c1a-9b1e-2f6d8a4c1e55", "all", "Content-Length: 1048577"), 413},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dial(t, address)
			c.send("%s\r\n", row.head)
			got := c.answer()
			require.Equal(t, row.status, got.StatusCode, "%s", got.raw)
			require.True(t, got.Close, "what follows may be the body")
			c.send("{}GET %s/open HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer all\r\n\r\n", httpapi.BasePath)
			c.isClosed()
		})
	}
}

// Many clients look for an answer only when they have sent everything. A reset connection would cost them the answer.
func TestRefusedUploadsGetTheirAnswer(t *testing.T) {
	t.Parallel()
	c := dial(t, setup(t).listen())
	c.send("%s\r\n", head("POST", "/things", "nobody", "Content-Length: 8388608"))
	for range 64 {
		c.send("%s", strings.Repeat("x", 8388608/64))
	}
	c.answer().is(t, 413, "PAYLOAD_TOO_LARGE")
	c.isClosed()
}

func TestBodiesThatArrive(t *testing.T) {
	t.Parallel()
	f := setup(t)
	address := f.listen()
	c := dial(t, address)
	c.send("%s\r\n", head("POST", "/things", "all", "Content-Length: 12", "Expect: 100-continue"))
	line, err := c.r.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "HTTP/1.1 100 Continue\r\n", line)
	_, err = c.r.ReadString('\n')
	require.NoError(t, err)
	c.send(`{"name":"a"}`)
	c.answer().is(t, 201, "")

	c.send("%s\r\n%s", head("POST", "/things", "all", "Transfer-Encoding: chunked"), "7\r\n{\"name\"\r\n5;x=y\r\n:\"b\"}\r\n0\r\nX-Sum: x\r\n\r\n")
	c.answer().is(t, 201, "")
	c.send("%s\r\n%s", head("POST", "/things", "all", "Transfer-Encoding: chunked"), "0\r\n\r\n")
	c.answer().is(t, 400, "VALIDATION_ERROR")
	c.send("%s\r\n%s%s\r\n%s", head("POST", "/things", "nobody", "Content-Length: 12"), `{"name":"c"}`, head("POST", "/things", "nobody", "Transfer-Encoding: chunked"), "1\r\nx\r\n0\r\n\r\n")
	c.answer().is(t, 401, "")
	c.answer().is(t, 401, "") // small bodies of refused requests are skipped
	big := `{"name":"` + strings.Repeat("x", 1<<20-11) + `"}`
	c.send("%s\r\n%s", head("POST", "/things", "all", "Content-Length: 1048576"), big)
	c.answer().is(t, 400, "VALIDATION_ERROR")
	c.send("%s\r\n100000\r\n%s\r\n0\r\n\r\n", head("POST", "/things", "all", "Transfer-Encoding: chunked"), big)
	c.answer().is(t, 400, "VALIDATION_ERROR")
	require.Equal(t, 2, f.stored())

	c.send("%s\r\n200000\r\n%s", head("POST", "/things", "all", "Transfer-Encoding: chunked"), big+"xx")
	c.answer().is(t, 413, "PAYLOAD_TOO_LARGE")
	c.isClosed()
}

// An operation may take more than others, from callers it knows.
func TestLimitOfAnOperation(t *testing.T) {
	t.Parallel()
	f := setup(t)
	op := httpapi.Op{Method: "POST", Path: "/batch", ID: "batch", Summary: "Much", Tag: "Things", MaxBody: httpapi.BatchMaxBody}
	httpapi.Register(f.api, op, f.echo)
	address := f.listen()
	length := func(n int) string { return fmt.Sprintf("Content-Length: %d", n) }
	body := `{"unknown":"` + strings.Repeat("x", httpapi.BatchMaxBody-14) + `"}`
	c := dial(t, address)
	c.send("%s\r\n%s", head("POST", "/batch", "all", length(len(body))), body)
	c.answer().is(t, 200, "")
	c.send("%s\r\n%x\r\n%s\r\n0\r\n\r\n", head("POST", "/batch", "all", "Transfer-Encoding: chunked"), len(body), body)
	c.answer().is(t, 200, "")
	c.send("%s\r\n", head("POST", "/batch", "nobody", length(len(body))))
	c.answer().is(t, 401, "AUTH_API_TOKEN_INVALID")
	c.isClosed()
	c = dial(t, address)
	c.send("%s\r\n", head("POST", "/batch", "all", length(len(body)+1)))
	c.answer().is(t, 413, "PAYLOAD_TOO_LARGE")
	c.isClosed()
}

func TestBodiesThatDoNotArrive(t *testing.T) {
	t.Parallel()
	f := setup(t, func(c *httpapi.Config) { c.Timeout = 2 * time.Second })
	f.enter = func(context.Context, int) { t.Error("an operation got a part of a body") }
	address := f.listen()
	for name, row := range map[string]struct {
		coding, body string
		ends         bool
		status       int
		code         string
	}{
		"short":           {"Content-Length: 13", `{"name":"a"}`, true, 408, "REQUEST_INCOMPLETE"},
		"no last chunk":   {"Transfer-Encoding: chunked", "c\r\n{\"name\":\"a\"}\r\n", true, 408, "REQUEST_INCOMPLETE"},
		"half a chunk":    {"Transfer-Encoding: chunked", "d\r\n{\"name\":\"a\"}", true, 408, "REQUEST_INCOMPLETE"},
		"slow":            {"Content-Length: 13", `{"name":"a"}`, false, 408, "REQUEST_INCOMPLETE"},
		"slow chunk":      {"Transfer-Encoding: chunked", "c\r\n{\"name\":\"a\"}\r\n", false, 408, "REQUEST_INCOMPLETE"},
		"no chunk":        {"Transfer-Encoding: chunked", "zz\r\n", false, 400, "VALIDATION_ERROR"},
		"chunk too short": {"Transfer-Encoding: chunked", "1\r\n{}\r\n0\r\n\r\n", false, 400, "VALIDATION_ERROR"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dial(t, address)
			c.send("%s\r\n%s", head("POST", "/things", "all", row.coding), row.body)
			if row.ends {
				require.NoError(t, c.Conn.(*net.TCPConn).CloseWrite())
			}
			c.answer().is(t, row.status, row.code)
			c.isClosed()
		})
	}
}

// After a broken chunk nobody knows where the next request starts: the client and the server may disagree.
func TestNothingIsReadBehindABrokenChunk(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.enter = func(context.Context, int) { t.Error("an operation got a broken body") }
	address := f.listen()
	next := head("GET", "/open", "all") + "\r\n"
	for name, body := range map[string]string{
		"no size":            "zz\r\n0\r\n\r\n",
		"negative size":      "-1\r\n0\r\n\r\n",
		"longer than stated": "1\r\n{}\r\n0\r\n\r\n",
		"no line end":        "2\r\n{}0\r\n\r\n",
		"one byte too many":  "2\r\n{}x0\r\n\r\n", // what follows the byte looks like the last chunk
		"broken trailer":     "2\r\n{}\r\n0\r\nno colon\r\n\r\n",
	} {
		for token, status := range map[string]int{"all": 400, "nobody": 401} { // read by the operation; skipped
			t.Run(name+" of "+token, func(t *testing.T) {
				t.Parallel()
				c := dial(t, address)
				c.send("%s\r\n%s%s", head("POST", "/things", token, "Transfer-Encoding: chunked"), body, next)
				got := c.answer()
				got.is(t, status, "")
				require.True(t, got.Close, "the client must not expect another answer")
				c.isClosed()
			})
		}
	}
}

func TestSlowHeaders(t *testing.T) {
	t.Parallel()
	address := setup(t, func(c *httpapi.Config) { c.HeaderTimeout = 300 * time.Millisecond }).listen()
	c := dial(t, address)
	stop := make(chan struct{})
	var dribble sync.WaitGroup
	dribble.Go(func() {
		for _, b := range []byte(head("GET", "/open", "all") + strings.Repeat("x", 10_000)) {
			if _, err := c.Write([]byte{b}); err != nil {
				return
			}
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	c.answer().is(t, 408, "REQUEST_INCOMPLETE")
	close(stop)
	dribble.Wait()
	c.isClosed()
	silent := dial(t, address)
	silent.answer().is(t, 408, "REQUEST_INCOMPLETE")
	silent.isClosed()
}

// Messages that two servers in a row may read differently are refused, and nothing behind them is read.
func TestAmbiguousMessages(t *testing.T) {
	t.Parallel()
	address := setup(t).listen()
	target := httpapi.BasePath + "/open HTTP/1.1\r\n"
	post := "POST " + httpapi.BasePath + "/things HTTP/1.1\r\nContent-Type: application/json\r\nAuthorization: Bearer all\r\n"
	for name, row := range map[string]struct{ message, rule string }{
		"length and coding":       {post + "Host: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "must not be combined"},
		"coding and length":       {post + "Host: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", "must not be combined"},
		"identity and length":     {post + "Host: a\r\nTransfer-Encoding: identity\r\nContent-Length: 5\r\n\r\n12345", "must not be combined"},
		"identity":                {post + "Host: a\r\nTransfer-Encoding: identity\r\n\r\n", "must be chunked"},
		"two codings":             {post + "Host: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "must be chunked"},
		"unknown coding":          {post + "Host: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", ""},
		"two lengths":             {post + "Host: a\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n12345", ""},
		"length that is none":     {post + "Host: a\r\nContent-Length: +5\r\n\r\n12345", ""},
		"coding in HTTP/1.0":      {"POST " + httpapi.BasePath + "/things HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "requires HTTP/1.1"},
		"space before a colon":    {"GET " + target + "Host: a\r\nX-A : b\r\n\r\n", "colon"},
		"space before the length": {post + "Host: a\r\nContent-Length : 5\r\n\r\n12345", "colon"},
		"tab before a colon":      {"GET " + target + "Host: a\r\nX-A\t: b\r\n\r\n", ""},
		"space in a name":         {"GET " + target + "Host: a\r\nX A: b\r\n\r\n", "colon"},
		"no host":                 {"GET " + target + "Accept: */*\r\n\r\n", "one Host header"},
		"no headers":              {"GET " + target + "\r\n", "one Host header"},
		"two hosts":               {"GET " + target + "Host: a\r\nHost: a\r\n\r\n", "one Host header"},
		"folded header":           {"GET " + target + "Host: a\r\nX-A: b\r\n c\r\n\r\n", "folded"},
		"bare line feed":          {"GET " + target + "Host: a\r\nX-A: b\nX-B: c\r\n\r\n", "CRLF"},
		"bare line feed at last":  {"GET " + target + "Host: a\n\nX: y\r\n\r\n", "CRLF"},
		"bare carriage return":    {"GET " + target + "Host: a\r\nX-A: b\rX-B: c\r\n\r\n", ""},
		"no method":               {"hello\r\n\r\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dial(t, address)
			c.send("%sGET %sHost: a\r\nAuthorization: Bearer all\r\n\r\n", row.message, target)
			got := c.answer()
			require.Equal(t, map[string]string{"request": "FORMAT"}, got.faults(t))
			require.Contains(t, string(got.raw), row.rule)
			require.True(t, got.Close)
			require.NotEmpty(t, got.Header.Get("X-Request-Id"))
			c.isClosed()
		})
	}
	c := dial(t, address)
	c.send("GET %s/open HTTP/1.0\r\nAuthorization: Bearer all\r\n\r\n", httpapi.BasePath)
	c.answer().is(t, 200, "") // Host came with HTTP/1.1
}

func TestConnectionsAreCapped(t *testing.T) {
	t.Parallel()
	ask := func(t *testing.T, c *client) response {
		t.Helper()
		c.send("%s\r\n", head("GET", "/open", "all"))
		return c.answer()
	}
	for name, row := range map[string]struct {
		edit   func(*httpapi.Config)
		status int
		code   string
	}{
		"in all":      {func(c *httpapi.Config) { c.MaxConnections = 2 }, 503, "SERVICE_UNAVAILABLE"},
		"per address": {func(c *httpapi.Config) { c.MaxConnectionsPerAddress = 2 }, 429, "RATE_LIMIT_EXCEEDED"},
		"proxies too": {func(c *httpapi.Config) {
			c.MaxConnections, c.MaxConnectionsPerAddress, c.Proxies = 2, 1, []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		}, 503, "SERVICE_UNAVAILABLE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := setup(t, row.edit).listen()
			first, second := dial(t, address), dial(t, address)
			ask(t, first).is(t, 200, "")
			ask(t, second).is(t, 200, "")
			third := dial(t, address)
			got := third.answer()
			got.is(t, row.status, row.code)
			require.Equal(t, "1", got.Header.Get("Retry-After"))
			require.NotEmpty(t, got.Header.Get("X-Request-Id"))
			require.Equal(t, got.Header.Get("X-Request-Id"), got.body["requestId"])
			third.isClosed()
			ask(t, first).is(t, 200, "")
			require.NoError(t, second.Close())
			require.Eventually(t, func() bool {
				c := dial(t, address)
				defer func() { _ = c.Close() }()
				return ask(t, c).StatusCode == http.StatusOK
			}, time.Minute, 20*time.Millisecond)
		})
	}
}
