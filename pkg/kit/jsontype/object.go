package jsontype

import (
	"bytes"
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"
	"github.com/jackc/pgx/v5/pgtype"
)

// Object is the text of an arbitrary JSON object. Columns of this type are read with a cast to TEXT.
type Object string

// MarshalJSON implements [json.Marshaler].
func (o Object) MarshalJSON() ([]byte, error) {
	if o == "" {
		return []byte("null"), nil
	}
	return []byte(o), nil
}

// UnmarshalJSON implements [json.Unmarshaler]; the text is kept unchanged.
func (o *Object) UnmarshalJSON(b []byte) error {
	*o = Object(b)
	return nil
}

// ScanText lets pgx decode the value, in canonical form.
func (o *Object) ScanText(v pgtype.Text) error {
	*o = Object(v.String).Canonical()
	return nil
}

// Schema implements [huma.SchemaProvider].
func (Object) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// Canonical returns the object with sorted keys and without whitespace, so that equal objects have equal text. Strings
// become valid UTF-8, numbers stay as written, and text that is not JSON is returned unchanged.
func (o Object) Canonical() Object {
	dec := json.NewDecoder(bytes.NewReader([]byte(o)))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return o
	}
	raw, err := Marshal(v)
	if err != nil {
		return o
	}
	return Object(raw)
}

// Marshal encodes JSON as responses and events have it: without escapes of HTML.
func Marshal(v any) (json.RawMessage, error) {
	var out written
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return json.RawMessage(bytes.TrimSuffix(out, []byte("\n"))), nil
}

// written takes what an encoder writes, which is all at once, without room for more: a [bytes.Buffer] doubles.
type written []byte

func (w *written) Write(p []byte) (int, error) {
	*w = append(*w, p...)
	return len(p), nil
}
