package httpapi_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/api/ratelimit"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/cputime"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

func TestRouteErrors(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.do(request{method: "GET", path: "/nothing/here", token: "-"}).is(t, 404, "ROUTE_NOT_FOUND")
	f.do(request{method: "GET", path: "/Things/big"}).is(t, 404, "ROUTE_NOT_FOUND")
}

func TestErrorBody(t *testing.T) {
	t.Parallel()
	f := setup(t)
	got := f.post(`{"name":""}`, "X-Request-Id", "req-1")
	require.Equal(t, "application/json", got.Header.Get("Content-Type"))
	require.Equal(t, 400.0, got.body["statusCode"])
	require.Equal(t, "Bad Request", got.body["error"])
	require.Equal(t, map[string]any{}, got.body["meta"])
	require.Equal(t, "req-1", got.body["requestId"])
	require.Equal(t, httpapi.BasePath+"/things", got.body["path"])
	require.Contains(t, got.body["docUrl"], "/docs/errors#VALIDATION_ERROR")
	require.IsType(t, []any{}, got.body["message"])
	_, err := time.Parse("2006-01-02T15:04:05.000Z", got.body["timestamp"].(string))
	require.NoError(t, err)

	got = f.post(`{"name":"taken"}`)
	require.IsType(t, "", got.body["message"])
	require.NotContains(t, got.body, "errors")

	got = f.post(`{"name":""}`, "Accept", "application/problem+json", "X-Request-Id", "req-2")
	got.is(t, 400, "VALIDATION_ERROR")
	require.Equal(t, "application/problem+json", got.Header.Get("Content-Type"))
	require.Equal(t, "Bad Request", got.body["title"])
	require.Equal(t, 400.0, got.body["status"])
	require.Equal(t, "req-2", got.body["instance"])
	require.Contains(t, got.body["type"], "VALIDATION_ERROR")
	require.IsType(t, "", got.body["detail"])
	require.Len(t, got.body["errors"], 1)
	require.Equal(t, map[string]any{}, got.body["meta"])
}

func TestErrorsAreProblemsOnlyForThoseWhoPreferThem(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for accept, want := range map[string]string{
		"application/problem+json;q=0.1, application/json": "application/json", "application/problem+json;q=0": "application/json",
		"application/json;q=0.5, application/problem+json": "application/problem+json", "*/*": "application/json",
		"application/json, application/problem+json": "application/problem+json",
	} {
		require.Equal(t, want, f.post(`{"name":""}`, "Accept", accept).Header.Get("Content-Type"), accept)
	}
}

func TestRequestID(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for _, good := range []string{"a", "A-b_c.9", strings.Repeat("x", 128)} {
		require.Equal(t, good, f.do(request{method: "GET", path: "/open", headers: map[string]string{"X-Request-Id": good}}).Header.Get("X-Request-Id"))
	}
	for _, bad := range []string{"", "a b", strings.Repeat("x", 129), "ä", "a/b"} {
		got := f.do(request{method: "GET", path: "/nowhere", headers: map[string]string{"X-Request-Id": bad}}).Header.Get("X-Request-Id")
		id, err := uuid.Parse(got)
		require.NoError(t, err, bad)
		require.Equal(t, uuid.Version(7), id.Version())
	}
	require.Equal(t, "7.1", f.do(request{method: "GET", path: "/open"}).Header.Get("X-Api-Release"))
}

func TestCompression(t *testing.T) {
	t.Parallel()
	f := setup(t)
	rows := []struct {
		size         int // of the JSON text
		accept, want string
	}{
		{4096, "gzip, br", ""},
		{4097, "gzip, br", "br"},
		{4097, "gzip", "gzip"},
		{4097, "GZIP;q=0.5", "gzip"},
		{4097, "br;q=0, gzip", "gzip"},
		{4097, "gzip;q=0.0, br;q=0", ""},
		{4097, "identity", ""},
		{4097, "", ""},
		{4097, "deflate", ""},
		{4097, "br;q=0.2, gzip;q=0.8", "gzip"},
		{4097, "gzip;q=1.0 , br ; q=1", "br"},
		{4097, "br;q=x, gzip;level=1;q=0.1", "gzip"},
		{90000, "br", "br"},
	}
	for _, row := range rows {
		text := strings.Repeat("x", row.size-2)
		got := f.do(request{method: "GET", path: "/things/big?size=" + jsonOf(len(text)), headers: map[string]string{"Accept-Encoding": row.accept}})
		require.Equal(t, row.want, got.Header.Get("Content-Encoding"), "%+v", row)
		require.Equal(t, row.size > 4096, strings.Contains(got.Header.Get("Vary"), "Accept-Encoding"), "%+v", row)
		require.Equal(t, `"`+text+`"`, string(unpack(t, row.want, got.raw)))
	}
}

func jsonOf(v any) string {
	raw, _ := json.Marshal(v)
	return string(raw)
}

func unpack(t *testing.T, encoding string, raw []byte) []byte {
	t.Helper()
	var r io.Reader = bytes.NewReader(raw)
	switch encoding {
	case "gzip":
		gz, err := gzip.NewReader(r)
		require.NoError(t, err)
		r = gz
	case "br":
		r = brotli.NewReader(r)
	}
	out, err := io.ReadAll(r)
	require.NoError(t, err)
	return out
}

func TestRateHeaders(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.token("slow", func(p *access.Principal) { p.Rate = access.Rate{Limit: 2, RefillPerSecond: 0.01} })
	ask := func() response { return f.do(request{method: "GET", path: "/open", token: "slow"}) }
	for _, left := range []string{"1", "0"} {
		got := ask()
		got.is(t, 200, "")
		require.Equal(t, "2", got.Header.Get("X-RateLimit-Limit"))
		require.Equal(t, left, got.Header.Get("X-RateLimit-Remaining"))
		require.Contains(t, got.Header.Get("RateLimit"), `"default";r=`+left+`;t=`)
		require.Contains(t, got.Header.Get("RateLimit-Policy"), ";w=60")
		require.Empty(t, got.Header.Get("Retry-After"))
	}
	got := ask()
	got.is(t, 429, "RATE_LIMIT_EXCEEDED")
	require.Equal(t, "0", got.Header.Get("X-RateLimit-Remaining"))
	wait := got.Header.Get("Retry-After")
	require.NotEmpty(t, wait)
	meta := got.body["meta"].(map[string]any)
	require.Equal(t, wait, jsonOf(meta["retryAfter"]))
	require.Equal(t, 2.0, meta["limit"])
	require.Equal(t, 60.0, meta["windowSeconds"])
	f.token("standard", func(p *access.Principal) { p.Rate = access.Rate{Limit: 120, RefillPerSecond: 20} })
	bad := f.do(request{method: "GET", path: "/things/17", token: "standard"})
	bad.is(t, 400, "VALIDATION_ERROR")
	require.Equal(t, "120", bad.Header.Get("X-RateLimit-Limit"), "errors of a known caller carry the rate too")
	require.Equal(t, `"default";q=1200;w=60`, bad.Header.Get("RateLimit-Policy"))
}

// processor is a clock of processor time that the handlers of tests move.
type processor struct{ now atomic.Int64 }

func (p *processor) work(d time.Duration) { p.now.Add(int64(d)) }

func (p *processor) config(c *httpapi.Config) {
	at := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	c.Limiter = ratelimit.New(ratelimit.Config{Now: func() time.Time { return at }})
	c.ThreadTime = func() time.Duration { return time.Duration(p.now.Load()) }
}

type workload struct {
	httpapi.Call
	Ms     int64 `query:"ms"`
	Beside int64 `query:"beside"`
	Waits  int64 `query:"waits"`
	Fails  bool  `query:"fails"`
	After  int64 `query:"after"`
}

func (p *processor) handle(ctx context.Context, in *workload) (*httpapi.Reply[string], error) {
	p.work(time.Duration(in.Ms) * time.Millisecond)
	resume := cputime.Wait()
	p.work(time.Duration(in.Waits) * time.Millisecond) // by others
	resume()
	nothing := func(context.Context, db.Querier) error { return nil }
	err := batchloader.Load(ctx, nil, nothing, func(context.Context, db.Querier) error {
		p.work(time.Duration(in.Beside) * time.Millisecond)
		return nil
	})
	if in.Fails {
		err = apierr.StateConflict("NAME_TAKEN", "the name is taken")
	}
	return httpapi.OK("done"), err
}

// read is a file that takes processor time when it is read.
func (p *processor) read(_ context.Context, in *workload) (*httpapi.Reply[httpapi.File], error) {
	body := busyReader{strings.NewReader("x"), func() { p.work(time.Duration(in.After) * time.Millisecond) }}
	return httpapi.OK(httpapi.File{Media: "text/csv", Name: "a.csv", Size: 1, Body: body}), nil
}

type busyReader struct {
	*strings.Reader
	work func()
}

func (b busyReader) Read(p []byte) (int, error) {
	if b.Len() > 0 {
		b.work()
	}
	return b.Reader.Read(p)
}

func (b busyReader) WriteTo(io.Writer) (int64, error) { return 0, errors.ErrUnsupported }

func (busyReader) Close() error { return nil }

func TestATokenPaysForProcessorTime(t *testing.T) {
	t.Parallel()
	p := &processor{}
	f := setup(t, p.config)
	f.token("standard", func(p *access.Principal) { p.Rate = access.Rate{Limit: 120, RefillPerSecond: 20, InFlight: 1} })
	group := httpapi.Group{Tag: "Things", Scope: "orders", Component: "orders"}
	httpapi.Register(f.api, group.Op("GET", "/work", "readWork", "Read", 200), p.handle)
	httpapi.Register(f.api, group.Op("POST", "/work", "work", "Work", 200), p.handle)
	httpapi.Register(f.api, group.Op("GET", "/file", "readFile", "Read", 200), p.read)
	ask := func(method, path string, headers ...string) response {
		return f.do(request{method: method, path: path, token: "standard", headers: pairs(headers)})
	}
	costs := func(got response, status int, cost, remaining, why string) {
		t.Helper()
		require.Equal(t, status, got.StatusCode, "%s", got.raw)
		require.Equal(t, []string{cost, remaining}, []string{got.Header.Get("X-RateLimit-Cost"), got.Header.Get("X-RateLimit-Remaining")}, why)
		require.Contains(t, got.Header.Get("RateLimit"), `"default";r=`+remaining+`;t=`)
	}
	costs(ask("GET", "/things/"+uuid.NewString()), 404, "1", "119", "no processor time")
	costs(ask("GET", "/work?ms=9"), 200, "1", "118", "a request pays for 10 ms")
	costs(ask("GET", "/work?ms=75"), 200, "8", "110", "110.5 remain")
	costs(ask("GET", "/work?ms=50&fails=true"), 409, "5", "105", "although it failed")
	costs(ask("GET", "/work?ms=5&waits=1000"), 200, "1", "104", "waiting costs nothing")
	costs(ask("GET", "/work?beside=50"), 200, "5", "99", "work in other goroutines costs")
	key := uuid.NewString()
	costs(ask("POST", "/work?ms=50", keyHeader, key), 200, "5", "94", "a change")
	costs(ask("POST", "/work?ms=50", keyHeader, key), 200, "1", "93", "a replay does no work")
	costs(ask("GET", "/file?after=100"), 200, "1", "92", "a file is read after its headers are sent")
	costs(ask("GET", "/work"), 200, "1", "82", "and has cost 9 units more")

	got := ask("GET", "/work?ms=30000")
	require.Equal(t, "3000", got.Header.Get("X-RateLimit-Cost"))
	require.Equal(t, "0", got.Header.Get("X-RateLimit-Remaining"))
	got = ask("GET", "/work?ms=30000")
	got.is(t, 429, "RATE_LIMIT_EXCEEDED")
	require.Equal(t, "0", got.Header.Get("X-RateLimit-Cost"))
	require.Equal(t, "146", got.Header.Get("Retry-After"), "2 918 units below zero, at 20 units a second")
}

func TestProcessorTimeIsThatOfTheSystem(t *testing.T) {
	t.Parallel()
	f := setup(t, func(c *httpapi.Config) { c.ThreadTime = nil })
	f.token("standard", func(p *access.Principal) { p.Rate = access.Rate{Limit: 120, RefillPerSecond: 20, InFlight: 1} })
	op := httpapi.Group{Tag: "Things", Scope: "orders", Component: "orders"}.Op("GET", "/hash", "readHash", "Read", 200)
	httpapi.Register(f.api, op, func(context.Context, *struct{ httpapi.Call }) (*httpapi.Reply[string], error) {
		h := sha256.New()
		for range 256 {
			h.Write(make([]byte, 1<<20))
		}
		return httpapi.OK(hex.EncodeToString(h.Sum(nil))), nil
	})
	costs := func(path string) int {
		got := f.do(request{method: "GET", path: path, token: "standard"})
		cost, err := strconv.Atoi(got.Header.Get("X-RateLimit-Cost"))
		require.NoError(t, err)
		return cost
	}
	require.Greater(t, costs("/hash"), costs("/open"))
}

func TestCallersWithoutALimitGetNoRateHeaders(t *testing.T) {
	t.Parallel()
	f := setup(t)
	got := f.do(request{method: "GET", path: "/open"}) // its token is unlimited
	got.is(t, 200, "")
	for _, name := range []string{"X-RateLimit-Cost", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "RateLimit", "RateLimit-Policy"} {
		require.Empty(t, got.Header.Values(name), name)
	}
}

func TestRequestsInFlightAreCapped(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.token("one", func(p *access.Principal) { p.Rate.InFlight = 1 })
	g := hold(f)
	done := make(chan response, 1)
	go func() { done <- f.do(request{method: "POST", path: "/things", body: `{"name":"x"}`, token: "one"}) }()
	<-g.entered
	got := f.do(request{method: "GET", path: "/open", token: "one"})
	got.is(t, 429, "RATE_LIMIT_EXCEEDED")
	require.Equal(t, "1", got.Header.Get("Retry-After"))
	require.Equal(t, 1.0, got.body["meta"].(map[string]any)["limit"], "the limit that was reached")
	close(g.leave)
	(<-done).is(t, 201, "")
	f.do(request{method: "GET", path: "/open", token: "one"}).is(t, 200, "")
}

// safeBuffer takes the log of several goroutines.
type safeBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func TestInternalsStayInside(t *testing.T) {
	t.Parallel()
	var log safeBuffer
	f := setup(t, func(c *httpapi.Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	for _, r := range []request{{method: "POST", path: "/things/panic"}, {method: "GET", path: "/things/broken"}} {
		got := f.do(r)
		got.is(t, 500, "INTERNAL_ERROR")
		require.NotContains(t, string(got.raw), "hunter2")
		require.NotContains(t, string(got.raw), ".go")
		require.Contains(t, log.String(), got.body["requestId"])
	}
	require.Equal(t, 2, strings.Count(log.String(), "level=ERROR"), "each failure is logged once")
	require.Contains(t, log.String(), "hunter2")
	f.do(request{method: "GET", path: "/open"}).is(t, 200, "")
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	f := setup(t, func(c *httpapi.Config) { c.Timeout = time.Second })
	g := hold(f)
	key := uuid.NewString()
	got := f.post(`{"name":"x"}`, keyHeader, key)
	got.is(t, 504, "REQUEST_TIMEOUT")
	close(g.leave)
	require.Zero(t, f.stored())
	f.post(`{"name":"x"}`, keyHeader, key).is(t, 201, "")
}

func TestServe(t *testing.T) {
	t.Parallel()
	f := setup(t)
	g := hold(f)
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- f.api.Serve(ctx, ln) }()
	send := func(method, path, body string, header ...string) (status int) {
		req, err := http.NewRequestWithContext(t.Context(), method, "http://"+ln.Addr().String()+httpapi.BasePath+path, strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return 0
		}
		req.Header.Set("Authorization", "Bearer all")
		req.Header.Set("Content-Type", "application/json")
		for i := 0; i+1 < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Error(err)
			return 0
		}
		_ = res.Body.Close()
		return res.StatusCode
	}
	require.Equal(t, 200, send("GET", "/open", ""))
	require.Equal(t, 431, send("GET", "/open", "", "X-Long", strings.Repeat("x", 9<<10)))
	require.Equal(t, 413, send("POST", "/things", `{"name":"`+strings.Repeat("x", 2<<20)+`"}`))
	for _, broken := range []string{"hello\r\n\r\n", "POST " + httpapi.BasePath + "/things HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer all\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"} {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", ln.Addr().String())
		require.NoError(t, err)
		_, err = c.Write([]byte(broken))
		require.NoError(t, err)
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		require.NoError(t, err)
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.NoError(t, c.Close())
		require.Equal(t, 400, res.StatusCode, "%s", body)
		require.Contains(t, string(body), `"VALIDATION_ERROR"`)
		require.NotEmpty(t, res.Header.Get("X-Request-Id"))
	}

	running := make(chan int, 1)
	go func() { running <- send("POST", "/things", `{"name":"x"}`) }()
	<-g.entered
	stop()
	require.Eventually(t, func() bool { // new connections are refused while the running request is let finish
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", ln.Addr().String())
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	}, time.Minute, 10*time.Millisecond)
	close(g.leave)
	require.Equal(t, 201, <-running)
	require.NoError(t, <-served)
	require.Equal(t, 1, f.stored())
}

func TestDescription(t *testing.T) {
	t.Parallel()
	f := setup(t)
	res := f.do(request{method: "GET", path: "/openapi.json", token: "-"})
	res.is(t, 200, "")
	described := map[string]bool{}
	for path, methods := range res.body["paths"].(map[string]any) {
		for method := range methods.(map[string]any) {
			described[strings.ToUpper(method)+" "+path] = true
		}
	}
	routes := f.api.Routes()
	require.Len(t, described, len(routes))
	for _, route := range routes {
		require.True(t, described[route], "%s is routed but not described", route)
	}
	require.Len(t, routes, len(f.api.Ops()))
	for _, path := range []string{"/docs/errors", "/docs", "/health"} {
		require.Equal(t, 200, f.do(request{method: "GET", path: path, token: "-"}).StatusCode, path)
	}
}
