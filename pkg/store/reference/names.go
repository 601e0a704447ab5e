package reference

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// Names returns the names of those ids that are records of the company; "" for a record without a name.
type Names func(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) (map[uuid.UUID]string, error)

// Fill returns a read that sets the names of n references; at returns the i-th of them and the field that shows its name. The
// field is null without a reference, if the record does not exist, and if it has no name.
func (names Names) Fill(company tenant.ID, n int, at func(i int) (id *uuid.UUID, name **string)) batchloader.Read {
	return func(ctx context.Context, q db.Querier) error {
		var ids []uuid.UUID
		for i := range n {
			if id, _ := at(i); id != nil && !slices.Contains(ids, *id) {
				ids = append(ids, *id)
			}
		}
		var found map[uuid.UUID]string
		if len(ids) > 0 {
			var err error
			if found, err = names(ctx, q, company, ids); err != nil {
				return err
			}
		}
		for i := range n {
			id, name := at(i)
			*name = nil
			if id != nil && found[*id] != "" {
				*name = new(found[*id])
			}
		}
		return nil
	}
}
