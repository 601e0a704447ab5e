package httpapi

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/tradegrid/tradegrid/pkg/db"
)

// Mutate runs a change in one transaction together with the answer that a repeat of the request will get.
// change may run several times; it touches only the transaction and its result.
func Mutate[T any](ctx context.Context, d *db.DB, call *Call, name string, change func(context.Context, *db.Tx) (T, error), opts ...db.Option) (*Reply[T], error) {
	var reply *Reply[T]
	err := d.RunTx(ctx, name, func(ctx context.Context, tx *db.Tx) (err error) {
		body, err := change(ctx, tx)
		if err != nil {
			return err
		}
		reply, err = Keep(tx, call, body)
		return err
	}, append(call.TxOptions(), opts...)...)
	if err != nil {
		return nil, err
	}
	call.Committed()
	return reply, nil
}

// Keep stores the answer of call in the transaction of its change. It is for callers that run the
// transaction themselves, with [Call.TxOptions] and [Call.Committed]; others use [Mutate].
func Keep[T any](tx *db.Tx, call *Call, body T) (*Reply[T], error) {
	return KeepJSON(tx, call, body, nil)
}

// KeepJSON is [Keep] for a caller that has the JSON form of the body already.
func KeepJSON[T any](tx *db.Tx, call *Call, body T, raw json.RawMessage) (*Reply[T], error) {
	reply := &Reply[T]{Body: body, raw: raw}
	ans, err := newAnswer(*call.op, reply)
	if err != nil {
		return nil, err
	}
	if call.status != http.StatusNoContent {
		reply.raw = ans.body
	}
	if call.claim == nil {
		return reply, nil
	}
	return reply, call.claim.finish(tx, ans)
}

// TxOptions are the options of the transaction that carries out the call: how to find out
// whether a commit without an answer has happened.
func (c *Call) TxOptions() []db.Option {
	if c.claim == nil {
		return nil
	}
	return []db.Option{db.WithCommitCheck(c.claim.done)}
}

// Committed records that the transaction with the kept answer is committed.
func (c *Call) Committed() {
	if c.claim != nil {
		c.claim.stored = true
	}
}
