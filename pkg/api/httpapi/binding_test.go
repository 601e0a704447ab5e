package httpapi_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestEmptyParameters(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for _, value := range []string{"", "=", "=%20", "=%20%09"} {
		require.Equal(t, map[string]string{"size": "FORMAT"}, f.do(request{method: "GET", path: "/things/big?size" + value}).faults(t), value)
		got := f.do(request{method: "POST", path: "/things/echo?mode" + value, body: `{"count":"x"}`})
		require.Equal(t, map[string]string{"mode": "FORMAT", "count": "TYPE"}, got.faults(t), value)
	}
	require.Equal(t, map[string]string{"unknown": "UNKNOWN"}, f.do(request{method: "GET", path: "/things/big?unknown="}).faults(t))
	f.do(request{method: "GET", path: "/things/big?"}).is(t, 200, "")
}

// Of a parameter that is sent twice none is left out silently: lists join, others are refused.
func TestRepeatedParameters(t *testing.T) {
	t.Parallel()
	f := setup(t)
	got := f.do(request{method: "GET", path: "/things/big?size=1&size=2"})
	require.Equal(t, map[string]string{"size": "CONFLICT"}, got.faults(t))
	require.Contains(t, jsonOf(got.body["message"]), "size: takes one value and is sent 2 times; send it once")
	require.Equal(t, map[string]string{"size": "CONFLICT"}, f.do(request{method: "GET", path: "/things/big?size=1&%73ize=1"}).faults(t), "the same value, too")
	require.Equal(t, map[string]string{"size": "FORMAT"}, f.do(request{method: "GET", path: "/things/big?size=1&size="}).faults(t))
}

func TestDuplicateKeys(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for body, paths := range map[string][]string{
		`{"count":1,"count":1}`:                                    {"count"},
		`{"count":1,"co\u0075nt":2}`:                               {"count"},
		`{"nested":{"count":5000},"nested":{}}`:                    {"nested"},
		`{"nested":{"flag":true,"count":1,"flag":true},"count":1}`: {"nested.flag"},
		`{"free":{"a":[{"x":1},{"x":1,"y":":","x":{"z":1}}]}}`:     {"free.a[1].x"},
		`{"free":{"a":1,"a":2},"unknown":[{"b":1,"b":2}]}`:         {"free.a", "unknown[0].b"},
		`{"raw":{"\"":1,"\"":2}}`:                                  {`raw."`},
	} {
		want := map[string]string{}
		for _, path := range paths {
			want[path] = "CONFLICT"
		}
		require.Equal(t, want, f.echoOf(body).faults(t), body)
	}
	for _, body := range []string{`{"count":1,"Count":1}`, `{"color":"red","note":"a:\"b:c","free":{"x":{"y":1},"y":{"y":[{"y":2},{"y":3}]}}}`, `{"tags":["a:","\\",":"]}`} {
		f.echoOf(body).is(t, 200, "")
	}
	key := uuid.NewString()
	f.post(`{"name":"a","name":"a"}`, keyHeader, key).is(t, 400, "VALIDATION_ERROR")
	f.post(`{"name":"a"}`, keyHeader, key).is(t, 201, "")
}
