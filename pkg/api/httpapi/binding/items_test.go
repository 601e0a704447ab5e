package binding

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// shapes are bodies of a megabyte or less, whose values are as small or as large as they may be.
func shapes() map[string][]byte {
	many := func(of string, n int) []byte { return []byte("[" + strings.Repeat(of+",", n-1) + of + "]") }
	fields := func(n int, value string) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`"%d":%s`, i, value))
		}
		return "{" + strings.Join(all, ",") + "}"
	}
	return map[string][]byte{
		"empty objects":   many("{}", 99_000),
		"empty arrays":    many("[]", 99_000),
		"small objects":   many(`{"a":1}`, 20_000),
		"objects of nine": many(fields(9, "1"), 9_900),
		"wide objects":    many(fields(900, `"x"`), 100),
		"numbers":         many("1", 99_000),
		"empty texts":     many(`""`, 99_000),
		"order lines":     many(`{"productId":"0197a1f0-7c1e-7000-8000-000000000001","qty":2,"unitPrice":1250,"name":"Espresso"}`, 10_000),
		"a long text":     []byte(`"` + strings.Repeat("x", 1<<20) + `"`),
		"escapes":         []byte(`"` + strings.Repeat(`é`, 170_000) + `"`),
	}
}

// parsedBytes is what the tree of a body takes.
func parsedBytes(t testing.TB, raw []byte) int {
	t.Helper()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	tree, err := Parse(raw)
	require.NoError(t, err)
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(tree)
	return int(after.HeapAlloc) - int(before.HeapAlloc)
}

// TestDecodedBytesAreEnough does not run beside other tests: it measures the heap.
func TestDecodedBytesAreEnough(t *testing.T) { //nolint:paralleltest // as said
	for name, raw := range shapes() {
		took, counted := parsedBytes(t, raw), decodedBytes(raw)
		t.Logf("%-16s %8d bytes: tree %9d, counted %9d, %.1f times the body", name, len(raw), took, counted, float64(counted)/float64(len(raw)))
		require.Greater(t, counted, took, name)
		require.Less(t, counted, 6*took+4*len(raw), name)
	}
	most := copies<<20 + treeBytes(1<<20)
	for _, of := range []string{"{:", ",", "[", "{"} {
		require.LessOrEqual(t, decodedBytes([]byte(strings.Repeat(of, 1<<20/len(of)))), most, "delimiters in a text")
	}
}

func TestValuesOfItemsAreLimited(t *testing.T) {
	t.Parallel()
	b := Body{Raw: []byte(`{"items":[` + strings.Repeat("{},", 1<<20) + `{}]}`), Items: true}
	_, err := b.Tree()
	require.ErrorContains(t, err, "has too many small values for its size")
	require.GreaterOrEqual(t, b.DecodedBytes(), treeBytes(len(b.Raw)))

	const items = 40
	item := `{"op":"create","body":[` + strings.Repeat("[],", 10_000) + `[]]}`
	b = Body{Raw: []byte(`{"items":[` + strings.Repeat(item+",", items-1) + item + `]}`), Items: true}
	require.Greater(t, items*10_000*(costArray+costItem), treeBytes(len(b.Raw)), "too many for one body")
	_, err = b.Tree()
	require.NoError(t, err, "only one is decoded at a time")
	_, err = Parse(b.Raw)
	require.ErrorContains(t, err, "has too many small values for its size")
}

// The bodies of items stay as they were sent, and nothing else differs from what Parse makes of them.
func TestItemsAreTheSameWhole(t *testing.T) {
	t.Parallel()
	value := rapid.SampledFrom([]string{`{}`, `[]`, ` null `, `1e2`, `"a\u00e9<"`, "{ \"b\" : [1, {\"body\":2} ],\n\t\"a\":null}", `true`})
	member := rapid.SampledFrom([]string{`"op":"create"`, `"body" : %s`, `"body":%s`, `"sku":"<&>"`, `"x":{"body":%s}`, `"id":null`})
	rapid.Check(t, func(rt *rapid.T) {
		var items []string
		for range rapid.IntRange(0, 4).Draw(rt, "items") {
			var members []string
			for _, m := range rapid.SliceOfNDistinct(member, 0, 4, func(s string) string { return strings.Fields(s)[0][:4] }).Draw(rt, "members") {
				if strings.Contains(m, "%s") {
					m = fmt.Sprintf(m, value.Draw(rt, "value"))
				}
				members = append(members, m)
			}
			items = append(items, "{"+strings.Join(members, " , ")+"}")
		}
		raw := `{"items": [` + strings.Join(items, ", ") + `]`
		if rapid.Bool().Draw(rt, "more") {
			raw += `, "a":[{"body":{"c":1}}], "z":` + value.Draw(rt, "other")
		}
		raw += "}"

		whole, err := Parse([]byte(raw))
		require.NoError(rt, err)
		want, err := json.Marshal(whole)
		require.NoError(rt, err)
		b := Body{Raw: []byte(raw), Items: true}
		var got bytes.Buffer
		require.NoError(rt, b.WriteCanonical(&got))
		require.Equal(rt, string(want), got.String(), "%s", raw)
		require.Positive(rt, b.DecodedBytes())

		tree, err := b.Tree()
		require.NoError(rt, err)
		for i, body := range takeBodies(tree) {
			item := whole.(map[string]any)["items"].([]any)[i].(map[string]any) //nolint:forcetypeassert // as sent
			sent, has := item["body"]
			require.Equal(rt, has, body != nil)
			if has {
				again, err := Parse(body)
				require.NoError(rt, err)
				require.Equal(rt, sent, again)
			}
		}
	})
}

func TestFaultsInItemsNameTheirPlace(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`{"items":[{"body":{"a":1,"a":2}}]}`:   "items[0].body.a: is a duplicate key",
		`{"items":[{},{"body":{"a":tru}}]}`:    "items[1].body.a: is not valid JSON",
		`{"items":[{"body":{}}]`:               "unexpected end of input",
		`{"items":[{"body":{}}]} 1`:            "must be a single JSON value",
		`{"items":[{"body":"\ud800"}]}`:        "items[0].body: is not valid JSON",
		`{"items":[{"body":{}}],"items":[{}]}`: "items: is a duplicate key",
	} {
		b := Body{Raw: []byte(raw), Items: true}
		require.NotPanics(t, func() { b.DecodedBytes() })
		_, err := b.Tree()
		require.ErrorContains(t, err, want, raw)
		_, whole := Parse([]byte(raw))
		require.Equal(t, whole, err, "as without items")
	}
}

// Decoding items takes what the largest takes, not what all take.
func TestItemsAreDecodedOneByOne(t *testing.T) {
	t.Parallel()
	const items = 200
	item := `{"op":"create","body":{"lines":[` + strings.Repeat(`{"a":1},`, 1000) + `{}]}}`
	raw := []byte(`{"items":[` + strings.Repeat(item+",", items-1) + item + `]}`)
	whole, parts := Body{Raw: raw}, Body{Raw: raw, Items: true}
	require.Less(t, parts.DecodedBytes(), len(raw)+2*decodedBytes([]byte(item)))
	require.Greater(t, whole.DecodedBytes(), 10*parts.DecodedBytes())
}
