package httpapi

// Written returns a reply whose body is already encoded as JSON; T only describes it.
func Written[T any](body []byte) *Reply[T] { return &Reply[T]{raw: body, written: true} }
