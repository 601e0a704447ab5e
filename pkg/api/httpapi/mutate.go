package httpapi

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/tradegrid/tradegrid/pkg/store/db"
)

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
