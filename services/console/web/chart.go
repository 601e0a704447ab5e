package web

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"time"
)

// Chart shows counts over time as bars, or values as lines. The server draws it: what pages send is an SVG whose colours follow
// from classes. Make one with [Request.Bars], [Request.Lines] or [Request.Spark].
type Chart struct {
	Label  string // what it shows, for those who do not see it
	Kind   string // bars, lines or spark
	Width  int
	Height int
	Left   int // of the plot, behind the numbers of the axis
	Ticks  []Tick
	Times  []Tick
	Bars   []Rect
	Lines  []Polyline
	Legend []Chip
	Table  *Table // the figures; nil for a spark, whose label says them
}

// Tick is a number or a time at an axis.
type Tick struct {
	At     string // distance in the SVG
	Text   string
	Anchor string // start, middle or end
}

// Rect is a part of a bar.
type Rect struct{ X, Y, Width, Height, Class, Title string }

// Polyline is a series.
type Polyline struct{ Class, Points string }

// Series is what a chart shows: one value for each step, drawn in the colour of its kind.
type Series struct {
	Kind   string // such as [Good]
	Name   string
	Values []float64 // NaN = it is not known, which is a gap
	Texts  []string  // the values as people read them; nil = whole numbers
}

// Span is what a chart goes over: steps of time of the same length, or whatever has names.
type Span struct {
	From  time.Time
	Step  time.Duration
	Of    string   // what has the names
	Names []string // of the steps, in place of times
}

const (
	chartWidth, chartHeight = 640, 190
	chartLeft, chartBottom  = 44, 22
	chartTop                = 8
	sparkWidth, sparkHeight = 120, 24
)

// Bars draws series upon each other.
func (q *Request) Bars(label string, span Span, all ...Series) *Chart {
	c := q.axes(label, "bars", span, all, stacked(all))
	c.stack(q, span, all, stacked(all))
	return c
}

// Lines draws each series as a line, which is broken where a value is not known.
func (q *Request) Lines(label string, span Span, all ...Series) *Chart {
	top := highest(all)
	c := q.axes(label, "lines", span, all, top)
	n := steps(all)
	for _, s := range all {
		var points []string
		end := func() {
			if len(points) == 1 {
				points = append(points, points[0]) // a line of one point is a dot
			}
			if len(points) > 0 {
				c.Lines = append(c.Lines, Polyline{s.Kind, strings.Join(points, " ")})
			}
			points = nil
		}
		for i, v := range s.Values {
			if math.IsNaN(v) {
				end()
				continue
			}
			points = append(points, length(c.x(i, max(n-1, 1)))+","+length(c.y(v, top)))
		}
		end()
	}
	return c
}

// Spark is a small chart in a row of a table. Its label has to say what it shows, because it has no numbers.
func (q *Request) Spark(label string, all ...Series) *Chart {
	c := &Chart{Label: label, Kind: "spark", Width: sparkWidth, Height: sparkHeight}
	c.stack(q, Span{}, all, stacked(all))
	return c
}

// axes makes a chart with its axes, its legend and its table.
func (q *Request) axes(label, kind string, span Span, all []Series, top float64) *Chart {
	c := &Chart{Label: label, Kind: kind, Width: chartWidth, Height: chartHeight, Left: chartLeft}
	for _, v := range scale(top) {
		c.Ticks = append(c.Ticks, Tick{At: length(c.y(v, top)), Text: rough(q, v), Anchor: "end"})
	}
	n := steps(all)
	for i := 0; i < n; i += max(n/6, 1) {
		c.Times = append(c.Times, Tick{At: length(c.x(i, n)), Text: span.short(q, i), Anchor: "start"})
	}
	c.Table = &Table{Label: label, Columns: []Column{{Text: cmp.Or(span.Of, q.T("chart.from"))}}}
	for _, s := range all {
		c.Legend = append(c.Legend, Chip{s.Kind, s.Name})
		c.Table.Columns = append(c.Table.Columns, Column{Text: s.Name, Num: true})
	}
	for i := range n {
		row := []Cell{When(q.At(span.at(i)))}
		if span.Names != nil {
			row = []Cell{Text(span.Names[i])}
		}
		for _, s := range all {
			row = append(row, Number(s.text(q, i)))
		}
		c.Table.Rows = append(c.Table.Rows, row)
	}
	return c
}

// stack draws the values of each step upon each other.
func (c *Chart) stack(q *Request, span Span, all []Series, top float64) {
	n := steps(all)
	wide := float64(c.Width-c.Left) / float64(max(n, 1))
	for i := range n {
		sum := 0.0
		for _, s := range all {
			if math.IsNaN(s.Values[i]) || s.Values[i] <= 0 {
				continue
			}
			low, high := c.y(sum, top), c.y(sum+s.Values[i], top)
			sum += s.Values[i]
			b := Rect{X: length(c.x(i, n) + wide*.1), Y: length(high), Width: length(wide * .8), Height: length(max(low-high, 1)), Class: s.Kind}
			if c.Kind != "spark" {
				b.Title = span.short(q, i) + " · " + s.Name + ": " + s.text(q, i)
			}
			c.Bars = append(c.Bars, b)
		}
	}
}

func (c *Chart) bottom() int {
	if c.Kind == "spark" {
		return 0
	}
	return chartBottom
}

// x is the left end of a step.
func (c *Chart) x(i, n int) float64 {
	return float64(c.Left) + float64(i)*float64(c.Width-c.Left)/float64(max(n, 1))
}

func (c *Chart) y(v, top float64) float64 {
	head := 1.0
	if c.Kind != "spark" {
		head = chartTop
	}
	high := float64(c.Height-c.bottom()) - head
	return head + high - high*v/max(roundUp(top), 1)
}

func (s Span) at(i int) time.Time { return s.From.Add(time.Duration(i) * s.Step) }

// maxStep is how many characters of the name of a step have room at the axis.
const maxStep = 13

// short is what the axis calls a step.
func (s Span) short(q *Request, i int) string {
	if s.Names == nil {
		return s.at(i).In(q.Zone).Format("15:04")
	}
	if name := []rune(s.Names[i]); len(name) > maxStep {
		return string(name[:maxStep-1]) + "…"
	}
	return s.Names[i]
}

func (s Series) text(q *Request, i int) string {
	if math.IsNaN(s.Values[i]) {
		return "–"
	}
	if s.Texts != nil {
		return s.Texts[i]
	}
	return q.Count(int64(s.Values[i]))
}

// steps is how many values the series have in common.
func steps(all []Series) int {
	n := 0
	for i, s := range all {
		if i == 0 || len(s.Values) < n {
			n = len(s.Values)
		}
	}
	return n
}

func stacked(all []Series) (top float64) {
	for i := range steps(all) {
		sum := 0.0
		for _, s := range all {
			if s.Values[i] > 0 {
				sum += s.Values[i]
			}
		}
		top = max(top, sum)
	}
	return top
}

func highest(all []Series) (top float64) {
	for _, s := range all {
		for _, v := range s.Values {
			if !math.IsNaN(v) {
				top = max(top, v)
			}
		}
	}
	return top
}

// scale are the numbers of the axis: whole ones, from 0 to a round one at or above the highest value.
func scale(top float64) []float64 {
	end := roundUp(top)
	if end < 4 {
		return []float64{0, end}
	}
	return []float64{0, math.Round(end / 2), end}
}

// rough is a number of the axis, which has room for few digits.
func rough(q *Request, v float64) string {
	switch n := int(v); {
	case n >= 1_000_000 && n%100_000 == 0:
		return strconv.FormatFloat(v/1_000_000, 'f', -1, 64) + "\u202fM"
	case n >= 10_000 && n%100 == 0:
		return strconv.FormatFloat(v/1000, 'f', -1, 64) + "\u202fk"
	default:
		return q.Count(int64(n))
	}
}

// roundUp is 1, 2, 4, 6 or 10 times a power of ten.
func roundUp(v float64) float64 {
	if v <= 1 {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 4, 6} {
		if v <= m*unit {
			return m * unit
		}
	}
	return 10 * unit
}

// length is a distance as SVG has it, to a tenth.
func length(v float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
}
