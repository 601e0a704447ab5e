package rolestest

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// Tokens of the operators of all nodes.
const (
	WriterToken = "svc_admin_writer"
	ReaderToken = "svc_admin_reader"
)

// Operators are the operators of all nodes.
var Operators = sync.OnceValue(func() *secret.Operators { //nolint:gochecknoglobals // made once
	o, err := secret.ParseOperators(secret.OperatorLine("ann", secret.RoleWrite, WriterToken) + "\n" + secret.OperatorLine("rob", secret.RoleRead, ReaderToken))
	if err != nil {
		panic(err)
	}
	return o
})

// Operator is a caller of the admin API.
type Operator struct {
	node  *Node
	token string
}

// Operator is the caller of the admin API with a token.
func (n *Node) Operator(token string) Operator { return Operator{n, token} }

// Do sends a request.
func (o Operator) Do(t *testing.T, method, path, body string, headers ...string) *Reply {
	t.Helper()
	return AskOf(t, o.node.Admin, "Bearer "+o.token, method, httpapi.AdminBasePath+path, body, headers...)
}

// OK requires a success.
func (o Operator) OK(t *testing.T, method, path, body string, headers ...string) *Reply {
	t.Helper()
	r := o.Do(t, method, path, body, headers...)
	require.Less(t, r.Status, 300, "%s %s: %s", method, path, r.Raw)
	return r
}

// OperatorIn is an operator in one company.
type OperatorIn struct {
	Operator
	company tenant.ID
}

// In is the operator in a company.
func (o Operator) In(company tenant.ID) OperatorIn { return OperatorIn{o, company} }

// Do sends a request below the company.
func (o OperatorIn) Do(t *testing.T, method, path, body string, headers ...string) *Reply {
	t.Helper()
	return o.Operator.Do(t, method, "/companies/"+o.company.String()+path, body, headers...)
}

// OK requires a success.
func (o OperatorIn) OK(t *testing.T, method, path, body string, headers ...string) *Reply {
	t.Helper()
	return o.Operator.OK(t, method, "/companies/"+o.company.String()+path, body, headers...)
}

// Path is an address of an admin operation in the company, where no record is.
func (o OperatorIn) Path(op httpapi.Op) string {
	return AnyPath(strings.Replace(op.Path, "{companyId}", o.company.String(), 1))
}
