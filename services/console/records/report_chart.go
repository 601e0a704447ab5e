package records

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// maxBars is how many of the largest groups a chart shows.
const maxBars = 12

// reportChart draws the amount that a report is about, over the days or the hours, beside that of the days before, or of the largest groups.
// There is none of rows that are grouped by several things.
func reportChart(q *web.Request, title string, found sums) *web.Chart {
	if len(found.GroupBy) != 1 || len(found.Rows) == 0 {
		return nil
	}
	by, of := found.GroupBy[0], found.main()
	now := web.Series{Kind: web.Info, Name: datesOf(q, found.From, found.To)}
	span := web.Span{Of: q.Word(by)}
	if by != "day" && by != "hour" {
		rows := slices.Clone(found.Rows)
		slices.SortStableFunc(rows, func(a, b resources.Record) int { return cmp.Compare(b.Number(of), a.Number(of)) })
		for _, r := range rows[:min(len(rows), maxBars)] {
			span.Names = append(span.Names, nameOf(q, by, r))
			add(q, &now, r.Number(of))
		}
		return q.Bars(title, span, now)
	}
	steps := stepsOf(found.period, by)
	for _, step := range steps {
		if by == "day" {
			span.Names = append(span.Names, shortDay(q, step))
		} else {
			span.Names = append(span.Names, step+":00")
		}
	}
	fill(q, &now, found.period, by, of, steps)
	if found.Comparison == nil || len(steps) < 2 {
		return q.Bars(title, span, now)
	}
	before := web.Series{Kind: web.Off, Name: datesOf(q, found.Comparison.From, found.Comparison.To)}
	fill(q, &before, *found.Comparison, by, of, stepsOf(*found.Comparison, by))
	return q.Lines(title, span, now, before)
}

// stepsOf are the days of a period, or the hours of a day.
func stepsOf(p period, by string) (all []string) {
	if by == "hour" {
		for i := range 24 {
			all = append(all, strconv.Itoa(i))
		}
		return all
	}
	at, err := time.Parse(time.DateOnly, p.From)
	for ; err == nil && at.Format(time.DateOnly) <= p.To; at = at.AddDate(0, 0, 1) {
		all = append(all, at.Format(time.DateOnly))
	}
	return all
}

// fill adds the amounts of the steps to a series: 0 where there is no row.
func fill(q *web.Request, s *web.Series, p period, by, of string, steps []string) {
	at := map[string]int64{}
	for _, r := range p.Rows {
		at[r.Text(by)] = r.Number(of)
	}
	for _, step := range steps {
		add(q, s, at[step])
	}
}

// add adds an amount to a series.
func add(q *web.Request, s *web.Series, minor int64) {
	s.Values = append(s.Values, float64(minor)/math.Pow10(money.Digits(q.Company.Currency)))
	s.Texts = append(s.Texts, q.Amount(minor))
}

// nameOf is what a row is called that is grouped by one thing.
func nameOf(q *web.Request, by string, r resources.Record) string {
	for _, field := range []string{by + "Name", "name", by + "Number"} {
		if r.Has(field) {
			return r.Text(field)
		}
	}
	switch {
	case r.Has(by + "Rate"):
		return q.Percent(r.Text(by + "Rate"))
	case r.Has(by):
		return q.Word(r.Text(by))
	case r.Has(by + "Id"):
		return short(r.Text(by + "Id"))
	}
	return q.T("records.report.other")
}

func shortDay(q *web.Request, text string) string {
	at, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return text
	}
	return q.Date(at, "2 Jan")
}

// datesOf names a period.
func datesOf(q *web.Request, from, to string) string {
	if from == to {
		return day(q, from)
	}
	return day(q, from) + " – " + day(q, to)
}

// percentOf is a part in percent of a whole, with its sign.
func percentOf(q *web.Request, part, whole int64) string {
	n := math.Round(float64(part) / float64(whole) * 100)
	text := q.Percent(strconv.FormatFloat(n, 'f', 0, 64))
	if n > 0 {
		return "+" + text
	}
	return text
}
