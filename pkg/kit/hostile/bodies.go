package hostile

import (
	"fmt"
	"strings"
)

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
