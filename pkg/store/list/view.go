package list

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// View is the list of a table with items T, filtered and sorted by F. F embeds [Params] and has a field Sort whose enum
// names fields of T. Its other fields are filters: one tagged where:"kind = ANY(?::TEXT[])" adds the condition unless it
// is zero; without a ? it is the condition of a switch. In a pair of bounds, such as dateFrom and dateTo or priceMin and priceMax, the lower must not exceed the upper.
type View[T, F any] struct{ *view }

// view is what a [View] does whatever the types of its items and of its filter. Generic code is compiled anew for each type.
type view struct {
	spec     Spec
	plan     *record.Plan // of the items
	item     reflect.Type
	params   []int // index of Params in the filter
	sort     []int
	searched bool
	filters  []filter
	bounds   []bound
}

type filter struct {
	index []int
	where string
}

// bound is a pair of filters that bound an interval.
type bound struct {
	low, high         []int
	lowName, highName string
}

// Of returns the view of a table. It panics if a sort of F is not a field of T or a tag is invalid. spec may override
// the default columns; the sorts come from F.
func Of[T, F any](table db.Table, spec ...Spec) *View[T, F] {
	return &View[T, F]{newView(table, record.PlanOf[T](), reflect.TypeFor[T](), reflect.TypeFor[F](), spec)}
}

func newView(table db.Table, plan *record.Plan, item, t reflect.Type, spec []Spec) *view {
	v := &view{plan: plan, item: item}
	if len(spec) > 0 {
		v.spec = spec[0]
	}
	v.spec.From, v.spec.Reads, v.spec.Columns = string(table), []db.Table{table}, v.plan.SelectList("")
	v.searched = v.plan.Searched()
	record.CheckTags(t)
	v.scan(t, nil)
	if v.params == nil || v.sort == nil {
		panic(fmt.Sprintf("%s: a filter must embed list.Params and have a field Sort", t))
	}
	v.pairBounds(t)
	return v
}

func (v *view) scan(t reflect.Type, at []int) {
	for i := range t.NumField() {
		f := t.Field(i)
		index := append(append([]int{}, at...), i)
		switch {
		case f.Type == reflect.TypeFor[Params]():
			v.params = index
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			v.scan(f.Type, index)
		case f.Name == "Sort":
			v.sort = index
			v.spec.Sorts = v.sortsOf(strings.Split(f.Tag.Get("enum"), ","))
		case f.Tag.Get("where") != "":
			v.filters = append(v.filters, filter{index, f.Tag.Get("where")})
		}
	}
}

func (v *view) sortsOf(names []string) map[string]Sort {
	sorts := map[string]Sort{}
	for _, name := range append(names, "createdAt") {
		column, t, tag, ok := v.plan.Field(name)
		if !ok || column == "" {
			if name == "createdAt" {
				continue
			}
			panic(fmt.Sprintf("the list of %s cannot be sorted by %s: %s has no such column", v.spec.From, name, v.item))
		}
		sorts[name] = sortBy(column, t, tag)
	}
	return sorts
}

// collate selects the Unicode root collation. Migrations create it on PostgreSQL under CockroachDB's name for it.
const collate = " COLLATE und"

func sortBy(column string, t reflect.Type, tag reflect.StructTag) Sort {
	s := Sort{Column: column, Nullable: t.Kind() == reflect.Pointer}
	if s.Nullable {
		t = t.Elem()
	}
	switch t {
	case reflect.TypeFor[jsontype.Time]():
		s.Type = "TIMESTAMPTZ"
	case reflect.TypeFor[jsontype.Date]():
		s.Type = "DATE"
	case reflect.TypeFor[money.Qty]():
		s.Type = "DECIMAL"
	case reflect.TypeFor[uuid.UUID]():
		s.Type = "UUID"
	default:
		switch t.Kind() {
		case reflect.String:
			s.Type = "TEXT"
			if tag.Get("enum") == "" {
				// The Unicode root collation sorts "apple" before "Banana".
				s.Column, s.Type = column+collate, "TEXT"+collate
			}
		case reflect.Int, reflect.Int16, reflect.Int32, reflect.Int64:
			s.Type = "BIGINT"
		default:
			panic(fmt.Sprintf("a list cannot be sorted by the column %s of type %s", column, t))
		}
	}
	return s
}

func (v *view) pairBounds(t reflect.Type) {
	byName := map[string][]int{}
	for _, f := range v.filters {
		byName[t.FieldByIndex(f.index).Tag.Get("query")] = f.index
	}
	for name, low := range byName {
		for from, to := range map[string]string{"From": "To", "Min": "Max"} {
			stem, ok := strings.CutSuffix(name, from)
			if high, both := byName[stem+to]; ok && both {
				v.bounds = append(v.bounds, bound{low, high, name, stem + to})
			}
		}
	}
}

// Query returns the query of a company's list with all conditions of f, for lists that add more.
func (v *View[T, F]) Query(company tenant.ID, f F) (*Query, error) {
	return v.query(company, reflect.ValueOf(&f).Elem())
}

func (v *view) query(company tenant.ID, at reflect.Value) (*Query, error) {
	q, err := New(v.spec, company, *at.FieldByIndex(v.params).Addr().Interface().(*Params), at.FieldByIndex(v.sort).String()) //nolint:errcheck,forcetypeassert // the field was found by its type
	if err != nil {
		return nil, err
	}
	var faults apierr.Fields
	for _, b := range v.bounds {
		if low, high := at.FieldByIndex(b.low), at.FieldByIndex(b.high); !low.IsZero() && !high.IsZero() && exceeds(low, high) {
			faults.Add(b.lowName, apierr.Conflict, "must not exceed %s", b.highName)
		}
	}
	if v.searched {
		q.Search("search_text")
	}
	for _, w := range v.filters {
		if value := at.FieldByIndex(w.index); !value.IsZero() {
			w.add(q, argument(value))
		}
	}
	return q, faults.Err()
}

// add adds the condition, which has no argument if it is that of a switch.
func (f filter) add(q *Query, argument any) {
	if !strings.Contains(f.where, "?") {
		q.Where(f.where)
		return
	}
	q.Where(f.where, argument)
}

// argument returns the SQL argument of a condition.
func argument(v reflect.Value) any {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	switch x := v.Interface().(type) {
	case From:
		return time.Time(x)
	case To:
		return time.Time(x)
	default:
		return x
	}
}

func exceeds(low, high reflect.Value) bool {
	a, b := reflect.ValueOf(argument(low)), reflect.ValueOf(argument(high))
	if instant := reflect.TypeFor[time.Time](); a.CanConvert(instant) && b.CanConvert(instant) { // a date is one, too
		from, to := a.Convert(instant).Interface().(time.Time), b.Convert(instant).Interface().(time.Time) //nolint:errcheck,forcetypeassert // converted
		return from.After(to)
	}
	return a.Int() > b.Int()
}

// ByExternal are the filters of records with [record.External]; embed it in their filter.
type ByExternal struct {
	ExternalID string          `query:"externalId" maxLength:"255" where:"external_id = ?" doc:"id in another system, see source"`
	Source     string          `query:"source" maxLength:"255" where:"source = ?" doc:"system of externalId, or where the record comes from"`
	Metadata   record.Metadata `query:"metadata" maxProperties:"5" where:"metadata <> '{}' AND metadata @> ?::JSONB" doc:"metadata[<key>]=<value>: all keys given must have these values"`
}

// Page reads a page of the company's list.
func (v *View[T, F]) Page(ctx context.Context, d db.Querier, company tenant.ID, f F) (*Page[T], error) {
	q, err := v.Query(company, f)
	if err != nil {
		return nil, err
	}
	return v.Fetch(ctx, d, q)
}

// Fetch runs a query returned by [View.Query].
func (v *View[T, F]) Fetch(ctx context.Context, d db.Querier, q *Query) (*Page[T], error) {
	// One item is scanned into for every row. It is zeroed in between, because decoders reuse slices and maps, which
	// belong to the previous row.
	var item, zero T
	targets := v.plan.Targets(&item)
	own := len(targets)
	return fetch(ctx, d, q, func(rows pgx.Rows, end ...any) (T, error) {
		item = zero
		targets = append(targets[:own], end...)
		if err := rows.Scan(targets...); err != nil {
			return item, err
		}
		record.Derive(&item)
		return item, nil
	})
}

// Statements returns the statements that the list may run: one per filter and part, those of each sort, and those of what has changed.
func (v *view) Statements() []string {
	all := v.sample("", Params{UpdatedSince: &jsontype.Time{}}).statements(nil)
	for _, f := range v.filters {
		q := v.sample("", Params{})
		f.add(q, nil)
		all = append(all, q.statements(nil)...)
	}
	if v.searched {
		q := v.sample("", Params{Search: "x"})
		q.Search("search_text")
		sql, _ := q.pageSQL(q.spec.Sorts[q.sort], hits, 1)
		all = append(q.statements(nil), append(all, sql)...)
	}
	for name := range v.spec.Sorts {
		value := "x"
		all = append(all, v.sample(name, Params{}).statements(&place{sort: &value})...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (v *view) sample(sort string, p Params) *Query {
	p.PageSize = 1
	q, err := New(v.spec, tenant.ID{}, p, sort)
	if err != nil {
		panic(err) // contains no client input
	}
	return q
}

// statements are those of the page behind a place, of its total, and of the place where it begins.
func (q *Query) statements(behind *place) (all []string) {
	s, err := q.begin()
	if err != nil {
		panic(err) // as in sample
	}
	q.seekFrom = behind
	for _, p := range q.parts(s) {
		page, _ := q.pageSQL(s, p, 1)
		place, _ := q.placeSQL(s, p, behind, 0)
		all = append(all, page, place)
	}
	place, _ := q.placeSQL(s, whole, nil, 0)
	if s.Nullable {
		all = append(all, q.valuesOf(s).countSQL())
	}
	return append(all, q.countSQL(), place)
}
