package webhook

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"sync"
)

// Doc is an event's body, matched by any number of filters. It is parsed once, on first use. It is safe for concurrent
// use.
type Doc struct {
	body  []byte
	once  sync.Once
	root  any
	valid bool
}

// NewDoc returns the Doc of an encoded envelope, which must not be modified afterwards.
func NewDoc(body []byte) *Doc { return &Doc{body: body} }

// value returns the parsed body with canonical numbers; ok is false if it is not JSON.
func (d *Doc) value() (root any, ok bool) {
	d.once.Do(func() {
		dec := json.NewDecoder(bytes.NewReader(d.body))
		dec.UseNumber()
		if dec.Decode(&d.root) != nil {
			return
		}
		_, err := dec.Token()
		d.valid = err == io.EOF
	})
	return d.root, d.valid
}

func lookup(v any, path []string) (any, bool) {
	for _, segment := range path {
		switch container := v.(type) {
		case map[string]any:
			inner, ok := container[segment]
			if !ok {
				return nil, false
			}
			v = inner
		case []any:
			i, ok := arrayIndex(segment)
			if !ok || i >= len(container) {
				return nil, false
			}
			v = container[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// arrayIndex parses a segment as an index: digits without a leading zero.
func arrayIndex(segment string) (int, bool) {
	i, err := strconv.ParseUint(segment, 10, 31)
	if err != nil || strconv.FormatUint(i, 10) != segment {
		return 0, false
	}
	return int(i), true
}

// equal compares a value of the event with a canonical value of a filter: same type, same content,
// numbers by value, arrays in order, objects in any order.
func equal(have, want any) bool {
	switch w := want.(type) {
	case decimal:
		h, ok := have.(json.Number)
		return ok && newDecimal(string(h)) == w
	case []any:
		h, ok := have.([]any)
		if !ok || len(h) != len(w) {
			return false
		}
		for i := range w {
			if !equal(h[i], w[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		h, ok := have.(map[string]any)
		if !ok || len(h) != len(w) {
			return false
		}
		for k := range w {
			inner, ok := h[k]
			if !ok || !equal(inner, w[k]) {
				return false
			}
		}
		return true
	default: // string, bool, nil
		switch have.(type) {
		case string, bool, nil:
			return have == want
		}
		return false
	}
}

// canonicalize replaces the numbers in a filter value by decimals that can be compared with ==.
func canonicalize(v any) any {
	switch v := v.(type) {
	case json.Number:
		return newDecimal(string(v))
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = canonicalize(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[k] = canonicalize(v[k])
		}
		return out
	default:
		return v
	}
}

// decimal is a number in canonical form: ±digits · 10^exponent without leading or trailing zeros; zero has no digits.
// Neither size nor precision is limited.
type decimal struct {
	negative bool
	digits   string
	exponent int64
}

// newDecimal parses a valid JSON number.
func newDecimal(text string) decimal {
	var d decimal
	text, d.negative = strings.CutPrefix(text, "-")
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		exponent, err := strconv.ParseInt(text[i+1:], 10, 62)
		if err != nil {
			// With an exponent this large, the number equals only the same text.
			return decimal{negative: d.negative, digits: text}
		}
		d.exponent, text = exponent, text[:i]
	}
	whole, fraction, _ := strings.Cut(text, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	trimmed := strings.TrimRight(digits, "0")
	if trimmed == "" {
		return decimal{}
	}
	d.exponent += int64(len(digits) - len(trimmed) - len(fraction))
	d.digits = trimmed
	return d
}
