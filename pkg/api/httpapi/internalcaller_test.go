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
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/telemetry"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// ask calls an operation as an internal caller, within the request r7.
func ask(t *testing.T, api *httpapi.API, by httpapi.InternalCaller, id string, in httpapi.Input, into any) error {
	t.Helper()
	by.Address = netip.MustParseAddr("192.0.2.7")
	return api.Call(telemetry.WithRequest(t.Context(), "r7"), by, id, in, into)
}

// named is a thing with a name.
func named(name string) httpapi.Input { return httpapi.Input{Body: map[string]string{"name": name}} }

// refusal is the fault with which a call was refused.
func refusal(t *testing.T, err error) *apierr.Error {
	t.Helper()
	f, ok := apierr.As(err)
	require.True(t, ok, "%v", err)
	return f
}

func (f *kit) internalCaller() (httpapi.InternalCaller, *adminOf) {
	record := &adminOf{}
	return httpapi.InternalCaller{Principal: f.tokens["all"].(*access.Principal), Record: record.Record}, record
}

func TestInternalCallersAreAnsweredAsClients(t *testing.T) {
	t.Parallel()
	f := setup(t)
	by, record := f.internalCaller()
	var one thing
	require.NoError(t, ask(t, f.api, by, "createThing", named("one"), &one))
	require.Len(t, record.changes, 1)
	require.Equal(t, []any{one.ID.String(), `{"name":"one"}`, "r7"}, []any{record.changes[0].Entity, string(record.changes[0].Body), record.changes[0].RequestID})

	at := httpapi.Input{Path: map[string]string{"id": one.ID.String()}}
	seen := f.do(request{method: "GET", path: "/things/" + one.ID.String()})
	var raw json.RawMessage
	require.NoError(t, ask(t, f.api, by, "getThing", at, &raw))
	require.JSONEq(t, string(seen.raw), string(raw), "exactly the answer of the API")
	var got thing
	require.NoError(t, ask(t, f.api, by, "getThing", at, &got))
	require.Equal(t, "one", got.Name)
	require.NoError(t, ask(t, f.api, by, "writtenThing", httpapi.Input{}, &got))
	require.Equal(t, "by hand", got.Name, "of a body that the operation has encoded itself")
	require.Len(t, record.changes, 1, "who reads changes nothing")

	err := ask(t, f.api, by, "createThing", named(""), &got)
	require.Equal(t, "name", refusal(t, err).Fields[0].Field)
	err = ask(t, f.api, by, "createThing", named(strings.Repeat("x", 1<<20)), &got)
	require.Equal(t, 413, refusal(t, err).Status)
	err = ask(t, f.api, by, "getThing", httpapi.Input{Path: map[string]string{"id": "../things"}}, &got)
	require.Equal(t, "id", refusal(t, err).Fields[0].Field)
	err = ask(t, f.api, by, "getThing", httpapi.Input{Path: at.Path, Query: map[string][]string{"nothing": {"1"}}}, &got)
	require.Equal(t, "nothing", refusal(t, err).Fields[0].Field)
	err = ask(t, f.api, by, "panicThing", httpapi.Input{}, &raw)
	require.Equal(t, "INTERNAL_ERROR", refusal(t, err).Code)

	reader := *by.Principal
	reader.Scopes = access.Scopes{"*:read"}
	err = ask(t, f.api, httpapi.InternalCaller{Principal: &reader}, "createThing", named("two"), &got)
	require.Equal(t, 403, refusal(t, err).Status)
	require.Equal(t, 401, f.do(request{method: "GET", path: "/things/" + one.ID.String(), token: "nobody"}).StatusCode, "nobody becomes an internal caller over a connection")
}

// A call with a key, or for a version, holds to it as a request does. A repeat gets the value again, which was stored as JSON.
func TestInternalCallersRepeatChanges(t *testing.T) {
	t.Parallel()
	f := setup(t)
	by, record := f.internalCaller()
	in := named("one")
	in.Key = uuid.NewString()
	var first, again thing
	require.NoError(t, ask(t, f.api, by, "createThing", in, &first))
	require.NoError(t, ask(t, f.api, by, "createThing", in, &again))
	require.Equal(t, []any{first.ID, first.Name, first.Version}, []any{again.ID, again.Name, again.Version})
	f.do(request{method: "POST", path: "/things", body: `{"name":"one"}`, headers: map[string]string{keyHeader: in.Key}}).is(t, 201, "")
	require.Equal(t, 1, f.calls, "over a connection it is the same request")
	require.Len(t, record.changes, 1)

	renamed := named("two")
	renamed.Path, renamed.Version = map[string]string{"id": first.ID.String()}, first.Version+1
	err := ask(t, f.api, by, "updateThing", renamed, &again)
	require.Equal(t, http.StatusPreconditionFailed, refusal(t, err).Status)
	renamed.Version = first.Version
	require.NoError(t, ask(t, f.api, by, "updateThing", renamed, &again))
	require.Equal(t, "two", again.Name)
	require.NoError(t, ask(t, f.api, by, "deleteThing", httpapi.Input{Path: renamed.Path}, new(httpapi.None)))
}

// An operation that there is not, or that returns something else, is a mistake of who calls it: nothing is changed.
func TestCallsOfInternalCallersHaveTheTypeOfTheOperation(t *testing.T) {
	t.Parallel()
	f := setup(t)
	by, _ := f.internalCaller()
	err := ask(t, f.api, by, "createThing", named("one"), new(thingFields))
	require.EqualError(t, err, "the operation createThing returns httpapi_test.thing, not httpapi_test.thingFields")
	err = ask(t, f.api, by, "makeThing", named("one"), new(thing))
	require.EqualError(t, err, "the API has no operation makeThing")
	require.Zero(t, f.calls)
}

func TestInternalCallersOfACompanyReachIt(t *testing.T) {
	t.Parallel()
	f, a := newAdmin(t)
	create := func(by *access.Principal) error {
		in := named(uuid.NewString())
		in.Path = map[string]string{"companyId": a.company.String()}
		return ask(t, f.api, httpapi.InternalCaller{Principal: by, Record: a.Record}, "createThing", in, new(thing))
	}
	owner := &access.Principal{Company: a.company, Scopes: access.Scopes{"*:write"}, PlanAPI: true, Rate: access.Rate{Unlimited: true}}
	require.NoError(t, create(owner))
	require.Len(t, a.changes, 1)
	stranger := *owner
	stranger.Company = tenant.NewID()
	err := create(&stranger)
	require.Equal(t, http.StatusNotFound, refusal(t, err).Status)
	viewer := *owner
	viewer.Scopes = access.Scopes{"*:read"}
	err = create(&viewer)
	require.Equal(t, http.StatusForbidden, refusal(t, err).Status)
	err = create(&access.Principal{Scopes: access.Scopes{"*:write"}, Rate: access.Rate{Unlimited: true}})
	require.NoError(t, err, "an operator")
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
