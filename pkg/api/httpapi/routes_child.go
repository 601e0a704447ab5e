package httpapi

import (
	"context"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// The functions below add operations on records that belong to another one, such as the addresses of a client. Their paths
// start with the owner, as in "/clients/{id}/addresses/{addressId}", and their methods take the id of the owner first.

// ListIn adds a GET that returns a page of the records that belong to one record; F is a filter that embeds [list.Params].
func ListIn[F, T any](
	r *Routes, path, id, summary string, read func(context.Context, access.Caller, uuid.UUID, F) (*list.Page[T], error), edits ...Edit,
) {
	View(r, path, id, summary, func(ctx context.Context, in *struct {
		ByID
		Filter F `params:"inline"`
	},
	) (*list.Page[T], error) {
		serveList(&in.Call, &in.Filter)
		return read(ctx, in.Caller, in.ID, in.Filter)
	}, slices.Concat(edits, []Edit{failsAsLists})...)
}

// CreateIn adds a POST that creates a record that belongs to another one, and returns 201. Requests may omit the body if none
// of its fields is required.
func CreateIn[F, T any](
	r *Routes, path, id, summary string, create func(context.Context, *db.Tx, access.Caller, uuid.UUID, F) (T, error), edits ...Edit,
) {
	CommandWith(r, path, id, summary, create, append([]Edit{Answers(http.StatusCreated)}, edits...)...)
}

// GetIn adds a GET of one record that belongs to another one.
func GetIn[T any](r *Routes, path, id, summary string, read func(ctx context.Context, by access.Caller, owner, id uuid.UUID) (T, error), edits ...Edit) {
	View(r, path, id, summary, func(ctx context.Context, in *ByChild) (T, error) { return read(ctx, in.Caller, in.ID, in.Child) }, edits...)
}

// UpdateIn adds a PATCH of one record that belongs to another one.
func UpdateIn[F, T any](
	r *Routes, path, id, summary string,
	update func(ctx context.Context, tx *db.Tx, by access.Caller, owner, id uuid.UUID, in record.Patch[F]) (T, error), edits ...Edit,
) {
	change(r, r.op(http.MethodPatch, path, id, summary, http.StatusOK, edits), func(ctx context.Context, tx *db.Tx, in *struct {
		ByChild
		Body record.Patch[F]
	},
	) (T, error) {
		return update(ctx, tx, in.Caller, in.ID, in.Child, in.Body)
	})
}

// DeleteIn adds a DELETE of one record that belongs to another one; it returns 204.
func DeleteIn(
	r *Routes, path, id, summary string, remove func(ctx context.Context, tx *db.Tx, by access.Caller, owner, id uuid.UUID) error, edits ...Edit,
) {
	change(r, r.op(http.MethodDelete, path, id, summary, http.StatusNoContent, edits), func(ctx context.Context, tx *db.Tx, in *ByChild) (None, error) {
		return None{}, remove(ctx, tx, in.Caller, in.ID, in.Child)
	})
}
