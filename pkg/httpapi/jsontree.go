package httpapi

import (
	"encoding/json"
	"slices"
	"strings"
)

// readTree reads valid JSON without duplicate keys, as a decoder with UseNumber does, in one pass and without copies of
// texts that have no escapes. It refuses everything else, for [parseJSON] to say what is wrong.
func readTree(raw []byte) (tree any, ok bool) {
	r := treeReader{text: string(raw)}
	if tree, ok = r.value(0); !ok {
		return nil, false
	}
	r.space()
	return tree, r.at == len(r.text)
}

// maxTree is the deepest nesting that is read here; deeper bodies are refused anyway, see maxDepth.
const maxTree = 100

type treeReader struct {
	text string
	at   int
}

func (r *treeReader) space() {
	for r.at < len(r.text) {
		switch r.text[r.at] {
		case ' ', '\t', '\r', '\n':
			r.at++
		default:
			return
		}
	}
}

// next skips space and takes the byte, if it comes next.
func (r *treeReader) next(c byte) bool {
	r.space()
	if r.at < len(r.text) && r.text[r.at] == c {
		r.at++
		return true
	}
	return false
}

func (r *treeReader) word(w string) bool {
	if !strings.HasPrefix(r.text[r.at:], w) {
		return false
	}
	r.at += len(w)
	return true
}

func (r *treeReader) value(depth int) (any, bool) {
	r.space()
	if r.at == len(r.text) || depth > maxTree {
		return nil, false
	}
	switch r.text[r.at] {
	case '{':
		return r.object(depth)
	case '[':
		return r.array(depth)
	case '"':
		return r.str()
	case 't':
		return true, r.word("true")
	case 'f':
		return false, r.word("false")
	case 'n':
		return nil, r.word("null")
	}
	return r.number()
}

func (r *treeReader) object(depth int) (any, bool) {
	r.at++
	all := map[string]any{}
	if r.next('}') {
		return all, true
	}
	for {
		r.space()
		name, ok := r.str()
		if !ok || !r.next(':') {
			return nil, false
		}
		v, ok := r.value(depth + 1)
		if !ok {
			return nil, false
		}
		before := len(all)
		if all[name] = v; len(all) == before {
			return nil, false
		}
		if r.next('}') {
			return all, true
		}
		if !r.next(',') {
			return nil, false
		}
	}
}

func (r *treeReader) array(depth int) (any, bool) {
	r.at++
	all := []any{}
	if r.next(']') {
		return all, true
	}
	for {
		v, ok := r.value(depth + 1)
		if !ok {
			return nil, false
		}
		all = append(all, v)
		if r.next(']') {
			return all, true
		}
		if !r.next(',') {
			return nil, false
		}
	}
}

// str reads a string. One with escapes is left to package json.
func (r *treeReader) str() (string, bool) {
	if r.at == len(r.text) || r.text[r.at] != '"' {
		return "", false
	}
	start, escaped := r.at, false
	for i := start + 1; i < len(r.text); i++ {
		switch c := r.text[i]; {
		case c == '"':
			r.at = i + 1
			if !escaped {
				return r.text[start+1 : i], true
			}
			var s string
			err := json.Unmarshal([]byte(r.text[start:r.at]), &s)
			return s, err == nil
		case c == '\\':
			escaped = true
			i++
		case c < ' ':
			return "", false
		}
	}
	return "", false
}

func (r *treeReader) number() (any, bool) {
	start := r.at
	r.word("-")
	switch {
	case r.word("0"):
	case !r.digits():
		return nil, false
	}
	if r.word(".") && !r.digits() {
		return nil, false
	}
	if r.word("e") || r.word("E") {
		if !r.word("+") {
			r.word("-")
		}
		if !r.digits() {
			return nil, false
		}
	}
	return json.Number(r.text[start:r.at]), true
}

func (r *treeReader) digits() bool {
	start := r.at
	for r.at < len(r.text) && r.text[r.at] >= '0' && r.text[r.at] <= '9' {
		r.at++
	}
	return r.at > start
}

// appendTree appends what [json.Marshal] makes of a tree, byte for byte: fingerprints of requests are made of it, and other
// releases make the same.
func appendTree(to []byte, tree any) []byte {
	switch v := tree.(type) {
	case nil:
		return append(to, "null"...)
	case bool:
		if v {
			return append(to, "true"...)
		}
		return append(to, "false"...)
	case json.Number:
		return append(to, v...)
	case string:
		return appendText(to, v)
	case []any:
		to = append(to, '[')
		for i, item := range v {
			if i > 0 {
				to = append(to, ',')
			}
			to = appendTree(to, item)
		}
		return append(to, ']')
	case map[string]any:
		var few [24]string
		to = append(to, '{')
		for i, name := range sortedKeys(few[:0], v) {
			if i > 0 {
				to = append(to, ',')
			}
			to = append(appendText(to, name), ':')
			to = appendTree(to, v[name])
		}
		return append(to, '}')
	}
	raw, err := json.Marshal(tree)
	if err != nil {
		panic(err) // a tree holds nothing else
	}
	return append(to, raw...)
}

// sortedKeys appends the keys of an object in their order.
func sortedKeys(to []string, object map[string]any) []string {
	for name := range object {
		to = append(to, name)
	}
	slices.Sort(to)
	return to
}

// appendText appends a string. One that package json would escape is left to it.
func appendText(to []byte, s string) []byte {
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ', c == '"', c == '\\', c == '<', c == '>', c == '&', c >= 0x80:
			raw, err := json.Marshal(s)
			if err != nil {
				panic(err) // strings always encode
			}
			return append(to, raw...)
		}
	}
	to = append(to, '"')
	to = append(to, s...)
	return append(to, '"')
}
