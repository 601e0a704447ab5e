package httpapi_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/api/ratelimit"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

const thingsTable = db.Table("things")

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

const createThings = `CREATE TABLE IF NOT EXISTS things (
    company_id UUID NOT NULL,
    id         UUID NOT NULL,
    name       TEXT NOT NULL,
    frozen     BOOLEAN NOT NULL,
    version    BIGINT NOT NULL,
    ev_pos     BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT things_pkey PRIMARY KEY (company_id, id)
)`

// thing is a small record with everything that the HTTP layer looks at.
type thing struct {
	ID     uuid.UUID `json:"id"`
	Name   string    `json:"name"`
	Frozen bool      `json:"frozen"`
	record.Meta
}

func (t thing) RecordID() string { return t.ID.String() }

func (t *thing) targets() []any { return append([]any{&t.ID, &t.Name, &t.Frozen}, t.Targets()...) }

// things are the operations of a domain as the tests need one. enter, if set, is called inside each create,
// between the claim of the key and the commit; locked inside each update, after the thing was locked.
type things struct {
	db     *db.DB
	enter  func(context.Context, int)
	broken error // of /things/broken
	locked func(context.Context, *db.Tx) error
	blind  func() // called before each delete, if set

	mu    sync.Mutex
	calls int
}

type createThing struct {
	httpapi.Call
	Body struct {
		Name string `json:"name" minLength:"1" maxLength:"100"`
	}
}

func (s *things) create(ctx context.Context, in *createThing) (*httpapi.Reply[thing], error) {
	s.mu.Lock()
	s.calls++
	call := s.calls
	s.mu.Unlock()
	if s.enter != nil {
		s.enter(ctx, call)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return httpapi.Mutate(ctx, s.db, &in.Call, "things.create", func(_ context.Context, tx *db.Tx) (thing, error) {
		if in.Body.Name == "taken" {
			return thing{}, apierr.StateConflict("NAME_TAKEN", "the name is taken")
		}
		t := thing{ID: record.NewID(), Name: in.Body.Name, Meta: record.New(time.Now())}
		tx.Queue(thingsTable.Insert(`(company_id, id, name, frozen, version, ev_pos, created_at, updated_at) VALUES ($1, $2, $3, false, $4, $5, $6, $7)`),
			in.Company, t.ID, t.Name, t.Version, t.EvPos, t.CreatedAt, t.UpdatedAt)
		return t, nil
	})
}

const selectThing = `SELECT id, name, frozen, version, ev_pos, created_at, updated_at FROM things WHERE company_id = $1 AND id = $2`

func (s *things) read(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID) (t thing, err error) {
	err = q.QueryRow(ctx, selectThing, company, id).Scan(t.targets()...)
	if db.IsNoRows(err) {
		err = apierr.NotFound("THING", id.String())
	}
	return t, err
}

func (s *things) get(ctx context.Context, in *httpapi.ByID) (*httpapi.Reply[thing], error) {
	t, err := s.read(ctx, s.db, in.Company, in.ID)
	return httpapi.OK(t), err
}

type updateThing struct {
	httpapi.ByID
	Body record.Patch[thingFields]
}

type thingFields struct {
	Name string `json:"name" minLength:"1" maxLength:"100"`
}

func (s *things) update(ctx context.Context, in *updateThing) (*httpapi.Reply[thing], error) {
	return httpapi.Mutate(ctx, s.db, &in.Call, "things.update", func(ctx context.Context, tx *db.Tx) (thing, error) {
		var t thing
		err := tx.Lock(ctx, selectThing+` FOR UPDATE`, in.Company, in.ID).Scan(t.targets()...)
		if db.IsNoRows(err) {
			err = apierr.NotFound("THING", in.ID.String())
		}
		if err != nil {
			return t, err
		}
		if s.locked != nil {
			if err := s.locked(ctx, tx); err != nil {
				return t, err
			}
		}
		if err := in.Expect(t.Version); err != nil {
			return t, err
		}
		if t.Frozen {
			return t, apierr.StateConflict("THING_FROZEN", "the thing is frozen")
		}
		fields := thingFields{t.Name}
		if in.Body.Apply(&fields); fields.Name != t.Name {
			t.Name = fields.Name
			t.Touch(time.Now())
			tx.Queue(thingsTable.Update(`SET name = $3, version = $4, ev_pos = $5, updated_at = $6 WHERE company_id = $1 AND id = $2 AND version = $4 - 1`),
				in.Company, t.ID, t.Name, t.Version, t.EvPos, t.UpdatedAt).Expect(1, db.ErrStale)
		}
		return t, nil
	})
}

func (s *things) remove(ctx context.Context, in *httpapi.ByID) (*httpapi.Reply[httpapi.None], error) {
	if s.blind != nil {
		s.blind()
	}
	return httpapi.Mutate(ctx, s.db, &in.Call, "things.delete", func(ctx context.Context, tx *db.Tx) (httpapi.None, error) {
		_, err := s.read(ctx, tx, in.Company, in.ID)
		tx.Queue(thingsTable.Delete(`WHERE company_id = $1 AND id = $2`), in.Company, in.ID)
		return httpapi.None{}, err
	})
}

// sample has a field of each kind.
type sample struct {
	Count  int32           `json:"count,omitempty" minimum:"-1000" maximum:"1000"`
	Price  money.Amount    `json:"price,omitempty"`
	Qty    money.Qty       `json:"qty,omitempty"`
	Flag   bool            `json:"flag,omitempty"`
	Color  string          `json:"color,omitempty" enum:"red,green" default:"red"`
	Note   *string         `json:"note,omitempty" nullable:"true" maxLength:"10"`
	Tags   []string        `json:"tags,omitempty" maxLength:"5"`
	Free   map[string]any  `json:"free,omitempty"`
	Nested *sample         `json:"nested,omitempty"`
	Raw    json.RawMessage `json:"raw,omitempty"`
}

type echoThing struct {
	httpapi.Call
	Mode string `query:"mode" enum:"a,b"`
	Body sample
}

// echo changes nothing in the database; its answer is kept all the same.
func (s *things) echo(_ context.Context, in *echoThing) (*httpapi.Reply[sample], error) {
	return httpapi.OK(in.Body), nil
}

type optionalThing struct {
	httpapi.Call
	Body *struct {
		Reason string `json:"reason" minLength:"1"`
	}
}

func (s *things) optional(_ context.Context, in *optionalThing) (*httpapi.Reply[map[string]bool], error) {
	return httpapi.OK(map[string]bool{"body": in.Body != nil}), nil
}

type sizedThing struct {
	httpapi.Call
	Size int `query:"size" minimum:"0" maximum:"100000"`
}

func (s *things) big(_ context.Context, in *sizedThing) (*httpapi.Reply[string], error) {
	return httpapi.OK(strings.Repeat("x", in.Size)), nil
}

type plainThing struct{ httpapi.Call }

var errSecret = errors.New("password hunter2 was refused by db-7")

func inOneTx(op httpapi.Op) httpapi.Op {
	op.OneTx = true
	return op
}

func (s *things) register(api *httpapi.API) {
	group := httpapi.Group{Tag: "Things", Scope: "orders", Component: "orders"}
	httpapi.Register(api, inOneTx(group.Op("POST", "/things", "createThing", "Create", 201)), s.create)
	httpapi.Register(api, group.Op("POST", "/things/echo", "echoThing", "Echo", 200), s.echo)
	httpapi.Register(api, group.Op("POST", "/things/optional", "optionalThing", "Optional", 200), s.optional)
	httpapi.Register(api, group.Op("GET", "/things/big", "bigThing", "Big", 200), s.big)
	httpapi.Register(api, group.Op("POST", "/things/panic", "panicThing", "Panic", 200), func(context.Context, *plainThing) (*httpapi.Reply[string], error) {
		panic(errSecret)
	})
	httpapi.Register(api, group.Op("GET", "/things/broken", "brokenThing", "Broken", 200), func(context.Context, *plainThing) (*httpapi.Reply[string], error) {
		return nil, s.broken
	})
	httpapi.Register(api, group.Op("GET", "/things/written", "writtenThing", "Written", 200), func(context.Context, *plainThing) (*httpapi.Reply[thing], error) {
		return httpapi.Written[thing]([]byte(`{"name":"by hand"}`)), nil
	})
	httpapi.Register(api, group.Op("GET", "/things/{id}", "getThing", "Read", 200), s.get)
	httpapi.Register(api, inOneTx(group.Op("PATCH", "/things/{id}", "updateThing", "Change", 200)), s.update)
	httpapi.Register(api, inOneTx(group.Op("DELETE", "/things/{id}", "deleteThing", "Delete", 204)), s.remove)
	httpapi.Register(api, httpapi.Op{Method: "GET", Path: "/open", ID: "open", Summary: "Any token", Tag: "Things"}, s.open)
}

func (s *things) open(_ context.Context, in *plainThing) (*httpapi.Reply[map[string]string], error) {
	return httpapi.OK(map[string]string{"company": in.CompanyName}), nil
}

// kit is an API with a company of its own.
type kit struct {
	*things
	t       *testing.T
	api     *httpapi.API
	company tenant.ID
	base    string         // of the API; "" = of the external one
	tokens  map[string]any // bearer → *access.Principal or the error of authentication
	edit    []func(*httpapi.Config)
}

// thingsMade is held while the table is made.
var thingsMade sync.Mutex //nolint:gochecknoglobals // the tests of the process share a database

func setup(t *testing.T, edit ...func(*httpapi.Config)) *kit {
	t.Helper()
	return setupOn(t, dbtest.Open(t), edit...)
}

// setupAlone is setup with a database of its own, for tests of what all companies share, such as jobs.
func setupAlone(t *testing.T, edit ...func(*httpapi.Config)) *kit {
	t.Helper()
	return setupOn(t, dbtest.OpenNew(t), edit...)
}

func setupOn(t *testing.T, d *db.DB, edit ...func(*httpapi.Config)) *kit {
	t.Helper()
	thingsMade.Lock()
	_, err := d.Exec(t.Context(), createThings)
	thingsMade.Unlock()
	require.NoError(t, err)
	f := &kit{things: &things{db: d, broken: errSecret}, t: t, company: tenant.NewID(), tokens: map[string]any{}, edit: edit}
	f.serve()
	f.token("all")
	return f
}

// serve makes the API.
func (f *kit) serve() {
	cfg := httpapi.Config{DB: f.db, Auth: f, Limiter: ratelimit.New(ratelimit.Config{}), Release: "7.1", ThreadTime: func() time.Duration { return 0 }}
	for _, e := range f.edit {
		e(&cfg)
	}
	f.api = httpapi.New(cfg)
	f.register(f.api)
}

// twin is a second node on the same database.
func (f *kit) twin() *kit {
	f.t.Helper()
	d, err := db.Open(f.t.Context(), db.Config{URL: f.db.Pool().Config().ConnString(), MaxConns: 8})
	require.NoError(f.t, err)
	f.t.Cleanup(d.Close)
	other := &kit{things: &things{db: d, broken: errSecret}, t: f.t, company: f.company, tokens: f.tokens, edit: f.edit}
	other.serve()
	return other
}

// token adds a caller of the kit's company with all rights, less what edit takes.
func (f *kit) token(name string, edit ...func(*access.Principal)) {
	p := &access.Principal{
		Company: f.company, CompanyName: "Test", TokenID: uuid.New(), Actor: uuid.New(), Scopes: access.Scopes{"*:write"},
		Components: access.Components{"core", "catalog", "orders"}, Plan: "business", PlanAPI: true, Rate: access.Rate{Unlimited: true},
	}
	for _, e := range edit {
		e(p)
	}
	f.tokens[name] = p
}

// Authenticate implements [httpapi.Authenticator].
func (f *kit) Authenticate(_ context.Context, bearer string, _ netip.Addr, _ bool) (*access.Principal, error) {
	switch v := f.tokens[bearer].(type) {
	case *access.Principal:
		return v, nil
	case error:
		return nil, v
	}
	return nil, apierr.New(http.StatusUnauthorized, "AUTH_API_TOKEN_INVALID", "the token is missing, unknown or revoked")
}

// request is one call; the zero value of a field leaves its part out.
type request struct {
	method, path, body string
	token              string // default "all"; "-" = none
	headers            map[string]string
}

// response is an answer that was read.
type response struct {
	*http.Response
	raw  []byte
	body map[string]any // of a JSON object
}

func (f *kit) do(r request) response {
	f.t.Helper()
	req := httptest.NewRequestWithContext(context.Background(), r.method, cmp.Or(f.base, httpapi.BasePath)+r.path, bytes.NewReader([]byte(r.body)))
	if r.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	switch r.token {
	case "":
		req.Header.Set("Authorization", "Bearer all")
	case "-":
	default:
		req.Header.Set("Authorization", "Bearer "+r.token)
	}
	for name, value := range r.headers {
		req.Header.Set(name, value)
	}
	res, err := f.api.App().Test(req, -1)
	require.NoError(f.t, err)
	defer func() { require.NoError(f.t, res.Body.Close()) }()
	raw, err := io.ReadAll(res.Body)
	require.NoError(f.t, err)
	out := response{Response: res, raw: raw, body: map[string]any{}}
	if res.Header.Get("Content-Encoding") == "" {
		_ = json.Unmarshal(raw, &out.body) // not every answer is an object
	}
	return out
}

func (f *kit) post(body string, headers ...string) response {
	f.t.Helper()
	return f.do(request{method: "POST", path: "/things", body: body, headers: pairs(headers)})
}

func (f *kit) echoOf(body string, headers ...string) response {
	f.t.Helper()
	return f.do(request{method: "POST", path: "/things/echo", body: body, headers: pairs(headers)})
}

func pairs(list []string) map[string]string {
	m := map[string]string{}
	for i := 0; i+1 < len(list); i += 2 {
		m[list[i]] = list[i+1]
	}
	return m
}

// stored counts the things of the database.
func (f *kit) stored() (n int) {
	f.t.Helper()
	require.NoError(f.t, f.db.QueryRow(f.t.Context(), `SELECT count(*) FROM things WHERE company_id = $1`, f.company).Scan(&n))
	return n
}

func (r response) is(t *testing.T, status int, code string) {
	t.Helper()
	require.Equal(t, status, r.StatusCode, "%s", r.raw)
	if code != "" {
		require.Equal(t, code, r.body["code"], "%s", r.raw)
	}
}

// faults are the entries of a 400, field → code.
func (r response) faults(t *testing.T) map[string]string {
	t.Helper()
	r.is(t, 400, "VALIDATION_ERROR")
	list, _ := r.body["errors"].([]any)
	messages, _ := r.body["message"].([]any)
	require.Len(t, messages, max(1, len(list)))
	out := map[string]string{}
	for i, e := range list {
		e := e.(map[string]any)
		out[e["field"].(string)] = e["code"].(string)
		require.Equal(t, e["message"], messages[i])
	}
	return out
}
