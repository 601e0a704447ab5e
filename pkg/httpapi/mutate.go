package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/tradegrid/tradegrid/pkg/db"
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
		reply, err = storeResponse(tx, call, body, nil)
		return err
	}, append(call.txOptions(), opts...)...)
	if err != nil {
		return nil, err
	}
	call.committed()
	return reply, nil
}

// storeResponse stores the response of call in the transaction of its change; raw is the body as JSON, if it is encoded already.
func storeResponse[T any](tx *db.Tx, call *Call, body T, raw json.RawMessage) (*Reply[T], error) {
	reply := &Reply[T]{Body: body, raw: raw, status: call.status}
	resp, err := newResponse(call, reply)
	if err != nil {
		return nil, err
	}
	if call.status != http.StatusNoContent {
		reply.raw = resp.body
	}
	if err := call.req.audit(tx, any(body)); err != nil {
		return nil, fmt.Errorf("record change: %w", err)
	}
	return reply, call.claim.StoreIn(tx, resp.stored())
}

// txOptions returns the options of the transaction that executes the call: how to find out whether a commit with an
// unknown result took effect.
func (c *Call) txOptions() []db.Option { return c.claim.TxOptions() }

// committed records that the transaction with the stored response is committed.
func (c *Call) committed() { c.claim.Committed() }
