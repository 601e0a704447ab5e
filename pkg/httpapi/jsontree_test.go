package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// decodeTree is what readTree stands for.
func decodeTree(raw []byte) (tree any, err error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&tree); err != nil {
		return nil, err
	}
	if len(bytes.TrimLeft(raw[dec.InputOffset():], " \t\r\n")) > 0 {
		return nil, errNotOne
	}
	return tree, checkKeys(raw, tree)
}

var errNotOne = errors.New("more than one value")

// texts are parts of JSON texts, good ones and bad ones.
var texts = []string{ //nolint:gochecknoglobals // a constant
	"{", "}", "[", "]", ",", ":", "{}", "[]", `{"a":`, `"b":`, `,"a":`, `"a"`, `""`, `"ä€"`, `"\u0061"`, `"\n\"\\\/"`, `"\ud800"`, `"\ud83d\ude00"`, `"\x"`,
	"\"\t\"", `"\u2028 <&>"`, "\"\u2028\"", "\"\x7f\"", `"`, `\`, "0", "-0", "-", "1", "01", "1.0", "1.", ".5", "1e5", "1E+05", "1e", "-1.50e-3", "+1",
	"true", "false", "null", "tru", "nulll", " ", "\n\t\r ", "\v", "\u00a0", "/**/",
}

func checkTree(t require.TestingT, raw []byte) {
	want, err := decodeTree(raw)
	got, ok := readTree(raw)
	require.Equal(t, err == nil, ok, "%s: %v", raw, err)
	if !ok {
		return
	}
	require.Equal(t, want, got, "%s", raw)
	text, err := json.Marshal(want)
	require.NoError(t, err)
	require.Equal(t, string(text), string(appendTree(nil, got)))
}

func TestTreeIsThatOfTheDecoder(t *testing.T) {
	t.Parallel()
	for _, raw := range texts {
		checkTree(t, []byte(raw))
	}
	rapid.Check(t, func(rt *rapid.T) {
		checkTree(rt, []byte(strings.Join(rapid.SliceOf(rapid.SampledFrom(texts)).Draw(rt, "texts"), "")))
	})
	rapid.Check(t, func(rt *rapid.T) { // valid ones, and those with a byte that is wrong
		raw, err := json.MarshalIndent(anyTree(3).Draw(rt, "tree"), "", rapid.SampledFrom([]string{"", " "}).Draw(rt, "indent"))
		require.NoError(rt, err)
		checkTree(rt, raw)
		at, as := rapid.IntRange(0, len(raw)-1).Draw(rt, "at"), rapid.SampledFrom([]byte("{}[]\",:\\0e.-nt x")).Draw(rt, "as")
		raw[at] = as
		if bytes.Equal(raw, bytes.ToValidUTF8(raw, nil)) {
			checkTree(rt, raw)
		}
	})
	_, ok := readTree([]byte(strings.Repeat("[", maxTree+2) + strings.Repeat("]", maxTree+2)))
	require.False(t, ok, "depth is bounded")
}

func anyTree(depth int) *rapid.Generator[any] {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"a", "b", "<&>", "\u2028\u2029", "\"\\/\n\x00", "äöü", "\x7f"}))
	return rapid.Custom(func(t *rapid.T) any {
		kinds := 7
		if depth == 0 {
			kinds = 5
		}
		switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
		case 0:
			return nil
		case 1:
			return rapid.Bool().Draw(t, "bool")
		case 2:
			return rapid.Int64().Draw(t, "int")
		case 3:
			return rapid.Float64().Draw(t, "float")
		case 4:
			return text.Draw(t, "text")
		case 5:
			return rapid.SliceOfN(anyTree(depth-1), 0, 4).Draw(t, "array")
		}
		return rapid.MapOfN(text, anyTree(depth-1), 0, 30).Draw(t, "object")
	})
}
