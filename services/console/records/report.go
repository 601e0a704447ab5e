package records

import (
	"cmp"
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
	Chart  *web.Chart
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
		title := reportTitle(q, res, in.Query)
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
				p.Note = &web.Note{Kind: web.Bad, Title: q.T("records.refused"), Text: q.Why(known)}
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
		p.Header.Facts, p.Header.Links = q.T("records.report.zone", found.TimeZone), reportFiles(q, res, in.Query, found)
		p.Chart = reportChart(q, title, found)
		err = pages.sumsTable(ctx, q, reportColumns(op, found), found, &p.Table)
		return web.Show("records/report", title, p), err
	}
}

// sums is the answer of a report.
type sums struct {
	period
	TimeZone   string
	GroupBy    []string
	Comparison *period
}

// period has what a report adds up over some days.
type period struct {
	From, To string
	Rows     []resources.Record
	Totals   resources.Record
}

// reportTitle says what a report adds up by what.
func reportTitle(q *web.Request, res resources.Resource, query url.Values) string {
	var by []string
	for name := range strings.SplitSeq(cmp.Or(query.Get("groupBy"), "day"), ",") {
		by = append(by, q.InlineWord(name))
	}
	return q.T("records.report.by", res.Heading(q), strings.Join(by, ", "))
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
	f := web.Filter{Action: reportAt(q, res), Button: q.T("filter.apply"), Clear: reportAt(q, res), Ranges: ranges(q, res, query)}
	for _, p := range op.Params {
		value, label := query.Get(p.Name), q.Label(p.Name)
		switch {
		case p.In != "query":
		case p.Name == "compare":
			field := q.Any(p.Name, label, value, p.Enum, q.Word)
			field.Options[0].Text = q.T("records.report.alone")
			f.Fields = append(f.Fields, field)
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

// reportColumns are what the rows are grouped by, and the sums that the report has.
func reportColumns(op httpapi.Operation, found sums) (all []resources.Column) {
	rows, _ := op.Answer.Field("rows")
	i := slices.IndexFunc(op.Params, func(p httpapi.Shape) bool { return p.Name == "groupBy" })
	by := enumOf(op.Params[i])
	for _, f := range rows.Item.Fields {
		kind, _ := kindOf(f)
		name := dimensionOf(f.Name, by)
		switch {
		case name == "" && found.Totals[f.Name] == nil, name != "" && !slices.Contains(found.GroupBy, name), hasName(rows.Item.Fields, f.Name):
			continue
		case kind == resources.AsText && (f.Name == name || f.Name == "kind"):
			kind = resources.AsWord
		}
		all = append(all, resources.Column{Name: f.Name, Kind: kind})
	}
	return all
}

// dimensionOf is what a report is grouped by if its rows have the field; "" for a sum.
func dimensionOf(field string, by []string) string {
	switch field {
	case "kind", "refId", "sku", "name":
		field = "product"
	}
	for _, suffix := range []string{"Id", "Rate", "Name", "Number"} { // taxRateId and taxRate are those of tax
		field = strings.TrimSuffix(field, suffix)
	}
	if slices.Contains(by, field) {
		return field
	}
	return ""
}

// hasName reports whether a field is an id that another field has the name or the number of.
func hasName(fields []httpapi.Shape, id string) bool {
	of, ok := strings.CutSuffix(id, "Id")
	return ok && slices.ContainsFunc(fields, func(f httpapi.Shape) bool {
		return f.Name == of+"Name" || f.Name == of+"Number" || of == "ref"
	})
}
