package httpapi_test

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestNumbers(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for body, want := range map[string]string{
		`{"count":1.0}`:                   `{"count":1,"color":"red"}`,
		`{"count":1e2}`:                   `{"count":100,"color":"red"}`,
		`{"count":-0}`:                    `{"color":"red"}`,
		`{"count":10E-1}`:                 `{"count":1,"color":"red"}`,
		`{"price":9007199254740991}`:      `{"price":9007199254740991,"color":"red"}`,
		`{"price":-9007199254740991}`:     `{"price":-9007199254740991,"color":"red"}`,
		`{"qty":0.5}`:                     `{"qty":0.5,"color":"red"}`,
		`{"qty":1.5000}`:                  `{"qty":1.5,"color":"red"}`,
		`{"qty":5e-1}`:                    `{"qty":0.5,"color":"red"}`,
		`{"free":{"n":9007199254740993}}`: `{"color":"red","free":{"n":9007199254740993}}`,
	} {
		got := f.echoOf(body)
		got.is(t, 200, "")
		if !strings.Contains(body, "free") { // a free value is read as any JSON reader does
			require.JSONEq(t, want, string(got.raw), body)
		}
	}
	for body, want := range map[string][2]string{
		`{"count":1.5}`:                             {"count", "STEP"},
		`{"count":1001}`:                            {"count", "MAX"},
		`{"count":-1001}`:                           {"count", "MIN"},
		`{"count":9007199254740992}`:                {"count", "MAX"},
		`{"count":1e400}`:                           {"count", "MAX"},
		`{"count":-1e400}`:                          {"count", "MIN"},
		`{"count":1e-400}`:                          {"count", "STEP"},
		`{"qty":1e-5}`:                              {"qty", "STEP"},
		`{"qty":1e-400}`:                            {"qty", "STEP"},
		`{"qty":1e400}`:                             {"qty", "MAX"},
		`{"count":"1"}`:                             {"count", "TYPE"},
		`{"count":true}`:                            {"count", "TYPE"},
		`{"price":9007199254740992}`:                {"price", "MAX"},
		`{"price":-9007199254740993}`:               {"price", "MIN"},
		`{"price":0.1}`:                             {"price", "STEP"},
		`{"price":` + strings.Repeat("9", 65) + `}`: {"price", "MAX"},
		`{"qty":0.0005}`:                            {"qty", "STEP"},
		`{"nested":{"qty":"1"}}`:                    {"nested.qty", "TYPE"},
	} {
		require.Equal(t, map[string]string{want[0]: want[1]}, f.echoOf(body).faults(t), body)
	}
}

func TestBrokenBodies(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for body, code := range map[string]string{
		`{`: "FORMAT", `{"count":1`: "FORMAT", `{"count":1}}`: "FORMAT", `{"count":1}{}`: "FORMAT", `{"count":01}`: "FORMAT", `{'count':1}`: "FORMAT",
		`{"count":1,}`: "FORMAT", `nonsense`: "FORMAT", ` `: "FORMAT", "\x00": "FORMAT", "\ufeff{}": "FORMAT",
		`[]`: "TYPE", `"text"`: "TYPE", `1`: "TYPE", `null`: "TYPE", `true`: "TYPE",
	} {
		require.Equal(t, map[string]string{"body": code}, f.echoOf(body).faults(t), "%q", body)
	}
	for body, field := range map[string]string{
		"{\"color\":\"\x01\"}": "color", "{\"color\":\"\xff\"}": "color", `{"color":"\x"}`: "color", `{"count":NaN}`: "count",
		`{"note":"\ud800"}`: "note", `{"note":"\udc00 low"}`: "note", `{"note":"\ud800\u0041"}`: "note",
		`{"nested":{"tags":["a","b\uDFFF"]}}`: "nested.tags[1]", `{"nested":{"free":{"0":"\ud800"}}}`: "nested.free.0", `{"free":{"\ud800":1}}`: "free",
	} {
		require.Equal(t, map[string]string{field: "FORMAT"}, f.echoOf(body).faults(t), "%q", body)
	}
	f.echoOf(`{"note":"\ud83d\ude00"}`).is(t, 200, "")
	require.Equal(t, map[string]string{"body": "REQUIRED"}, f.do(request{method: "POST", path: "/things/echo"}).faults(t))
	got := f.echoOf(`{"count":1,]`)
	require.Contains(t, got.body["message"].([]any)[0], "at byte 11")
}

func TestNullAndAbsent(t *testing.T) {
	t.Parallel()
	f := setup(t)
	require.JSONEq(t, `{"color":"red"}`, string(f.echoOf(`{"note":null}`).raw))
	require.JSONEq(t, `{"color":"green"}`, string(f.echoOf(`{"color":" green "}`).raw), "trimmed before it is compared")
	for _, field := range []string{"count", "price", "qty", "flag", "color", "tags", "free", "nested"} {
		require.Equal(t, map[string]string{field: "TYPE"}, f.echoOf(`{"`+field+`":null}`).faults(t))
	}
	id := f.post(`{"name":"x"}`).body["id"].(string)
	change := func(body string) response { return f.do(request{method: "PATCH", path: "/things/" + id, body: body}) }
	require.Equal(t, 1.0, change(`{}`).body["version"])
	require.Equal(t, map[string]string{"name": "TYPE"}, change(`{"name":null}`).faults(t))
	require.Equal(t, map[string]string{"name": "LENGTH"}, change(`{"name":"  "}`).faults(t))
	require.Equal(t, 1.0, change(`{"name":"x"}`).body["version"], "the same value is no change")
	require.Equal(t, 2.0, change(`{"name":"y"}`).body["version"])
	require.Equal(t, map[string]string{"name": "REQUIRED"}, f.post(`{}`).faults(t))
	require.Equal(t, map[string]string{"name": "TYPE"}, f.post(`{"name":null}`).faults(t))

	optional := func(body string) response { return f.do(request{method: "POST", path: "/things/optional", body: body}) }
	require.JSONEq(t, `{"body":false}`, string(optional("").raw))
	require.JSONEq(t, `{"body":true}`, string(optional(`{"reason":"r"}`).raw))
	require.Equal(t, map[string]string{"reason": "REQUIRED"}, optional(`{}`).faults(t))
}

func TestAllFaultsAtOnce(t *testing.T) {
	t.Parallel()
	f := setup(t)
	got := f.do(request{method: "POST", path: "/things/echo?mode=c", body: `{"count":"x","color":"blue","note":"` + strings.Repeat("n", 11) + `","tags":["ok","longer",1],"flag":0,"nested":{"count":1.5}}`})
	require.Equal(t, map[string]string{
		"mode": "ENUM", "count": "TYPE", "color": "ENUM", "note": "LENGTH", "tags[1]": "LENGTH", "tags[2]": "TYPE", "flag": "TYPE", "nested.count": "STEP",
	}, got.faults(t))
	require.Equal(t, map[string]string{"tags[0]": "FORMAT"}, f.echoOf(`{"tags":["a\u0000"]}`).faults(t))
	require.Equal(t, map[string]string{"id": "FORMAT"}, f.do(request{method: "GET", path: "/things/17"}).faults(t))
	require.Equal(t, map[string]string{"size": "TYPE"}, f.do(request{method: "GET", path: "/things/big?size=many"}).faults(t))
	require.Equal(t, map[string]string{"size": "STEP"}, f.do(request{method: "GET", path: "/things/big?size=1.5"}).faults(t))
	require.Equal(t, map[string]string{"size": "MAX"}, f.do(request{method: "GET", path: "/things/big?size=100001"}).faults(t))
}

func TestUnknownFields(t *testing.T) {
	t.Parallel()
	f := setup(t)
	echo := func(query, body, prefer string) response {
		return f.do(request{method: "POST", path: "/things/echo" + query, body: body, headers: map[string]string{"Prefer": prefer}})
	}
	got := f.echoOf(`{"zeta":1,"nested":{"Count":5,"ünicode":1},"count":2}`)
	got.is(t, 200, "")
	require.Equal(t, "nested.Count, nested.?nicode, zeta", got.Header.Get("X-Ignored-Fields"))
	require.JSONEq(t, `{"count":2,"color":"red","nested":{"color":"red"}}`, string(got.raw))
	require.Empty(t, f.echoOf(`{"count":1,"free":{"any":1}}`).Header.Get("X-Ignored-Fields"))

	strict := echo("?b=2", `{"zeta":1,"count":"x"}`, "respond-async, handling=strict")
	require.Equal(t, map[string]string{"b": "UNKNOWN", "zeta": "UNKNOWN", "count": "TYPE"}, strict.faults(t))
	f.echoOf(`{"count":1}`, "Prefer", "handling=strict").is(t, 200, "")

	lenient := echo("?b=2&a=1", `{"zeta":1,"count":2}`, "handling=lenient")
	lenient.is(t, 200, "")
	require.Equal(t, "a, b, zeta", lenient.Header.Get("X-Ignored-Fields"))
}

// What is sent with an operation that takes no body must not vanish.
func TestBodyOfAnOperationWithoutOne(t *testing.T) {
	t.Parallel()
	f := setup(t)
	id := f.post(`{"name":"x"}`).body["id"].(string)
	for _, method := range []string{"GET", "DELETE"} {
		send := func(body, prefer string) response {
			return f.do(request{method: method, path: "/things/" + id, body: body, headers: map[string]string{"Prefer": prefer}})
		}
		for body, want := range map[string]map[string]string{
			`{"items":[{"qty":1}],"reason":"damaged"}`: {"items": "UNKNOWN", "reason": "UNKNOWN"},
			`[1]`:        {"body": "UNKNOWN"},
			`reason=x`:   {"body": "UNKNOWN"},
			`{"a":1,"a"`: {"body": "UNKNOWN"},
		} {
			require.Equal(t, want, send(body, "handling=strict").faults(t), "%s %s", method, body)
		}
		for _, body := range []string{`{}`, `null`, " "} {
			require.Equal(t, http.StatusNotFound, f.do(request{method: method, path: "/things/" + uuid.NewString(), body: body, headers: map[string]string{"Prefer": "handling=strict"}}).StatusCode)
		}
		got := send(`{"items":[{"qty":1}],"reason":"damaged"}`, "")
		require.Less(t, got.StatusCode, 300)
		require.Equal(t, "items, reason", got.Header.Get("X-Ignored-Fields"))
	}
	require.Equal(t, 0, f.stored())
}

// Who filters by a parameter that does not exist must not get the whole list.
func TestUnknownParameters(t *testing.T) {
	t.Parallel()
	f := setup(t)
	message := func(path string) any {
		got := f.do(request{method: "GET", path: path})
		got.is(t, 400, "VALIDATION_ERROR")
		return got.body["errors"].([]any)[0].(map[string]any)["message"]
	}
	require.Equal(t, "siz: is not a parameter of this operation; did you mean size? It knows size", message("/things/big?siz=1"))
	require.Equal(t, "color: is not a parameter of this operation; it knows size", message("/things/big?color=red"))
	require.Equal(t, "Size[a]: is not a parameter of this operation; did you mean size? It knows size", message("/things/big?Size[a]=red"))
	require.Equal(t, "a: is not a parameter of this operation; it has none: omit it", message("/things/"+uuid.NewString()+"?a=b"))
	got := f.do(request{method: "POST", path: "/things/echo?b=2", body: `{"zeta":1,"count":2}`})
	require.Equal(t, map[string]string{"b": "UNKNOWN"}, got.faults(t))
}

// What validation did not see must not reach the handler.
func TestNothingSlipsPastValidation(t *testing.T) {
	t.Parallel()
	f := setup(t)
	require.JSONEq(t, `{"count":1,"color":"red"}`, string(f.echoOf(`{"count":1,"COUNT":5000}`).raw), "another case is another name")
	require.JSONEq(t, `{"color":"red"}`, string(f.echoOf(`{"Note":"`+strings.Repeat("n", 11)+`"}`).raw))
}

func TestBounds(t *testing.T) {
	t.Parallel()
	f := setup(t)
	nested := func(levels int, inner string) string {
		return strings.Repeat(`{"nested":`, levels-1) + inner + strings.Repeat(`}`, levels-1)
	}
	f.echoOf(nested(24, `{}`)).is(t, 200, "")
	deep := f.echoOf(nested(25, `{}`))
	require.Equal(t, []string{"MAX"}, codes(deep.faults(t)))
	for _, field := range []string{"free", "unknown"} {
		body := func(levels int) string {
			return `{"` + field + `":` + strings.Repeat(`{"a":`, levels-2) + `{}` + strings.Repeat(`}`, levels-2) + `}`
		}
		f.echoOf(body(24)).is(t, 200, "")
		require.Equal(t, []string{"MAX"}, codes(f.echoOf(body(25)).faults(t)), field)
	}
	f.echoOf(strings.Repeat("[", 200_000)).is(t, 400, "VALIDATION_ERROR")
	list := func(n int) string { return `[` + strings.TrimSuffix(strings.Repeat(`"a",`, n), ",") + `]` }
	f.echoOf(`{"tags":`+list(500)+`}`).is(t, 200, "")
	require.Equal(t, map[string]string{"tags": "MAX"}, f.echoOf(`{"tags":`+list(501)+`}`).faults(t))
	require.Equal(t, map[string]string{"free.x": "MAX"}, f.echoOf(`{"free":{"x":`+list(501)+`}}`).faults(t))

	fit := func(n int) string { return `{"x":"` + strings.Repeat("x", n-8) + `"}` }
	f.echoOf(fit(1<<20)).is(t, 200, "")
	f.echoOf(fit(1<<20+1)).is(t, 413, "PAYLOAD_TOO_LARGE")
}

func codes(faults map[string]string) (out []string) {
	for _, c := range faults {
		out = append(out, c)
	}
	return out
}

func TestMediaTypes(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for media, status := range map[string]int{
		"application/json": 200, "application/json; charset=utf-8": 200, "Application/JSON": 200, "text/plain": 415, "application/x-www-form-urlencoded": 415,
		"multipart/form-data; boundary=x": 415, "application/jsonp": 415, ";": 415, "": 415,
	} {
		got := f.echoOf(`{}`, "Content-Type", media)
		require.Equal(t, status, got.StatusCode, "%q %s", media, got.raw)
		if status == 415 {
			require.Equal(t, "UNSUPPORTED_MEDIA_TYPE", got.body["code"])
		}
	}
	id := f.post(`{"name":"x"}`).body["id"].(string)
	f.do(request{method: "DELETE", path: "/things/" + id, body: "whatever", headers: map[string]string{"Content-Type": "text/plain"}}).is(t, 204, "")
}

func TestPackedBodiesAreNotUnpacked(t *testing.T) {
	t.Parallel()
	f := setup(t)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write([]byte(`{"name":"x"}`))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	for _, coding := range []string{"gzip", "br", "deflate", "gzip, gzip"} {
		got := f.post(packed.String(), "Content-Encoding", coding)
		got.is(t, 415, "UNSUPPORTED_MEDIA_TYPE")
		require.Equal(t, "identity", got.Header.Get("Accept-Encoding"))
	}
	f.post(`{"name":"x"}`, "Content-Encoding", "identity").is(t, 201, "")
}

func TestParametersAreUTF8(t *testing.T) {
	t.Parallel()
	f := setup(t)
	require.Equal(t, map[string]string{"mode": "FORMAT"}, f.do(request{method: "POST", path: "/things/echo?mode=%FF", body: `{}`}).faults(t))
}

func TestConditions(t *testing.T) {
	t.Parallel()
	f := setup(t)
	made := f.post(`{"name":"one"}`)
	require.Equal(t, `"1"`, made.Header.Get("ETag"))
	path := "/things/" + made.body["id"].(string)
	change := func(condition string) response {
		return f.do(request{method: "PATCH", path: path, body: `{"name":"` + uuid.NewString() + `"}`, headers: map[string]string{"If-Match": condition}})
	}
	version := 1
	for _, ok := range []string{`"1"`, `W/"2"`, `3`, `*`} {
		got := change(ok)
		got.is(t, 200, "")
		version++
		require.Equal(t, strconv.Quote(strconv.Itoa(version)), got.Header.Get("ETag"), ok)
	}
	got := change(`"1"`)
	got.is(t, 412, "PRECONDITION_FAILED")
	require.Equal(t, map[string]any{"currentVersion": 5.0}, got.body["meta"])
	for _, bad := range []string{``, `"x"`, `1.5`, `"1", "2"`, `""`, `"-1"`, `"1`, `W/`, `w/"1"`, `""1""`, `"1234567890123456789"`} {
		require.Equal(t, map[string]string{"If-Match": "FORMAT"}, change(bad).faults(t), bad)
	}
	f.do(request{method: "DELETE", path: path, headers: map[string]string{"If-Match": `"5"`}}).is(t, 204, "")

	path = "/things/" + f.post(`{"name":"two"}`).body["id"].(string)
	for condition, status := range map[string]int{`"1"`: 304, `W/"1"`: 304, `"9", "1"`: 304, `*`: 304, `"2"`: 200, `1`: 200, ``: 200} {
		got := f.do(request{method: "GET", path: path, headers: map[string]string{"If-None-Match": condition}})
		require.Equal(t, status, got.StatusCode, condition)
		require.Equal(t, `"1"`, got.Header.Get("ETag"))
		require.Equal(t, status == 304, len(got.raw) == 0)
	}
}
