package records

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/services/console/lines"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// filterChip is a filter that is set; its link removes it.
type filterChip struct {
	Label, Value string
	Change       string // address of the form that changes it; "" = it is what is searched for
	Without      string // address of the list without it
}

// chips are the filters that are set, with names for ids.
func (pages *Pages) chips(ctx context.Context, q *web.Request, in listQuery, names *directories) ([]filterChip, error) {
	var chips []filterChip
	if text := in.query.Get("search"); text != "" {
		chips = append(chips, filterChip{q.T("records.search"), text, "", in.with("search", "").with("cursor", "").address(q)})
	}
	for _, f := range in.filters {
		value := in.query.Get(f.Name)
		if value == "" {
			continue
		}
		text, err := pages.filterText(ctx, q, f, value, in.client(), names)
		if err != nil {
			return nil, err
		}
		chips = append(chips, filterChip{q.Label(f.Name), text, in.one(q, f.Name), in.with(f.Name, "").with("cursor", "").address(q)})
	}
	return chips, nil
}

// adds are the filters that are not set, each with the form that sets it.
func adds(q *web.Request, in listQuery) (links []web.Link) {
	for _, f := range in.filters {
		if !in.query.Has(f.Name) && !slices.Contains(machines, f.Name) && (f.Format != "uuid" || named(f.Name) || f.Name == addressID && in.client() != "") {
			links = append(links, web.Link{Text: q.Label(f.Name), Href: in.one(q, f.Name)})
		}
	}
	return links
}

// named reports whether people choose what the field takes the id of by its name.
func named(field string) bool {
	_, entry := resources.ChoicesOf(field)
	_, record := resources.Picked(field)
	return entry || record
}

// one is the address of the form that sets one filter.
func (in listQuery) one(q *web.Request, name string) string {
	values := in.with("cursor", "").values()
	values.Set("only", name)
	return q.Path(in.res.Address+"/filter") + "?" + values.Encode()
}

// filterText is the value of a filter as people read it.
func (pages *Pages) filterText(ctx context.Context, q *web.Request, f httpapi.Shape, value, client string, names *directories) (string, error) {
	if name, err := names.name(ctx, f.Name, value); err != nil || name != "" {
		return name, err
	}
	if of, ok := resources.Picked(f.Name); ok {
		return recordName(ctx, q, of, value)
	}
	if f.Name == addressID {
		return addressName(ctx, q, client, value)
	}
	if enum := enumOf(f); len(enum) > 0 {
		var all []string
		for v := range strings.SplitSeq(value, ",") {
			all = append(all, q.InlineWord(v))
		}
		return strings.Join(all, ", "), nil
	}
	if _, ok := days[value]; ok && isTime(f) {
		return q.T("records.day." + value), nil
	}
	if at, err := time.Parse(time.DateOnly, value); err == nil && isTime(f) {
		return q.Date(at, "2 Jan 2006"), nil
	}
	if at, err := time.Parse(time.RFC3339, value); err == nil && isTime(f) {
		return q.At(at).Short(), nil
	}
	if f.Type == "boolean" {
		return q.InlineWord(value), nil
	}
	return value, nil
}

// recordName is what people call the record of another resource; its id if there is none.
func recordName(ctx context.Context, q *web.Request, res resources.Resource, id string) (string, error) {
	if res.Get == "" {
		return listedName(ctx, q, res, id)
	}
	raw, err := web.Call[web.JSON](ctx, q, res.Get, web.Input{Path: map[string]string{"id": id}})
	if known, ok := apierr.As(err); ok && known.Status < 500 {
		return id, nil
	}
	if err != nil {
		return "", err
	}
	var r resources.Record
	if err := decode(raw, &r); err != nil {
		return "", err
	}
	return titleOf(q, res, r), nil
}

// listedName is what people call a record that only its list finds by its id.
func listedName(ctx context.Context, q *web.Request, res resources.Resource, id string) (string, error) {
	found, err := lines.Records(ctx, q, res.List, url.Values{"ids": {id}})
	if web.Refused(err) || err == nil && len(found) == 0 {
		return id, nil
	}
	if err != nil {
		return "", err
	}
	if found[0].Text(res.Title) == "" && found[0].Text("sku") != "" {
		return found[0].Text("sku"), nil
	}
	return titleOf(q, res, found[0]), nil
}

// enumOf are the values that a filter takes.
func enumOf(f httpapi.Shape) []string {
	if f.Item != nil {
		return f.Item.Enum
	}
	return f.Enum
}

type filterPage struct {
	Header  web.Header
	Action  string
	Fields  []web.Field
	Ranges  []web.Ranges
	Checks  []checks // choices of which several may be made
	Hidden  []hidden
	Columns *checks // nil = the form sets one filter
	Sizes   web.Field
	Button  string
	Clear   string
}

// checks are choices of which several may be made.
type checks struct {
	Name, Label string
	Options     []web.Option
}

// filter is the form that sets filters, columns and the size of pages, or only one filter. It calls each directory that a filter needs once.
func (pages *Pages) filter(res resources.Resource) web.Handler {
	return func(ctx context.Context, q *web.Request) (web.Answer, error) {
		in := listQueryOf(q, res)
		only := q.HTTP.URL.Query().Get("only")
		p := filterPage{
			Header: web.Header{Title: q.T("records.filter.title", res.Heading(q)), Crumbs: []web.Link{{Text: res.Heading(q), Href: in.address(q)}}},
			Action: q.Path(res.Address), Button: q.T("filter.apply"),
		}
		if err := pages.filterFields(ctx, q, in, only, &p); err != nil {
			return web.Answer{}, err
		}
		switch {
		case only != "" && len(p.Fields)+len(p.Checks) == 0:
			return web.Answer{}, web.NoPage()
		case only != "":
			p.Header.Title, p.Hidden = q.Label(only), in.kept(only)
			return web.Show("records/filter", p.Header.Title, p), nil
		}
		p.Columns = &checks{Name: "columns", Label: q.T("records.columns.shown")}
		for _, c := range res.Columns {
			p.Columns.Options = append(p.Columns.Options, web.Option{Value: c.Name, Text: q.Label(c.Name), Selected: slices.Contains(in.names(), c.Name)})
		}
		if !res.Whole {
			p.Sizes = web.Field{Name: "pageSize", Label: q.T("records.size"), Type: "select"}
			for _, s := range sizes {
				p.Sizes.Options = append(p.Sizes.Options, web.Option{Value: s, Text: s, Selected: s == in.query.Get("pageSize") || s == usualSize && !in.query.Has("pageSize")})
			}
		}
		for _, name := range []string{"search", "sort", "order", rowsField} {
			if value := in.values().Get(name); value != "" {
				p.Hidden = append(p.Hidden, hidden{name, value})
			}
		}
		if in.filtered() {
			p.Clear = in.cleared().address(q)
		}
		return web.Show("records/filter", p.Header.Title, p), nil
	}
}

// filterFields are the fields of the filters of a list, or of the one that is named.
func (pages *Pages) filterFields(ctx context.Context, q *web.Request, in listQuery, only string, p *filterPage) error {
	names := &directories{q: q}
	for _, f := range in.filters {
		if only != "" && f.Name != only {
			continue
		}
		if enum := enumOf(f); f.Type == "array" && len(enum) > 0 {
			p.Checks = append(p.Checks, checks{f.Name, q.Label(f.Name), optionsOf(q, enum, strings.Split(in.query.Get(f.Name), ","))})
			continue
		}
		field, err := pages.filterField(ctx, q, f, in.query.Get(f.Name), names)
		if err == nil && f.Name == addressID {
			field.Options, err = addresses(ctx, q, in.client(), field.Value)
			field.Type, field.Help = "select", ""
			field.Options = slices.Insert(field.Options, 0, web.Option{Text: q.T("filter.any")})
		}
		if err != nil {
			return err
		}
		if f.Name == addressID && len(field.Options) == 1 {
			continue // addresses are those of a client, who is chosen first
		}
		if r := rangesOf(q, in, f.Name, only); r != nil {
			p.Ranges = append(p.Ranges, *r)
		}
		field.Focus = only != ""
		p.Fields = append(p.Fields, field)
	}
	return nil
}

func optionsOf(q *web.Request, values, chosen []string) (options []web.Option) {
	for _, v := range values {
		if on := slices.Contains(chosen, v); on || q.Offers(v) {
			options = append(options, web.Option{Value: v, Text: q.Word(v), Selected: on})
		}
	}
	return options
}

// filterField is the field of a filter by its type.
func (pages *Pages) filterField(ctx context.Context, q *web.Request, f httpapi.Shape, value string, names *directories) (web.Field, error) {
	field := web.Field{Name: f.Name, Label: q.Label(f.Name), Value: value, MaxLength: f.MaxLength, Autocomplete: "off"}
	options, err := names.options(ctx, f.Name, value, nil)
	if err != nil {
		return field, err
	}
	switch {
	case options != nil:
	case len(f.Enum) > 0:
		options = optionsOf(q, f.Enum, []string{value})
	case f.Type == "boolean":
		options = []web.Option{{Value: "true", Text: q.T("form.yes"), Selected: value == "true"}, {Value: "false", Text: q.T("form.no"), Selected: value == "false"}}
	case isTime(f):
		field.Type, field.Value = "date", dayOf(q, value)
	case f.Type == "integer":
		field.Type = "number"
	case f.Format == "uuid":
		field.Help = q.T("records.filter.id")
	}
	if options != nil {
		field.Type, field.Options = "select", slices.Insert(options, 0, web.Option{Text: q.T("filter.any")})
	}
	return field, pick(ctx, q, &field)
}

// dayOf is the day of a bound that is a time, for a field that takes days.
func dayOf(q *web.Request, value string) string {
	if day, err := dayAt(q, value); err == nil {
		return day.Format(time.DateOnly)
	}
	at, err := time.Parse(time.RFC3339, value)
	if err != nil {
		return value
	}
	return at.In(q.Zone).Format(time.DateOnly)
}

// parse reads a query that a form sends back; one that cannot be read is empty.
func parse(text string) url.Values {
	values, err := url.ParseQuery(text)
	if err != nil || len(text) > maxQueryBytes {
		return url.Values{}
	}
	return values
}
