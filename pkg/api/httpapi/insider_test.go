package httpapi_test

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi/transport"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// ask sends a request of an insider with a body.
func ask(t *testing.T, api *httpapi.API, by httpapi.Insider, method, target, body string) *transport.Answer {
	t.Helper()
	by.Address = netip.MustParseAddr("192.0.2.7")
	return api.Do(t.Context(), by, transport.Direct{
		Method: method, Target: target, Body: []byte(body), Header: map[string]string{"Content-Type": "application/json", "X-Request-Id": "r7"},
	})
}

func TestInsidersAreAnsweredAsClients(t *testing.T) {
	t.Parallel()
	f := setup(t)
	record := &adminOf{}
	by := httpapi.Insider{Principal: f.tokens["all"].(*access.Principal), Record: record.Record}
	made := ask(t, f.api, by, "POST", "/things", `{"name":"one"}`)
	require.Equal(t, 201, made.Status, "%s", made.Body)
	require.Equal(t, "r7", made.Header.Get("X-Request-Id"))
	var one struct{ ID uuid.UUID }
	require.NoError(t, json.Unmarshal(made.Body, &one))
	require.Len(t, record.changes, 1)
	require.Equal(t, []any{one.ID.String(), `{"name":"one"}`, "r7"}, []any{record.changes[0].Entity, string(record.changes[0].Body), record.changes[0].RequestID})

	seen := f.do(request{method: "GET", path: "/things/" + one.ID.String()})
	got := ask(t, f.api, by, "GET", "/things/"+one.ID.String(), "")
	require.JSONEq(t, string(seen.raw), string(got.Body), "exactly the answer of the API")
	require.Len(t, record.changes, 1, "who reads changes nothing")

	refused := ask(t, f.api, by, "POST", "/things", `{"name":""}`)
	require.Equal(t, 400, refused.Status)
	require.Equal(t, "name", refused.Fault.Fields[0].Field)
	require.Equal(t, 413, ask(t, f.api, by, "POST", "/things", `{"name":"`+strings.Repeat("x", 1<<20)+`"}`).Status)
	require.Equal(t, 404, ask(t, f.api, by, "GET", "/nowhere", "").Status)

	reader := *by.Principal
	reader.Scopes = access.Scopes{"*:read"}
	require.Equal(t, 403, ask(t, f.api, httpapi.Insider{Principal: &reader}, "POST", "/things", `{"name":"two"}`).Status)
	require.Equal(t, 401, f.do(request{method: "GET", path: "/things/" + one.ID.String(), token: "nobody"}).StatusCode, "nobody becomes an insider over a connection")
}

func TestInsidersOfACompanyReachIt(t *testing.T) {
	t.Parallel()
	f, a := newAdmin(t)
	owner := httpapi.Insider{Principal: &access.Principal{Company: a.company, Scopes: access.Scopes{"*:write"}, PlanAPI: true, Rate: access.Rate{Unlimited: true}}, Record: a.Record}
	require.Equal(t, 201, ask(t, f.api, owner, "POST", a.path("/things"), `{"name":"one"}`).Status)
	require.Len(t, a.changes, 1)
	stranger := *owner.Principal
	stranger.Company = tenant.NewID()
	require.Equal(t, http.StatusNotFound, ask(t, f.api, httpapi.Insider{Principal: &stranger}, "POST", a.path("/things"), `{"name":"two"}`).Status)
	viewer := *owner.Principal
	viewer.Scopes = access.Scopes{"*:read"}
	require.Equal(t, http.StatusForbidden, ask(t, f.api, httpapi.Insider{Principal: &viewer}, "POST", a.path("/things"), `{"name":"three"}`).Status)
	operator := httpapi.Insider{Principal: &access.Principal{Scopes: access.Scopes{"*:write"}, Rate: access.Rate{Unlimited: true}}}
	require.Equal(t, 201, ask(t, f.api, operator, "POST", a.path("/things"), `{"name":"four"}`).Status)
}

func TestOperationsAreDescribed(t *testing.T) {
	t.Parallel()
	f := setup(t)
	op, ok := f.api.Operation("createThing")
	require.True(t, ok)
	require.Equal(t, http.MethodPost, op.Method)
	name, ok := op.Body.Field("name")
	require.True(t, ok)
	require.Equal(t, "string", name.Type)
	_, ok = op.Answer.Field("id")
	require.True(t, ok)
	_, ok = f.api.Operation("nothing")
	require.False(t, ok)
}
