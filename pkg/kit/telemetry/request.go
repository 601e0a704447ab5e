package telemetry

import "context"

type requestKey struct{}

// WithRequest returns a context that carries the id of the API request, for [RequestOf].
func WithRequest(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestKey{}, id)
}

// RequestOf is the id of the API request that ctx belongs to; "" outside requests.
func RequestOf(ctx context.Context) string {
	id, _ := ctx.Value(requestKey{}).(string)
	return id
}
