package settings

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tradegrid/tradegrid/services/console/web"
)

// reminders is the setting with the minutes before a booking at which its customer is reminded. A form has a number and a unit for each.
const (
	reminders    = "bookingReminders"
	reminderTime = "reminder.time"
	reminderUnit = "reminder.unit"
	mostReminded = 5
)

// units are those that people say how long before in, the largest first, with their minutes.
var units = []struct {
	name    string
	minutes int
}{{"days", 24 * 60}, {"hours", 60}, {"minutes", 1}}

// reminderRows makes rows of the field, as many as a company may have: those that say something, and then empty ones.
func reminderRows(q *web.Request, f web.Fields, field *web.Field, all []int32) {
	field.Fault = q.FaultWithin(f.Err, reminders)
	field.Was = new(minutesText(all))
	times, in := make([]string, len(all)), make([]string, len(all))
	for i, minutes := range all {
		times[i], in[i] = inUnit(int(minutes))
	}
	if f.Typed != nil {
		times, in, field.Was = f.Typed[reminderTime], f.Typed[reminderUnit], new(f.Typed.Get("was."+reminders))
	}
	field.Type = "spans"
	for i := range mostReminded {
		row := web.SpanRow{No: i + 1, Time: reminderTime, Unit: reminderUnit}
		unit := "hours"
		if i < len(times) && i < len(in) {
			row.Value, unit = times[i], in[i]
		}
		for _, u := range slices.Backward(units) {
			row.Units = append(row.Units, web.Option{Value: u.name, Text: q.T("settings.reminder." + u.name), Selected: u.name == unit})
		}
		if row.Value == "" && i > 0 {
			field.MoreSpans = append(field.MoreSpans, row)
			continue
		}
		field.Spans = append(field.Spans, row)
	}
}

// inUnit is how people say a number of minutes.
func inUnit(minutes int) (n, unit string) {
	for _, u := range units {
		if minutes%u.minutes == 0 {
			return strconv.Itoa(minutes / u.minutes), u.name
		}
	}
	return strconv.Itoa(minutes), "minutes"
}

func minutesText(all []int32) string {
	texts := make([]string, len(all))
	for i, minutes := range all {
		texts[i] = strconv.Itoa(int(minutes))
	}
	return strings.Join(texts, ",")
}

// reminded are the minutes in a form; ok is false if they are what they were. What is no number is sent as it was typed, for the API to refuse.
func reminded(form url.Values) (all []any, ok bool) {
	in, texts := form[reminderUnit], []string{}
	all = []any{}
	for i, text := range form[reminderTime] {
		text = strings.TrimSpace(text)
		if text == "" || i >= len(in) || i >= mostReminded {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n > maxTyped {
			all, texts = append(all, text), append(texts, text)
			continue
		}
		for _, u := range units {
			if u.name == in[i] {
				all, texts = append(all, n*u.minutes), append(texts, strconv.Itoa(n*u.minutes))
			}
		}
	}
	return all, form.Has(reminderTime) && strings.Join(texts, ",") != form.Get("was."+reminders)
}

// maxTyped is how large a number can be that is counted in a unit; the API allows less.
const maxTyped = 1_000_000

// remindedText says when customers are reminded.
func remindedText(q *web.Request, all []int32) string {
	var texts []string
	for _, minutes := range all {
		texts = append(texts, q.Duration(time.Duration(minutes)*time.Minute))
	}
	return strings.Join(texts, ", ")
}
