package resource

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// ListRead reads a page of a list, as its operation does.
type ListRead[F, T any] = func(context.Context, access.Caller, F) (*list.Page[T], error)

// WithLines returns a read of the documents of a list with their lines, each as row makes it. The page ends early where rows with the
// fields of document and line would take more than a page may.
func WithLines[F, T, L, R any](q db.Querier, lines *Lines[L], read ListRead[F, T], row func(by access.Caller, document *T, line *L) R) func(context.Context, access.Caller, F) (*list.Page[T], func(i int) []R, error) {
	return func(ctx context.Context, by access.Caller, f F) (*list.Page[T], func(i int) []R, error) {
		page, err := read(ctx, by, f)
		if err != nil {
			return nil, nil, err
		}
		listed := lines.Listed()
		if err := page.ReadRows(ctx, q, listed); err != nil {
			return nil, nil, err
		}
		return page, func(i int) []R {
			of := listed.Of(keyOf(&page.Items[i]))
			rows := make([]R, len(of))
			for j := range of {
				record.Derive(&of[j])
				rows[j] = row(by, &page.Items[i], &of[j])
			}
			return rows
		}, nil
	}
}

// Same is the row of a line that is a row as it is.
func Same[T, L any](_ access.Caller, _ *T, line *L) L { return *line }

// keyOf is the id of an item of a list, which embeds [record.Key].
func keyOf(item any) uuid.UUID {
	return item.(interface{ RecordKey() *record.Key }).RecordKey().ID //nolint:errcheck,forcetypeassert // every document has a key
}
