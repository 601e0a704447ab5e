// Package apitest calls operations of the API in tests, with the real HTTP layer and a real database,
// but with callers defined by the test instead of stored tokens.
package apitest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/api/ratelimit"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// Server is an API with the operations registered by a test, and the admin API if the test registers operations with it.
type Server struct {
	API   *httpapi.API
	Admin *httpapi.API // nil without [Server.ServeAdmin]

	config httpapi.Config

	mu     sync.Mutex
	tokens map[string]*access.Principal
}

// New creates a server on the database.
func New(t testing.TB, d *db.DB, register ...func(*httpapi.API)) *Server {
	t.Helper()
	return NewWith(t, d, func(*httpapi.Config) {}, register...)
}

// NewWith is [New] with a configuration that edit has changed.
func NewWith(t testing.TB, d *db.DB, edit func(*httpapi.Config), register ...func(*httpapi.API)) *Server {
	t.Helper()
	s := &Server{tokens: map[string]*access.Principal{}}
	s.config = httpapi.Config{DB: d, Auth: s, Limiter: ratelimit.New(ratelimit.Config{}), Release: "test", Keys: Keys(t), Log: slog.New(slog.NewTextHandler(t.Output(), nil))}
	edit(&s.config)
	s.API = httpapi.New(s.config)
	for _, r := range register {
		r(s.API)
	}
	return s
}

// ServeAdmin creates the admin API of the server. Its callers are those of [Client.Admin].
func (s *Server) ServeAdmin(register ...func(*httpapi.API)) *Server {
	cfg := s.config
	cfg.Admin = &httpapi.Admin{Companies: companies{}}
	s.Admin = httpapi.New(cfg)
	for _, r := range register {
		r(s.Admin)
	}
	return s
}

// companies lets each caller of a test into its own company.
type companies struct{}

// Enter implements [httpapi.Companies].
func (companies) Enter(_ context.Context, operator *access.Principal, company tenant.ID) (*access.Principal, error) {
	if operator.Company != company {
		return nil, apierr.New(http.StatusNotFound, "COMPANY_NOT_FOUND", "there is no company "+company.String())
	}
	return operator, nil
}

// Keys is a ring of one key, which all tests of a process share.
func Keys(t testing.TB) *secret.Keys {
	t.Helper()
	k, err := keys()
	require.NoError(t, err)
	return k
}

var keys = sync.OnceValues(func() (*secret.Keys, error) { return secret.ParseKeys(secret.NewKey("test")) }) //nolint:gochecknoglobals // made once

// Authenticate implements [httpapi.Authenticator].
func (s *Server) Authenticate(_ context.Context, bearer string, _ netip.Addr, _ bool) (*access.Principal, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, ok := s.tokens[bearer]; ok {
		return p, nil
	}
	return nil, apierr.New(http.StatusUnauthorized, "AUTH_API_TOKEN_INVALID", "the token is missing, unknown or revoked")
}

// Client calls the API as one caller.
type Client struct {
	Principal *access.Principal
	server    *Server
	token     string
	admin     bool // paths are those of the admin API, below the company
}

// Company creates a company with all components, and a client with all scopes and no rate limit.
// edit may change the principal before the first call.
func (s *Server) Company(edit ...func(*access.Principal)) *Client {
	return s.Caller(tenant.NewID(), edit...)
}

// Caller creates another client of a company.
func (s *Server) Caller(company tenant.ID, edit ...func(*access.Principal)) *Client {
	p := &access.Principal{
		Company: company, CompanyName: "Test company", Currency: "EUR", CountryPrefix: "+49",
		TokenID: uuid.New(), TokenName: "test", Actor: uuid.New(),
		Scopes: Scopes("*:write"), Components: Registry().Components(),
		Plan: "business", PlanAPI: true, Subscriptions: 50, Rate: access.Rate{Unlimited: true},
		Settings: access.Settings{StockPolicy: access.StockAllowNegative, TimeZone: "UTC", BackdateDays: 7},
	}
	for _, e := range edit {
		e(p)
	}
	token := uuid.NewString()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens[token] = p
	return &Client{Principal: p, server: s, token: token}
}

// Admin returns a client for what an operator does in the company of c. Paths are relative to the company, such as
// /catalog/units. Changes have the actor of c.
func (c *Client) Admin() *Client {
	admin := *c
	admin.admin = true
	return &admin
}

// Response is a response with its body.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
	t      testing.TB
}

// Header is the name and value of a request header.
type Header [2]string

// MaxTries is how often Do sends a request that returns 503 while faults are injected.
const MaxTries = 10

// Do sends a request; body may be nil, JSON text, or any value that can be marshalled.
// Injected faults can exhaust the tries of a transaction, so Do then repeats requests that return 503.
func (c *Client) Do(t testing.TB, method, path string, body any, headers ...Header) *Response {
	t.Helper()
	r := c.send(t, method, path, body, headers)
	for try := 1; dbtest.Chaotic() && r.Status == http.StatusServiceUnavailable && try < MaxTries; try++ {
		r = c.send(t, method, path, body, headers)
	}
	return r
}

func (c *Client) send(t testing.TB, method, path string, body any, headers []Header) *Response {
	t.Helper()
	var raw []byte
	switch b := body.(type) {
	case nil:
	case string:
		raw = []byte(b)
	case []byte:
		raw = b
	default:
		var err error
		raw, err = json.Marshal(b)
		require.NoError(t, err)
	}
	api, base := c.server.API, httpapi.BasePath
	if c.admin {
		api, base = c.server.Admin, httpapi.AdminBasePath+"/companies/"+c.Principal.Company.String()
	}
	req := httptest.NewRequestWithContext(t.Context(), method, base+path, bytes.NewReader(raw))
	if raw != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	for _, h := range headers {
		req.Header.Set(h[0], h[1])
	}
	res, err := api.App().Test(req, -1)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	out, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return &Response{Status: res.StatusCode, Header: res.Header, Body: out, t: t}
}

// Anonymous returns a client without a token.
func (s *Server) Anonymous() *Client { return &Client{server: s} }

// Decode unmarshals the body into v.
func (r *Response) Decode(v any) {
	r.t.Helper()
	require.NoError(r.t, json.Unmarshal(r.Body, v), "%s", r.Body)
}

// OK requires a status and returns the body as a JSON object.
func (r *Response) OK(status int) map[string]any {
	r.t.Helper()
	require.Equal(r.t, status, r.Status, "%s", r.Body)
	v := map[string]any{}
	if len(r.Body) > 0 {
		r.Decode(&v)
	}
	return v
}

// Fault requires an error with the status and code and returns its body.
func (r *Response) Fault(status int, code string) map[string]any {
	r.t.Helper()
	v := r.OK(status)
	require.Equal(r.t, code, v["code"], "%s", r.Body)
	return v
}

// Fields returns the field errors of a 400 response, as field → code.
func (r *Response) Fields() map[string]string {
	r.t.Helper()
	var body struct {
		Errors []apierr.Field `json:"errors"`
	}
	require.Equal(r.t, http.StatusBadRequest, r.Status, "%s", r.Body)
	r.Decode(&body)
	fields := map[string]string{}
	for _, f := range body.Errors {
		fields[f.Field] = f.Code
	}
	return fields
}

// Scopes sets the scopes of a caller with fewer rights.
func Scopes(list ...string) access.Scopes {
	scopes, err := Registry().ParseScopes(list)
	if err != nil {
		panic(err) // a bug in the test
	}
	return scopes
}

// Registry lists scopes and components as all domains declare them, for tests of fewer; services/roles keeps both the same.
func Registry() *access.Registry {
	return access.NewRegistry(
		[]access.Resource{
			{Name: "files"},
			{Name: "catalog"},
			{Name: "clients"},
			{Name: "leads"},
			{Name: "orders"},
			{Name: "deals"},
			{Name: "sales"},
			{Name: "warehouse"},
			{Name: "scheduling"},
			{Name: "webhooks"},
			{Name: "events", ReadOnly: true},
			{Name: "company", ReadOnly: true},
			{Name: "exports"},
		},
		[]access.Component{
			{Alias: "core", AlwaysOn: true},
			{Alias: "catalog", AlwaysOn: true},
			{Alias: "calendar", AlwaysOn: true},
			{Alias: "messenger", AlwaysOn: true},
			{Alias: "clients"},
			{Alias: "marketing"},
			{Alias: "orders"},
			{Alias: "deals"},
			{Alias: "cashier"},
			{Alias: "warehouse"},
			{Alias: "scheduling"},
		},
	)
}
