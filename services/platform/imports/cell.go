package imports

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/spreadsheet"
)

// textOf is a cell as text: numbers as a user sees them.
func textOf(v spreadsheet.Value) string {
	if v.Kind == spreadsheet.Number || v.Kind == spreadsheet.Time {
		text, _ := spreadsheet.Decimal(v.Text)
		return text
	}
	return v.Text
}

// codes are columns of texts that often consist of digits. Nobody names a record 4E+12 or #N/A.
var codes = []string{"sku", "productSku", "variantSku", "barcode", keyExternal, "phone", "whatsappPhone", "inn", "kpp", "contractNumber", "telegramChatId"}

var (
	shortened = regexp.MustCompile(`^[+-]?[0-9](?:[.,][0-9]+)?[eE]\+[0-9]{2,3}$`)
	broken    = regexp.MustCompile(`^#(?:N/A|REF!|VALUE!|DIV/0!|NAME\?|NULL!|NUM!)$`)
)

// exactDigits is how many digits of a number spreadsheets keep.
const exactDigits = 15

// damaged is what a spreadsheet has lost of a cell before it was saved; nil = nothing.
func damaged(c column, v spreadsheet.Value) *apierr.Field {
	text := textOf(v)
	switch isText := c.code || c.field != nil && c.field.kind.Kind() == reflect.String; {
	case v.Kind == spreadsheet.Broken, c.code && broken.MatchString(text):
		return fault(apierr.Format, "is the error %s of a formula; correct it, or empty the cell", text)
	case isText && v.Kind == spreadsheet.Time:
		return fault(apierr.Format, "is a date in this file; format the column as text, and enter the value again")
	case c.code && shortened.MatchString(text), isText && v.Kind == spreadsheet.Number && wholeDigits(text) > exactDigits:
		return fault(apierr.Format, "is %s, a number that has lost digits; format the column as text, and enter the value again", v.Text)
	}
	return nil
}

// wholeDigits counts the digits of a decimal before its point.
func wholeDigits(text string) int {
	whole, _, _ := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	return len(whole)
}

func fault(code, message string, args ...any) *apierr.Field {
	return &apierr.Field{Code: code, Message: fmt.Sprintf(message, args...)}
}

func quote(s string) ([]byte, error) { return jsontype.Marshal(s) }

// value makes a cell the JSON of a field; nil leaves the field out. What the rules of the field say is left to the batch.
func (t *table) value(c column, v spreadsheet.Value) ([]byte, *apierr.Field) {
	text := textOf(v)
	f := c.field
	if f.kind.Kind() != reflect.String {
		text = strings.TrimSpace(text)
	}
	if text == "" {
		if f.nullable {
			return []byte("null"), nil
		}
		return nil, nil
	}
	if c.name == unitColumn {
		return quoted(unitOf(text))
	}
	switch f.kind {
	case reflect.TypeFor[money.Amount]():
		return t.numbers.amount(v)
	case reflect.TypeFor[money.Qty](), reflect.TypeFor[money.Percent]():
		return t.numbers.number(v)
	case reflect.TypeFor[jsontype.Date]():
		return t.date(v, text)
	case reflect.TypeFor[jsontype.Time]():
		return t.time(c, v, text)
	case reflect.TypeFor[uuid.UUID]():
		return quoted(text)
	}
	switch f.kind.Kind() { //nolint:exhaustive // the others are none of these
	case reflect.String:
		return quoted(text)
	case reflect.Bool:
		return boolean(text)
	case reflect.Int, reflect.Int32, reflect.Int64:
		return t.numbers.integer(v)
	case reflect.Float64:
		return t.numbers.number(v)
	}
	return nested(f.kind, text)
}

func quoted(text string) ([]byte, *apierr.Field) {
	raw, err := quote(text)
	if err != nil {
		return nil, fault(apierr.Type, "cannot be written as JSON")
	}
	return raw, nil
}

func boolean(text string) ([]byte, *apierr.Field) {
	switch strings.ToLower(text) {
	case "true", "1", "yes", "ja", "да":
		return []byte("true"), nil
	case "false", "0", "no", "nein", "нет":
		return []byte("false"), nil
	}
	return nil, fault(apierr.Type, "must be true or false, or yes or no")
}

// nested makes a cell an object or an array. A list of texts may also be written with commas.
func nested(kind reflect.Type, text string) ([]byte, *apierr.Field) {
	if kind == reflect.TypeFor[[]string]() && text[0] != '[' {
		var items []string
		for item := range strings.SplitSeq(text, ",") {
			items = append(items, strings.TrimSpace(item))
		}
		raw, err := json.Marshal(items)
		if err == nil {
			return raw, nil
		}
	}
	if !json.Valid([]byte(text)) {
		return nil, fault(apierr.Format, "must be JSON, as in the API; a longer text than a cell of a workbook can have was cut")
	}
	return []byte(text), nil
}

// days are forms of a day that programs write, most of them with a time. With points it is that of German and Russian, which means one thing.
var days = []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05", time.RFC3339, "2006-01-02 15:04:05Z07:00", "2.1.2006", "2.1.2006 15:04:05"}

func (t *table) date(v spreadsheet.Value, text string) ([]byte, *apierr.Field) {
	switch v.Kind { //nolint:exhaustive // the others are texts
	case spreadsheet.Number:
		return nil, fault(apierr.Format, "is the number %s; format the cell as a date", text)
	case spreadsheet.Time:
		day, ok := spreadsheet.Day(text, t.is1904)
		if !ok {
			return nil, fault(apierr.Format, "must be a date")
		}
		return quoted(day.Format(time.DateOnly))
	}
	for _, layout := range days {
		if at, err := time.Parse(layout, text); err == nil {
			if at.Hour()+at.Minute()+at.Second()+at.Nanosecond() > 0 {
				return nil, fault(apierr.Format, "must be a date without a time of day, such as 2026-11-20")
			}
			return quoted(at.Format(time.DateOnly))
		}
	}
	return quoted(text)
}

// time makes a cell an instant. Times without an offset are of the zone of the column, or of the company.
func (t *table) time(c column, v spreadsheet.Value, text string) ([]byte, *apierr.Field) {
	switch v.Kind { //nolint:exhaustive // the others are texts
	case spreadsheet.Number:
		return nil, fault(apierr.Format, "is the number %s; format the cell as a date and time", text)
	case spreadsheet.Time:
		day, ok := spreadsheet.Day(text, t.is1904)
		serial, err := strconv.ParseFloat(text, 64)
		if !ok || err != nil {
			return nil, fault(apierr.Format, "must be a date and time")
		}
		ofDay := time.Duration((serial - float64(int64(serial))) * float64(24*time.Hour)).Round(time.Millisecond)
		local := day.Add(ofDay)
		return quoted(inZone(local, c.zone).UTC().Format(jsontype.Layout))
	}
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", "2.1.2006 15:04", "2.1.2006 15:04:05"} {
		if at, err := time.ParseInLocation(layout, text, c.zone); err == nil {
			return quoted(at.UTC().Format(jsontype.Layout))
		}
	}
	return quoted(text)
}

// inZone takes the clock of a time for that of a zone.
func inZone(at time.Time, zone *time.Location) time.Time {
	return time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), zone)
}
