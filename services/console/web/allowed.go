package web

import "net/http"

// MayCall reports whether the person may call an operation of the external API: by the scopes of the role, and by the components of
// the company.
func (q *Request) MayCall(id string) bool {
	op := q.Operation(id)
	has := func(component string) bool { return component == "" || q.Has(component) }
	return (op.Scope == "" || q.Allows(op.Scope, op.Method != http.MethodGet)) && has(op.Component) && has(op.AlsoNeeds)
}
