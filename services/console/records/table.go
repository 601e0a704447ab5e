package records

import (
	"context"
	"slices"

	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// listTable shows the records of a list: a table, and on a phone rows of two lines.
type listTable struct {
	Label   string // what it lists, for those who do not see it
	Dense   bool
	Numbers bool // the first column has numbers or times, which are short
	Columns []listColumn
	Rows    []listRow
	Empty   web.Empty
	Next    string // address of the next page; "" = this is the last
}

type listColumn struct {
	web.Column

	Name, Place string
}

type listRow struct {
	ID, Name string
	Menu     string // address of its commands; "" = it has none
	Cells    []listCell
}

type listCell struct {
	web.Cell

	Place string
}

// Places of columns on a phone, which are classes of cells. A column without one is not shown there.
const (
	placeName   = "at-name"   // first line
	placeAmount = "at-amount" // at its end
	placeText   = "at-text"   // second line; on the first one behind a number
	placeState  = "at-state"  // second line
	placeTime   = "at-time"   // at its end
)

// placesOf gives each column its place: the first one leads, and the first amount, text, time and two states stand around it.
func placesOf(columns []resources.Column) []string {
	places := make([]string, len(columns))
	left := map[string]int{placeAmount: 1, placeText: 1, placeState: 2, placeTime: 1}
	amounts := slices.ContainsFunc(columns, func(c resources.Column) bool { return c.Kind == resources.AsAmount })
	for i, c := range columns {
		place := placeOf(c.Kind, amounts)
		if i == 0 {
			places[i] = placeName
		} else if left[place] > 0 {
			places[i] = place
			left[place]--
		}
	}
	return places
}

// placeOf is where a kind of values belongs; amounts says that the list has some.
func placeOf(k resources.Kind, amounts bool) string {
	switch k {
	case resources.AsAmount:
		return placeAmount
	case resources.AsNumber, resources.AsQty, resources.AsPercent:
		if !amounts {
			return placeAmount
		}
	case resources.AsState, resources.AsWord:
		return placeState
	case resources.AsTime, resources.AsDate:
		return placeTime
	case resources.AsText, resources.AsEntry, resources.AsID:
		return placeText
	case resources.AsYes, resources.AsTexts, resources.AsEntries, resources.AsPairs, resources.AsField, resources.AsFieldValue:
	}
	return ""
}

// heights are the two heights of rows.
func heights(q *web.Request, in listQuery) []web.Tab {
	return []web.Tab{
		{Text: q.T("records.height.high"), Href: in.tight(false).address(q), Current: !in.dense},
		{Text: q.T("records.height.low"), Href: in.tight(true).address(q), Current: in.dense},
	}
}

// tableOf shows records with the columns that are chosen.
func (pages *Pages) tableOf(ctx context.Context, q *web.Request, in listQuery, items []resources.Record, names *directories) (listTable, error) {
	t := listTable{Label: in.res.Heading(q), Dense: in.dense, Numbers: slices.Contains([]resources.Kind{resources.AsNumber, resources.AsTime, resources.AsID}, in.columns[0].Kind), Empty: pages.empty(q, in.res, in)}
	places := placesOf(in.columns)
	for i, c := range in.columns {
		t.Columns = append(t.Columns, listColumn{headOf(q, in, c), c.Name, places[i]})
	}
	for _, r := range items {
		row := listRow{ID: r.Text("id"), Name: titleOf(q, in.res, r), Menu: pages.menuOf(q, in.res, r), Cells: make([]listCell, len(in.columns))}
		for i, c := range in.columns {
			cell, err := pages.cell(ctx, q, c, r, names)
			if err != nil {
				return t, err
			}
			if i == 0 && cell.Href == "" && in.res.Page != "" {
				cell = leading(q, cell, q.Path(in.res.Page+"/"+web.Segment(row.ID)))
			}
			if i == 0 && in.res.Picture != "" {
				cell = cell.Pictured(q.Picture(r.Text(in.res.Picture), "small", r.Text("emoji"), row.Name))
			}
			row.Cells[i] = listCell{cell, places[i]}
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

// leading makes the first cell of a row lead to its record, whatever it has.
func leading(q *web.Request, c web.Cell, href string) web.Cell {
	switch {
	case c.At != nil:
		c = web.Text(c.At.Short())
	case c.Chip != nil:
		c = web.Text(c.Chip.Text)
	case c.Text == "":
		c.Text = q.T("records.unnamed")
	}
	c.Href, c.Num = href, false
	return c
}

// headOf is the head of a column, which sorts the list if the API does.
func headOf(q *web.Request, in listQuery, c resources.Column) web.Column {
	head := web.Column{Text: label(q, c), Num: c.Kind.End()}
	if len(in.columns) > 0 && in.columns[0].Name == c.Name {
		head.Num = false
	}
	if !slices.Contains(in.sorts, c.Name) {
		return head
	}
	current, order := in.query.Get("sort") == c.Name, in.query.Get("order")
	next := "asc"
	if !current && (c.Kind == resources.AsTime || c.Kind == resources.AsAmount || c.Kind == resources.AsNumber || c.Kind == resources.AsDate) {
		next = "desc" // the newest and the largest are what people look for
	}
	if current {
		if head.Sort = "ascending"; order == "desc" {
			head.Sort = "descending"
		} else {
			next = "desc"
		}
	}
	head.Href = in.with("cursor", "").with("sort", c.Name).with("order", next).address(q)
	return head
}

// label is the head of a column of a page; amounts show the sign of their currency.
func label(q *web.Request, c resources.Column) string { return labelIn(q, c, q.Symbol()) }

// labelIn is the head of a column; amounts name their currency, by its code in files.
func labelIn(q *web.Request, c resources.Column, currency string) string {
	if c.Kind == resources.AsFieldValue {
		return q.T("records.changed." + c.Name)
	}
	if c.Kind == resources.AsAmount {
		return q.Label(c.Name) + ", " + currency
	}
	return q.Label(c.Name)
}
