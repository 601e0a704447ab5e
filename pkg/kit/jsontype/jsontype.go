// Package jsontype holds JSON types shared by the API and events: times in milliseconds, dates, and fields that may be
// absent, null or set.
package jsontype

import (
	"encoding/json"
	"fmt"
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
