package tenant

import "context"

type contextKey struct{}

// With returns a context for work on behalf of a company. The zero id stands for work of the platform.
func With(ctx context.Context, company ID) context.Context {
	return context.WithValue(ctx, contextKey{}, company)
}

// Of is the company that the work of ctx is done for; the zero id is the platform.
func Of(ctx context.Context) ID {
	company, _ := ctx.Value(contextKey{}).(ID)
	return company
}
