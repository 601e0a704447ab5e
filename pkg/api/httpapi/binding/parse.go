package binding

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

// Limits of a JSON body; see docs/reference/limits.md#request-size.
const (
	maxDepth  = 24   // nesting levels of objects and arrays
	maxFields = 1000 // fields of an object
	maxKey    = 1024 // bytes of a key: errors repeat the keys above a value
)

// What a body takes when it is parsed: a short object takes fifty times its bytes. The sum is bounded by the size of the body, at which
// twice as much is left as bodies of usual records take.
const (
	costText   = 16 // and its bytes, those of a key too
	costNumber = 32 // and its digits
	costArray  = 64
	costItem   = 32
	costObject = 64
	costField  = 48
	costFields = 256 // of an object that has any

	spare   = 8 << 20
	perByte = 16
)

// treeBytes is what the values of a body of so many bytes may take.
func treeBytes(size int) int { return spare + perByte*size }

// Parse reads one JSON value: objects as map[string]any, arrays as []any, numbers as [json.Number]. What it rejects is
// a 400 with the fields: a key that occurs twice, because JSON parsers differ in which of the values they use; text that is no
// Unicode, such as half of a surrogate pair; and values beyond the limits. It stops when there are more faults than a response lists.
func Parse(raw []byte) (any, error) { return (&parser{raw: raw}).parse() }

func newDecoder(raw []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true))
}

func (p *parser) parse() (any, error) {
	p.dec, p.left = newDecoder(p.raw), treeBytes(len(p.raw))
	v, err := p.value(1)
	if err == nil {
		err = p.end()
	}
	if err != nil && !errors.Is(err, errStopped) {
		p.syntax(err)
	}
	return v, p.faults.Err()
}

type parser struct {
	raw    []byte
	dec    *jsontext.Decoder
	left   int // bytes that values may take
	faults apierr.Fields
	items  bool // bodies of items are checked, and kept as they were sent; see [Items]
}

// errStopped ends parsing; the faults say why.
var errStopped = errors.New("parsing has stopped")

func (p *parser) value(depth int) (any, error) {
	token, err := p.dec.ReadToken()
	if err != nil {
		return nil, err //nolint:wrapcheck // Parse inspects its type
	}
	switch token.Kind() {
	case '{', '[':
		if depth > maxDepth {
			return nil, p.stop(p.dec.StackPointer(), apierr.Max, "must be nested at most %d levels deep", maxDepth)
		}
		if token.Kind() == '{' {
			return p.object(depth)
		}
		return p.array(depth)
	case '"':
		text := token.String()
		return text, p.spend(costText + len(text))
	case '0':
		number := json.Number(token.String())
		return number, p.spend(costNumber + len(number))
	case 't', 'f':
		return token.Bool(), nil
	default:
		return nil, nil //nolint:nilnil // JSON null
	}
}

func (p *parser) object(depth int) (any, error) {
	obj, first := map[string]any{}, costFields
	if err := p.spend(costObject); err != nil {
		return nil, err
	}
	for p.dec.PeekKind() != '}' {
		token, err := p.dec.ReadToken()
		if err != nil {
			return nil, err //nolint:wrapcheck // Parse inspects its type
		}
		name := token.String()
		if len(name) > maxKey {
			return nil, p.stop(p.dec.StackPointer().Parent(), apierr.Max, "has a key of more than %d bytes; shorten it", maxKey)
		}
		if err := p.spend(costField + first + len(name)); err != nil {
			return nil, err
		}
		first = 0
		if _, twice := obj[name]; twice {
			if p.faults.Add(p.path(p.dec.StackPointer()), apierr.Conflict, "is a duplicate key; send it once"); p.faults.Full() {
				return nil, errStopped
			}
		}
		start, left := p.dec.InputOffset(), p.left
		if obj[name], err = p.value(depth + 1); err != nil {
			return nil, err
		}
		if p.items && depth == itemDepth && name == itemBody {
			obj[name] = json.RawMessage(bytes.TrimLeft(p.raw[start:p.dec.InputOffset()], ": \t\r\n"))
			p.left = left // what was made of the body of one item is not held with that of the next
		}
		if len(obj) > maxFields {
			return nil, p.stop(p.dec.StackPointer().Parent(), apierr.Max, "must have at most %d fields", maxFields)
		}
	}
	_, err := p.dec.ReadToken()
	return obj, err //nolint:wrapcheck // Parse inspects its type
}

func (p *parser) array(depth int) (any, error) {
	items := []any{}
	if err := p.spend(costArray); err != nil {
		return nil, err
	}
	for p.dec.PeekKind() != ']' {
		item, err := p.value(depth + 1)
		if err == nil {
			err = p.spend(costItem)
		}
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	_, err := p.dec.ReadToken()
	return items, err //nolint:wrapcheck // Parse inspects its type
}

// spend takes what a value takes from what is left.
func (p *parser) spend(n int) error {
	if p.left -= n; p.left >= 0 {
		return nil
	}
	p.faults.Add(bodyField, apierr.Max, "has too many small values for its size; send it in several requests")
	return errStopped
}

// end checks that nothing follows the value.
func (p *parser) end() error {
	if _, err := p.dec.ReadToken(); errors.Is(err, io.EOF) {
		return nil
	}
	p.faults.Add(bodyField, apierr.Format, "must be a single JSON value: remove the data after it")
	return errStopped
}

func (p *parser) stop(at jsontext.Pointer, code, format string, args ...any) error {
	p.faults.Add(p.path(at), code, format, args...)
	return errStopped
}

// bodyField is the field of errors that concern the body as a whole.
const bodyField = "body"

// syntax adds the fault of a body that is not valid JSON. It names the field if the error is in its value.
func (p *parser) syntax(err error) {
	var at *jsontext.SyntacticError
	if !errors.As(err, &at) || errors.Is(err, io.ErrUnexpectedEOF) {
		p.faults.Add(bodyField, apierr.Format, "is not valid JSON: unexpected end of input")
		return
	}
	field := bodyField
	if at.JSONPointer != "" {
		field = p.path(at.JSONPointer)
	}
	p.faults.Add(field, apierr.Format, "is not valid JSON: %s at byte %d", at.Err, at.ByteOffset+1)
}

// path writes a pointer into the value that is being read as clients see it, such as lines[2].qty.
func (p *parser) path(to jsontext.Pointer) string {
	path, level := "", 0
	for token := range to.Tokens() {
		level++
		if kind, _ := p.dec.StackIndex(min(level, p.dec.StackDepth())); kind == '[' {
			path += "[" + token + "]"
			continue
		}
		path = join(path, token)
	}
	return cmp.Or(path, bodyField)
}
