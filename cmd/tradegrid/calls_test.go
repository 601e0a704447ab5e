package main

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
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/platform/requests"
)

// node is an API process as `tradegrid api` puts it together, without the process. It stands behind a load
// balancer, so that each request can come from another address.
type node struct {
	*domains

	api     *httpapi.API
	admin   *httpapi.API
	limiter *ratelimit.Limiter
	served  *requests.Log
}

// inProcess is the address that requests come from which are handed over in the process.
const inProcess = "0.0.0.0/32"

func newNode(d *db.DB, limiter *ratelimit.Limiter) *node {
	all := newDomains(d, domainConfig{Policy: defaultPolicy(), AllowInsecure: true, Keys: testKeys(), Operators: testOperators()})
	n := &node{domains: all, limiter: limiter}
	cfg := httpapi.Config{Limiter: limiter, Release: "test", Proxies: []netip.Prefix{netip.MustParsePrefix(inProcess)}}
	n.admin = all.newAdminAPI(cfg)
	n.served = requests.NewLog(requests.LogConfig{DB: d, Log: slog.New(slog.DiscardHandler)})
	cfg.Requests = n.served
	n.api = all.newAPI(cfg)
	return n
}

// defaultPolicy is that of roles without settings.
func defaultPolicy() webhook.Policy { return config.Defaults[webhook.Policy]() }

// logRequests writes what the node has answered so far to the request log.
func (n *node) logRequests(t *testing.T) {
	t.Helper()
	ended, end := context.WithCancel(t.Context())
	end()
	require.NoError(t, n.served.Run(ended))
}

// testKey is the key of all nodes, as a file has it.
var testKey = sync.OnceValue(func() string { return secret.NewKey("test") }) //nolint:gochecknoglobals // made once

var testKeys = sync.OnceValue(func() *secret.Keys { //nolint:gochecknoglobals // made once
	k, err := secret.ParseKeys(testKey())
	if err != nil {
		panic(err)
	}
	return k
})

// alone is the limiter of a node that has no others beside it.
func alone() *ratelimit.Limiter { return ratelimit.New(ratelimit.Config{}) }

// reply is an answer that was read.
type reply struct {
	status int
	header http.Header
	body   map[string]any
	raw    string
}

func (r *reply) code() string {
	code, _ := r.body["code"].(string)
	return code
}

func (r *reply) id(t *testing.T) string {
	t.Helper()
	id, _ := r.body["id"].(string)
	require.NotEmpty(t, id, r.raw)
	return id
}

// refused requires a fault and returns what belongs to it.
func (r *reply) refused(t *testing.T, status int, code, what string) map[string]any {
	t.Helper()
	require.Equal(t, status, r.status, "%s: %s", what, r.raw)
	require.Equal(t, code, r.code(), "%s: %s", what, r.raw)
	meta, _ := r.body["meta"].(map[string]any)
	return meta
}

// lastHost numbers the callers of all tests: calls without a valid token are counted by address.
var lastHost atomic.Uint32 //nolint:gochecknoglobals // tests of one process share the addresses

func newAddress() string {
	n := lastHost.Add(1)
	return netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)}).String()
}

// ask sends a request from an address that nobody else has. authorization is the whole header.
func (n *node) ask(t *testing.T, authorization, method, path, body string, headers ...string) *reply {
	t.Helper()
	return askOf(t, n.api, authorization, method, httpapi.BasePath+path, body, headers...)
}

// askOf is ask for either API.
func askOf(t *testing.T, api *httpapi.API, authorization, method, path, body string, headers ...string) *reply {
	t.Helper()
	var content io.Reader
	if body != "" {
		content = bytes.NewReader([]byte(body))
	}
	req := httptest.NewRequestWithContext(t.Context(), method, path, content)
	if body != "" {
		req.Header.Set("Content-Type", mediaOf(body))
	}
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	req.Header.Set("X-Forwarded-For", newAddress())
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := api.App().Test(req, -1)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	r := &reply{status: res.StatusCode, header: res.Header, raw: string(raw)}
	if len(raw) > 0 && raw[0] == '{' {
		require.NoError(t, json.Unmarshal(raw, &r.body), "%s", raw)
	}
	return r
}

// as is a caller who shows a token.
type as struct {
	node  *node
	token string
}

// client is the caller with a token.
func (n *node) client(token string) as { return as{n, token} }

func (c as) do(t *testing.T, method, path, body string, headers ...string) *reply {
	t.Helper()
	return c.node.ask(t, "Bearer "+c.token, method, path, body, headers...)
}

// ok requires a success.
func (c as) ok(t *testing.T, method, path, body string, headers ...string) *reply {
	t.Helper()
	r := c.do(t, method, path, body, headers...)
	require.Less(t, r.status, 300, "%s %s: %s", method, path, r.raw)
	return r
}

// found makes a company.
func (n *node) found(t *testing.T) tenant.ID {
	t.Helper()
	c, err := n.createCompany(t.Context(), company.NewCompany{Name: t.Name(), Plan: "business", Currency: "EUR"})
	require.NoError(t, err)
	return c.ID
}

// issue makes a token without limits, unless a rate is given.
func (n *node) issue(t *testing.T, id tenant.ID, scopes []string, rate ...company.CustomRate) company.Issued {
	t.Helper()
	in := company.NewToken{Name: strings.Join(scopes, " "), Scopes: scopes, RateTier: company.TierCustom}
	if len(rate) > 0 {
		in.CustomRate = rate[0]
	}
	issued, err := changeWith(t.Context(), n.db, "test", id, n.company.IssueToken, in)
	require.NoError(t, err)
	return issued
}

// owner is a caller of a fresh company who may do everything.
func (n *node) owner(t *testing.T) (as, tenant.ID) {
	t.Helper()
	id := n.found(t)
	return n.client(n.issue(t, id, []string{"*:write"}).Text), id
}

// anyPath is an address of the operation where no record is.
func anyPath(path string) string {
	return fillPath(path, func(string) string { return uuid.NewString() })
}

var pathParam = regexp.MustCompile(`\{\w+\}`)

// fillPath puts ids in place of the {parameters} of a path.
func fillPath(path string, id func(param string) string) string {
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

// anyBody is sent where nobody looks at it.
func anyBody(op httpapi.Op) string {
	switch {
	case op.Uploads != nil:
		if slices.Contains(op.Uploads, "text/csv") {
			return aTable
		}
		return aPicture()
	case op.Mutating():
		return `{}`
	}
	return ""
}

func needed(op httpapi.Op) string {
	if op.Mutating() {
		return op.Scope + ":write"
	}
	return op.Scope + ":read"
}

func name(op httpapi.Op) string { return op.Method + " " + op.Path }

// startRelay publishes the outbox of the database until the test ends.
func startRelay(t *testing.T, d *db.DB, brokers []string) {
	t.Helper()
	client, err := outbox.NewClient(kafka.Config{Brokers: brokers, ClientID: "relay"})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	relay, err := outbox.NewRelay(d, client, outbox.RelayConfig{Node: uuid.NewString(), EventRetention: defaultPolicy().EventRetention})
	require.NoError(t, err)
	apitest.Background(t, relay.Run)
}

// bothAPIs are both APIs by their root, without a database.
func bothAPIs() map[string]*httpapi.API {
	all, cfg := newDomains(nil, domainConfig{}), httpapi.Config{Limiter: ratelimit.New(ratelimit.Config{})}
	return map[string]*httpapi.API{httpapi.BasePath: all.newAPI(cfg), httpapi.AdminBasePath: all.newAdminAPI(cfg)}
}

// aPicture is an image as a body.
var aPicture = sync.OnceValue(func() string { //nolint:gochecknoglobals // made once
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 4, 3))); err != nil {
		panic(err)
	}
	return b.String()
})

// aTable is a CSV file as a body.
const aTable = "id,name\n,Mill\n"

// mediaOf is the media type of a body.
func mediaOf(body string) string {
	switch {
	case strings.HasPrefix(body, "\x89PNG"):
		return "image/png"
	case body == aTable:
		return "text/csv"
	}
	return "application/json"
}

// samples are the examples that the domains declare, in an order in which each refers to earlier ones only.
func samples() (all []domain.Sample) {
	for _, d := range declared() {
		all = append(all, d.Samples...)
	}
	return all
}

// fillIn puts ids in place of quoted entities, such as "CLIENT".
func fillIn(body string, ids map[string]string) string {
	for entity, id := range ids {
		body = strings.ReplaceAll(body, `"`+entity+`"`, `"`+id+`"`)
	}
	return body
}
