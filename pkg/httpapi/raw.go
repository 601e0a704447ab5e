package httpapi

// Written answers with a body that is JSON already, byte for byte; T only describes it.
func Written[T any](body []byte) *Reply[T] { return &Reply[T]{raw: body} }
