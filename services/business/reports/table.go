package reports

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/services/business/dailytotals"
)

// table adds up groups by some of their dimensions.
type table struct {
	dimensions []string
	picked     []bool // dimensions that it is grouped by
	rows       []*row
	at         map[string]*row
	totals     []int64
}

// row is one row of a table; keys are of all dimensions, and "" stands for those that it is not grouped by.
type row struct {
	day     *jsontype.Date
	keys    []string
	amounts []int64
}

func pick(dimensions, names []string) []bool {
	picked := make([]bool, len(dimensions))
	for i, name := range dimensions {
		picked[i] = slices.Contains(names, name)
	}
	return picked
}

func (t *table) names() (names []string) {
	for i, name := range t.dimensions {
		if t.picked[i] {
			names = append(names, name)
		}
	}
	return names
}

func (t *table) add(g dailytotals.Group) error {
	r := &row{keys: make([]string, len(g.Keys))}
	if t.picked[0] {
		r.day = &g.Day
	}
	for i, key := range g.Keys {
		if t.picked[i+1] {
			r.keys[i] = key
		}
	}
	r, err := t.row(r, len(g.Amounts))
	if err != nil {
		return err
	}
	return cmp.Or(dailytotals.Add(r.amounts, g.Amounts), dailytotals.Add(t.totals, g.Amounts))
}

// row returns the row that has the keys of r, which is r if there was none.
func (t *table) row(r *row, amounts int) (*row, error) {
	id := strings.Join(r.keys, "\x00")
	if r.day != nil {
		id = r.day.String() + "\x00" + id
	}
	if known := t.at[id]; known != nil {
		return known, nil
	}
	if len(t.rows) == maxRows {
		return nil, apierr.InvalidField("groupBy", apierr.Max, "the report has more than %d rows; ask for fewer days, or group by less", maxRows)
	}
	if t.at == nil {
		t.at = map[string]*row{}
	}
	r.amounts = make([]int64, amounts)
	t.rows, t.at[id] = append(t.rows, r), r
	return r, nil
}

// sort orders the rows by their dimensions.
func (t *table) sort() {
	slices.SortFunc(t.rows, func(a, b *row) int {
		if a.day != nil && b.day != nil {
			if c := strings.Compare(a.day.String(), b.day.String()); c != 0 {
				return c
			}
		}
		return slices.Compare(a.keys, b.keys)
	})
}

// text is a key in an answer: null where the table is not grouped by it, or the records have no value.
func (r *row) text(key int) *string {
	if r.keys[key] == "" {
		return nil
	}
	return &r.keys[key]
}

// rowBytes is about what a row takes as JSON.
const rowBytes = 1200

// rowsOf makes the rows of an answer.
func rowsOf[R any](t table, of func(*row) R) []R {
	rows := make([]R, len(t.rows))
	for i, r := range t.rows {
		rows[i] = of(r)
	}
	return rows
}
