package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi/binding"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/list"
)

// ListSource is a list of the API for those who read all of it, such as exports: with the filters, the items and the rules
// of its operation. [List] adds one for each list.
type ListSource struct {
	Op
	Name   string // last segment of its path, such as suppliers
	Item   reflect.Type
	Fields []ItemField // top-level fields of an item, in the order of its JSON

	whole  *ListSource // see [Whole]
	rows   *ListSource // see [Rows]
	binder *binding.Binder
	node   *list.Node // whose limits hold for the operation; nil = none
	page   func(ctx context.Context, by access.Caller, params map[string]string, size int, node *list.Node) (ListPage, error)
}

// ListPage is a page of a list.
type ListPage struct {
	Len   int      // items
	Read  int      // records that they are of
	Next  string   // cursor; "" = this was the last page
	Total int64    // only of the first page
	Needs []string // scopes whose read right a reader of the items needs besides that of the list
	Items Items
}

// Revealing is implemented by filters that ask for more than the scope of the list opens. The read itself refuses who may not see it; this
// holds for those who get its result from somebody else.
type Revealing interface {
	// Reveals lists the scopes whose read right that needs.
	Reveals(by access.Caller) []string
}

// Items are the items of a page.
type Items interface {
	// Encode writes item i as the operation does, and a newline.
	Encode(to *json.Encoder, i int) error
	// Item returns item i with all its fields, for [ItemField.Value].
	Item(i int) reflect.Value
}

// ItemField is a top-level field of the items of a list.
type ItemField struct {
	Name  string
	Type  reflect.Type
	index []int
	omit  bool // left out if it is empty
}

// Value returns the field of an item. sent is false if the JSON of the item omits it.
func (f ItemField) Value(item reflect.Value) (v reflect.Value, sent bool) {
	v = item.FieldByIndex(f.index)
	if !f.omit {
		return v, true
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v, v.Len() > 0
	default:
		return v, !v.IsZero()
	}
}

// Lists returns the lists of the API, by name.
func (a *API) Lists() map[string]*ListSource {
	all := make(map[string]*ListSource, len(a.lists))
	for _, l := range a.lists {
		all[l.Name] = l
	}
	return all
}

func addList[F, T any](a *API, op Op, read func(context.Context, access.Caller, F) (*list.Page[T], error)) {
	l := listSource(a, op, read)
	if slices.ContainsFunc(a.lists, func(other *ListSource) bool { return other.Name == l.Name }) {
		l.Name = strings.ReplaceAll(strings.TrimPrefix(op.Path, "/"), "/", "-")
	}
	a.lists = append(a.lists, l)
}

// Whole adds the form of a list that has all fields of its records, for files: the list itself may show fewer. path is that of a
// list that was added before, whose filters and rules hold.
func Whole[F, T any](r *Routes, path string, read func(context.Context, access.Caller, F) (*list.Page[T], error)) {
	l := r.api.list(path)
	l.whole = listSource(r.api, l.Op, read)
	l.whole.Name = l.Name
}

// Whole returns the form of the list that has all fields of its records; see the function [Whole].
func (l *ListSource) Whole() *ListSource {
	if l.whole != nil {
		return l.whole
	}
	return l
}

func listSource[F, T any](a *API, op Op, read func(context.Context, access.Caller, F) (*list.Page[T], error)) *ListSource {
	l := newListSource(a, op, func(ctx context.Context, by access.Caller, f F) (out ListPage, err error) {
		page, err := read(ctx, by, f)
		if err != nil {
			return out, err
		}
		return pageOf(page), nil
	})
	l.Item, l.Fields = reflect.TypeFor[T](), ItemFields[T]()
	return l
}

// pageOf is a page with its items as they are.
func pageOf[T any](page *list.Page[T]) ListPage {
	out := ListPage{Len: len(page.Items), Read: len(page.Items), Items: page}
	if page.NextCursor != nil {
		out.Next = *page.NextCursor
	}
	if page.Total != nil {
		out.Total = *page.Total
	}
	return out
}

// newListSource returns a source without items and fields, whose pages are read by a function.
func newListSource[F any](a *API, op Op, read func(context.Context, access.Caller, F) (ListPage, error)) *ListSource {
	l := &ListSource{Op: op, Name: path.Base(op.Path), node: a.cfg.Lists}
	l.binder = binding.New(a.desc.Components.Schemas, op.Path, reflect.TypeFor[listInput[F]](), reflect.TypeFor[Call]())
	l.page = func(ctx context.Context, by access.Caller, params map[string]string, size int, node *list.Node) (out ListPage, err error) {
		in := new(listInput[F])
		if err := l.binder.BindQuery(params, reflect.ValueOf(in).Elem()); err != nil {
			return out, err
		}
		if p, ok := any(&in.Filter).(interface {
			On(node *list.Node, fresh bool)
			Read(size int)
			ReadPhonesOf(callingCode string)
		}); ok {
			p.On(node, false)
			p.ReadPhonesOf(by.CountryPrefix)
			p.Read(size)
		}
		if out, err = read(ctx, by, in.Filter); err != nil {
			return out, err
		}
		if r, ok := any(in.Filter).(Revealing); ok {
			out.Needs = r.Reveals(by)
		}
		return out, nil
	}
	return l
}

// Page reads a page of a size as the operation does, but without its limits. The parameters are those of its query; unknown
// ones are faults. The size may be larger than requests may ask for.
func (l *ListSource) Page(ctx context.Context, by access.Caller, params map[string]string, size int) (ListPage, error) {
	return l.page(ctx, by, params, size, nil)
}

// First reads the first record and the total as a request does: within the limits that keep expensive lists from using up
// the database. Its errors are those of the operation, such as 503 [list.TooExpensive].
func (l *ListSource) First(ctx context.Context, by access.Caller, params map[string]string) (ListPage, error) {
	return l.page(ctx, by, params, 1, l.node)
}

// Admits returns the 403 for a caller who may not call the operation.
func (l *ListSource) Admits(by access.Caller) error {
	switch {
	case l.Scope != "" && !by.Allows(l.Scope, false):
		return access.ScopeMissing(l.Scope + ":read")
	case l.Component != "" && !by.Has(l.Component):
		return ComponentInactive(l.Component)
	}
	return nil
}

// ItemFields lists the fields that a type has in JSON. An item is encoded as a whole by encoding/json or field by field by
// those who write columns, so it must not have a JSON form of its own.
func ItemFields[T any]() []ItemField { return itemFields(reflect.TypeFor[T](), nil, nil) }

func itemFields(t reflect.Type, at []int, fields []ItemField) []ItemField {
	if t.Implements(reflect.TypeFor[json.Marshaler]()) {
		panic(fmt.Sprintf("%s: items of lists cannot have a JSON form of their own", t))
	}
	for i := range t.NumField() {
		f := t.Field(i)
		index := append(slices.Clone(at), i)
		if f.Anonymous && f.Type.Kind() == reflect.Struct && f.Tag.Get("json") == "" {
			fields = itemFields(f.Type, index, fields)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			fields = append(fields, ItemField{name, f.Type, index, strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")})
		}
	}
	return fields
}
