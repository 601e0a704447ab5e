// Package rolestest puts the API process together for tests of the whole platform, and calls it as integrations and operators do.
package rolestest

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/png"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/domain"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/api/ratelimit"
	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/config"
	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/platform/requests"
	"github.com/tradegrid/tradegrid/services/roles"
)

// Node is an API process as `tradegrid api` puts it together, without the process. It stands behind a load
// balancer, so that each request can come from another address.
type Node struct {
	*roles.Domains

	API     *httpapi.API
	Admin   *httpapi.API
	Limiter *ratelimit.Limiter
	Served  *requests.Log
}

// InProcess is the address that requests come from which are handed over in the process.
const InProcess = "0.0.0.0/32"

// NewNode puts a node together on a database.
func NewNode(d *db.DB, limiter *ratelimit.Limiter) *Node {
	all := roles.NewDomains(d, roles.DomainConfig{Policy: DefaultPolicy(), AllowInsecure: true, Keys: Keys(), Operators: Operators()})
	n := &Node{Domains: all, Limiter: limiter}
	cfg := httpapi.Config{Limiter: limiter, Release: "test", Proxies: []netip.Prefix{netip.MustParsePrefix(InProcess)}}
	n.Admin = all.NewAdminAPI(cfg)
	n.Served = requests.NewLog(requests.LogConfig{DB: d, Log: slog.New(slog.DiscardHandler)})
	cfg.Requests = n.Served
	n.API = all.NewAPI(cfg)
	return n
}

// DefaultPolicy is that of roles without settings.
func DefaultPolicy() webhook.Policy { return config.Defaults[webhook.Policy]() }

// LogRequests writes what the node has answered so far to the request log.
func (n *Node) LogRequests(t *testing.T) {
	t.Helper()
	ended, end := context.WithCancel(t.Context())
	end()
	require.NoError(t, n.Served.Run(ended))
}

// Key is the key of all nodes, as a file has it.
var Key = sync.OnceValue(func() string { return secret.NewKey("test") }) //nolint:gochecknoglobals // made once

// Keys are the keys of all nodes.
var Keys = sync.OnceValue(func() *secret.Keys { //nolint:gochecknoglobals // made once
	k, err := secret.ParseKeys(Key())
	if err != nil {
		panic(err)
	}
	return k
})

// Alone is the limiter of a node that has no others beside it.
func Alone() *ratelimit.Limiter { return ratelimit.New(ratelimit.Config{}) }

// Reply is an answer that was read.
type Reply struct {
	Status int
	Header http.Header
	Body   map[string]any
	Raw    string
}

// Code is the error code of a fault.
func (r *Reply) Code() string {
	code, _ := r.Body["code"].(string)
	return code
}

// ID is the id of the record in the answer.
func (r *Reply) ID(t *testing.T) string {
	t.Helper()
	id, _ := r.Body["id"].(string)
	require.NotEmpty(t, id, r.Raw)
	return id
}

// Refused requires a fault and returns what belongs to it.
func (r *Reply) Refused(t *testing.T, status int, code, what string) map[string]any {
	t.Helper()
	require.Equal(t, status, r.Status, "%s: %s", what, r.Raw)
	require.Equal(t, code, r.Code(), "%s: %s", what, r.Raw)
	meta, _ := r.Body["meta"].(map[string]any)
	return meta
}

// lastHost numbers the callers of all tests: calls without a valid token are counted by address.
var lastHost atomic.Uint32 //nolint:gochecknoglobals // tests of one process share the addresses

// NewAddress is an address that nobody else has called from.
func NewAddress() string {
	n := lastHost.Add(1)
	return netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)}).String()
}

// Ask sends a request from an address that nobody else has. authorization is the whole header.
func (n *Node) Ask(t *testing.T, authorization, method, path, body string, headers ...string) *Reply {
	t.Helper()
	return AskOf(t, n.API, authorization, method, httpapi.BasePath+path, body, headers...)
}

// AskOf is ask for either API.
func AskOf(t *testing.T, api *httpapi.API, authorization, method, path, body string, headers ...string) *Reply {
	t.Helper()
	var content io.Reader
	if body != "" {
		content = bytes.NewReader([]byte(body))
	}
	req := httptest.NewRequestWithContext(t.Context(), method, path, content)
	if body != "" {
		req.Header.Set("Content-Type", MediaOf(body))
	}
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	req.Header.Set("X-Forwarded-For", NewAddress())
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := api.App().Test(req, -1)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	r := &Reply{Status: res.StatusCode, Header: res.Header, Raw: string(raw)}
	if len(raw) > 0 && raw[0] == '{' {
		require.NoError(t, json.Unmarshal(raw, &r.Body), "%s", raw)
	}
	return r
}

// Client is a caller who shows a token.
type Client struct {
	Node  *Node
	Token string
}

// Client is the caller with a token.
func (n *Node) Client(token string) Client { return Client{n, token} }

// Do sends a request.
func (c Client) Do(t *testing.T, method, path, body string, headers ...string) *Reply {
	t.Helper()
	return c.Node.Ask(t, "Bearer "+c.Token, method, path, body, headers...)
}

// OK requires a success.
func (c Client) OK(t *testing.T, method, path, body string, headers ...string) *Reply {
	t.Helper()
	r := c.Do(t, method, path, body, headers...)
	require.Less(t, r.Status, 300, "%s %s: %s", method, path, r.Raw)
	return r
}

// NewCompany makes a company.
func (n *Node) NewCompany(t *testing.T) tenant.ID {
	t.Helper()
	c, err := n.CreateCompany(t.Context(), company.NewCompany{Name: t.Name(), Plan: "business", Currency: "EUR"})
	require.NoError(t, err)
	return c.ID
}

// Issue makes a token without limits, unless a rate is given.
func (n *Node) Issue(t *testing.T, id tenant.ID, scopes []string, rate ...company.CustomRate) company.Issued {
	t.Helper()
	in := company.NewToken{Name: strings.Join(scopes, " "), Scopes: scopes, RateTier: company.TierCustom}
	if len(rate) > 0 {
		in.CustomRate = rate[0]
	}
	issued, err := roles.ChangeWith(t.Context(), n.DB, "test", id, n.Company.IssueToken, in)
	require.NoError(t, err)
	return issued
}

// Owner is a caller of a fresh company who may do everything.
func (n *Node) Owner(t *testing.T) (Client, tenant.ID) {
	t.Helper()
	id := n.NewCompany(t)
	return n.Client(n.Issue(t, id, []string{"*:write"}).Text), id
}

// AnyPath is an address of the operation where no record is.
func AnyPath(path string) string {
	return FillPath(path, func(string) string { return uuid.NewString() })
}

var pathParam = regexp.MustCompile(`\{\w+\}`)

// FillPath puts ids in place of the {parameters} of a path.
func FillPath(path string, id func(param string) string) string {
	return pathParam.ReplaceAllStringFunc(path, func(param string) string {
		switch {
		case param == "{next}" && strings.Contains(path, "/delivery-status/"):
			return "packing"
		case param == "{next}":
			return "confirmed"
		}
		return id(param)
	})
}

// AnyBody is sent where nobody looks at it.
func AnyBody(op httpapi.Op) string {
	switch {
	case op.Uploads != nil:
		if slices.Contains(op.Uploads, "text/csv") {
			return ATable
		}
		return APicture()
	case op.Mutating():
		return `{}`
	}
	return ""
}

// Needed is the scope that an operation asks for.
func Needed(op httpapi.Op) string {
	if op.Mutating() {
		return op.Scope + ":write"
	}
	return op.Scope + ":read"
}

// Name is what the requests of an operation begin with.
func Name(op httpapi.Op) string { return op.Method + " " + op.Path }

// StartRelay publishes the outbox of the database until the test ends.
func StartRelay(t *testing.T, d *db.DB, brokers []string) {
	t.Helper()
	client, err := outbox.NewClient(kafka.Config{Brokers: brokers, ClientID: "relay"})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	relay, err := outbox.NewRelay(d, client, outbox.RelayConfig{Node: uuid.NewString(), Stamp: store.ChangesOfSubscriptions, EventRetention: DefaultPolicy().EventRetention})
	require.NoError(t, err)
	apitest.Background(t, relay.Run)
}

// BothAPIs are both APIs by their root, without a database.
func BothAPIs() map[string]*httpapi.API {
	all, cfg := roles.NewDomains(nil, roles.DomainConfig{}), httpapi.Config{Limiter: ratelimit.New(ratelimit.Config{})}
	return map[string]*httpapi.API{httpapi.BasePath: all.NewAPI(cfg), httpapi.AdminBasePath: all.NewAdminAPI(cfg)}
}

// APicture is an image as a body.
var APicture = sync.OnceValue(func() string { //nolint:gochecknoglobals // made once
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 4, 3))); err != nil {
		panic(err)
	}
	return b.String()
})

// ATable is a CSV file as a body.
const ATable = AHeader + ",Mill\n"

// AHeader is the first row of a CSV file.
const AHeader = "id,name\n"

// MediaOf is the media type of a body.
func MediaOf(body string) string {
	switch {
	case strings.HasPrefix(body, "\x89PNG"):
		return "image/png"
	case strings.HasPrefix(body, AHeader):
		return "text/csv"
	}
	return "application/json"
}

// Samples are the examples that the domains declare, in an order in which each refers to earlier ones only.
func Samples() (all []domain.Sample) {
	for _, d := range roles.Declared() {
		all = append(all, d.Samples...)
	}
	return all
}

// FillIn puts ids in place of quoted entities, such as "CLIENT".
func FillIn(body string, ids map[string]string) string {
	for entity, id := range ids {
		body = strings.ReplaceAll(body, `"`+entity+`"`, `"`+id+`"`)
	}
	return body
}

// Today is the date so many days from now.
func Today(days int) string { return time.Now().AddDate(0, 0, days).Format(time.DateOnly) }
