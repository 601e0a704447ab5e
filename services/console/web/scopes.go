package web

import (
	"net/url"
	"slices"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
)

// Matrix shows for each resource of the API whether a token may read or change it. It is a piece; see pieces.go.
type Matrix struct {
	Label  string
	Fault  string
	Choose bool // the reader chooses; else it shows what was chosen
	Rows   []MatrixRow
}

// MatrixRow is what a token may do with one resource.
type MatrixRow struct {
	Resource string
	Name     string // in words
	Opens    string // what the scope opens, in a sentence
	Verb     string // none, read or write
	Writable bool   // there is a scope to change it
}

// Verbs of a matrix.
const (
	verbNone  = "none"
	verbRead  = "read"
	verbWrite = "write"
)

// scopeField is the name of the choice for a resource in a form.
func scopeField(resource string) string { return "scope." + resource }

// ScopeMatrix is a matrix of all scopes that there are. chosen are those that a token has; one that is not to be chosen from shows what
// they open together.
func (q *Request) ScopeMatrix(known []string, chosen access.Scopes, choose bool) Matrix {
	m := Matrix{Label: q.T("scopes.label"), Choose: choose}
	for _, resource := range resources(known) {
		row := MatrixRow{
			Resource: resource, Name: q.T("scope." + resource), Opens: q.T("scope." + resource + ".opens"), Verb: verbNone,
			Writable: slices.Contains(known, resource+":"+verbWrite),
		}
		for _, verb := range []string{verbRead, verbWrite} {
			if slices.Contains(chosen, resource+":"+verb) || !choose && chosen.Allows(resource, verb == verbWrite) {
				row.Verb = verb
			}
		}
		m.Rows = append(m.Rows, row)
	}
	return m
}

// resources are what the scopes name: everything first, the others by name.
func resources(known []string) []string {
	all := access.Scopes(known).Readable()
	slices.SortStableFunc(all, func(x, y string) int {
		switch {
		case x == y:
			return 0
		case x == "*":
			return -1
		case y == "*":
			return 1
		}
		return strings.Compare(x, y)
	})
	return all
}

// ScopesOf are the scopes that were chosen in the matrix of a form, in the order of the matrix.
func ScopesOf(known []string, form url.Values) []string {
	scopes := []string{}
	for _, resource := range resources(known) {
		if verb := form.Get(scopeField(resource)); verb == verbRead || verb == verbWrite {
			scopes = append(scopes, resource+":"+verb)
		}
	}
	return scopes
}

// ScopesInWords says what scopes open, such as: reads Clients; changes Orders, Sales.
func (q *Request) ScopesInWords(scopes access.Scopes) string {
	named := map[string][]string{}
	for _, resource := range resources(scopes) {
		verb := verbRead
		if scopes.Allows(resource, true) {
			verb = verbWrite
		}
		if resource == "*" {
			if verb == verbWrite {
				return q.T("scopes.all_write")
			}
			named[verb] = append(named[verb], q.T("scopes.all"))
			continue
		}
		named[verb] = append(named[verb], q.T("scope."+resource))
	}
	var parts []string
	if of := named[verbRead]; len(of) > 0 {
		parts = append(parts, q.T("scopes.reads", strings.Join(of, ", ")))
	}
	if of := named[verbWrite]; len(of) > 0 {
		parts = append(parts, q.T("scopes.changes", strings.Join(of, ", ")))
	}
	return strings.Join(parts, "; ")
}
