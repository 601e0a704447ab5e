package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/apierr"
	"github.com/tradegrid/tradegrid/pkg/list"
)

// ListSource is a list of the API for those who read all of it, such as exports: with the filters, the items and the rules
// of its operation. [List] adds one for each list.
type ListSource struct {
	Op
	Name   string   // last segment of its path, such as suppliers
	Fields []string // top-level fields of an item, in the order of its JSON

	bind *binder
	page func(ctx context.Context, by access.Caller, params queryMap) (ListPage, error)
}

// ListPage is a page of a list.
type ListPage struct {
	Items []json.RawMessage
	Next  string // cursor; "" = this was the last page
	Total int64  // only of the first page
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
	l := &ListSource{Op: op, Name: path.Base(op.Path), Fields: jsonFields(reflect.TypeFor[T](), nil)}
	if slices.ContainsFunc(a.lists, func(other *ListSource) bool { return other.Name == l.Name }) {
		l.Name = strings.ReplaceAll(strings.TrimPrefix(op.Path, "/"), "/", "-")
	}
	l.bind = newBinder(a.desc.Components.Schemas, op.Path, reflect.TypeFor[listInput[F]]())
	l.page = func(ctx context.Context, by access.Caller, params queryMap) (out ListPage, err error) {
		in := new(listInput[F])
		if err := l.bind.bindQuery(params, reflect.ValueOf(in).Elem()); err != nil {
			return out, err
		}
		page, err := read(ctx, by, in.Filter)
		if err != nil {
			return out, err
		}
		raw, err := marshal(page)
		if err != nil {
			return out, err
		}
		if err := json.Unmarshal(raw, &out); err != nil {
			return out, fmt.Errorf("split page of %s: %w", l.Name, err)
		}
		if page.NextCursor != nil {
			out.Next = *page.NextCursor
		}
		return out, nil
	}
	a.lists = append(a.lists, l)
}

// Page reads a page as the operation does. The parameters are those of its query; unknown ones are faults.
func (l *ListSource) Page(ctx context.Context, by access.Caller, params map[string]string) (ListPage, error) {
	return l.page(ctx, by, params)
}

// Admits returns the 403 for a caller who may not call the operation.
func (l *ListSource) Admits(by access.Caller) error {
	switch {
	case l.Scope != "" && !by.Allows(l.Scope, false):
		return ScopeMissing(l.Scope + ":read")
	case l.Component != "" && !by.Has(l.Component):
		return ComponentInactive(l.Component)
	}
	return nil
}

// bindQuery fills the parameters of an input from a map; there is no request.
func (b *binder) bindQuery(params queryMap, in reflect.Value) error {
	c := &checker{reg: b.reg}
	b.bindParams(params, c, in)
	for _, name := range slices.Sorted(slices.Values(c.ignored)) {
		c.faults.Add(name, apierr.Unknown, "is unknown; correct the name or omit it")
	}
	return c.faults.Err()
}

// queryMap are the parameters of a query without a request.
type queryMap map[string]string

func (q queryMap) param(in, name string) string {
	if in != "query" {
		return ""
	}
	return q[name]
}

func (q queryMap) emptyQuery(name string) bool {
	text, sent := q[name]
	return sent && strings.TrimSpace(text) == ""
}

func (q queryMap) queryNames() map[string]string { return q }

func (q queryMap) queryArgs() []queryArg {
	var all []queryArg
	for _, name := range slices.Sorted(maps.Keys(q)) {
		all = append(all, queryArg{name, q[name]})
	}
	return all
}

// jsonFields lists the names of the fields that a type has in JSON.
func jsonFields(t reflect.Type, names []string) []string {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			names = jsonFields(f.Type, names)
			continue
		}
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}
