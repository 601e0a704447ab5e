// Package reference checks the records that a body names: whether they exist in the company, in one round trip for all.
package reference

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/batchloader"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// Known tells which of the ids are records of the company.
type Known func(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) ([]uuid.UUID, error)

// Set collects the references of one body. Its zero value is empty.
type Set struct {
	kinds []kind
}

// kind are the references to records of one entity.
type kind struct {
	entity string
	known  Known
	fields []field
}

type field struct {
	name string
	id   uuid.UUID
}

// Add adds the reference of a field to an entity such as CLIENT_GROUP. None is added for nil, nor when before, the
// reference as it was, is the same: what a record refers to may be gone later.
func (s *Set) Add(entity, name string, before, now *uuid.UUID, known Known) {
	if now == nil || before != nil && *before == *now {
		return
	}
	i := slices.IndexFunc(s.kinds, func(k kind) bool { return k.entity == entity })
	if i < 0 {
		i = len(s.kinds)
		s.kinds = append(s.kinds, kind{entity: entity, known: known})
	}
	s.kinds[i].fields = append(s.kinds[i].fields, field{name, *now})
}

// Check looks all references up. The first that does not exist, in the order in which entities were added, is
// 404 <ENTITY>_NOT_FOUND with meta.field and meta.id.
func (s *Set) Check(ctx context.Context, q db.Querier, company tenant.ID) error {
	return batchloader.Load(ctx, q, s.Reads(company)...)
}

// Reads are the look-ups of [Set.Check], one for each entity, for callers that load more in the same round trip.
func (s *Set) Reads(company tenant.ID) []batchloader.Read {
	reads := make([]batchloader.Read, len(s.kinds))
	for i, k := range s.kinds {
		reads[i] = func(ctx context.Context, q db.Querier) error { return k.check(ctx, q, company) }
	}
	return reads
}

func (k kind) check(ctx context.Context, q db.Querier, company tenant.ID) error {
	ids := make([]uuid.UUID, len(k.fields))
	for i, f := range k.fields {
		ids[i] = f.id
	}
	known, err := k.known(ctx, q, company, ids)
	if err != nil {
		return err
	}
	for _, f := range k.fields {
		if !slices.Contains(known, f.id) {
			return fault.ReferenceNotFound(k.entity, f.name, f.id.String())
		}
	}
	return nil
}
