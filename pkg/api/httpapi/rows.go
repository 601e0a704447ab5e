package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/list"
)

// LinePrefix begins the names of the fields of lines where documents and lines are rows; see [Rows].
const LinePrefix = "line."

// Rows adds the form of a list of documents that has a row for each of their lines, for files: the fields of the document, which are the
// same in the rows of all its lines, and those of the line behind [LinePrefix]. path is that of a list that was added before, whose filters
// and rules hold. hidden are fields of lines that rows have not.
func Rows[F, T, R any](r *Routes, path string, read func(context.Context, access.Caller, F) (*list.Page[T], func(i int) []R, error), hidden ...string) {
	of := r.api.list(path)
	l := newListSource(r.api, of.Op, func(ctx context.Context, by access.Caller, f F) (ListPage, error) {
		page, lines, err := read(ctx, by, f)
		if err != nil {
			return ListPage{}, err
		}
		rows := &lineRows[T, R]{page: page}
		for i := range page.Items {
			for _, line := range lines(i) {
				rows.all = append(rows.all, lineRow[T, R]{&page.Items[i], line, i})
			}
		}
		out := pageOf(page)
		out.Len, out.Items = len(rows.all), rows
		return out, nil
	})
	l.Name, l.Item = of.Name, reflect.TypeFor[lineRow[T, R]]()
	for _, f := range itemFields(reflect.TypeFor[T](), []int{0}, nil) {
		if f.Name != "lines" {
			l.Fields = append(l.Fields, f)
		}
	}
	for _, f := range itemFields(reflect.TypeFor[R](), []int{1}, nil) {
		if !slices.Contains(hidden, f.Name) {
			f.Name = LinePrefix + f.Name
			l.Fields = append(l.Fields, f)
		}
	}
	of.rows = l
}

// Rows returns the form of the list that has a row for each line of its documents; nil if its records have none. See the function [Rows].
func (l *ListSource) Rows() *ListSource { return l.rows }

// list returns a list that was added before.
func (a *API) list(path string) *ListSource {
	i := slices.IndexFunc(a.lists, func(l *ListSource) bool { return l.Path == path })
	if i < 0 {
		panic("no list " + path)
	}
	return a.lists[i]
}

// lineRow is a line with its document.
type lineRow[T, R any] struct {
	Document *T
	Line     R
	at       int // of the document on its page
}

// Reverses reports whether the document takes back another one.
func (r *lineRow[T, R]) Reverses() bool {
	d, ok := any(r.Document).(interface{ Reverses() bool })
	return ok && d.Reverses()
}

// lineRows are the rows of a page.
type lineRows[T, R any] struct {
	page *list.Page[T]
	all  []lineRow[T, R]
}

// Item implements [Items].
func (r *lineRows[T, R]) Item(i int) reflect.Value { return reflect.ValueOf(&r.all[i]).Elem() }

// Encode implements [Items]: the line is a field of its document.
func (r *lineRows[T, R]) Encode(to *json.Encoder, i int) error {
	var document bytes.Buffer
	if err := r.page.Encode(json.NewEncoder(&document), r.all[i].at); err != nil {
		return err
	}
	line, err := json.Marshal(&r.all[i].Line)
	if err != nil {
		return fmt.Errorf("encode line: %w", err)
	}
	raw := append(bytes.TrimSuffix(document.Bytes(), []byte("}\n")), `,"line":`...)
	return to.Encode(json.RawMessage(append(append(raw, line...), '}')))
}
