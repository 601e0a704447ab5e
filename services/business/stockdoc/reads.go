package stockdoc

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
)

// Reads reads the documents of a kind, with the names of those who created them.
type Reads[D, I, F any] struct {
	// List returns a page of documents without their lines.
	List func(ctx context.Context, by access.Caller, f F) (*list.Page[I], error)
	// Get reads one document with its lines.
	Get func(ctx context.Context, by access.Caller, id uuid.UUID) (D, error)
}

// headed is a pointer to a document, or to its item in a list: both embed a [Header].
type headed[T any] interface {
	*T
	header() *Header
}

func (h *Header) header() *Header { return h }

// NewReads returns what reads the documents of a table.
func NewReads[D, I, F any, PD headed[D], PI headed[I]](d *db.DB, s Sources, table *resource.Table[D], items *list.View[I, F]) Reads[D, I, F] {
	return Reads[D, I, F]{
		List: func(ctx context.Context, by access.Caller, f F) (*list.Page[I], error) {
			page, err := items.Page(ctx, d, by.Company, f)
			if err != nil {
				return nil, err
			}
			return page, s.nameCreators(by.Company, len(page.Items), func(i int) *Header { return PI(&page.Items[i]).header() })(ctx, d)
		},
		Get: func(ctx context.Context, by access.Caller, id uuid.UUID) (D, error) {
			doc, err := table.Get(ctx, d, by.Company, id)
			if err != nil {
				return doc, err
			}
			err = s.NameCreator(PD(&doc).header())(ctx, d)
			return doc, err
		},
	}
}
