package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// Group holds what the operations of one domain share.
type Group struct {
	Tag       string // tag in the API description
	About     string // describes the tag; of groups with the same one, the first that is registered with it counts
	Scope     string // resource whose scope is required; "" = any valid token
	Component string // component that must be enabled; "" = none
	Platform  bool   // in the admin API: about the platform, so that paths name no company
}

// Op declares an operation for [Register]; status is its success status.
func (g Group) Op(method, path, id, summary string, status int) Op {
	return Op{Method: method, Path: path, ID: id, Summary: summary, Status: status, Tag: g.Tag, About: g.About, Scope: g.Scope, Component: g.Component, Platform: g.Platform}
}

// Routes registers operations of a group. Each function below adds one; the signature of the service's method
// determines the request and the response. A path may start with a method, as in "PATCH /leads/{id}/status".
//
// [View], [Change] and [ChangeTogether] take any input. The other functions are these for the inputs that most operations have.
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

// Doc describes an operation in the API description: a sentence on what it does, and one on the errors that it has of its own.
func Doc(text string) Edit { return func(op *Op) { op.Description = text } }

// Answers sets the status of success.
func Answers(status int) Edit { return func(op *Op) { op.Status = status } }

// Records sets the path below which a created record is read, for Location.
func Records(path string) Edit { return func(op *Op) { op.Records = path } }

// NoURL says that what is created cannot be read by an id: the response has no Location.
func NoURL(op *Op) { op.NoURL = true }

// Files names the media types of the file that an operation returns.
func Files(media ...string) Edit { return func(op *Op) { op.Files = media } }

// Uploads names the media types of the file that is the body of an operation, which may have up to limit bytes.
func Uploads(limit int, media ...string) Edit {
	return func(op *Op) { op.MaxBody, op.Uploads = limit, media }
}

// Discreet keeps personal data out of the record of the change: the body, and what was before.
func Discreet(op *Op) { op.Discreet = true }

// AcceptSignedURL lets requests in without a token.
func AcceptSignedURL(g SignedURL) Edit { return func(op *Op) { op.SignedURL = g } }

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

// input is a pointer to a struct that embeds [Call].
type input interface{ caller() *Call }

func (c *Call) caller() *Call { return c }

// Own is the input of an operation without parameters.
type Own struct{ Call }

// View adds a GET with the parameters in the struct that P points to. A POST that changes nothing says so in its path.
func View[P input, T any](r *Routes, path, id, summary string, read func(context.Context, P) (T, error), edits ...Edit) {
	view(r, r.op(http.MethodGet, path, id, summary, http.StatusOK, edits), read)
}

func view[P input, T any](r *Routes, op Op, read func(context.Context, P) (T, error)) {
	op.OneTx = false
	r.api.register(op, reflect.TypeFor[P]().Elem(), reflect.TypeFor[T](), func(ctx context.Context, in input) (reply, error) {
		v, err := read(ctx, in.(P)) //nolint:errcheck,forcetypeassert // register makes it
		return reply{body: v}, err
	})
}

// Change adds a POST that makes a change in one transaction, which also stores the response for replays. The struct that P points to
// holds its parameters, and its body in the field Body.
func Change[P input, T any](r *Routes, path, id, summary string, run func(context.Context, *db.Tx, P) (T, error), edits ...Edit) {
	change(r, r.op(http.MethodPost, path, id, summary, http.StatusOK, edits), run)
}

// ChangePrepared is [Change] for a change that needs something which must not be in its transaction, such as a file that is stored
// elsewhere. prepare makes it, and run, which may be called several times, makes the change.
func ChangePrepared[P input, V, T any](
	r *Routes, path, id, summary string, prepare func(context.Context, P) (V, error), run func(context.Context, *db.Tx, P, V) (T, error), edits ...Edit,
) {
	op := r.op(http.MethodPost, path, id, summary, http.StatusOK, edits)
	r.api.register(op, reflect.TypeFor[P]().Elem(), reflect.TypeFor[T](), func(ctx context.Context, in input) (reply, error) {
		params := in.(P) //nolint:errcheck,forcetypeassert // register makes it
		v, err := prepare(ctx, params)
		if err != nil {
			return reply{}, err
		}
		return mutate(ctx, r.db, in.caller(), op.ID, func(ctx context.Context, tx *db.Tx) (any, error) { return run(ctx, tx, params, v) }, r.tx...)
	})
}

func change[P input, T any](r *Routes, op Op, run func(context.Context, *db.Tx, P) (T, error)) {
	r.change(op, reflect.TypeFor[P]().Elem(), reflect.TypeFor[T](), func(ctx context.Context, tx *db.Tx, in input) (any, error) {
		return run(ctx, tx, in.(P)) //nolint:errcheck,forcetypeassert // register makes it
	})
}

// change adds a change with an input and a body of these types.
//
//go:noinline // into each of hundreds of instances of the function change
func (r *Routes) change(op Op, in, body reflect.Type, run func(context.Context, *db.Tx, input) (any, error)) {
	r.api.register(op, in, body, func(ctx context.Context, in input) (reply, error) {
		return mutate(ctx, r.db, in.caller(), op.ID, func(ctx context.Context, tx *db.Tx) (any, error) { return run(ctx, tx, in) }, r.tx...)
	})
}

// ChangeTogether is [Change] for a change that shares its transaction with others, so that run does not get one: it passes store and
// the options on to the transaction. store stores the response there; raw is v as JSON, if it is encoded already.
func ChangeTogether[P input, T any](
	r *Routes, path, id, summary string,
	run func(ctx context.Context, in P, store func(tx *db.Tx, v T, raw json.RawMessage) error, opts ...db.Option) error, edits ...Edit,
) {
	op := r.op(http.MethodPost, path, id, summary, http.StatusOK, edits)
	r.api.register(op, reflect.TypeFor[P]().Elem(), reflect.TypeFor[T](), func(ctx context.Context, in input) (reply, error) {
		return together(in.caller(), func(store func(*db.Tx, T, json.RawMessage) error, opts ...db.Option) error {
			return run(ctx, in.(P), store, opts...) //nolint:errcheck,forcetypeassert // register makes it
		})
	})
}

// together runs a change that begins its transaction itself, and has it store the response.
func together[T any](call *Call, run func(store func(*db.Tx, T, json.RawMessage) error, opts ...db.Option) error) (r reply, err error) {
	err = run(func(tx *db.Tx, v T, raw json.RawMessage) (err error) {
		r, err = call.storeResponse(tx, v, raw)
		return err
	}, call.txOptions()...)
	if err == nil {
		call.committed()
	}
	return r, err
}

// List adds a GET that returns a page; F is a filter that embeds [list.Params].
func List[F, T any](r *Routes, path, id, summary string, read func(context.Context, access.Caller, F) (*list.Page[T], error), edits ...Edit) {
	op := r.op(http.MethodGet, path, id, summary, http.StatusOK, edits)
	failsAsLists(&op)
	view(r, op, func(ctx context.Context, in *listInput[F]) (*list.Page[T], error) {
		serveList(&in.Call, &in.Filter)
		return read(ctx, in.Caller, in.Filter)
	})
	addList(r.api, op, read)
}

// Sums adds a GET of what the records of a list add up to that its filter selects. F is the filter of the list; its page and its order
// change nothing.
func Sums[F, T any](r *Routes, path, id, summary string, read func(context.Context, access.Caller, F) (T, error), edits ...Edit) {
	op := r.op(http.MethodGet, path, id, summary, http.StatusOK, edits)
	failsAsLists(&op)
	view(r, op, func(ctx context.Context, in *listInput[F]) (T, error) {
		serveList(&in.Call, &in.Filter)
		return read(ctx, in.Caller, in.Filter)
	})
}

// failsAsLists adds to the description of a list when every list fails, unless it says so itself.
func failsAsLists(op *Op) {
	if !strings.Contains(op.Description, "Fails with ") {
		op.Description += " Fails with `VALIDATION_ERROR` for a filter, sort or cursor that does not fit, and with `QUERY_TOO_EXPENSIVE` if a page takes longer than a second."
	}
}

// neverFails adds to the description of a read without an id that it has no errors, unless it says which.
func neverFails(op *Op) {
	if !strings.Contains(op.Description, "Fails with ") && !strings.Contains(op.Description, "no errors of its own") {
		op.Description += " It has no errors of its own."
	}
}

type listInput[F any] struct {
	Call
	Filter F `params:"inline"`
}

// serveList has the node of the API serve a list; filter embeds [list.Params].
func serveList(call *Call, filter any) {
	if p, ok := filter.(interface {
		On(n *list.Node, fresh bool)
		ReserveBy(reserve func(ctx context.Context, bytes int) error)
		ReadPhonesOf(callingCode string)
	}); ok {
		p.ReadPhonesOf(call.CountryPrefix)
		p.ReserveBy(func(ctx context.Context, bytes int) error { return call.req.reserved.Reserve(ctx, bytes, false) })
		p.On(call.req.api.cfg.Lists, strings.Contains(strings.ToLower(call.req.header(fiber.HeaderCacheControl)), "no-cache"))
	}
}

// Read adds a GET of a resource that exists once per company, or of a plain array.
func Read[T any](r *Routes, path, id, summary string, read func(context.Context, access.Caller) (T, error), edits ...Edit) {
	View(r, path, id, summary, func(ctx context.Context, in *Own) (T, error) { return read(ctx, in.Caller) }, slices.Concat(edits, []Edit{neverFails})...)
}

// ReadWith is [Read] with parameters Q.
func ReadWith[Q, T any](r *Routes, path, id, summary string, read func(context.Context, access.Caller, Q) (T, error), edits ...Edit) {
	View(r, path, id, summary, func(ctx context.Context, in *struct {
		Call
		Params Q `params:"inline"`
	},
	) (T, error) {
		return read(ctx, in.Caller, in.Params)
	}, slices.Concat(edits, []Edit{neverFails})...)
}

// Get adds a GET of one record, or of a resource that belongs to it.
func Get[T any](r *Routes, path, id, summary string, read func(context.Context, access.Caller, uuid.UUID) (T, error), edits ...Edit) {
	View(r, path, id, summary, func(ctx context.Context, in *ByID) (T, error) { return read(ctx, in.Caller, in.ID) }, edits...)
}

// GetWith is [Get] with parameters Q.
func GetWith[Q, T any](r *Routes, path, id, summary string, read func(context.Context, access.Caller, uuid.UUID, Q) (T, error), edits ...Edit) {
	View(r, path, id, summary, func(ctx context.Context, in *struct {
		ByID
		Params Q `params:"inline"`
	},
	) (T, error) {
		return read(ctx, in.Caller, in.ID, in.Params)
	}, edits...)
}

// Create adds a POST that creates a record and returns 201; F are the fields that clients set.
func Create[F, T any](r *Routes, path, id, summary string, create func(context.Context, *db.Tx, access.Caller, F) (T, error), edits ...Edit) {
	change(r, r.op(http.MethodPost, path, id, summary, http.StatusCreated, edits), func(ctx context.Context, tx *db.Tx, in *struct {
		Call
		Body F `body:"input"`
	},
	) (T, error) {
		return create(ctx, tx, in.Caller, in.Body)
	})
}

// Update adds a PATCH of one record: fields missing from the body stay unchanged.
func Update[F, T any](
	r *Routes, path, id, summary string, update func(context.Context, *db.Tx, access.Caller, uuid.UUID, record.Patch[F]) (T, error), edits ...Edit,
) {
	change(r, r.op(http.MethodPatch, path, id, summary, http.StatusOK, edits), func(ctx context.Context, tx *db.Tx, in *struct {
		ByID
		Body record.Patch[F]
	},
	) (T, error) {
		return update(ctx, tx, in.Caller, in.ID, in.Body)
	})
}

// Delete adds a DELETE of one record that returns 204.
func Delete(r *Routes, path, id, summary string, remove func(context.Context, *db.Tx, access.Caller, uuid.UUID) error, edits ...Edit) {
	change(r, r.op(http.MethodDelete, path, id, summary, http.StatusNoContent, edits), func(ctx context.Context, tx *db.Tx, in *ByID) (None, error) {
		return None{}, remove(ctx, tx, in.Caller, in.ID)
	})
}

// Command adds a POST without a body that changes one record.
func Command[T any](r *Routes, path, id, summary string, run func(context.Context, *db.Tx, access.Caller, uuid.UUID) (T, error), edits ...Edit) {
	Change(r, path, id, summary, func(ctx context.Context, tx *db.Tx, in *ByID) (T, error) { return run(ctx, tx, in.Caller, in.ID) }, edits...)
}

// CommandWith is [Command] with a body, which requests may omit if none of its fields is required.
func CommandWith[F, T any](
	r *Routes, path, id, summary string, run func(context.Context, *db.Tx, access.Caller, uuid.UUID, F) (T, error), edits ...Edit,
) {
	Change(r, path, id, summary, func(ctx context.Context, tx *db.Tx, in *struct {
		ByID
		Body F `body:"command"`
	},
	) (T, error) {
		return run(ctx, tx, in.Caller, in.ID, in.Body)
	}, edits...)
}

// Mutate runs a change and stores its response for replays in the same transaction.
// change may run several times; it must touch only the transaction and its result.
func Mutate[T any](ctx context.Context, d *db.DB, call *Call, name string, change func(context.Context, *db.Tx) (T, error), opts ...db.Option) (*Reply[T], error) {
	r, err := mutate(ctx, d, call, name, func(ctx context.Context, tx *db.Tx) (any, error) { return change(ctx, tx) }, opts...)
	return &Reply[T]{r}, err
}

func mutate(ctx context.Context, d *db.DB, call *Call, name string, change func(context.Context, *db.Tx) (any, error), opts ...db.Option) (r reply, err error) {
	err = d.RunTx(ctx, name, func(ctx context.Context, tx *db.Tx) error {
		body, err := change(ctx, tx)
		if err != nil {
			return err
		}
		r, err = call.storeResponse(tx, body, nil)
		return err
	}, append(call.txOptions(), opts...)...)
	if err == nil {
		call.committed()
	}
	return r, err
}

// storeResponse stores the response in the transaction of the change, and returns it as it is stored; raw is the body as JSON, if it
// is encoded already.
func (c *Call) storeResponse(tx *db.Tx, body any, raw json.RawMessage) (reply, error) {
	r := reply{body: body, raw: raw, status: c.status}
	resp, err := c.response(r)
	if err != nil {
		return reply{}, err
	}
	if err := c.req.audit(tx, body); err != nil {
		return reply{}, fmt.Errorf("record change: %w", err)
	}
	r.raw = resp.body
	return r, c.claim.StoreIn(tx, resp.stored())
}

// txOptions returns the options of the transaction that executes the call: how to find out whether a commit with an
// unknown result took effect.
func (c *Call) txOptions() []db.Option { return c.claim.TxOptions() }

// committed records that the transaction with the stored response is committed.
func (c *Call) committed() { c.claim.Committed() }
