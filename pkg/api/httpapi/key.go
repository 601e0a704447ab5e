package httpapi

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi/idempotency"
)

// claimKey claims the key of a mutating request. It returns the stored response if the request was already executed.
func (r *request) claimKey(ctx context.Context) (*response, error) {
	if !r.op.Mutating() {
		return nil, nil //nolint:nilnil // no stored response
	}
	key, err := idempotency.ParseKey(r.Header)
	if err != nil {
		return nil, err
	}
	refused := r.admit()
	if key == uuid.Nil {
		return nil, refused
	}
	claim, stored, err := r.api.keys.Begin(ctx, idempotency.Request{
		Company: r.call.Company, Key: key, Fingerprint: r.fingerprint(), Secret: r.op.Secret, OneTx: r.op.OneTx,
	}, refused)
	r.call.claim = claim
	return replay(stored), err
}

// admit reports why a change that is new cannot be made now.
func (r *request) admit() error {
	if r.api.cfg.Gate == nil {
		return nil
	}
	return r.api.cfg.Gate.Admit()
}

// fingerprint identifies a request by method, path, sorted query and normalized body.
func (r *request) fingerprint() []byte {
	h := sha256.New()
	query := make([]string, 0, 4)
	for _, arg := range r.QueryArgs() {
		query = append(query, arg.Name+"="+arg.Value)
	}
	slices.Sort(query)
	fmt.Fprintf(h, "%s\n%s\n%s\n", r.op.Method, r.Path(), strings.Join(query, "&"))
	switch {
	case r.upload != nil:
		h.Write(r.upload.SHA256[:])
	case len(r.body.Raw) > 0:
		if _, err := r.body.Tree(); err != nil {
			h.Write(r.body.Raw)
			break
		}
		_ = r.body.WriteCanonical(h) // what is valid can be encoded, and a hash takes everything
	}
	return h.Sum(nil)
}

// replay is a stored response as it is sent again; nil if there is none.
func replay(stored *idempotency.Response) *response {
	if stored == nil {
		return nil
	}
	return &response{status: stored.Status, headers: stored.Headers, body: stored.Body, replayed: true}
}

// stored is the response as replays get it.
func (r *response) stored() idempotency.Response {
	return idempotency.Response{Status: r.status, Headers: r.headers, Body: r.body}
}

// storeResponse stores the response of an operation that has not stored it with its change. It returns the response to send: that of
// another process that has executed the request meanwhile, if there is one.
func (r *request) storeResponse(ctx context.Context, resp *response) (*response, error) {
	if resp.replayed {
		return resp, nil
	}
	if other, err := r.call.claim.Finish(ctx, resp.stored()); other != nil || err != nil {
		return replay(other), err
	}
	return resp, nil
}

// releaseKey frees the key of a request that has stored no response: a repeat must not wait for the end of the lease.
func (r *request) releaseKey(ctx context.Context) {
	if err := r.call.claim.Release(ctx); err != nil {
		r.api.log.WarnContext(ctx, "idempotency key not released; its lease will expire", "error", err)
	}
	r.call.claim.Close()
}
