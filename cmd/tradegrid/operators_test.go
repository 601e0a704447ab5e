package main

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
	writerToken = "svc_admin_writer"
	readerToken = "svc_admin_reader"
)

var testOperators = sync.OnceValue(func() *secret.Operators { //nolint:gochecknoglobals // made once
	o, err := secret.ParseOperators(secret.OperatorLine("ann", secret.RoleWrite, writerToken) + "\n" + secret.OperatorLine("rob", secret.RoleRead, readerToken))
	if err != nil {
		panic(err)
	}
	return o
})

// operator is a caller of the admin API.
type operator struct {
	node  *node
	token string
}

// operator is the caller of the admin API with a token.
func (n *node) operator(token string) operator { return operator{n, token} }

func (o operator) do(t *testing.T, method, path, body string, headers ...string) *reply {
	t.Helper()
	return askOf(t, o.node.admin, "Bearer "+o.token, method, httpapi.AdminBasePath+path, body, headers...)
}

// ok requires a success.
func (o operator) ok(t *testing.T, method, path, body string, headers ...string) *reply {
	t.Helper()
	r := o.do(t, method, path, body, headers...)
	require.Less(t, r.status, 300, "%s %s: %s", method, path, r.raw)
	return r
}

// operatorIn is an operator in one company.
type operatorIn struct {
	operator
	company tenant.ID
}

func (o operator) in(company tenant.ID) operatorIn { return operatorIn{o, company} }

func (o operatorIn) do(t *testing.T, method, path, body string, headers ...string) *reply {
	t.Helper()
	return o.operator.do(t, method, "/companies/"+o.company.String()+path, body, headers...)
}

func (o operatorIn) ok(t *testing.T, method, path, body string, headers ...string) *reply {
	t.Helper()
	return o.operator.ok(t, method, "/companies/"+o.company.String()+path, body, headers...)
}

// path is an address of an admin operation in the company, where no record is.
func (o operatorIn) path(op httpapi.Op) string {
	return anyPath(strings.Replace(op.Path, "{companyId}", o.company.String(), 1))
}
