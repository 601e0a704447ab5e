package records

import (
	"bytes"
	"context"
	"io"
	"net/url"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/spreadsheet"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// reportFiles lead to the report as a file.
func reportFiles(q *web.Request, res resources.Resource, query url.Values, found sums) (all []web.Link) {
	if len(found.Rows) == 0 {
		return nil
	}
	for _, format := range []string{"csv", "xlsx"} {
		all = append(all, web.Link{Text: q.T("records.export." + format), Href: reportAt(q, res) + "/file?format=" + format + "&" + addressOf(query)})
	}
	return all
}

// reportFile answers with the rows of the report as a file, which has the heads that the page shows, and is called by what it has.
func (pages *Pages) reportFile(res resources.Resource) web.Handler {
	return func(ctx context.Context, q *web.Request) (web.Answer, error) {
		query := askedOf(q, res)
		query.Del("compare")
		raw, err := web.Call[web.JSON](ctx, q, res.Report, web.Input{Query: query})
		if err != nil {
			return web.Answer{}, err
		}
		var found sums
		if err := decode(raw, &found); err != nil {
			return web.Answer{}, err
		}
		columns := reportColumns(q.Operation(res.Report), found)
		format := web.OneOf(q.Form.Get("format"), []string{"csv", "xlsx"})
		file, media, err := writeSums(q, format, columns, found)
		if err != nil {
			return web.Answer{}, err
		}
		name := q.T("records.report.file", reportTitle(q, res, query), found.From, found.To) + "." + format
		return web.Send(httpapi.File{Media: media, Name: name, Size: int64(len(file)), Body: io.NopCloser(bytes.NewReader(file))}), nil
	}
}

// writeSums writes rows as a file of the format.
func writeSums(q *web.Request, format string, columns []resources.Column, found sums) (file []byte, media string, err error) {
	heads := make([]spreadsheet.Column, len(columns))
	for i, c := range columns {
		heads[i] = spreadsheet.Column{Name: labelIn(q, c, q.Company.Currency), Kind: spreadsheet.Text}
		if c.Kind.End() {
			heads[i].Kind, heads[i].Places = spreadsheet.Number, decimalsOf(q, c)
		}
	}
	if format == "csv" {
		w := spreadsheet.NewCSV(spreadsheet.CSVOptions{BOM: true}) // most people open the file in Excel
		w.Header(heads)
		for _, r := range found.Rows {
			w.Row(sumCells(q, columns, r))
		}
		return w.Bytes(), "text/csv; charset=utf-8", nil
	}
	w, err := spreadsheet.NewXLSX(spreadsheet.XLSXOptions{Sheet: q.T("records.report.sheet"), Columns: heads}, spreadsheet.XLSXState{})
	if err != nil {
		return nil, "", err
	}
	for _, r := range found.Rows {
		if err := w.Row(sumCells(q, columns, r)); err != nil {
			return nil, "", err
		}
	}
	_, err = w.End()
	return w.Bytes(), spreadsheet.MediaXLSX, err
}

// decimalsOf are the decimal places of the numbers of a column that are always written.
func decimalsOf(q *web.Request, c resources.Column) uint8 {
	if c.Kind == resources.AsAmount {
		return uint8(money.Digits(q.Company.Currency))
	}
	return 0
}

// sumCells are the cells of a row.
func sumCells(q *web.Request, columns []resources.Column, r resources.Record) []spreadsheet.Cell {
	cells := make([]spreadsheet.Cell, len(columns))
	for i, c := range columns {
		text := r.Text(c.Name)
		switch {
		case r[c.Name] == nil:
		case c.Kind == resources.AsAmount:
			places := decimalsOf(q, c)
			cells[i] = spreadsheet.Cell{Kind: spreadsheet.Number, Num: r.Number(c.Name), Scale: places, Places: places}
		case c.Kind.End():
			cells[i] = spreadsheet.Cell{Kind: spreadsheet.Number, Text: text}
		case c.Kind == resources.AsWord || c.Kind == resources.AsState:
			cells[i] = spreadsheet.Cell{Kind: spreadsheet.Text, Text: q.Word(text)}
		default:
			cells[i] = spreadsheet.Cell{Kind: spreadsheet.Text, Text: text}
		}
	}
	return cells
}
