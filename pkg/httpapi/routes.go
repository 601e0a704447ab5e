package httpapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/list"
	"github.com/tradegrid/tradegrid/pkg/record"
)

// Group holds what the operations of one domain share.
type Group struct {
	Tag       string // tag in the API description
	Scope     string // resource whose scope is required; "" = any valid token
	Component string // component that must be enabled; "" = none
	Platform  bool   // in the admin API: about the platform, so that paths name no company
}

// Op declares an operation for [Register]; status is its success status.
func (g Group) Op(method, path, id, summary string, status int) Op {
	return Op{Method: method, Path: path, ID: id, Summary: summary, Status: status, Tag: g.Tag, Scope: g.Scope, Component: g.Component, Platform: g.Platform}
}

// Routes registers operations of a group. Each function below adds one; the signature of the service's method
// determines the request and the response. A path may start with a method, as in "PATCH /leads/{id}/status".
type Routes struct {
	api   *API
	db    *db.DB
	group Group
	tx    []db.Option
}

// On returns the routes of the group; changes run in transactions of d with the options.
func (g Group) On(api *API, d *db.DB, opts ...db.Option) *Routes {
	return &Routes{api: api, db: d, group: g, tx: opts}
}

// Edit modifies an operation.
type Edit func(*Op)

// Answers sets the status of success.
func Answers(status int) Edit { return func(op *Op) { op.Status = status } }

// Records sets the path below which a created record is read, for Location.
func Records(path string) Edit { return func(op *Op) { op.Records = path } }

// NoURL says that what is created cannot be read by an id: the response has no Location.
func NoURL(op *Op) { op.NoURL = true }

// AlsoNeeds names a second component that must be enabled.
func AlsoNeeds(component string) Edit { return func(op *Op) { op.AlsoNeeds = component } }

func (r *Routes) op(method, path, id, summary string, status int, edits []Edit) Op {
	if m, rest, ok := strings.Cut(path, " "); ok {
		method, path = m, rest
	}
	op := r.group.Op(method, path, id, summary, status)
	op.OneTx = op.Mutating()
	for _, edit := range edits {
		edit(&op)
	}
	return op
}

// List adds a GET that returns a page; F is a filter that embeds [list.Params].
func List[F, T any](r *Routes, path, id, summary string, read func(context.Context, access.Caller, F) (*list.Page[T], error), edits ...Edit) {
	op := r.op(http.MethodGet, path, id, summary, http.StatusOK, edits)
	Register(r.api, op, func(ctx context.Context, in *listInput[F]) (*Reply[*list.Page[T]], error) {
		serveList(&in.Call, &in.Filter)
		return Paged(read(ctx, in.Caller, in.Filter))
	})
	addList(r.api, op, read)
}

type listInput[F any] struct {
	Call
	Filter F `params:"inline"`
}

// serveList has the node of the API serve a list; filter embeds [list.Params].
func serveList(call *Call, filter any) {
	if p, ok := filter.(interface {
		On(n *list.Node, fresh bool)
	}); ok {
		p.On(call.req.api.cfg.Lists, strings.Contains(strings.ToLower(call.req.header(fiber.HeaderCacheControl)), "no-cache"))
	}
}

// Read adds a GET of a resource that exists once per company, or of a plain array.
func Read[T any](r *Routes, path, id, summary string, read func(context.Context, access.Caller) (T, error), edits ...Edit) {
	op := r.op(http.MethodGet, path, id, summary, http.StatusOK, edits)
	Register(r.api, op, func(ctx context.Context, in *struct{ Call }) (*Reply[T], error) {
		v, err := read(ctx, in.Caller)
		return OK(v), err
	})
}

// ReadWith is [Read] with parameters P.
func ReadWith[P, T any](r *Routes, path, id, summary string, read func(context.Context, access.Caller, P) (T, error), edits ...Edit) {
	op := r.op(http.MethodGet, path, id, summary, http.StatusOK, edits)
	Register(r.api, op, func(ctx context.Context, in *struct {
		Call
		Params P `params:"inline"`
	},
	) (*Reply[T], error) {
		v, err := read(ctx, in.Caller, in.Params)
		return OK(v), err
	})
}

// Get adds a GET of one record, or of a resource that belongs to it.
func Get[T any](r *Routes, path, id, summary string, read func(context.Context, access.Caller, uuid.UUID) (T, error), edits ...Edit) {
	op := r.op(http.MethodGet, path, id, summary, http.StatusOK, edits)
	Register(r.api, op, func(ctx context.Context, in *ByID) (*Reply[T], error) {
		v, err := read(ctx, in.Caller, in.ID)
		return OK(v), err
	})
}

// GetWith is [Get] with parameters P.
func GetWith[P, T any](r *Routes, path, id, summary string, read func(context.Context, access.Caller, uuid.UUID, P) (T, error), edits ...Edit) {
	op := r.op(http.MethodGet, path, id, summary, http.StatusOK, edits)
	Register(r.api, op, func(ctx context.Context, in *struct {
		ByID
		Params P `params:"inline"`
	},
	) (*Reply[T], error) {
		v, err := read(ctx, in.Caller, in.ID, in.Params)
		return OK(v), err
	})
}

// Create adds a POST that creates a record and returns 201; F are the fields that clients set.
func Create[F, T any](r *Routes, path, id, summary string, create func(context.Context, *db.Tx, access.Caller, F) (T, error), edits ...Edit) {
	op := r.op(http.MethodPost, path, id, summary, http.StatusCreated, edits)
	Register(r.api, op, func(ctx context.Context, in *struct {
		Call
		Body F `body:"input"`
	},
	) (*Reply[T], error) {
		return change(ctx, r, &in.Call, op, func(ctx context.Context, tx *db.Tx) (T, error) { return create(ctx, tx, in.Caller, in.Body) })
	})
}

// Update adds a PATCH of one record: fields missing from the body stay unchanged.
func Update[F, T any](
	r *Routes, path, id, summary string, update func(context.Context, *db.Tx, access.Caller, uuid.UUID, record.Patch[F]) (T, error), edits ...Edit,
) {
	op := r.op(http.MethodPatch, path, id, summary, http.StatusOK, edits)
	Register(r.api, op, func(ctx context.Context, in *struct {
		ByID
		Body record.Patch[F]
	},
	) (*Reply[T], error) {
		return change(ctx, r, &in.Call, op, func(ctx context.Context, tx *db.Tx) (T, error) { return update(ctx, tx, in.Caller, in.ID, in.Body) })
	})
}

// Delete adds a DELETE of one record that returns 204.
func Delete(r *Routes, path, id, summary string, remove func(context.Context, *db.Tx, access.Caller, uuid.UUID) error, edits ...Edit) {
	op := r.op(http.MethodDelete, path, id, summary, http.StatusNoContent, edits)
	Register(r.api, op, func(ctx context.Context, in *ByID) (*Reply[None], error) {
		return change(ctx, r, &in.Call, op, func(ctx context.Context, tx *db.Tx) (None, error) { return None{}, remove(ctx, tx, in.Caller, in.ID) })
	})
}

// DeleteWith is [Delete] with parameters P.
func DeleteWith[P any](r *Routes, path, id, summary string, remove func(context.Context, *db.Tx, access.Caller, uuid.UUID, P) error, edits ...Edit) {
	op := r.op(http.MethodDelete, path, id, summary, http.StatusNoContent, edits)
	Register(r.api, op, func(ctx context.Context, in *struct {
		ByID
		Params P `params:"inline"`
	},
	) (*Reply[None], error) {
		return change(ctx, r, &in.Call, op, func(ctx context.Context, tx *db.Tx) (None, error) {
			return None{}, remove(ctx, tx, in.Caller, in.ID, in.Params)
		})
	})
}

// Command adds a POST without a body that changes one record.
func Command[T any](r *Routes, path, id, summary string, run func(context.Context, *db.Tx, access.Caller, uuid.UUID) (T, error), edits ...Edit) {
	op := r.op(http.MethodPost, path, id, summary, http.StatusOK, edits)
	Register(r.api, op, func(ctx context.Context, in *ByID) (*Reply[T], error) {
		return change(ctx, r, &in.Call, op, func(ctx context.Context, tx *db.Tx) (T, error) { return run(ctx, tx, in.Caller, in.ID) })
	})
}

// CommandWith is [Command] with a body, which requests may omit if none of its fields is required.
func CommandWith[F, T any](
	r *Routes, path, id, summary string, run func(context.Context, *db.Tx, access.Caller, uuid.UUID, F) (T, error), edits ...Edit,
) {
	op := r.op(http.MethodPost, path, id, summary, http.StatusOK, edits)
	Register(r.api, op, func(ctx context.Context, in *struct {
		ByID
		Body F `body:"command"`
	},
	) (*Reply[T], error) {
		return change(ctx, r, &in.Call, op, func(ctx context.Context, tx *db.Tx) (T, error) { return run(ctx, tx, in.Caller, in.ID, in.Body) })
	})
}

// UpdateOwn adds a PATCH of the company itself: fields missing from the body stay unchanged.
func UpdateOwn[F, T any](
	r *Routes, path, id, summary string, update func(context.Context, *db.Tx, access.Caller, record.Patch[F]) (T, error), edits ...Edit,
) {
	op := r.op(http.MethodPatch, path, id, summary, http.StatusOK, edits)
	Register(r.api, op, func(ctx context.Context, in *struct {
		Call
		Body record.Patch[F]
	},
	) (*Reply[T], error) {
		return change(ctx, r, &in.Call, op, func(ctx context.Context, tx *db.Tx) (T, error) { return update(ctx, tx, in.Caller, in.Body) })
	})
}

// CommandOwn adds a POST without a body that changes the company itself.
func CommandOwn[T any](r *Routes, path, id, summary string, run func(context.Context, *db.Tx, access.Caller) (T, error), edits ...Edit) {
	op := r.op(http.MethodPost, path, id, summary, http.StatusOK, edits)
	Register(r.api, op, func(ctx context.Context, in *struct{ Call }) (*Reply[T], error) {
		return change(ctx, r, &in.Call, op, func(ctx context.Context, tx *db.Tx) (T, error) { return run(ctx, tx, in.Caller) })
	})
}

// CommandOwnWith is [CommandOwn] with a body, which requests may omit if none of its fields is required.
func CommandOwnWith[F, T any](
	r *Routes, path, id, summary string, run func(context.Context, *db.Tx, access.Caller, F) (T, error), edits ...Edit,
) {
	op := r.op(http.MethodPost, path, id, summary, http.StatusOK, edits)
	Register(r.api, op, func(ctx context.Context, in *struct {
		Call
		Body F `body:"command"`
	},
	) (*Reply[T], error) {
		return change(ctx, r, &in.Call, op, func(ctx context.Context, tx *db.Tx) (T, error) { return run(ctx, tx, in.Caller, in.Body) })
	})
}

// change runs a change in a transaction that also stores the response for replays.
func change[T any](ctx context.Context, r *Routes, call *Call, op Op, run func(context.Context, *db.Tx) (T, error)) (*Reply[T], error) {
	return Mutate(ctx, r.db, call, op.ID, run, r.tx...)
}
