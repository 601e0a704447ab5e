package httpapi

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
)

// Sheet adds rows that are no records of a list to what [API.Files] has, such as those of a report. path is that of an operation that was
// added before, whose parameters F and rules hold.
func Sheet[F, T any](r *Routes, path, name string, read func(context.Context, access.Caller, F) ([]T, error)) {
	ops := r.api.Ops()
	i := slices.IndexFunc(ops, func(op Op) bool { return op.Path == path })
	if i < 0 {
		panic("no operation " + path)
	}
	l := newListSource(r.api, ops[i], func(ctx context.Context, by access.Caller, f F) (ListPage, error) {
		rows, err := read(ctx, by, f)
		return ListPage{Len: len(rows), Read: len(rows), Total: int64(len(rows)), Items: sheet[T](rows)}, err
	})
	l.Name, l.Item, l.Fields = name, reflect.TypeFor[T](), ItemFields[T]()
	r.api.sheets = append(r.api.sheets, l)
}

// Files returns all that can be written to files, by name: the lists of the API, and what [Sheet] has added.
func (a *API) Files() map[string]*ListSource {
	all := a.Lists()
	for _, l := range a.sheets {
		all[l.Name] = l
	}
	return all
}

// sheet are rows as they are.
type sheet[T any] []T

// Encode implements [Items].
func (s sheet[T]) Encode(to *json.Encoder, i int) error { return to.Encode(&s[i]) }

// Item implements [Items].
func (s sheet[T]) Item(i int) reflect.Value { return reflect.ValueOf(&s[i]).Elem() }
