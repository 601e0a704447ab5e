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
	var reply *Reply[T]
	err := d.RunTx(ctx, name, func(ctx context.Context, tx *db.Tx) (err error) {
		body, err := change(ctx, tx)
		if err != nil {
			return err
		}
		encoded, err := call.storeResponse(tx, body, nil)
		reply = &Reply[T]{Body: body, raw: encoded, status: call.status}
		return err
	}, append(call.txOptions(), opts...)...)
	if err != nil {
		return nil, err
	}
	call.committed()
	return reply, nil
}

// storeResponse stores the response in the transaction of the change, and returns its body as JSON; raw is that, if body is encoded
// already.
func (c *Call) storeResponse(tx *db.Tx, body any, raw json.RawMessage) (json.RawMessage, error) {
	resp, err := c.response(reply{body: body, raw: raw, status: c.status})
	if err != nil {
		return nil, err
	}
	if err := c.req.audit(tx, body); err != nil {
		return nil, fmt.Errorf("record change: %w", err)
	}
	return resp.body, c.claim.StoreIn(tx, resp.stored())
}

// txOptions returns the options of the transaction that executes the call: how to find out whether a commit with an
// unknown result took effect.
func (c *Call) txOptions() []db.Option { return c.claim.TxOptions() }

// committed records that the transaction with the stored response is committed.
func (c *Call) committed() { c.claim.Committed() }
