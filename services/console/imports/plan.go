package imports

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/imports"
)

func planOf(q *web.Request, res resources.Resource, p imports.Preview, file string, again bool) *plan {
	out := &plan{File: file, Again: again}
	for _, f := range p.Errors {
		text := wrong(q, f)
		if f.Field == "key" && res.Name == "stocks" {
			text = q.T("imports.wrong.key.stocks")
		}
		out.Faults = append(out.Faults, text)
	}
	known := 0
	for i, c := range p.Columns {
		column := planColumn{No: i, Name: cmp.Or(c.Name, q.T("imports.unnamed", i+1)), Out: c.Field == ""}
		column.Field = web.Field{Name: "column." + strconv.Itoa(i), Label: q.T("imports.is", column.Name), Type: "select", Options: fieldsOf(q, p.Fields, c.Field)}
		if !column.Out {
			known++
		}
		for _, row := range p.First {
			if len(column.Values) < maxValues {
				column.Values = append(column.Values, valueOf(q, c, row.Cells[i]))
			}
		}
		out.Columns = append(out.Columns, column)
	}
	rows := q.Count(int64(p.Rows))
	out.Lead = q.T("imports.lead", rows, known, len(p.Columns))
	if len(p.Errors) == 0 {
		out.Button = q.T("imports.check", rows)
	}
	out.Choices = choicesOf(q, res, p)
	return out
}

// maxValues is how many values a column shows.
const maxValues = 3

// fieldsOf are the fields that a column may be, by their labels.
func fieldsOf(q *web.Request, fields []string, chosen string) []web.Option {
	all := make([]web.Option, 0, len(fields)+1)
	for _, name := range fields {
		all = append(all, web.Option{Value: name, Text: fieldName(q, name), Selected: name == chosen})
	}
	slices.SortFunc(all, func(a, b web.Option) int { return strings.Compare(strings.ToLower(a.Text), strings.ToLower(b.Text)) })
	return slices.Insert(all, 0, web.Option{Text: q.T("imports.out"), Selected: chosen == ""})
}

// fieldName is what people call a field of a file: fields with ids are beside those with names, so that their label alone is not enough.
func fieldName(q *web.Request, name string) string {
	return cmp.Or(q.Named("imports.field."+name, ""), q.Label(name))
}

// valueOf is a cell as it will be understood, or what is wrong with it.
func valueOf(q *web.Request, c imports.PreviewColumn, cell imports.PreviewCell) web.Cell {
	switch {
	case cell.Error != "":
		return web.State(web.Bad, shorten(cell.Text)).With(q.Words(cell.Error))
	case c.Field == "" || cell.Value == "":
		return web.Text(shorten(cell.Text))
	case c.Kind == "amount":
		if minor, err := strconv.ParseInt(cell.Value, 10, 64); err == nil {
			return web.Text(q.Money(minor))
		}
	case c.Kind == "number":
		return web.Text(q.Number(cell.Value))
	case c.Kind == "boolean":
		return web.Text(q.Word(cell.Value))
	}
	return web.Text(shorten(cell.Value))
}

const longestValue = 40

func shorten(text string) string {
	if r := []rune(text); len(r) > longestValue {
		return string(r[:longestValue]) + "…"
	}
	return text
}

// choicesOf are the fields of the form beside the columns.
func choicesOf(q *web.Request, res resources.Resource, p imports.Preview) []web.Field {
	fields := []web.Field{web.Choice(
		"decimalSeparator", q.T("imports.decimals"), p.DecimalSeparator,
		web.Option{Text: q.T("imports.decimals.unknown")}, web.Option{Value: ",", Text: "1.234,50"}, web.Option{Value: ".", Text: "1,234.50"},
	)}
	keys := []web.Option{}
	for _, key := range keysOf(res, p) {
		keys = append(keys, web.Option{Value: key, Text: q.T("imports.key." + key)})
	}
	if len(keys) > 1 {
		fields = append(fields, web.Choice("key", q.T("imports.key"), p.Key, keys...))
	}
	if p.Charset != "" {
		fields = append(fields, web.Choice(
			"charset", q.T("imports.charset"), p.Charset,
			web.Option{Value: "windows-1252", Text: q.T("imports.charset.1252")}, web.Option{Value: "windows-1251", Text: q.T("imports.charset.1251")},
		))
	}
	return fields
}

// keysOf are the ways in which rows find their records, by the columns that there are.
func keysOf(res resources.Resource, p imports.Preview) (all []string) {
	has := func(name string) bool {
		return slices.ContainsFunc(p.Columns, func(c imports.PreviewColumn) bool { return c.Field == name })
	}
	for _, key := range []string{"id", "sku", "externalId"} {
		if has(key) && (key != "sku" || res.Name != "clients" && res.Name != "suppliers") {
			all = append(all, key)
		}
	}
	if res.Name != "stocks" {
		all = append(all, "none")
	}
	return all
}

// wrong is what is wrong with the file as a whole.
func wrong(q *web.Request, f apierr.Field) string {
	switch f.Field + " " + f.Code {
	case "body " + apierr.Required, "columns " + apierr.Required:
		if strings.Contains(f.Message, "has no column") {
			return q.T("imports.wrong.columns")
		}
		return q.T("imports.wrong.empty")
	case "body " + apierr.Conflict:
		return q.T("imports.wrong.twice")
	case "key " + apierr.Required, "key " + apierr.Enum:
		return q.T("imports.wrong.key")
	}
	return q.Words(strings.TrimPrefix(f.Message, f.Field+": "))
}
