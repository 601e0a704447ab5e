package records

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/services/console/lines"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// attributeFields asks for values of attributes; nil = the command has none.
type attributeFields resources.AttributesInput

// attributePrefix is the first part of the names of the fields; the id of the attribute follows.
const attributePrefix = "attribute."

// prepare reads what the form of a command needs beside the record: the row that it changes, and attributes.
func (pages *Pages) prepare(ctx context.Context, q *web.Request, s *shown, c resources.Command, target string) error {
	if c.Table != "" && (q.Operation(c.Op).Method == http.MethodPatch || c.Due != nil) {
		i := slices.IndexFunc(s.res.Tables, func(t resources.Table) bool { return t.Name == c.Table })
		rows, _, err := pages.entries(ctx, q, *s, s.res.Tables[i])
		if err != nil {
			return err
		}
		if i = slices.IndexFunc(rows, func(r resources.Record) bool { return r.Text("id") == target }); i < 0 {
			return web.NoPage()
		}
		s.row = rows[i]
	}
	if c.Attributes == nil {
		return nil
	}
	category := s.record.Text("categoryId")
	if category == "" {
		category = "null"
	}
	raw, err := web.Call[web.JSON](ctx, q, "listAttributes", web.Input{Query: url.Values{"categoryId": {category}}})
	if err != nil {
		return err
	}
	var all []resources.Record
	err = decode(raw, &all)
	s.attributes = slices.DeleteFunc(all, func(a resources.Record) bool { return a.Text("isVariant") != "true" })
	return err
}

// changed is the record whose fields a form begins with.
func (s shown) changed() resources.Record {
	if s.row != nil {
		return s.row
	}
	return s.record
}

// of are the attributes that the form asks for.
func (in *attributeFields) of(s shown) []resources.Record {
	if !in.Matrix {
		return s.attributes
	}
	return slices.DeleteFunc(slices.Clone(s.attributes), func(a resources.Record) bool { return len(a.Records("options")) == 0 })
}

// fields ask for a value of each attribute. The first one shows what is wrong with them together.
func (in *attributeFields) fields(q *web.Request, s shown, typed url.Values, refusal error) (all []web.Field) {
	if in == nil {
		return nil
	}
	sent := 0
	for _, a := range in.of(s) {
		name, chosen := attributePrefix+a.Text("id"), []string(nil)
		if typed != nil {
			chosen = chosenOf(typed, name)
		} else if !in.Matrix {
			chosen = valuesOf(s.row, a)
		}
		f := in.input(q, a, name, chosen)
		if len(chosen) > 0 {
			f.Fault = faultBelow(q, refusal, in.Field+"["+strconv.Itoa(sent)+"].")
			sent++
		}
		all = append(all, f)
	}
	if len(all) > 0 && all[0].Fault == "" {
		all[0].Fault = q.FaultOf(refusal, in.Field)
	}
	return all
}

// input is the field of an attribute, by its type.
func (in *attributeFields) input(q *web.Request, a resources.Record, name string, chosen []string) web.Field {
	label, value := a.Text("name"), strings.Join(chosen, "\n")
	if unit := a.Text("unit"); unit != "" {
		label += ", " + unit
	}
	var options []web.Option
	for _, o := range a.Records("options") {
		options = append(options, web.Option{Value: o.Text("id"), Text: o.Text("label")})
	}
	none := web.Option{Text: q.T("form.none")}
	switch kind := a.Text("type"); {
	case in.Matrix || kind == "multiselect":
		return web.Boxes(name, label, chosen, options...)
	case kind == "select":
		return web.Choice(name, label, value, append([]web.Option{none}, options...)...)
	case kind == "boolean":
		return web.Choice(name, label, value, none, web.Option{Value: "true", Text: q.T("form.yes")}, web.Option{Value: "false", Text: q.T("form.no")})
	case kind == "number":
		return web.Field{Name: name, Label: label, Type: "number", Value: value, Autocomplete: "off"}
	}
	return web.Field{Name: name, Label: label, Value: value, Autocomplete: "off"}
}

// present are the attributes whose values a form has.
func (in *attributeFields) present(s shown, form url.Values) []resources.Record {
	return slices.DeleteFunc(slices.Clone(in.of(s)), func(a resources.Record) bool { return !form.Has(attributePrefix + a.Text("id")) })
}

// changes reports whether a form has other values than the variant, which keeps its own otherwise.
func (in *attributeFields) changes(s shown, form url.Values) bool {
	return s.row == nil || slices.ContainsFunc(in.present(s, form), func(a resources.Record) bool {
		now, before := chosenOf(form, attributePrefix+a.Text("id")), valuesOf(s.row, a)
		slices.Sort(now)
		slices.Sort(before)
		return !slices.Equal(now, before)
	})
}

// values are the elements of the array, in the order of the attributes. Values of attributes that the form does not ask for stay.
func (in *attributeFields) values(s shown, form url.Values) []any {
	values, present := []any{}, in.present(s, form)
	for _, a := range present {
		chosen := chosenOf(form, attributePrefix+a.Text("id"))
		if len(chosen) == 0 {
			continue
		}
		value := map[string]any{"attributeId": a.Text("id")}
		switch a.Text("type") {
		case "select", "multiselect":
			value["optionIds"] = chosen
		case "boolean":
			value["valueBool"] = chosen[0] == "true"
		case "number":
			value["valueNumber"] = lines.Number(chosen[0])
		default:
			value["valueText"] = strings.Join(chosen, "\n")
		}
		values = append(values, value)
	}
	for _, v := range s.row.Records("attributeValues") {
		if slices.ContainsFunc(present, func(a resources.Record) bool { return a.Text("id") == v.Text("attributeId") }) {
			continue
		}
		values = append(values, map[string]any{
			"attributeId": v.Text("attributeId"), "valueText": v["valueText"], "valueNumber": v["valueNumber"], "valueBool": v["valueBool"], "optionIds": optionsIn(v),
		})
	}
	return values
}

// chosenOf are the values that a field of a form has.
func chosenOf(form url.Values, name string) []string {
	lines := strings.Split(strings.Join(form[name], "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return slices.DeleteFunc(lines, func(line string) bool { return line == "" })
}

// valuesOf are the values that a variant has of an attribute.
func valuesOf(variant, attribute resources.Record) []string {
	for _, v := range variant.Records("attributeValues") {
		if v.Text("attributeId") != attribute.Text("id") {
			continue
		}
		for _, name := range []string{"valueText", "valueNumber", "valueBool"} {
			if v.Has(name) {
				return []string{v.Text(name)}
			}
		}
		return optionsIn(v)
	}
	return nil
}

// optionsIn are the ids of the options of a value; nil = it has none.
func optionsIn(value resources.Record) (ids []string) {
	for _, o := range value.Records("options") {
		ids = append(ids, o.Text("optionId"))
	}
	return ids
}

// faultBelow is the first thing that an error says of what is below a path.
func faultBelow(q *web.Request, err error, path string) string {
	known, ok := apierr.As(err)
	if !ok {
		return ""
	}
	if len(known.Fields) == 0 && strings.HasPrefix(known.Message, path) {
		return q.Why(known)
	}
	for _, f := range known.Fields {
		if strings.HasPrefix(f.Field, path) {
			return q.FaultText(f)
		}
	}
	return ""
}
