// Package fileuse keeps which records refer to which files, in the transactions that store the records. A file that a record refers to
// is not deleted; one that none refers to is, a day later. See docs/reference/files.md#references.
package fileuse

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
)

// Kept is how long a file is kept that no record refers to.
const Kept = 24 * time.Hour

// Entity is how errors and references name a file.
const Entity = "FILE"

const sqlKnown = `SELECT id FROM files WHERE company_id = $1 AND id = ANY($2::UUID[])`

// Known returns those ids that are files of the company.
func Known(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) ([]uuid.UUID, error) {
	return db.Collect(ctx, q, "look up files", pgx.RowTo[uuid.UUID], sqlKnown, company, ids)
}

// Check adds the references of a record to files, which a field of it has now, to those that are looked up: 404 FILE_NOT_FOUND. A list is
// a field whose name has its index.
func Check(refs *reference.Set, field string, before, now []uuid.UUID) {
	check(refs, field, before, now, Known)
}

// CheckImages is [Check] for a field that takes images only: a document is 400 FORMAT.
func CheckImages(refs *reference.Set, field string, before, now []uuid.UUID) {
	check(refs, field, before, now, images(func(id uuid.UUID) string { return indexed(field, slices.Index(now, id)) }))
}

// CheckImage is [CheckImages] for a field that is not a list.
func CheckImage(refs *reference.Set, field string, before, now *uuid.UUID) {
	refs.Add(Entity, field, before, now, images(func(uuid.UUID) string { return field }))
}

func check(refs *reference.Set, field string, before, now []uuid.UUID, known reference.Known) {
	for i, id := range now {
		if !slices.Contains(before, id) {
			refs.Add(Entity, indexed(field, i), nil, &id, known)
		}
	}
}

func indexed(field string, i int) string { return fmt.Sprintf("%s[%d]", field, i) }

const sqlSelectTypes = `SELECT id, media_type FROM files WHERE company_id = $1 AND id = ANY($2::UUID[])`

// images is [Known] that refuses documents, with the name of the field that has one.
func images(field func(id uuid.UUID) string) reference.Known {
	return func(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) ([]uuid.UUID, error) {
		types, err := db.Map[uuid.UUID, string](ctx, q, "look up images", sqlSelectTypes, company, ids)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			if media, found := types[id]; found && !strings.HasPrefix(media, "image/") {
				return nil, apierr.InvalidField(field(id), apierr.Format, "must be an image; the file is a document of type %s", media)
			}
		}
		return slices.Collect(maps.Keys(types)), nil
	}
}

// Repeated returns 400 CONFLICT if a list names a file twice.
func Repeated(field string, ids []uuid.UUID) error {
	var faults apierr.Fields
	for i, id := range ids {
		if slices.Contains(ids[:i], id) {
			faults.Add(indexed(field, i), apierr.Conflict, "is a duplicate; name each file once")
		}
	}
	return faults.Err()
}

// One returns the files of a field that is not a list.
func One(id *uuid.UUID) []uuid.UUID {
	if id == nil {
		return nil
	}
	return []uuid.UUID{*id}
}

const (
	fileBlobs = db.Table("file_blobs")
	fileUses  = db.Table("file_uses")
)

var (
	sqlInsertUse = fileUses.Insert(`(company_id, file_id, entity, record_id) VALUES ($1, $2, $3, $4)
ON CONFLICT (company_id, file_id, entity, record_id) DO NOTHING`)
	sqlDeleteUses = fileUses.Delete(`WHERE company_id = $1 AND entity = $2 AND record_id = $3 AND file_id = ANY($4::UUID[])`)
	sqlRelease    = fileBlobs.Update(`SET due_at = $3 WHERE company_id = $1 AND file_id = ANY($2::UUID[])`)
)

// Record queues what has changed in the references of a record, such as a product, to files by a field. If one of them is deleted at the
// same time, the transaction fails with 404 FILE_NOT_FOUND.
func Record(tx *db.Tx, company tenant.ID, entity, field string, record uuid.UUID, before, now []uuid.UUID) {
	for _, id := range without(now, before) {
		tx.Queue(sqlInsertUse, company, id, entity, record).OnConstraint("file_uses_file_fkey", apierr.ReferenceNotFound(Entity, field, id.String()))
	}
	if gone := without(before, now); len(gone) > 0 {
		tx.Queue(sqlDeleteUses, company, entity, record, gone)
		tx.Queue(sqlRelease, company, gone, tx.Now().Add(Kept))
	}
}

// without returns the ids that only a has, each once, in the order of their keys, which all transactions lock them in.
func without(a, b []uuid.UUID) []uuid.UUID {
	var only []uuid.UUID
	for _, id := range a {
		if !slices.Contains(b, id) && !slices.Contains(only, id) {
			only = append(only, id)
		}
	}
	slices.SortFunc(only, func(x, y uuid.UUID) int { return bytes.Compare(x[:], y[:]) })
	return only
}

// Use is a record that refers to a file.
type Use struct {
	Entity string    `json:"entity"` // such as product
	ID     uuid.UUID `json:"id"`
}

const sqlUses = `SELECT entity, record_id FROM file_uses WHERE company_id = $1 AND file_id = $2 ORDER BY entity, record_id LIMIT $3`

// Of returns up to limit records that refer to a file.
func Of(ctx context.Context, q db.Querier, company tenant.ID, file uuid.UUID, limit int) ([]Use, error) {
	return db.Collect(ctx, q, "select uses of a file", pgx.RowToStructByPos[Use], sqlUses, company, file, limit)
}
