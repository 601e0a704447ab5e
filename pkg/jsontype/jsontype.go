// Package jsontype holds JSON types shared by the API and events: times in milliseconds, dates, and fields that may be
// absent, null or set.
package jsontype

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/jackc/pgx/v5/pgtype"
)

// Layout is the format of times in responses and events: RFC 3339 in UTC with milliseconds.
const Layout = "2006-01-02T15:04:05.000Z"

// Time is a point in time. It parses RFC 3339 with any offset and is written in [Layout].
type Time time.Time

// At returns a Time with microsecond precision, which is what the database stores.
func At(t time.Time) Time { return Time(t.UTC().Truncate(time.Microsecond)) }

// Std returns the time as a [time.Time] in UTC.
func (t Time) Std() time.Time { return time.Time(t).UTC() }

// String returns the text used in JSON.
func (t Time) String() string { return t.Std().Format(Layout) }

// MarshalJSON implements [json.Marshaler].
func (t Time) MarshalJSON() ([]byte, error) {
	return t.Std().AppendFormat(make([]byte, 0, len(Layout)+2), `"`+Layout+`"`), nil
}

// UnmarshalJSON implements [json.Unmarshaler].
func (t *Time) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("read time: %w", err)
	}
	return t.UnmarshalText([]byte(s))
}

// UnmarshalText parses RFC 3339.
func (t *Time) UnmarshalText(b []byte) error {
	v, err := time.Parse(time.RFC3339, string(b))
	if err != nil {
		return fmt.Errorf("%q is not a date-time: use RFC 3339 such as 2026-11-20T09:30:00Z", b)
	}
	*t = At(v)
	return nil
}

// Schema implements [huma.SchemaProvider].
func (Time) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time"}
}

// ScanTimestamptz lets pgx decode the value.
func (t *Time) ScanTimestamptz(v pgtype.Timestamptz) error {
	if !v.Valid {
		return fmt.Errorf("scan time: the column is null")
	}
	*t = At(v.Time)
	return nil
}

// TimestamptzValue lets pgx encode the value.
func (t Time) TimestamptzValue() (pgtype.Timestamptz, error) {
	return pgtype.Timestamptz{Time: t.Std(), Valid: true}, nil
}

// OrNull is embedded in a struct to make its pointer fields nullable; other fields need a tag.
type OrNull struct{}

// TransformSchema implements [huma.SchemaTransformer].
func (OrNull) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Nullable = true
	return s
}

// Date is a calendar date, YYYY-MM-DD.
type Date time.Time

// String returns the text used in JSON.
func (d Date) String() string { return time.Time(d).Format(time.DateOnly) }

// MarshalText implements [encoding.TextMarshaler].
func (d Date) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText parses YYYY-MM-DD.
func (d *Date) UnmarshalText(b []byte) error {
	v, err := time.Parse(time.DateOnly, string(b))
	if err != nil {
		return fmt.Errorf("%q is not a date: use YYYY-MM-DD", b)
	}
	*d = Date(v)
	return nil
}

// Schema implements [huma.SchemaProvider].
func (Date) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date"}
}

// ScanDate lets pgx decode the value.
func (d *Date) ScanDate(v pgtype.Date) error {
	if !v.Valid {
		return fmt.Errorf("scan date: the column is null")
	}
	*d = Date(v.Time)
	return nil
}

// DateValue lets pgx encode the value.
func (d Date) DateValue() (pgtype.Date, error) {
	return pgtype.Date{Time: time.Time(d), Valid: true}, nil
}

// Optional is a field of a PATCH body: absent (unchanged), null (cleared) or set.
// Tag the field `json:"…,omitzero"`, and `nullable:"true"` where null is allowed.
type Optional[T any] struct {
	Set   bool // the field was in the body
	Null  bool // it was null
	Value T    // its value when Set and not Null
}

// Some returns a field that is set to v.
func Some[T any](v T) Optional[T] { return Optional[T]{Set: true, Value: v} }

// UnmarshalJSON implements [json.Unmarshaler]; it is also called for null.
func (o *Optional[T]) UnmarshalJSON(b []byte) error {
	o.Set = true
	if bytes.Equal(b, []byte("null")) {
		o.Null = true
		return nil
	}
	return json.Unmarshal(b, &o.Value)
}

// MarshalJSON implements [json.Marshaler].
func (o Optional[T]) MarshalJSON() ([]byte, error) {
	if !o.Set || o.Null {
		return []byte("null"), nil
	}
	return json.Marshal(o.Value)
}

// Schema implements [huma.SchemaProvider]: the schema of the value.
func (Optional[T]) Schema(r huma.Registry) *huma.Schema {
	s := r.Schema(reflect.TypeFor[T](), true, "")
	if s.Ref == "" {
		c := *s
		c.Nullable = false
		return &c
	}
	return s
}

// Ptr returns nil for null, otherwise a pointer to the value. It is only meaningful if Set.
func (o Optional[T]) Ptr() *T {
	if !o.Set || o.Null {
		return nil
	}
	return &o.Value
}

// Apply changes *dst if the field was sent with a different value, and reports whether it did.
func Apply[T comparable](dst *T, o Optional[T]) bool {
	if !o.Set || o.Null || *dst == o.Value {
		return false
	}
	*dst = o.Value
	return true
}

// ApplyNullable is [Apply] for a field that null clears.
func ApplyNullable[T comparable](dst **T, o Optional[T]) bool {
	if !o.Set {
		return false
	}
	v := o.Ptr()
	if (v == nil && *dst == nil) || (v != nil && *dst != nil && *v == **dst) {
		return false
	}
	*dst = v
	return true
}
