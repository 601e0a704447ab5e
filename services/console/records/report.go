package records

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

type reportPage struct {
	Header web.Header
	Tabs   []web.Tab
	Filter web.Filter
	Note   *web.Note
	Table  web.Table
	API    web.Shown
}

// usualDays is how many days a report has unless somebody asks for others.
const usualDays = 30

// reportAt is the address of the report of a list.
func reportAt(q *web.Request, res resources.Resource) string { return q.Path(res.Address + "/report") }

// report shows the sums of the records of a list. It calls the operation of the report once, and reads each directory that a row names an
// entry of. What can be grouped by and chosen are the parameters of the operation, and columns are the fields of its rows.
func (pages *Pages) report(res resources.Resource) web.Handler {
	return func(ctx context.Context, q *web.Request) (web.Answer, error) {
		op, in := q.Operation(res.Report), web.Input{Query: askedOf(q, res)}
		title := q.T("records.report", res.Heading(q))
		p := reportPage{
			Header: web.Header{Title: title, Crumbs: []web.Link{{Text: res.Heading(q), Href: q.Path(res.Address)}}}, Tabs: pages.tabs(q, res),
			Filter: reportFilter(q, res, op, in.Query), API: web.Shown{Curl: q.Curl(res.Report, in)},
			Table: web.Table{Label: title, Empty: web.Empty{Title: q.T("records.report.none"), Text: q.T("records.report.none.text")}},
		}
		for i := range p.Tabs {
			p.Tabs[i].Current = p.Tabs[i].Href == reportAt(q, res)
		}
		raw, err := web.Call[web.JSON](ctx, q, res.Report, in)
		if known, ok := apierr.As(err); ok && (known.Status < http.StatusInternalServerError || known.Code == list.TooExpensive) {
			if p.Note = pages.noteOf(q, err); p.Note == nil {
				p.Note = &web.Note{Kind: web.Bad, Title: q.T("records.refused"), Text: known.Message}
			}
			return web.Show("records/report", title, p), nil
		}
		if err != nil {
			return web.Answer{}, err
		}
		var found sums
		if err := decode(raw, &found); err != nil {
			return web.Answer{}, err
		}
		p.API = q.Show(res.Report, in, raw)
		p.Header.Facts = q.T("records.report.zone", found.TimeZone)
		err = pages.sumsTable(ctx, q, reportColumns(op, found.GroupBy), found, &p.Table)
		return web.Show("records/report", title, p), err
	}
}

// sums is the answer of a report.
type sums struct {
	TimeZone string
	GroupBy  []string
	Rows     []resources.Record
	Totals   resources.Record
}

// askedOf is what the address asks for: the parameters of the operation that it has, and by default the last days, each by itself.
func askedOf(q *web.Request, res resources.Resource) url.Values {
	today := q.Now.In(q.Zone)
	query := url.Values{"from": {today.AddDate(0, 0, 1-usualDays).Format(time.DateOnly)}, "to": {today.Format(time.DateOnly)}}
	for _, p := range q.Operation(res.Report).Params {
		values := slices.DeleteFunc(slices.Clone(q.Form[p.Name]), func(v string) bool { return v == "" }) // boxes send one that is empty
		if value := strings.Join(values, ","); value != "" && p.In == "query" {
			query.Set(p.Name, value)
		}
	}
	return query
}

// reportFilter asks for the days, for what the rows are grouped by, and for whatever else the operation can be asked for.
func reportFilter(q *web.Request, res resources.Resource, op httpapi.Operation, query url.Values) web.Filter {
	f := web.Filter{Action: reportAt(q, res), Button: q.T("filter.apply"), Clear: reportAt(q, res)}
	for _, p := range op.Params {
		value, label := query.Get(p.Name), q.Label(p.Name)
		switch {
		case p.In != "query":
		case p.Type == "array":
			chosen := strings.Split(value, ",")
			if value == "" {
				chosen = []string{"day"}
			}
			f.Fields = append(f.Fields, web.Boxes(p.Name, label, chosen, optionsOf(q, enumOf(p), chosen)...))
		case len(p.Enum) > 0:
			f.Fields = append(f.Fields, q.Any(p.Name, label, value, p.Enum, q.Word))
		default:
			f.Fields = append(f.Fields, web.Field{Name: p.Name, Label: label, Type: "date", Value: value, Required: p.Required})
		}
	}
	return f
}

// reportColumns are what the rows are grouped by, and the sums.
func reportColumns(op httpapi.Operation, by []string) (all []resources.Column) {
	rows, _ := op.Answer.Field("rows")
	i := slices.IndexFunc(op.Params, func(p httpapi.Shape) bool { return p.Name == "groupBy" })
	for _, f := range rows.Item.Fields {
		kind, _ := kindOf(f)
		name := strings.TrimSuffix(f.Name, "Id")
		if slices.Contains(enumOf(op.Params[i]), name) {
			if !slices.Contains(by, name) {
				continue
			}
			if kind == resources.AsText {
				kind = resources.AsWord
			}
		}
		all = append(all, resources.Column{Name: f.Name, Kind: kind})
	}
	return all
}

// sumsTable fills the table with rows and totals.
func (pages *Pages) sumsTable(ctx context.Context, q *web.Request, columns []resources.Column, found sums, t *web.Table) error {
	names := &directories{q: q}
	row := func(r resources.Record) ([]web.Cell, error) {
		cells := make([]web.Cell, len(columns))
		for i, c := range columns {
			cell, err := pages.cell(ctx, q, c, r, names)
			if err != nil {
				return nil, err
			}
			cells[i] = cell
		}
		return cells, nil
	}
	for _, c := range columns {
		t.Columns = append(t.Columns, web.Column{Text: label(q, c), Num: c.Kind.End()})
	}
	for _, r := range found.Rows[:min(len(found.Rows), maxRows)] {
		cells, err := row(r)
		if err != nil {
			return err
		}
		t.Rows = append(t.Rows, cells)
	}
	if len(found.Rows) == 0 {
		return nil
	}
	foot, err := row(found.Totals)
	if err == nil && foot[0].Text == "" {
		foot[0] = web.Text(q.T("records.sum"))
	}
	t.Foot = foot
	return err
}
