// Package reference reads in one round trip the records that a body refers to: whether they exist in the company, and their names.
package reference

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// Known returns those ids that are records of the company.
type Known func(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) ([]uuid.UUID, error)

// None is a [Known] of records that the platform does not have.
func None(context.Context, db.Querier, tenant.ID, []uuid.UUID) ([]uuid.UUID, error) { return nil, nil }

// Missing is the error of looking up the record that a field refers to: 404 <ENTITY>_NOT_FOUND if it was not found.
func Missing(err error, found bool, entity, field string, id uuid.UUID) error {
	if err != nil || found {
		return err
	}
	return apierr.ReferenceNotFound(entity, field, id.String())
}

// Set collects the references of one body. Its zero value is empty.
type Set struct {
	kinds []kind
}

// kind holds the references to records of one entity.
type kind struct {
	entity string
	known  Known
	names  Names // instead of known
	fields []field
}

type field struct {
	name   string
	id     uuid.UUID
	called *string // set to the name of the record
}

// Add adds the reference of a field to an entity such as CLIENT_GROUP. It ignores nil and references that equal before,
// the stored reference: a referenced record may be deleted later.
func (s *Set) Add(entity, name string, before, now *uuid.UUID, known Known) {
	if now == nil || before != nil && *before == *now {
		return
	}
	i := slices.IndexFunc(s.kinds, func(k kind) bool { return k.entity == entity && k.known != nil })
	if i < 0 {
		i = len(s.kinds)
		s.kinds = append(s.kinds, kind{entity: entity, known: known})
	}
	s.kinds[i].fields = append(s.kinds[i].fields, field{name: name, id: *now})
}

// AddNamed is [Set.Add] for a new reference whose record's name is copied to called. It ignores nil.
func (s *Set) AddNamed(entity, name string, id *uuid.UUID, names Names, called *string) {
	if id != nil {
		s.kinds = append(s.kinds, kind{entity: entity, names: names, fields: []field{{name, *id, called}}})
	}
}

// Check looks up all references. The first missing one, in the order in which entities were added, is returned as
// 404 <ENTITY>_NOT_FOUND with meta.field and meta.id.
func (s *Set) Check(ctx context.Context, q db.Querier, company tenant.ID) error {
	return batchloader.Load(ctx, q, s.Reads(company)...)
}

// Reads returns the look-ups of [Set.Check], one per entity, for callers that load more in the same round trip.
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
	if k.names != nil {
		names, err := k.names(ctx, q, company, ids)
		name, found := names[ids[0]]
		*k.fields[0].called = name
		return Missing(err, found, k.entity, k.fields[0].name, ids[0])
	}
	known, err := k.known(ctx, q, company, ids)
	if err != nil {
		return err
	}
	for _, f := range k.fields {
		if !slices.Contains(known, f.id) {
			return apierr.ReferenceNotFound(k.entity, f.name, f.id.String())
		}
	}
	return nil
}

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
