package records

import (
	"context"
	"strings"
	"time"

	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// sumsTable fills the table with rows and totals, and beside them what the days before had.
func (pages *Pages) sumsTable(ctx context.Context, q *web.Request, columns []resources.Column, found sums, t *web.Table) error {
	names := &directories{q: q}
	pairs, of := found.pairs(columns), found.main()
	row := func(now, before resources.Record) ([]web.Cell, error) {
		cells := make([]web.Cell, len(columns), len(columns)+2)
		for i, c := range columns {
			cell, err := pages.cell(ctx, q, c, now, names)
			if err != nil {
				return nil, err
			}
			cells[i] = cell
		}
		if found.Comparison != nil {
			cells = append(cells, value(q, resources.Column{Name: of, Kind: resources.AsAmount}, before), growth(q, now, before, of))
		}
		return cells, nil
	}
	for _, c := range columns {
		t.Columns = append(t.Columns, web.Column{Text: label(q, c), Num: c.Kind.End()})
	}
	if c := found.Comparison; c != nil {
		t.Columns = append(t.Columns, web.Column{Text: q.T("records.report.before", q.Label(of), datesOf(q, c.From, c.To)), Num: true}, web.Column{Text: q.T("records.report.change"), Num: true})
	}
	for _, p := range pairs[:min(len(pairs), maxRows)] {
		cells, err := row(p.now, p.before)
		if err != nil {
			return err
		}
		t.Rows = append(t.Rows, cells)
	}
	if len(pairs) == 0 {
		return nil
	}
	var before resources.Record
	if found.Comparison != nil {
		before = found.Comparison.Totals
	}
	foot, err := row(found.Totals, before)
	if err == nil && foot[0].Text == "" {
		foot[0] = web.Text(q.T("records.sum"))
	}
	t.Foot = foot
	return err
}

// main is the amount that a report is about.
func (found sums) main() string {
	if found.Totals["netTotal"] != nil {
		return "netTotal"
	}
	return "total"
}

// pair is a row of a report, and that of the days before which belongs to it; either may have no sums.
type pair struct{ now, before resources.Record }

// pairs are the rows with those of the days before: first the rows that there are, in their order, then what only those days had.
func (found sums) pairs(columns []resources.Column) (all []pair) {
	at := map[string]int{}
	for i, r := range found.Rows {
		all = append(all, pair{now: r})
		at[found.key(columns, r)] = i
	}
	if found.Comparison == nil {
		return all
	}
	for _, r := range found.Comparison.Rows {
		moved := resources.Record{}
		for _, c := range columns {
			if found.Totals[c.Name] == nil {
				moved[c.Name] = r[c.Name]
			}
		}
		if r["day"] != nil {
			moved["day"] = found.moved(r.Text("day"))
		}
		if i, ok := at[found.key(columns, moved)]; ok {
			all[i].before = r
		} else {
			all = append(all, pair{moved, r})
		}
	}
	return all
}

// key is what a row is grouped by.
func (found sums) key(columns []resources.Column, r resources.Record) string {
	var key strings.Builder
	for _, c := range columns {
		if found.Totals[c.Name] == nil {
			key.WriteString(r.Text(c.Name) + "\x00")
		}
	}
	return key.String()
}

// moved is the day of the report at the place that a day before has in its period.
func (found sums) moved(day string) string {
	at, err := time.Parse(time.DateOnly, day)
	from, fault := time.Parse(time.DateOnly, found.From)
	before, wrong := time.Parse(time.DateOnly, found.Comparison.From)
	if err != nil || fault != nil || wrong != nil {
		return day
	}
	return at.Add(from.Sub(before)).Format(time.DateOnly)
}

// growth is by how many percent an amount is above what it was; empty if that was nothing.
func growth(q *web.Request, now, before resources.Record, of string) web.Cell {
	if before == nil || before[of] == nil || before.Number(of) <= 0 {
		return web.Cell{Num: true}
	}
	was, is := before.Number(of), int64(0)
	if now[of] != nil {
		is = now.Number(of)
	}
	return web.Number(percentOf(q, is-was, was))
}
