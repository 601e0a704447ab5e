package resources

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// Record is a record as the API returns it. Numbers are [json.Number], which keeps them exact.
type Record map[string]any

// Decode reads an answer of the API into records.
func Decode(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("read answer of the API: %w", err)
	}
	return nil
}

// Text is a field as text; "" if it is null.
func (r Record) Text(name string) string {
	switch v := r[name].(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}

// First is the first of some fields that has a text; "" if none has.
func (r Record) First(names ...string) string {
	for _, name := range names {
		if text := r.Text(name); text != "" {
			return text
		}
	}
	return ""
}

// Number is a whole number; 0 if it is null.
func (r Record) Number(name string) int64 {
	n, ok := r[name].(json.Number)
	if !ok {
		return 0
	}
	v, err := n.Int64()
	if err != nil {
		return 0
	}
	return v
}

// Float is a number with decimals; 0 if it is null.
func (r Record) Float(name string) float64 {
	n, ok := r[name].(json.Number)
	if !ok {
		return 0
	}
	v, err := n.Float64()
	if err != nil {
		return 0
	}
	return v
}

// Has reports whether a field has a value.
func (r Record) Has(name string) bool { return r[name] != nil && r[name] != "" }

// Object is a field that is an object; nil = there is none.
func (r Record) Object(name string) Record {
	object, _ := r[name].(map[string]any)
	return object
}

// Texts are the elements of an array of texts.
func (r Record) Texts(name string) (all []string) {
	list, _ := r[name].([]any)
	for _, v := range list {
		if s, ok := v.(string); ok {
			all = append(all, s)
		}
	}
	return all
}

// Pairs are the fields of an object with texts, sorted by their names.
func (r Record) Pairs(name string) (all []string) {
	object, _ := r[name].(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if s, ok := object[key].(string); ok {
			all = append(all, key+": "+s)
		}
	}
	return all
}

// Records are the elements of an array of objects.
func (r Record) Records(name string) (all []Record) {
	list, _ := r[name].([]any)
	for _, v := range list {
		if m, ok := v.(map[string]any); ok {
			all = append(all, m)
		}
	}
	return all
}

// Shown is a field as text, whatever it has.
func (r Record) Shown(name string) string {
	switch r[name].(type) {
	case []any, map[string]any:
		raw, err := json.Marshal(r[name])
		if err != nil {
			return ""
		}
		return string(raw)
	}
	return r.Text(name)
}
