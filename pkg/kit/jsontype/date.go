package jsontype

import (
	"fmt"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/jackc/pgx/v5/pgtype"
)

const oneDay = 24 * time.Hour

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

// At returns the instant at which clocks in the zone show minute of the date, also on days of 23 and 25 hours. Of an hour that occurs twice, because clocks are
// set back, it is the first; a time that clocks skip is the instant of the change. So it never decreases when minute grows, and
// every local day is divided without gaps: a day lasts from its minute 0 to minute 0 of the next one.
func (d Date) At(minute int, zone *time.Location) time.Time {
	year, month, day := time.Time(d).Date()
	wall := time.Date(year, month, day, 0, minute, 0, 0, time.UTC)
	// The offset from UTC is always less than a day, so these are certainly before and after.
	_, before := wall.Add(-oneDay).In(zone).Zone()
	later := wall.Add(oneDay).In(zone)
	_, after := later.Zone()
	first := wall.Add(-time.Duration(before) * time.Second)
	if before == after {
		return first
	}
	change, _ := later.ZoneBounds()
	second := wall.Add(-time.Duration(after) * time.Second)
	switch {
	case first.Before(change):
		return first
	case second.Before(change):
		return change.UTC()
	default:
		return second
	}
}
