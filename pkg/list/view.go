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

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/record"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/wire"
)

// View is the list of a table whose items are T, selected and ordered by F. F embeds [Params], has a field Sort whose
// enum names fields of T, and its other fields are filters: one tagged where:"kind = ANY(?::TEXT[])" adds the
// condition unless it is zero. Of two filters that bound one value, such as dateFrom and dateTo or priceMin and
// priceMax, the lower may not exceed the upper.
type View[T, F any] struct {
	spec     Spec
	plan     *record.Plan
	params   []int // index of Params in F
	sort     []int
	searched bool
	filters  []filter
	bounds   []bound
}

type filter struct {
	index []int
	where string
}

// bound is a pair of filters that are the ends of an interval.
type bound struct {
	low, high         []int
	lowName, highName string
}

// Of describes the list of a table. It panics when a sort of F is not a field of T, or a tag cannot work. spec may name
// other columns than the defaults; its sorts come from F.
func Of[T, F any](table string, spec ...Spec) *View[T, F] {
	v := &View[T, F]{plan: record.PlanOf[T]()}
	if len(spec) > 0 {
		v.spec = spec[0]
	}
	v.spec.From, v.spec.Columns = table, v.plan.SelectList("")
	v.searched = v.plan.Searched()
	t := reflect.TypeFor[F]()
	record.CheckTags(t)
	v.scan(t, nil)
	if v.params == nil || v.sort == nil {
		panic(fmt.Sprintf("%s: a filter embeds list.Params and has a field Sort", t))
	}
	v.pairBounds(t)
	return v
}

func (v *View[T, F]) scan(t reflect.Type, at []int) {
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

func (v *View[T, F]) sortsOf(names []string) map[string]Sort {
	sorts := map[string]Sort{}
	for _, name := range append(names, "createdAt") {
		column, t, tag, ok := v.plan.Field(name)
		if !ok || column == "" {
			if name == "createdAt" {
				continue
			}
			panic(fmt.Sprintf("the list of %s cannot be sorted by %s: %s has no such column", v.spec.From, name, reflect.TypeFor[T]()))
		}
		sorts[name] = sortBy(column, t, tag)
	}
	return sorts
}

// collate selects the root collation of Unicode; migrations make it on PostgreSQL under the name that CockroachDB has for it.
const collate = " COLLATE und"

func sortBy(column string, t reflect.Type, tag reflect.StructTag) Sort {
	s := Sort{Column: column, Nullable: t.Kind() == reflect.Pointer}
	if s.Nullable {
		t = t.Elem()
	}
	switch t {
	case reflect.TypeFor[wire.Time]():
		s.Type = "TIMESTAMPTZ"
	case reflect.TypeFor[wire.Date]():
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
				// Names sort as people expect, "apple" before "Banana": by the root collation of Unicode.
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

func (v *View[T, F]) pairBounds(t reflect.Type) {
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

// Query starts the query of a company's list with all conditions of f, for lists that add others.
func (v *View[T, F]) Query(company tenant.ID, f F) (*Query, error) {
	at := reflect.ValueOf(&f).Elem()
	q, err := New(v.spec, company, *at.FieldByIndex(v.params).Addr().Interface().(*Params), at.FieldByIndex(v.sort).String()) //nolint:errcheck,forcetypeassert // found by its type
	if err != nil {
		return nil, err
	}
	var faults fault.Fields
	for _, b := range v.bounds {
		if low, high := at.FieldByIndex(b.low), at.FieldByIndex(b.high); !low.IsZero() && !high.IsZero() && exceeds(low, high) {
			faults.Add(b.lowName, fault.Conflict, "must not be after or above %s", b.highName)
		}
	}
	if v.searched {
		q.Search("search_text")
	}
	for _, w := range v.filters {
		if value := at.FieldByIndex(w.index); !value.IsZero() {
			q.Where(w.where, argument(value))
		}
	}
	return q, faults.Err()
}

// argument is what a condition compares with.
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
	a, b := argument(low), argument(high)
	if from, ok := a.(time.Time); ok {
		to, ok := b.(time.Time)
		return ok && from.After(to)
	}
	return reflect.ValueOf(a).Int() > reflect.ValueOf(b).Int()
}

// Page reads a page of the company's list.
func (v *View[T, F]) Page(ctx context.Context, d db.Querier, company tenant.ID, f F) (*Page[T], error) {
	q, err := v.Query(company, f)
	if err != nil {
		return nil, err
	}
	return v.Fetch(ctx, d, q)
}

// Fetch runs a query that [View.Query] has started.
func (v *View[T, F]) Fetch(ctx context.Context, d db.Querier, q *Query) (*Page[T], error) {
	// One item takes each row in turn. It is zeroed between rows, since a decoder writes into the lists and
	// dictionaries that it finds, and those belong to the row before.
	var item, zero T
	targets := v.plan.Targets(&item)
	own := len(targets)
	return fetch(ctx, d, q, func(rows pgx.Rows, end ...any) (T, error) {
		item = zero
		targets = append(targets[:own], end...)
		err := rows.Scan(targets...)
		return item, err
	})
}

// Statements are what the list may send: one for each filter, and one for each sort.
func (v *View[T, F]) Statements() []string {
	var all []string
	for _, f := range v.filters {
		q := v.sample("")
		q.Where(f.where, nil)
		all = append(all, q.mustPageSQL())
	}
	for name := range v.spec.Sorts {
		q := v.sample(name)
		q.own = len(q.args)
		value := "x"
		q.params.Cursor = q.cursorAt(lastRow{sort: &value})
		all = append(all, q.mustPageSQL())
	}
	slices.Sort(all)
	return all
}

func (v *View[T, F]) sample(sort string) *Query {
	q, err := New(v.spec, tenant.ID{}, Params{PageSize: 1}, sort)
	if err != nil {
		panic(err) // nothing of a client is in it
	}
	return q
}

func (q *Query) mustPageSQL() string {
	sql, err := q.pageSQL()
	if err != nil {
		panic(err) // as in sample
	}
	return sql
}
