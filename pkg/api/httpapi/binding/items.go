package binding

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
)

// Items is a body that is an object with an array of items, each of which has a body of its own. Only one of these bodies is decoded
// at a time, because that takes many times its bytes.
type Items interface {
	// SetBodies sets the bodies of the items as they were sent; nil for an item without one.
	SetBodies(bodies []json.RawMessage)
}

const (
	itemDepth = 3 // the body is the first level, the array the second
	itemsKey  = "items"
	itemBody  = "body"
)

// takeBodies removes the bodies from the items of a validated tree.
func takeBodies(tree any) []json.RawMessage {
	items, _ := tree.(map[string]any)[itemsKey].([]any) //nolint:forcetypeassert // the schema says so
	bodies := make([]json.RawMessage, len(items))
	for i := range items {
		if item, ok := items[i].(map[string]any); ok {
			bodies[i], _ = item[itemBody].(json.RawMessage)
			delete(item, itemBody)
		}
	}
	return bodies
}

// WriteCanonical writes the body in a form that is the same for equal JSON. It returns an error for a body that is not valid.
func (b *Body) WriteCanonical(w io.Writer) error {
	tree, err := b.Tree()
	if err != nil {
		return err
	}
	if b.Items {
		return writeCanonical(w, tree)
	}
	return writeJSON(w, tree)
}

// writeCanonical writes a tree, and the bodies in it one after the other.
func writeCanonical(w io.Writer, v any) error {
	var err error
	write := func(part func() error) {
		if err == nil {
			err = part()
		}
	}
	text := func(s string) {
		write(func() error {
			_, err := io.WriteString(w, s)
			return err //nolint:wrapcheck // of the caller's writer
		})
	}
	separator := ""
	switch v := v.(type) {
	case map[string]any:
		text("{")
		for _, name := range slices.Sorted(maps.Keys(v)) {
			text(separator)
			separator = ","
			write(func() error { return writeJSON(w, name) })
			text(":")
			write(func() error { return writeCanonical(w, v[name]) })
		}
		text("}")
	case []any:
		text("[")
		for _, item := range v {
			text(separator)
			separator = ","
			write(func() error { return writeCanonical(w, item) })
		}
		text("]")
	case json.RawMessage:
		tree, err := Parse(v)
		if err != nil {
			return err
		}
		return writeJSON(w, tree)
	default:
		return writeJSON(w, v)
	}
	return err
}

func writeJSON(w io.Writer, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode body: %w", err)
	}
	_, err = w.Write(raw)
	return err //nolint:wrapcheck // of the caller's writer
}

// What a parsed body takes in memory, in bytes, as BenchmarkParsed measures it: each object and array by itself, the first eight
// fields of an object, and each value with its name. Texts are copied once while a body is parsed, and once more in what it is
// decoded to.
const (
	containerBytes = 64
	fieldsBytes    = 288
	valueBytes     = 64
	copies         = 2
	itemBytes      = containerBytes + fieldsBytes + 4*valueBytes // of an item, without its body
)

// DecodedBytes is about what decoding a body takes at most, besides the body. It does not decode it.
func (b *Body) DecodedBytes() int {
	if !b.Items {
		return decodedBytes(b.Raw)
	}
	largest, others := b.partBytes()
	// What is made of the items is stored in slices, whose fields, or compressed texts, take about as much as the items.
	return len(b.Raw) + min(largest+others, copies*len(b.Raw)+treeBytes(len(b.Raw)))
}

// partBytes is what decoding the largest item takes, and what all else besides the items.
func (b *Body) partBytes() (largest, others int) {
	dec := newDecoder(b.Raw)
	for {
		inItems := dec.StackDepth() == itemDepth-1
		if kind := dec.PeekKind(); kind == '{' && dec.StackDepth() == 0 || kind == '}' || kind == ']' || kind == '[' && dec.StackDepth() == 1 && dec.StackPointer().LastToken() == itemsKey {
			if _, err := dec.ReadToken(); err != nil {
				return largest, others
			}
			continue
		}
		v, err := dec.ReadValue()
		if err != nil { // the end, or what [Body.Tree] stops at, too
			return largest, others
		}
		if inItems {
			largest, others = max(largest, decodedBytes(v)), others+itemBytes
		} else {
			others += decodedBytes(v)
		}
	}
}

// decodedBytes is what decoding JSON takes at most. It counts delimiters in texts, too, which is why it is bounded by what [Parse] makes
// at most of a body of this size.
func decodedBytes(raw []byte) int {
	count := func(of string) int { return bytes.Count(raw, []byte(of)) }
	objects, arrays, names, separators := count("{"), count("["), count(":"), count(",")
	values := containerBytes*(objects+arrays) + fieldsBytes*min(objects, names) + valueBytes*(names+separators)
	return copies*len(raw) + min(values, treeBytes(len(raw)))
}
