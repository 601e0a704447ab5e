package directories

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/services/business/scheduling"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// interval is one of the working hours of a resource.
type interval struct {
	Weekday int    `json:"weekday,omitempty"` // 1 = Monday; 0 = of no weekday
	From    string `json:"from"`              // HH:MM
	To      string `json:"to"`
}

// Measures of the grid: points for a day's width, and minutes of a point.
const (
	dayWidth  = 60
	gridLeft  = 44
	minutesAt = 5
)

// The hours of a resource that has none; see the reference on resources.
var always = []interval{{From: "09:00", To: "21:00"}}

// intervalsOf are the hours in a field of an entry.
func intervalsOf(e entry, field string) (all []interval) {
	raw, err := json.Marshal(e.fields[field])
	if err == nil {
		err = json.Unmarshal(raw, &all)
	}
	if err != nil {
		return nil // no hours
	}
	return all
}

// fieldsOf are the fields of a form; hours are one line, such as 09:00–12:30, 14:00–18:00.
func (p place) fieldsOf(q *web.Request, f web.Fields) []web.Field {
	fields := q.FieldsOf(f)
	for i := range fields {
		if field := &fields[i]; field.Name == p.Hours {
			field.Type, field.Fault = "", cmp.Or(faultOfHours(q, f.Err, p.Hours, hoursIn(f.Typed.Get(p.Hours), 0)), q.FaultWithin(f.Err, p.Hours))
			if f.Typed == nil {
				var e entry
				_ = web.Decode(f.Value, &e) // a new entry has none
				field.Value = textOf(intervalsOf(e, p.Hours))
				if field.Was != nil {
					field.Was = new(field.Value)
				}
			}
		}
	}
	return fields
}

// faultOfHours names the interval that the API refuses, and says how hours are typed.
func faultOfHours(q *web.Request, err error, field string, all []interval) string {
	known, ok := apierr.As(err)
	if !ok {
		return ""
	}
	for _, f := range known.Fields {
		for i, v := range all {
			if strings.HasPrefix(f.Field, fmt.Sprintf("%s[%d]", field, i)) {
				return v.From + "–" + v.To + ": " + q.T("directories.hours.fault")
			}
		}
	}
	return ""
}

// bodyOf is what a form sends.
func (p place) bodyOf(q *web.Request, f web.Fields) map[string]any {
	body := q.BodyOf(f, q.Form)
	if p.Hours != "" && q.Form.Has(p.Hours) {
		body[p.Hours] = append([]interval{}, hoursIn(q.Form.Get(p.Hours), 0)...)
	}
	return body
}

func weekOf(q *web.Request, e entry) *web.Week {
	w := grid(q, intervalsOf(e, "workingHours"))
	w.Zone = e.text("timeZone")
	if changes(q, mustHave("resources")) {
		w.Edit = q.Path("/directories/resources/" + e.id() + "/hours")
	}
	return w
}

func grid(q *web.Request, all []interval) *web.Week {
	w := &web.Week{Always: len(all) == 0}
	for hour := 0; hour <= 24; hour += 6 {
		w.Marks = append(w.Marks, web.Mark{Y: hour * 60 / minutesAt, Text: fmt.Sprintf("%02d:00", hour)})
	}
	for n := 1; n <= 7; n++ {
		key := "weekday." + strconv.Itoa(n)
		d := web.Day{Name: q.T(key), Short: q.T(key + ".short"), Field: "day" + strconv.Itoa(n), X: gridLeft + (n-1)*dayWidth}
		of := slices.DeleteFunc(slices.Clone(all), func(i interval) bool { return i.Weekday != n })
		d.Text = textOf(of)
		if w.Always {
			of = always
		}
		for _, i := range of {
			from, to := minutes(i.From), minutes(i.To)
			d.Bars = append(d.Bars, web.Bar{Y: from / minutesAt, Height: max((to-from)/minutesAt, 1), Text: d.Name + " " + i.From + "–" + i.To})
		}
		w.Days = append(w.Days, d)
	}
	return w
}

func textOf(all []interval) string {
	slices.SortFunc(all, func(x, y interval) int { return strings.Compare(x.From, y.From) })
	texts := make([]string, len(all))
	for i, v := range all {
		texts[i] = v.From + "–" + v.To
	}
	return strings.Join(texts, ", ")
}

// minutes are those since midnight; 0 for what is no time.
func minutes(clock string) int {
	hour, minute, _ := strings.Cut(clock, ":")
	h, _ := strconv.Atoi(hour)
	m, _ := strconv.Atoi(minute)
	return min(max(h*60+m, 0), 24*60)
}

type hoursPage struct {
	Header web.Header
	Fault  string
	Week   *web.Week
	Post   string
	Back   string
}

func (pages *Pages) hours(ctx context.Context, q *web.Request) (web.Answer, error) {
	e, err := pages.entry(ctx, q, place{Directory: mustHave("resources")}, q.HTTP.PathValue("id"))
	if err != nil {
		return web.Answer{}, err
	}
	return pages.hoursOf(q, e, weekOf(q, e), nil), nil
}

func (pages *Pages) hoursOf(q *web.Request, e entry, w *web.Week, err error) web.Answer {
	back := q.Path("/directories/resources/" + e.id())
	p := hoursPage{
		Header: web.Header{Title: q.T("directories.hours"), Facts: q.T("directories.hours.about", e.text("timeZone")), Crumbs: []web.Link{
			{Text: q.T("area.directories"), Href: q.Path("/directories")}, {Text: q.T("directory.resources"), Href: q.Path("/directories/resources")}, {Text: e.title(), Href: back},
		}},
		Week: w, Post: back + "/hours", Back: back,
	}
	if known, ok := apierr.As(err); ok && !slices.ContainsFunc(w.Days, func(d web.Day) bool { return d.Fault != "" }) {
		p.Fault = q.Why(known)
	}
	return web.Show("directories/hours", q.T("directories.hours"), p)
}

var (
	between  = regexp.MustCompile(`[,;]+`)
	dash     = regexp.MustCompile(`\s*(?:-|–|—|\.\.|\sto\s)\s*`)
	shortDay = regexp.MustCompile(`^\d{1,2}$`)
	shortAt  = regexp.MustCompile(`^(\d):(\d\d)$`)
)

// hoursIn reads the hours of a day as people type them: 9-12:30, 13:00–18:00. What it cannot read is left as it is, so that the API says
// what is wrong.
func hoursIn(text string, weekday int) (all []interval) {
	for _, part := range between.Split(text, -1) {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		ends := dash.Split(part, 2)
		if len(ends) == 1 {
			ends = append(ends, "")
		}
		all = append(all, interval{weekday, clock(ends[0]), clock(ends[1])})
	}
	return all
}

// clock completes a time: 9 and 9:30 are 09:00 and 09:30.
func clock(text string) string {
	text = strings.TrimSpace(text)
	switch {
	case shortDay.MatchString(text):
		return fmt.Sprintf("%02s:00", text)
	case shortAt.MatchString(text):
		return "0" + text
	}
	return text
}

// saveHours stores the week, or copies Monday to the other working days.
func (pages *Pages) saveHours(ctx context.Context, q *web.Request) (web.Answer, error) {
	e, err := pages.entry(ctx, q, place{Directory: mustHave("resources")}, q.HTTP.PathValue("id"))
	if err != nil {
		return web.Answer{}, err
	}
	form := map[int]string{}
	for n := 1; n <= 7; n++ {
		form[n] = q.Form.Get("day" + strconv.Itoa(n))
		if q.Form.Has("copy") && n <= 5 {
			form[n] = form[1]
		}
	}
	all := []interval{}
	for n := 1; n <= 7; n++ {
		all = append(all, hoursIn(form[n], n)...)
	}
	if q.Form.Has("copy") {
		return pages.hoursOf(q, e, grid(q, all), nil), nil
	}
	_, err = web.CallAdmin[scheduling.Resource](ctx, q, "updateResource", web.Input{Path: map[string]string{"id": e.id()}, Body: map[string]any{"workingHours": all}})
	if refused(err) {
		w := grid(q, all)
		for i := range w.Days {
			w.Days[i].Text, w.Days[i].Fault = form[i+1], faultOfDay(q, err, all, i+1)
		}
		return pages.hoursOf(q, e, w, err).Refuse(), nil
	}
	return web.Go(web.With(q.Path("/directories/resources/"+e.id()), "done", "saved")), err
}

// faultOfDay is what the API says of the hours of a day.
func faultOfDay(q *web.Request, err error, all []interval, weekday int) string {
	known, _ := apierr.As(err)
	for _, f := range known.Fields {
		for i, v := range all {
			at := fmt.Sprintf("workingHours[%d]", i)
			if v.Weekday == weekday && strings.HasPrefix(f.Field, at) {
				return strings.Trim(v.From+"–"+v.To, "–") + ": " + q.FaultText(f)
			}
		}
	}
	return ""
}
