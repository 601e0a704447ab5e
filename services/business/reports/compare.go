package reports

import (
	"reflect"
	"strings"
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
)

// Values of compare.
const (
	comparePrevious = "previous"
	compareYear     = "year"
)

// Report is what all reports answer.
type Report[R, T any] struct {
	Frame
	Sums[R, T]
	Comparison *Comparison[R, T] `json:"comparison" doc:"null without compare"`
}

// Sums add up some days.
type Sums[R, T any] struct {
	Rows   []R `json:"rows" doc:"in the order of what they are grouped by, as groupBy lists it; none for days without records"`
	Totals T   `json:"totals" doc:"of all rows"`
}

// Comparison adds up the days that those of a report are compared with.
type Comparison[R, T any] struct {
	From jsontype.Date `json:"from"`
	To   jsontype.Date `json:"to"`
	Sums[R, T]
}

// SchemaName implements [jsontype.Named].
func (Comparison[R, T]) SchemaName() string {
	return "Report" + strings.TrimSuffix(reflect.TypeFor[R]().Name(), "Row") + "Comparison"
}

// Bytes is about how many bytes the answer takes.
func (r Report[R, T]) Bytes() int {
	rows := len(r.Rows)
	if r.Comparison != nil {
		rows += len(r.Comparison.Rows)
	}
	return rows * rowBytes
}

// compare reads what a report has of its days, and of those that they are compared with.
func compare[R, T any](days Days, read func(Days) (Frame, Sums[R, T], error)) (Report[R, T], error) {
	frame, sums, err := read(days)
	r := Report[R, T]{Frame: frame, Sums: sums}
	other := days.before()
	if err != nil || other == nil {
		return r, err
	}
	_, before, err := read(*other)
	r.Comparison = &Comparison[R, T]{other.From, other.To, before}
	return r, err
}

// before are the days that these are compared with; nil = none.
func (d Days) before() *Days {
	from, to := time.Time(d.From), time.Time(d.To)
	switch d.Compare {
	case comparePrevious:
		return &Days{From: jsontype.Date(from.Add(from.Sub(to)).AddDate(0, 0, -1)), To: jsontype.Date(from.AddDate(0, 0, -1))}
	case compareYear:
		return &Days{From: jsontype.Date(yearBefore(from)), To: jsontype.Date(yearBefore(to))}
	}
	return nil
}

// yearBefore is the same day a year before; of the 29th of February, the 28th.
func yearBefore(day time.Time) time.Time {
	before := day.AddDate(-1, 0, 0)
	if before.Month() != day.Month() {
		return before.AddDate(0, 0, -1)
	}
	return before
}

// alone returns an error for days that are compared: the rows of a file are of one period.
func (d Days) alone() error {
	if d.Compare == "" {
		return nil
	}
	return apierr.InvalidField("compare", apierr.Unknown, "is unknown in files; export each period by itself")
}
