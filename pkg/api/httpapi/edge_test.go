package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
)

func TestMethods(t *testing.T) {
	t.Parallel()
	f := setup(t)
	id := "/things/" + uuid.NewString()
	for path, allow := range map[string]string{
		"/things": "POST", "/things/": "POST", "/things/echo": "POST", "/things/big": "GET, HEAD", id: "DELETE, GET, HEAD, PATCH", "/things/7": "DELETE, GET, HEAD, PATCH",
		"/open": "GET, HEAD", "/openapi.json": "GET, HEAD", "/docs": "GET, HEAD", "/docs/swagger-ui.css": "GET, HEAD", "/health": "GET, HEAD", "": "GET, HEAD",
	} {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "QUERY", "get", "X"} {
			if method == "CONNECT" || slices.Contains(strings.Split(allow, ", "), method) {
				continue // CONNECT has another form of target
			}
			got := f.do(request{method: method, path: path})
			require.Equal(t, 405, got.StatusCode, "%s %s: %s", method, path, got.raw)
			require.Equal(t, allow, got.Header.Get("Allow"), "%s %s", method, path)
			if method != "HEAD" {
				got.is(t, 405, "METHOD_NOT_ALLOWED")
				require.Contains(t, got.body["message"], method)
			}
		}
	}
	for _, path := range []string{"/nowhere", "/things/a/b", "/things//", "/things/echo/"} {
		got := f.do(request{method: "PROPFIND", path: path})
		if path == "/things//" || path == "/things/echo/" {
			got.is(t, 405, "METHOD_NOT_ALLOWED") // a slash at the end means nothing
			continue
		}
		got.is(t, 404, "ROUTE_NOT_FOUND")
		require.Empty(t, got.Header.Get("Allow"))
		require.NotEmpty(t, got.Header.Get("X-Request-Id"))
	}
}

func TestFixedPathsComeFirst(t *testing.T) {
	t.Parallel()
	f := setup(t)
	group := httpapi.Group{Tag: "Things", Scope: "orders"}
	for _, op := range []httpapi.Op{
		group.Op("GET", "/things/{other}", "again", "Twice", 200), group.Op("PATCH", "/things/late", "late", "Hidden by {id}", 200), group.Op("GET", "/docs", "docs", "Taken", 200),
	} {
		require.Panics(t, func() { httpapi.Register(f.api, op, f.open) }, op.Path)
	}
}

func TestHeadIsGetWithoutBody(t *testing.T) {
	t.Parallel()
	f := setup(t)
	id := f.post(`{"name":"x"}`).body["id"].(string)
	for _, path := range []string{
		"/things/" + id, "/things/" + uuid.NewString(), "/things/7", "/things/big?size=5000", "/things/broken", "/open", "/openapi.json", "/docs", "/docs/errors",
		"/docs/swagger-ui.css", "/docs/init.js", "/health", "/nowhere", "",
	} {
		for _, headers := range []map[string]string{nil, {"Accept-Encoding": "gzip"}, {"Accept-Encoding": "br"}, {"If-None-Match": "*"}} {
			get := f.do(request{method: "GET", path: path, headers: headers})
			head := f.do(request{method: "HEAD", path: path, headers: headers})
			require.Equal(t, get.StatusCode, head.StatusCode, "%s %v", path, headers)
			require.Empty(t, head.raw, path)
			if get.StatusCode == http.StatusNotModified {
				continue
			}
			for _, name := range []string{"Content-Type", "Content-Length", "Content-Encoding", "Etag", "Vary", "Cache-Control", "Content-Security-Policy"} {
				if name == "Content-Length" && get.StatusCode >= 400 {
					require.NotEmpty(t, head.Header.Get(name), path) // the error has an id and a time of its own
					continue
				}
				require.Equal(t, get.Header.Get(name), head.Header.Get(name), "%s of %s %v", name, path, headers)
			}
		}
	}
	f.do(request{method: "HEAD", path: "/things/" + id, token: "-"}).is(t, 401, "")
}

func TestDocURL(t *testing.T) {
	t.Parallel()
	public := setup(t, func(c *httpapi.Config) { c.PublicURL = "https://api.example.com" })
	relative := setup(t)
	const page = httpapi.BasePath + "/docs/errors"
	for name, row := range map[string]struct {
		f    *kit
		want string
	}{"public": {public, "https://api.example.com" + page}, "relative": {relative, page}} {
		hostile := map[string]string{"Host": "evil.example", "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https"}
		got := row.f.do(request{method: "GET", path: "/nowhere", headers: hostile})
		require.Equal(t, row.want+"#ROUTE_NOT_FOUND", got.body["docUrl"], name)
		problem := row.f.do(request{method: "GET", path: "/nowhere", headers: map[string]string{"Accept": "application/problem+json"}})
		require.Equal(t, row.want+"#ROUTE_NOT_FOUND", problem.body["type"], name)

		c := dial(t, row.f.listen())
		c.send("GET %s HTTP/1.1\r\nHost: evil.example\r\nX-Long: %s\r\n\r\n", page, strings.Repeat("x", 9<<10))
		long := c.answer()
		long.is(t, 431, "HEADERS_TOO_LARGE")
		require.Equal(t, row.want+"#HEADERS_TOO_LARGE", long.body["docUrl"], name)
		require.Contains(t, string(row.f.do(request{method: "GET", path: "/docs/errors"}).raw), `id="HEADERS_TOO_LARGE"`)
	}
}

func TestFaultsAreCapped(t *testing.T) {
	t.Parallel()
	f := setup(t)
	unknown := map[string]int{}
	for i := range 1000 {
		unknown[fmt.Sprintf("field%d", i)] = 0
	}
	raw, err := json.Marshal(unknown)
	require.NoError(t, err)
	got := f.echoOf(string(raw), "Prefer", "handling=strict")
	got.is(t, 400, "VALIDATION_ERROR")
	require.Len(t, got.body["errors"], 100)
	messages := got.body["message"].([]any)
	require.Len(t, messages, 101)
	require.Contains(t, messages[100], "there are more errors")
	require.Equal(t, map[string]any{"unlistedErrors": 1.0}, got.body["meta"])
	require.Less(t, len(got.raw), 50_000)
	problem := f.echoOf(string(raw), "Prefer", "handling=strict", "Accept", "application/problem+json")
	require.Len(t, problem.body["errors"], 100)
	require.Equal(t, map[string]any{"unlistedErrors": 1.0}, problem.body["meta"])

	// Each fault repeats the path to it.
	long := strings.Repeat("é", 50_000)
	inner := strings.TrimSuffix(strings.Repeat(`[`+strings.TrimSuffix(strings.Repeat("0,", 501), ",")+`],`, 100), ",")
	got = f.echoOf(`{"free":{"` + long + `":[` + inner + `]}}`)
	got.is(t, 400, "VALIDATION_ERROR")
	require.Less(t, len(got.raw), 300_000)
	require.NotContains(t, string(got.raw), "�")

	few := f.echoOf(`{"count":"x","flag":1}`)
	require.Len(t, few.faults(t), 2)
	require.Equal(t, map[string]any{}, few.body["meta"])
}

func TestDescriptionIsComputedOnce(t *testing.T) { //nolint:paralleltest // counts the allocations of the process
	f := setup(t)
	var all sync.WaitGroup
	for i := range 32 { // the race detector sees what requests share
		all.Go(func() {
			if i%2 == 0 {
				f.do(request{method: "GET", path: "/openapi.json", token: "-"}).is(t, 200, "")
				return
			}
			f.echoOf(`{"count":1,"nested":{"count":2},"unknown":1}`).is(t, 200, "")
		})
	}
	all.Wait()
	plain := f.do(request{method: "GET", path: "/openapi.json"}).raw
	tags := map[string]bool{}
	for _, encoding := range []string{"", "gzip", "br"} {
		got := f.do(request{method: "GET", path: "/openapi.json", headers: map[string]string{"Accept-Encoding": encoding}})
		require.Equal(t, encoding, got.Header.Get("Content-Encoding"))
		require.Equal(t, "Accept-Encoding", got.Header.Get("Vary"))
		require.Equal(t, string(plain), string(unpack(t, encoding, got.raw)))
		tag := got.Header.Get("ETag")
		require.NotEmpty(t, tag)
		require.False(t, tags[tag], "another form needs another ETag")
		tags[tag] = true
		again := f.do(request{method: "GET", path: "/openapi.json", headers: map[string]string{"Accept-Encoding": encoding, "If-None-Match": tag}})
		require.Equal(t, 304, again.StatusCode)
		require.Empty(t, again.raw)
		require.Equal(t, tag, again.Header.Get("ETag"))
	}
	allocations := testing.AllocsPerRun(10, func() {
		f.do(request{method: "GET", path: "/openapi.json", headers: map[string]string{"Accept-Encoding": "gzip"}})
	})
	require.Less(t, allocations, 300.0, "the description is written anew")
}

func TestDocsPagesCannotBeFramed(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for _, path := range []string{"/docs", "/docs/", "/docs/errors", "/docs/init.js", "/docs/index.js", "/docs/Things", "/docs/Things.json", "/docs/swagger-ui-bundle.js", "/docs/swagger-ui.css"} {
		got := f.do(request{method: "GET", path: path, token: "-"})
		got.is(t, 200, "")
		policy := got.Header.Get("Content-Security-Policy")
		require.Contains(t, policy, "default-src 'none'", path)
		require.Contains(t, policy, "script-src 'self';", path)
		require.Contains(t, policy, "frame-ancestors 'none'", path)
		require.Equal(t, "DENY", got.Header.Get("X-Frame-Options"), path)
		require.Equal(t, "nosniff", got.Header.Get("X-Content-Type-Options"), path)
		if strings.Contains(got.Header.Get("Content-Type"), "html") {
			require.NotContains(t, string(got.raw), "<script>", "%s: the policy forbids scripts in pages", path)
		}
	}
	require.Equal(t, "nosniff", f.do(request{method: "GET", path: "/nowhere"}).Header.Get("X-Content-Type-Options"))
}

func TestIndex(t *testing.T) {
	t.Parallel()
	f := setup(t, func(c *httpapi.Config) { c.PublicURL = "https://api.example.com" })
	c := dial(t, f.listen())
	c.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	atRoot := c.answer()
	for _, got := range []response{atRoot, f.do(request{method: "GET", path: "", token: "-"}), f.do(request{method: "GET", path: "/", token: "-"})} {
		got.is(t, 200, "")
		require.Equal(t, "application/json", got.Header.Get("Content-Type"))
		require.Equal(t, "7.1", got.body["release"])
		links := got.body["links"].(map[string]any)
		require.Len(t, links, 5)
		for name, link := range links {
			path, ok := strings.CutPrefix(link.(string), "https://api.example.com"+httpapi.BasePath)
			require.True(t, ok, name)
			require.Equal(t, http.StatusOK, f.do(request{method: "GET", path: path, token: "-"}).StatusCode, name)
		}
	}
}
