package leads_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/calendar"
	"github.com/tradegrid/tradegrid/services/business/catalog"
	"github.com/tradegrid/tradegrid/services/business/clients"
	"github.com/tradegrid/tradegrid/services/business/codes"
	"github.com/tradegrid/tradegrid/services/business/deals"
	"github.com/tradegrid/tradegrid/services/business/leads"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

type object = map[string]any

// people are the users of every company of a test.
type people struct{ apitest.Users }

// DefaultBranch implements [deals.Branches].
func (people) DefaultBranch(context.Context, db.Querier, tenant.ID) (*uuid.UUID, error) {
	return &home, nil
}

var (
	home    = uuid.MustParse("0192d3a5-6f0e-7c1a-9b1e-2f6d8a4c1e58")
	anna    = uuid.MustParse("0192d3a5-6f0e-7c1a-9b1e-2f6d8a4c1e55")
	bert    = uuid.MustParse("0192d3a5-6f0e-7c1a-9b1e-2f6d8a4c1e57")
	unnamed = uuid.MustParse("0192d3a5-6f0e-7c1a-9b1e-2f6d8a4c1e56")
)

type kit struct {
	*apitest.Client

	t      *testing.T
	db     *db.DB
	server *apitest.Server
	deals  *deals.Service
}

func setup(t *testing.T, edit ...func(*access.Principal)) kit {
	t.Helper()
	d, users := dbtest.Open(t), people{apitest.Users{anna: "Anna", bert: "Bert", unnamed: ""}}
	c := clients.New(clients.Config{DB: d, Users: users})
	made := deals.New(deals.Config{DB: d, Access: apitest.Registry(), Catalog: catalog.New(catalog.Config{DB: d}), Clients: c, Users: users, Branches: users, Calendar: calendar.New(), Channels: codes.Channel})
	s := leads.New(leads.Config{DB: d, Users: users, Clients: c, Deals: made})
	server := apitest.New(t, d, c.Register, s.Register, made.Register)
	return kit{server.Company(edit...), t, d, server, made}
}

// run runs a change of a service.
func (k kit) run(change func(ctx context.Context, tx *db.Tx) error) {
	k.t.Helper()
	require.NoError(k.t, k.db.RunTx(k.t.Context(), "test", change))
}

// pipelines gives the company the deal types of a new one.
func (k kit) pipelines() {
	k.t.Helper()
	k.run(func(_ context.Context, tx *db.Tx) error { deals.CreateDefault(tx, k.Principal.Company); return nil })
}

func (k kit) array(path string) (all []object) {
	k.t.Helper()
	k.Do(k.t, "GET", path, nil).Decode(&all)
	return all
}

func (k kit) post(body any) object {
	k.t.Helper()
	return k.Do(k.t, "POST", "/leads", body).OK(201)
}

// raised returns the names and data of the events of the company.
func (k kit) raised() (names []string, data []object) {
	k.t.Helper()
	for _, e := range apitest.RaisedBy(k.t, k.db, k.Principal.Company) {
		names, data = append(names, e.Name), append(data, e.Data)
	}
	return names, data
}

func TestCreate(t *testing.T) {
	t.Parallel()
	k := setup(t)
	made := k.Do(t, "POST", "/leads", object{
		"name": " Ada ", "phone": "+49 30 1", "email": "Ada@Example.com", "message": "call", "source": "landing", "externalId": "x-1",
		"utm": object{"utm_source": "ads", "empty": ""}, "status": "spam", "companyId": "x", "raw": object{},
	})
	l := made.OK(201)
	require.Equal(t, "companyId, raw, status", made.Header.Get("X-Ignored-Fields"))
	require.Equal(t, `"1"`, made.Header.Get("ETag"))
	require.Equal(t, "/api/external/v1/leads/"+l["id"].(string), made.Header.Get("Location"))
	require.Empty(t, made.Header.Get("X-Deduplicated"))
	id, createdAt, updatedAt := l["id"], l["createdAt"], l["updatedAt"]
	require.Equal(t, object{
		"id": id, "source": "landing", "channel": nil, "name": "Ada", "phone": "+49 30 1", "email": "Ada@Example.com", "message": "call", "status": "new",
		"externalId": "x-1", "raw": nil, "clientId": nil, "dealId": nil, "assignedToId": nil, "assignedToName": nil,
		"utm": object{"utm_source": "ads", "empty": ""}, "createdAt": createdAt, "updatedAt": updatedAt, "version": 1.0,
	}, l)
	require.Equal(t, l, k.Do(t, "GET", "/leads/"+id.(string), nil).OK(200))
	names, data := k.raised()
	require.Equal(t, []string{"lead.created"}, names)
	require.Equal(t, l, data[0])

	for _, body := range []string{`{}`, `{"name":"","phone":null,"source":"","externalId":"","utm":null}`, `{"source":"  "}`} {
		bare := k.post(body)
		require.Equal(t, "webhook", bare["source"], body)
		for _, field := range []string{"name", "phone", "email", "message", "externalId", "utm"} {
			require.Nil(t, bare[field], "%s of %s", field, body)
		}
	}
	require.Equal(t, object{}, k.post(`{"utm":{}}`)["utm"])
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	k := setup(t)
	long := strings.Repeat("x", 256)
	require.Equal(t, map[string]string{"name": "LENGTH", "phone": "LENGTH", "email": "FORMAT", "message": "TYPE", "source": "LENGTH", "externalId": "LENGTH", "utm.a": "TYPE"},
		k.Do(t, "POST", "/leads", object{"name": long, "phone": long, "email": "nobody", "message": 5, "source": long, "externalId": long, "utm": object{"a": 1}}).Fields())
	require.Equal(t, map[string]string{"source": "TYPE"}, k.Do(t, "POST", "/leads", `{"source":null}`).Fields())
	require.Equal(t, map[string]string{"utm." + long[:65]: "LENGTH", "utm.a": "LENGTH"},
		k.Do(t, "POST", "/leads", object{"utm": object{long[:65]: "", "a": strings.Repeat("x", 1001)}}).Fields())
	id := k.post(`{}`)["id"].(string)
	require.Equal(t, map[string]string{"utm.a": "LENGTH"}, k.Do(t, "PATCH", "/leads/"+id, object{"utm": object{"a": strings.Repeat("x", 1001)}}).Fields())
	require.Equal(t, map[string]string{"status": "REQUIRED"}, k.Do(t, "PATCH", "/leads/"+id+"/status", `{}`).Fields())
	require.Equal(t, map[string]string{"status": "ENUM"}, k.Do(t, "PATCH", "/leads/"+id+"/status", `{"status":"lost"}`).Fields())
	require.Equal(t, map[string]string{"status": "TYPE"}, k.Do(t, "PATCH", "/leads/"+id+"/status", `{"status":null}`).Fields())
	require.Equal(t, map[string]string{"assigneeId": "REQUIRED"}, k.Do(t, "POST", "/leads/"+id+"/assign", `{}`).Fields())
	require.Equal(t, map[string]string{"assigneeId": "FORMAT"}, k.Do(t, "POST", "/leads/"+id+"/assign", `{"assigneeId":"x"}`).Fields())
	require.Equal(t, map[string]string{"typeId": "FORMAT"}, k.Do(t, "POST", "/leads/"+id+"/convert-deal", `{"typeId":"lead"}`).Fields())
	for _, query := range []string{"assignedToId=nobody", "assignedToId=0192d3a56f0e7c1a9b1e2f6d8a4c1e55", "assignedToId="} {
		require.Equal(t, map[string]string{"assignedToId": "FORMAT"}, k.Do(t, "GET", "/leads?"+query, nil).Fields(), query)
	}
	require.Equal(t, map[string]string{"status[0]": "ENUM"}, k.Do(t, "GET", "/leads?status=lost", nil).Fields())
	require.Equal(t, map[string]string{"status[1]": "ENUM"}, k.Do(t, "GET", "/leads?status=new,lost", nil).Fields())
	require.Equal(t, map[string]string{"sort": "ENUM"}, k.Do(t, "GET", "/leads?sort=name", nil).Fields())
}

func TestRepeatsReturnTheStoredLead(t *testing.T) {
	t.Parallel()
	k := setup(t)
	first := k.post(`{"source":"shop","externalId":"7","name":"Ada"}`)
	changed := k.Do(t, "PATCH", "/leads/"+first["id"].(string), `{"name":"Ada Moss"}`).OK(200)
	k.Do(t, "POST", "/leads/"+first["id"].(string)+"/assign", object{"assigneeId": anna}).OK(200)
	before, _ := k.raised()

	again := k.Do(t, "POST", "/leads", `{"source":" shop ","externalId":" 7 ","name":"Eve","phone":"1"}`)
	got := again.OK(201)
	require.Equal(t, "true", again.Header.Get("X-Deduplicated"))
	require.Equal(t, "/api/external/v1/leads/"+first["id"].(string), again.Header.Get("Location"))
	require.Equal(t, []any{first["id"], changed["name"], "Anna", 3.0, nil}, []any{got["id"], got["name"], got["assignedToName"], got["version"], got["phone"]})
	after, _ := k.raised()
	require.Equal(t, before, after, "a repeat raises nothing")

	require.NotEqual(t, first["id"], k.post(`{"source":"form","externalId":"7"}`)["id"], "another source")
	require.NotEqual(t, first["id"], k.post(`{"externalId":"7"}`)["id"], "the default source")
	require.NotEqual(t, first["id"], k.post(`{"source":"shop","externalId":"8"}`)["id"])
	require.NotEqual(t, k.post(`{"source":"shop"}`)["id"], k.post(`{"source":"shop"}`)["id"], "without an external id")
	other := kit{k.server.Company(), t, k.db, k.server, k.deals}
	require.NotEqual(t, first["id"], other.post(`{"source":"shop","externalId":"7"}`)["id"], "another company")

	key := apitest.Header{"X-Idempotency-Key", uuid.NewString()}
	repeat := k.Do(t, "POST", "/leads", `{"source":"shop","externalId":"7"}`, key)
	require.Equal(t, "true", repeat.Header.Get("X-Deduplicated"))
	replay := k.Do(t, "POST", "/leads", `{"source":"shop","externalId":"7"}`, key)
	require.Equal(t, "true", replay.Header.Get("X-Idempotent-Replayed"))
	require.Equal(t, "true", replay.Header.Get("X-Deduplicated"))
	require.JSONEq(t, string(repeat.Body), string(replay.Body))
}

func TestParallelRepeatsCreateOneLead(t *testing.T) {
	t.Parallel()
	k := setup(t)
	// Two servers, so that the requests meet in the database and not in the process.
	peer := setup(t)
	same := kit{peer.server.Caller(k.Principal.Company), t, peer.db, peer.server, peer.deals}
	const n = 12
	ids, fresh := make([]string, n), make([]bool, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			caller := k
			if i%2 == 1 {
				caller = same
			}
			res := caller.Do(t, "POST", "/leads", fmt.Sprintf(`{"source":"shop","externalId":"42","name":"%d"}`, i))
			if res.Status == 201 {
				ids[i], fresh[i] = res.OK(201)["id"].(string), res.Header.Get("X-Deduplicated") == ""
			}
		})
	}
	wg.Wait()
	require.NotEmpty(t, ids[0])
	for _, id := range ids {
		require.Equal(t, ids[0], id)
	}
	require.Len(t, slices.DeleteFunc(fresh, func(f bool) bool { return !f }), 1, "exactly one request created it")
	names, _ := k.raised()
	require.Equal(t, []string{"lead.created"}, names)
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	k := setup(t)
	id := k.post(`{"name":"Ada","utm":{"a":"1"}}`)["id"].(string)
	path := "/leads/" + id
	got := k.Do(t, "PATCH", path, `{"name":"Eve","phone":"1","email":"e@example.com","message":"m","channel":"chat","utm":{"b":"2"},"source":"x","externalId":"y","status":"spam"}`)
	require.Equal(t, "externalId, source, status", got.Header.Get("X-Ignored-Fields"))
	l := got.OK(200)
	for field, want := range (object{"name": "Eve", "phone": "1", "email": "e@example.com", "message": "m", "channel": "chat", "utm": object{"b": "2"}, "status": "new", "version": 2.0}) {
		require.Equal(t, want, l[field], field)
	}
	_, data := k.raised()
	require.ElementsMatch(t, []any{"name", "phone", "email", "message", "channel", "utm"}, data[1]["changedFields"])
	require.Equal(t, l, k.Do(t, "PATCH", path, `{}`).OK(200))
	require.Equal(t, l, k.Do(t, "PATCH", path, `{"name":"Eve","utm":{"b":"2"}}`).OK(200), "the same values are no change")
	cleared := k.Do(t, "PATCH", path, `{"name":null,"phone":"","email":null,"message":null,"channel":null,"utm":null}`).OK(200)
	for _, field := range []string{"name", "phone", "email", "message", "channel", "utm"} {
		require.Nil(t, cleared[field], field)
	}
	names, _ := k.raised()
	require.Equal(t, []string{"lead.created", "lead.updated", "lead.updated"}, names)
	k.Do(t, "PATCH", path, `{"name":"x"}`, apitest.Header{"If-Match", `"1"`}).Fault(412, "PRECONDITION_FAILED")
	k.Do(t, "PATCH", path, `{"name":"x"}`, apitest.Header{"If-Match", `"3"`}).OK(200)
}

func TestStatusChangesFromAnyToAny(t *testing.T) {
	t.Parallel()
	k := setup(t)
	all := []string{"new", "in_progress", "converted", "spam"}
	for _, from := range all {
		for _, to := range all {
			id := k.post(`{}`)["id"].(string)
			k.Do(t, "PATCH", "/leads/"+id+"/status", object{"status": from}).OK(200)
			before, _ := k.raised()
			got := k.Do(t, "PATCH", "/leads/"+id+"/status", object{"status": to}).OK(200)
			require.Equal(t, to, got["status"])
			require.Nil(t, got["clientId"], "a status alone converts nothing")
			names, data := k.raised()
			if from == to {
				require.Equal(t, before, names, "%s again", to)
				continue
			}
			require.Equal(t, append(before, "lead.status_changed"), names)
			last := data[len(data)-1]
			require.Equal(t, []any{from, to, id}, []any{last["previousStatus"], last["status"], last["id"]})
		}
	}
}

func TestAssign(t *testing.T) {
	t.Parallel()
	k := setup(t)
	id := k.post(`{}`)["id"].(string)
	assign := func(to any) *apitest.Response {
		return k.Do(t, "POST", "/leads/"+id+"/assign", object{"assigneeId": to})
	}
	got := assign(anna).OK(200)
	require.Equal(t, []any{anna.String(), "Anna", 2.0}, []any{got["assignedToId"], got["assignedToName"], got["version"]})
	require.Equal(t, got, assign(anna).OK(200), "again changes nothing")
	got = assign(unnamed).OK(200)
	require.Equal(t, []any{unnamed.String(), nil}, []any{got["assignedToId"], got["assignedToName"]})
	got = assign(nil).OK(200)
	require.Equal(t, []any{nil, nil}, []any{got["assignedToId"], got["assignedToName"]})
	unknown := uuid.New()
	meta := assign(unknown).Fault(404, "USER_NOT_FOUND")["meta"].(object)
	require.Equal(t, object{"field": "assigneeId", "id": unknown.String()}, meta)
	names, data := k.raised()
	require.Equal(t, []string{"lead.created", "lead.assigned", "lead.assigned", "lead.assigned"}, names)
	for i, want := range []any{nil, anna.String(), unnamed.String()} {
		require.Equal(t, want, data[i+1]["previousAssignedToId"])
	}
	require.Equal(t, "Anna", data[1]["assignedToName"])
	assign(bert).OK(200)
	require.Equal(t, "Bert", k.Do(t, "PATCH", "/leads/"+id, `{"name":"x"}`).OK(200)["assignedToName"])
	require.Equal(t, "Bert", k.Do(t, "PATCH", "/leads/"+id+"/status", `{"status":"spam"}`).OK(200)["assignedToName"])
	require.Equal(t, "Bert", k.Do(t, "GET", "/leads/"+id, nil).OK(200)["assignedToName"])
}

func TestOtherCompaniesSeeNothing(t *testing.T) {
	t.Parallel()
	k := setup(t)
	id := k.post(`{"name":"Ada"}`)["id"].(string)
	other := k.server.Company()
	for _, call := range [][3]string{
		{"GET", "", ""}, {"PATCH", "", `{"name":"x"}`}, {"PATCH", "/status", `{"status":"spam"}`}, {"POST", "/assign", `{"assigneeId":null}`}, {"POST", "/convert", ""},
	} {
		other.Do(t, call[0], "/leads/"+id+call[1], call[2]).Fault(404, "LEAD_NOT_FOUND")
	}
	require.Empty(t, other.Do(t, "GET", "/leads", nil).OK(200)["items"])
	require.Equal(t, 1.0, k.Do(t, "GET", "/leads/"+id, nil).OK(200)["version"])
}
