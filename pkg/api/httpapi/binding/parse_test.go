package binding

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
)

// The fingerprints of stored answers are made of what encoding/json read, so that a repeat must be read in the same way.
func TestParsingReadsWhatEncodingJSONReads(t *testing.T) {
	t.Parallel()
	name := rapid.StringMatching(`[a-zé\\"\n/~0-9]{0,6}`)
	leaf := rapid.OneOf(
		rapid.Custom(func(t *rapid.T) any { return rapid.String().Draw(t, "text") }),
		rapid.Custom(func(t *rapid.T) any {
			return json.Number(rapid.SampledFrom([]string{"0", "-0", "1.50", "1e2", "-1E-2", "123456789012345678901234567890"}).Draw(t, "number"))
		}),
		rapid.SampledFrom([]any{true, false, nil}),
	)
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		if depth == 0 {
			return leaf
		}
		return rapid.OneOf(leaf,
			rapid.Custom(func(t *rapid.T) any { return rapid.SliceOfN(value(depth-1), 0, 4).Draw(t, "items") }),
			rapid.Custom(func(t *rapid.T) any { return rapid.MapOfN(name, value(depth-1), 0, 4).Draw(t, "fields") }))
	}
	rapid.Check(t, func(t *rapid.T) {
		raw, err := json.Marshal(value(3).Draw(t, "value"))
		require.NoError(t, err)
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		var want any
		require.NoError(t, dec.Decode(&want))
		got, err := Parse(raw)
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

func TestParsingStops(t *testing.T) {
	t.Parallel()
	faultsOf := func(body string) []apierr.Field {
		_, err := Parse([]byte(body))
		f, ok := apierr.As(err)
		require.True(t, ok, "%v", err)
		return f.Fields
	}
	// Neither body is complete, which nobody notices any more.
	faults := faultsOf(`{` + strings.Repeat(`"a":0,`, 100_000))
	require.Len(t, faults, 101)
	require.Equal(t, []string{"a", "CONFLICT", "a: is a duplicate key; send it once"}, []string{faults[100].Field, faults[100].Code, faults[100].Message})

	var many strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&many, `"f%d":0,`, i)
	}
	faults = faultsOf(`{"x":[{` + many.String())
	require.Len(t, faults, 1)
	require.Equal(t, []string{"x[0]", "MAX", "x[0]: must have at most 1000 fields"}, []string{faults[0].Field, faults[0].Code, faults[0].Message})
}

func TestValidationStops(t *testing.T) {
	t.Parallel()
	type entry struct {
		N int `json:"n" maximum:"5"`
	}
	c := &checker{reg: jsontype.NewRegistry("#/components/schemas/")}
	schema := c.reg.Schema(reflect.TypeFor[[]entry](), false, "")
	items := make([]any, 400)
	for i := range items {
		items[i] = map[string]any{"n": json.Number("1e1")}
	}
	c.value("items", schema, items)
	require.Len(t, c.faults, 101)
	require.Equal(t, json.Number("10"), items[100].(map[string]any)["n"], "read and found to be wrong")
	require.Equal(t, json.Number("1e1"), items[101].(map[string]any)["n"], "not looked at any more")
}

// heavyBodies are the bodies of the most expensive requests that the limits allowed once.
func heavyBodies() map[string][]byte {
	const size = 1 << 20
	fill := func(head, tail string, item func(i int) string) []byte {
		var b strings.Builder
		b.WriteString(head)
		for i := 0; ; i++ {
			next := item(i)
			if b.Len()+len(next)+len(tail)+1 > size {
				break
			}
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(next)
		}
		return []byte(b.String() + tail)
	}
	lines := strings.TrimSuffix(strings.Repeat(`{"qty":"x","price":-1.5,"note":17,"discount":{}},`, 500), ",")
	return map[string][]byte{
		"one key":      fill(`{`, `}`, func(int) string { return `"a":0` }),
		"unknown keys": fill(`{`, `}`, func(i int) string { return fmt.Sprintf(`"f%d":0`, i) }),
		"2000 faults":  []byte(`{"lines":[` + lines + `]}`),
		"spread keys": fill(`{"lines":[`, `]}`, func(i int) string {
			return fmt.Sprintf(`{"qty":1,"a%[1]d":0,"b%[1]d":0,"c%[1]d":0,"d%[1]d":0,"e%[1]d":0,"f%[1]d":0,"g%[1]d":0,"h%[1]d":0}`, i)
		}),
	}
}

func BenchmarkHeavyBodies(b *testing.B) {
	type line struct {
		Qty      int     `json:"qty" minimum:"0"`
		Price    int     `json:"price" minimum:"0"`
		Note     *string `json:"note" nullable:"true"`
		Discount int     `json:"discount"`
	}
	type document struct {
		Lines []line `json:"lines" required:"false" maxItems:"100000"`
	}
	reg := jsontype.NewRegistry("#/components/schemas/")
	schema := reg.Schema(reflect.TypeFor[document](), true, "Document")
	for name, body := range heavyBodies() {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				c := &checker{reg: reg}
				tree, err := Parse(body)
				if err != nil {
					continue
				}
				if c.value("", schema, tree); c.faults.Err() == nil {
					_, _ = json.Marshal(tree)
				}
			}
		})
	}
}
