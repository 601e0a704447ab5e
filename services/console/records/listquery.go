package records

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// listQuery is what the address of a list asks for.
type listQuery struct {
	res      resources.Resource
	query    url.Values // of the operation, as the address has it
	columns  []resources.Column
	chosen   bool // the columns are those of the address
	filters  []httpapi.Shape
	sorts    []string
	searches bool
	dense    bool // rows are low
	untidy   bool // the address has parameters that say nothing
}

// reserved are parameters of lists that are no filters of people: they page, sort, or belong to machines.
var reserved = []string{"page", "pageSize", "search", "order", "cursor", "withTotal", "updatedSince", "ids", "fields", "sort", "include", "metadata", "attr", "reassignTo"}

// rowsField is the parameter of the address with the height of rows.
const (
	rowsField = "rows"
	dense     = "dense"
)

// sizes are the numbers of records that a page may have.
var sizes = []string{"20", "50", "100", "200"}

// usualSize is the number that a list has by default.
const usualSize = "50"

// maxQueryBytes is how many bytes of an address are looked at.
const maxQueryBytes = 2000

// listQueryOf reads the address. What the list does not know is left out, and what is empty is not there.
func listQueryOf(q *web.Request, res resources.Resource) listQuery {
	return parseListQuery(q, res, q.HTTP.URL.Query())
}

func parseListQuery(q *web.Request, res resources.Resource, values url.Values) listQuery {
	in := listQuery{res: res, query: url.Values{}}
	if len(values.Encode()) > maxQueryBytes {
		return in.defaults()
	}
	for _, p := range q.Operation(res.List).Params {
		if p.In != "query" {
			continue
		}
		switch {
		case p.Name == "sort":
			in.sorts = p.Enum
		case p.Name == "search":
			in.searches = true
		case !slices.Contains(reserved, p.Name):
			in.filters = append(in.filters, p)
		}
		all := slices.DeleteFunc(slices.Clone(values[p.Name]), func(v string) bool { return strings.TrimSpace(v) == "" })
		if value := strings.Join(all, ","); value != "" && (!slices.Contains(reserved, p.Name) || slices.Contains(kept, p.Name)) {
			in.query.Set(p.Name, strings.TrimSpace(value))
		}
	}
	for name, all := range values {
		in.untidy = in.untidy || len(all) > 1 && name != "done" || slices.Contains(all, "")
	}
	in.dense = values.Get(rowsField) == dense
	if !slices.Contains(in.sorts, in.query.Get("sort")) {
		in.query.Del("sort")
		in.query.Del("order")
	}
	if size := in.query.Get("pageSize"); size == usualSize || !slices.Contains(sizes, size) {
		in.query.Del("pageSize")
	}
	names := strings.Split(strings.Join(values["columns"], ","), ",")
	for _, c := range res.Columns {
		if slices.Contains(names, c.Name) {
			in.columns = append(in.columns, c)
		}
	}
	standard := listQuery{res: res}.defaults()
	if in.chosen = len(in.columns) > 0 && !slices.Equal(in.names(), standard.names()); in.chosen {
		return in
	}
	in.columns = standard.columns
	return in
}

// kept are the reserved parameters that an address may have.
var kept = []string{"pageSize", "search", "order", "cursor", "sort"}

// defaults has the columns that the list shows unless somebody chooses others.
func (in listQuery) defaults() listQuery {
	for _, c := range in.res.Columns {
		if !c.Hidden {
			in.columns = append(in.columns, c)
		}
	}
	return in
}

// names are the columns by name.
func (in listQuery) names() (names []string) {
	for _, c := range in.columns {
		names = append(names, c.Name)
	}
	return names
}

// values are all that the address says.
func (in listQuery) values() url.Values {
	all := url.Values{}
	for name, v := range in.query {
		all[name] = v
	}
	if in.chosen {
		all.Set("columns", strings.Join(in.names(), ","))
	}
	if in.dense {
		all.Set(rowsField, dense)
	}
	return all
}

// with is the same with another value of a parameter; "" = without it.
func (in listQuery) with(name, value string) listQuery {
	next := url.Values{}
	for n, v := range in.query {
		next[n] = v
	}
	if next.Del(name); value != "" {
		next.Set(name, value)
	}
	in.query = next
	return in
}

// tight is the same with low rows, or with high ones.
func (in listQuery) tight(low bool) listQuery {
	in.dense = low
	return in
}

// cleared is the same without filters.
func (in listQuery) cleared() listQuery {
	in = in.with("search", "").with("cursor", "")
	for _, f := range in.filters {
		in = in.with(f.Name, "")
	}
	return in
}

// filtered reports whether a filter is set.
func (in listQuery) filtered() bool {
	return in.query.Has("search") || slices.ContainsFunc(in.filters, func(f httpapi.Shape) bool { return in.query.Has(f.Name) })
}

// filtersBy reports whether the list has a filter.
func (in listQuery) filtersBy(name string) bool {
	return slices.ContainsFunc(in.filters, func(f httpapi.Shape) bool { return f.Name == name })
}

// encoded is the query of the address, with its question mark.
func (in listQuery) encoded() string {
	if all := in.values().Encode(); all != "" {
		return "?" + all
	}
	return ""
}

// done is the address of the list, which says what was done.
func (in listQuery) done(q *web.Request, what string) string {
	all := in.values()
	all.Set("done", what)
	return q.Path(in.res.Address) + "?" + all.Encode()
}

func (in listQuery) address(q *web.Request) string { return q.Path(in.res.Address) + in.encoded() }

// kept are the parameters that a form keeps which sets others.
func (in listQuery) kept(but ...string) (all []hidden) {
	values := in.values()
	for _, name := range sortedNames(values) {
		if name != "cursor" && !slices.Contains(but, name) {
			all = append(all, hidden{name, values.Get(name)})
		}
	}
	return all
}

func sortedNames(values url.Values) []string {
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// isTime reports whether a filter takes a day or a time.
func isTime(f httpapi.Shape) bool {
	return strings.HasSuffix(f.Name, "From") || strings.HasSuffix(f.Name, "To")
}

// days are the words for days that move on, each with how far it is from today.
var days = map[string]int{"today": 0, "yesterday": -1}

// dayAt is the beginning of a day of the company, which an address has as a date or as one of the words.
func dayAt(q *web.Request, text string) (time.Time, error) {
	if off, ok := days[text]; ok {
		text = q.Now.In(q.Zone).AddDate(0, 0, off).Format(time.DateOnly)
	}
	return time.ParseInLocation(time.DateOnly, text, q.Zone)
}

// forAPI is the query of the operation: days are those of the company, not of UTC.
func (in listQuery) forAPI(q *web.Request) url.Values {
	query := in.with("", "").query
	for _, f := range in.filters {
		day, err := dayAt(q, query.Get(f.Name))
		if err != nil || !isTime(f) {
			continue
		}
		if strings.HasSuffix(f.Name, "To") {
			day = day.AddDate(0, 0, 1).Add(-time.Millisecond)
		}
		query.Set(f.Name, web.Instant(day))
	}
	return query
}
