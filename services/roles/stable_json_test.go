package roles_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// member is a field of an object that keeps the order of its fields.
type member struct {
	key   string
	value any
}

type object []member

func (o object) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			out.WriteByte(',')
		}
		for j, v := range []any{m.key, m.value} {
			var text bytes.Buffer
			e := json.NewEncoder(&text)
			e.SetEscapeHTML(false)
			if err := e.Encode(v); err != nil {
				return nil, err
			}
			out.Write(bytes.TrimSpace(text.Bytes()))
			if j == 0 {
				out.WriteByte(':')
			}
		}
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// readOrdered reads a JSON text into objects, []any, strings, [json.Number], booleans and nil.
func readOrdered(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return readValue(d)
}

func readValue(d *json.Decoder) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := readValue(d)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = d.Token()
		return list, err
	case json.Delim('{'):
		fields := object{}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			v, err := readValue(d)
			if err != nil {
				return nil, err
			}
			fields = append(fields, member{fmt.Sprint(key), v})
		}
		_, err = d.Token()
		return fields, err
	}
	return token, nil
}

// stabilizer puts values that are the same in each run in place of those that differ: ids, times, secrets and cursors keep
// their form, and the same id stays the same within an example.
type stabilizer struct {
	now time.Time
	ids map[string]string
}

func newStabilizer() *stabilizer { return &stabilizer{now: time.Now(), ids: map[string]string{}} }

// Placeholders of examples.
var (
	exampleTime   = time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC) //nolint:gochecknoglobals // constants
	anID          = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	aTime         = regexp.MustCompile(`\b\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d))?`)
	aSignature    = regexp.MustCompile(`expires=\d+&signature=[A-Za-z0-9._-]+`)
	aTokenText    = regexp.MustCompile(`svc_(test|live)_[A-Za-z0-9_-]+`)
	aTraceID      = regexp.MustCompile(`^[0-9a-f]{32}$`)
	exampleFields = map[string]any{ //nolint:gochecknoglobals // a constant table
		"nextCursor": "b3BhcXVl", "durationMs": json.Number("12"), "boardOrder": json.Number("1795512600000000"), "secretHint": "dHk=", "address": "192.0.2.1", "prefix": "svc_live_example",
	}
	exampleForms = map[string]string{"address": "0.0.", "prefix": "svc_"} // how values of fields begin that other records have, too
)

const (
	exampleSecret = "whsec_ZXhhbXBsZSwgbm90IGEgc2VjcmV0IG9mIGFueWJvZHk="
	exampleToken  = "svc_${1}_example_not-a-secret"
)

// value returns v with placeholders; key is the name of its field.
func (s *stabilizer) value(key string, v any) any {
	switch v := v.(type) {
	case object:
		out := make(object, len(v))
		for i, m := range v {
			out[i] = member{s.text(m.key), s.value(m.key, m.value)}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = s.value(key, v[i])
		}
		return out
	case nil:
		return nil
	case string:
		if fixed, ok := exampleFields[key].(string); ok && strings.HasPrefix(v, exampleForms[key]) {
			return fixed
		}
		if stable := s.text(v); stable != v || key != "expiresAt" {
			return stable
		}
		return "2026-11-20T10:30:00.000Z" // of a signed URL, which lasts until a whole minute
	case json.Number:
		if fixed, ok := exampleFields[key].(json.Number); ok {
			return fixed
		}
	}
	return v
}

func (s *stabilizer) text(v string) string {
	switch {
	case strings.HasPrefix(v, "whsec_"):
		return exampleSecret
	case aTraceID.MatchString(v):
		return "4bf92f3577b34da6a3ce929d0e0e4736"
	}
	v = aTime.ReplaceAllStringFunc(v, s.time)
	v = aSignature.ReplaceAllString(v, "expires=1795512600&signature=example")
	v = aTokenText.ReplaceAllString(v, exampleToken)
	return anID.ReplaceAllStringFunc(v, func(id string) string {
		if strings.HasPrefix(id, "00000000-") { // of a unit that is built in
			return id
		}
		if s.ids[id] == "" {
			s.ids[id] = fmt.Sprintf("0192d3a5-6f0e-7c1a-9b1e-%012x", len(s.ids)+1)
		}
		return s.ids[id]
	})
}

// time keeps a time to the minute, which a request has set, and moves any other by whole days, so that those of today are the same;
// it moves a date that is at most two days from today.
func (s *stabilizer) time(v string) string {
	if t, err := time.Parse(time.DateOnly, v); err == nil {
		today := time.Date(s.now.Year(), s.now.Month(), s.now.Day(), 0, 0, 0, 0, time.UTC)
		days := int(t.Sub(today) / (24 * time.Hour))
		if max(days, -days) > 2 {
			return v
		}
		return exampleTime.AddDate(0, 0, days).Format(time.DateOnly)
	}
	t, err := time.Parse(time.RFC3339, v)
	if err != nil || t.Equal(t.Truncate(time.Minute)) {
		return v
	}
	days := int(t.Sub(s.now).Round(24*time.Hour) / (24 * time.Hour))
	return exampleTime.AddDate(0, 0, days).In(t.Location()).Format("2006-01-02T15:04:05.000Z07:00")
}

// shorten leaves two entries of each list of objects, and five of each other one.
func shorten(v any) any {
	switch v := v.(type) {
	case object:
		out := make(object, len(v))
		for i, m := range v {
			out[i] = member{m.key, shorten(m.value)}
		}
		return out
	case []any:
		most := 5
		if slices.ContainsFunc(v, func(e any) bool { _, ok := e.(object); return ok }) {
			most = 2
		}
		out := make([]any, min(len(v), most))
		for i := range out {
			out[i] = shorten(v[i])
		}
		return out
	}
	return v
}

// shapeOf writes the keys and types of a value, in order.
func shapeOf(v any) string {
	var out strings.Builder
	switch v := v.(type) {
	case object:
		for _, m := range v {
			fmt.Fprintf(&out, "%s:%s ", m.key, shapeOf(m.value))
		}
		return "{" + out.String() + "}"
	case []any:
		for _, e := range v {
			out.WriteString(shapeOf(e) + " ")
		}
		return "[" + out.String() + "]"
	}
	return fmt.Sprintf("%T", v)
}

// A placeholder stands for what it is the placeholder of, and not for other fields of its name.
func TestPlaceholdersOfExamples(t *testing.T) {
	t.Parallel()
	s := newStabilizer()
	for key, rows := range map[string]map[string]string{
		"prefix":  {"BIKE": "BIKE", "svc_test_AbCdEf": "svc_live_example"},
		"address": {"1 Harbour Lane": "1 Harbour Lane", "0.0.0.0": "192.0.2.1"},
	} {
		for given, want := range rows {
			require.Equal(t, want, s.value(key, given))
		}
	}
}
