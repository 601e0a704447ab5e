package webhook_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

const order = `{"event":"order.created","companyId":"c","actorId":"system","data":{"status":"new","total":100.0,"big":1e2,
	"note":null,"flag":true,"tags":["a","b"],"0":"zero","exact":9007199254740993,
	"lines":[{"kind":"product","qty":1.50},{"kind":"custom"}],"client":{"id":"x","vip":false}}}`

func TestFilterMatch(t *testing.T) {
	t.Parallel()
	for filter, want := range map[string]bool{
		``: true, `null`: true, `{}`: true, ` {} `: true,
		`{"event":"order.created"}`:                       true,
		`{"event":"order.created","data.status":"done"}`:  false,
		`{"data.status":"new","data.flag":true}`:          true,
		`{"data.status":"New"}`:                           false,
		`{"data.total":100}`:                              true,
		`{"data.total":1e2}`:                              true,
		`{"data.big":100.00}`:                             true,
		`{"data.total":"100"}`:                            false,
		`{"data.total":100.0000000000000000001}`:          false,
		`{"data.exact":9007199254740993}`:                 true,
		`{"data.exact":9007199254740992}`:                 false,
		`{"data.flag":"true"}`:                            false,
		`{"data.flag":1}`:                                 false,
		`{"data.note":null}`:                              true,
		`{"data.missing":null}`:                           false,
		`{"data.note.deeper":null}`:                       false,
		`{"data.lines.0.kind":"product"}`:                 true,
		`{"data.lines.1.kind":["product","custom"]}`:      true,
		`{"data.lines.2.kind":null}`:                      false,
		`{"data.lines.00.kind":"product"}`:                false,
		`{"data.lines.-1.kind":"custom"}`:                 false,
		`{"data.lines.0.qty":1.5}`:                        true,
		`{"data.0":"zero"}`:                               true,
		`{"data.status":["done","new"]}`:                  true,
		`{"data.status":["done",null,1]}`:                 false,
		`{"data.tags":["a","b"]}`:                         false,
		`{"data.tags":[["a","b"]]}`:                       true,
		`{"data.tags":[["b","a"]]}`:                       false,
		`{"data.client":{"vip":false,"id":"x"}}`:          true,
		`{"data.client":{"id":"x"}}`:                      false,
		`{"data.client":{"id":"x","vip":false,"more":1}}`: false,
		`{"data.status.length":3}`:                        false,
	} {
		f, faults := webhook.CompileFilter([]byte(filter))
		require.Empty(t, faults, filter)
		require.Equal(t, want, f.Match(webhook.NewDoc([]byte(order))), filter)
	}
	require.True(t, (*webhook.Filter)(nil).Match(webhook.NewDoc(nil)))
	f, _ := webhook.CompileFilter([]byte(`{"data.a":1}`))
	require.False(t, f.Match(webhook.NewDoc([]byte(`{"data":{"a":1}} x`))))
}

func TestFilterFaults(t *testing.T) {
	t.Parallel()
	keys := make([]string, 21)
	for i := range keys {
		keys[i] = fmt.Sprintf(`"data.k%d":1`, i)
	}
	for filter, want := range map[string][]string{
		`[]`:                                {": the filter must be a JSON object"},
		`"x"`:                               {": the filter must be a JSON object"},
		`{"a":1`:                            {": the filter must be a JSON object"},
		`{"data..x":1,"data.ok":1,".a":[]}`: {"data..x: the path has an empty segment", ".a: the path has an empty segment"},
		`{"":1}`:                            {": the path has an empty segment"},
		`{"data.a":[]}`:                     {"data.a: an empty array never matches"},
		`{"data.b.c.d.e.f.g.h.i":1}`:        {"data.b.c.d.e.f.g.h.i: the path has 9 segments; at most 8"},
		`{"data.a":1,"data.a":2}`:           {"data.a: is a duplicate key"},
		`{"channel":"manual"}`:              {"channel: can never match; did you mean data.channel? A path begins with data. or is one of event, companyId, occurredAt, actorId, eventId"},
		`{"lines.0.kind":"product"}`:        {"lines.0.kind: can never match; did you mean data.lines.0.kind?"},
		`{"Data.status":"new"}`:             {"Data.status: can never match; did you mean data.status?"},
		`{"eventID":"x","actor":"x"}`:       {"eventID: can never match; did you mean eventId?", "actor: can never match; did you mean actorId?"},
		`{"event.name":"order.created"}`:    {"event.name: can never match; did you mean event?"},
		`{"data":null}`:                     {"data: can never match; name a field of it, such as data.status."},
		`{` + strings.Join(keys, ",") + `}`: {": the filter has 21 keys; at most 20"},
	} {
		f, faults := webhook.CompileFilter([]byte(filter))
		require.Nil(t, f, filter)
		require.Len(t, faults, len(want), filter)
		for i := range want {
			require.Contains(t, faults[i].Key+": "+faults[i].Message, want[i])
		}
	}
	_, faults := webhook.CompileFilter([]byte(`{` + strings.Join(keys[:20], ",") + `}`))
	require.Empty(t, faults)
}

// jsonValue draws small JSON texts that often share values and spell numbers in several ways.
func jsonValue(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		kind := rapid.IntRange(0, 2).Draw(t, "kind")
		if depth == 0 || kind == 0 {
			return rapid.SampledFrom([]string{"1", "1.0", "10e-1", "0", "-0", "2", "-1", "100", "1e2", `"1"`, `"a"`, `""`, "true", "false", "null"}).Draw(t, "scalar")
		}
		if kind == 1 {
			return "[" + strings.Join(rapid.SliceOfN(jsonValue(depth-1), 0, 3).Draw(t, "items"), ",") + "]"
		}
		keys := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "0", "1"}), 0, 3, rapid.ID[string]).Draw(t, "keys")
		for i, k := range keys {
			keys[i] = fmt.Sprintf("%q:%s", k, jsonValue(depth-1).Draw(t, "value"))
		}
		return "{" + strings.Join(keys, ",") + "}"
	})
}

// valueAt is the naive reading of a path.
func valueAt(doc any, path string) (any, bool) {
	for _, segment := range strings.Split(path, ".") {
		ok := false
		switch c := doc.(type) {
		case map[string]any:
			doc, ok = c[segment]
		case []any:
			i, err := strconv.Atoi(segment)
			if ok = err == nil && i >= 0 && i < len(c); ok {
				doc = c[i]
			}
		}
		if !ok {
			return nil, false
		}
	}
	return doc, true
}

// model is the naive reading of a filter: plain maps, numbers as rationals, reflect.DeepEqual.
func model(filter map[string]any, doc any) bool {
	for key, want := range filter {
		have, ok := valueAt(doc, key)
		options, isList := want.([]any)
		if !isList {
			options = []any{want}
		}
		found := false
		for _, o := range options {
			found = found || ok && reflect.DeepEqual(o, have)
		}
		if !found {
			return false
		}
	}
	return true
}

// wanted draws a filter value, half of the time one that the body has at the path.
func wanted(t *rapid.T, body, path string) string {
	var doc any
	dec := json.NewDecoder(strings.NewReader(body))
	dec.UseNumber()
	require.NoError(t, dec.Decode(&doc))
	have, ok := valueAt(doc, path)
	if !ok || rapid.Bool().Draw(t, "other") {
		return jsonValue(2).Draw(t, "want")
	}
	text, err := json.Marshal(have)
	require.NoError(t, err)
	if _, isList := have.([]any); isList || rapid.Bool().Draw(t, "any of") {
		return "[" + jsonValue(1).Draw(t, "first") + "," + string(text) + "]"
	}
	return string(text)
}

// plain parses JSON with every number as its shortest exact fraction, so DeepEqual compares values.
func plain(t *rapid.T, text string) any {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	require.NoError(t, dec.Decode(&v))
	var walk func(any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case json.Number:
			r, ok := new(big.Rat).SetString(string(v))
			require.True(t, ok)
			return struct{ n string }{r.RatString()}
		case []any:
			for i := range v {
				v[i] = walk(v[i])
			}
		case map[string]any:
			for k := range v {
				v[k] = walk(v[k])
			}
		}
		return v
	}
	return walk(v)
}

func TestFilterAgainstModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		depth := rapid.IntRange(0, 3).Draw(t, "depth")
		body := `{"data":{"a":` + jsonValue(depth).Draw(t, "a") + `,"b":` + jsonValue(0).Draw(t, "b") + `}}`
		paths := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) string {
			deeper := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "0", "1"}), 0, 2).Draw(t, "deeper")
			return strings.Join(append([]string{"data", rapid.SampledFrom([]string{"a", "b"}).Draw(t, "root")}, deeper...), ".")
		}), 0, 2, rapid.ID[string]).Draw(t, "paths")
		entries := make([]string, len(paths))
		for i, p := range paths {
			entries[i] = fmt.Sprintf("%q:%s", p, wanted(t, body, p))
		}
		text := "{" + strings.Join(entries, ",") + "}"
		f, faults := webhook.CompileFilter([]byte(text))
		if len(faults) > 0 {
			require.Contains(t, faults[0].Message, "empty array")
			return
		}
		want := model(plain(t, text).(map[string]any), plain(t, body))
		require.Equal(t, want, f.Match(webhook.NewDoc([]byte(body))), "%s on %s", text, body)
	})
}

func TestFilterMatchesWhatTheEventHolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := jsonValue(3).Draw(t, "value")
		doc := webhook.NewDoc([]byte(`{"data":{"x":[` + value + `]}}`))
		f, faults := webhook.CompileFilter([]byte(`{"data.x.0":["never",` + value + `]}`))
		require.Empty(t, faults)
		require.True(t, f.Match(doc))
		f, faults = webhook.CompileFilter([]byte(`{"data.x.1":[null,` + value + `]}`))
		require.Empty(t, faults)
		require.False(t, f.Match(doc))
	})
}

func FuzzFilter(f *testing.F) {
	f.Add(`{"data.status":"new"}`, order)
	f.Add(`{"data.a":[1e5,{"b":null}]}`, `{"data":{"a":100000}}`)
	f.Fuzz(func(t *testing.T, filter, body string) {
		compiled, faults := webhook.CompileFilter([]byte(filter))
		require.Equal(t, compiled == nil, len(faults) > 0)
		if compiled != nil {
			compiled.Match(webhook.NewDoc([]byte(body)))
		}
	})
}

func BenchmarkFilterOnSharedDoc(b *testing.B) {
	f, _ := webhook.CompileFilter([]byte(`{"data.status":"new","data.lines.0.kind":["custom","product"],"data.total":100}`))
	d := webhook.NewDoc([]byte(order))
	b.ReportAllocs()
	for b.Loop() {
		if !f.Match(d) {
			b.Fatal("must match")
		}
	}
}

// What a filter costs does not grow with the values that it lists.
func TestManyValues(t *testing.T) { //nolint:paralleltest // counts what the process allocates
	doc := webhook.NewDoc([]byte(order))
	allocated := func(values int) float64 {
		f, faults := webhook.CompileFilter([]byte(`{"data.total":[` + strings.Repeat("1,", values) + `"x"]}`))
		require.Empty(t, faults)
		return testing.AllocsPerRun(100, func() { require.False(t, f.Match(doc)) })
	}
	few := allocated(1)
	require.InDelta(t, few, allocated(8000), 2)
}
