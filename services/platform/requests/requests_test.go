package requests_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/platform/requests"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

// kit is an API with operations on things, whose requests are logged.
type kit struct {
	*apitest.Client
	t      *testing.T
	db     *db.DB
	server *apitest.Server
	log    *requests.Log
}

type thing struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"`
}

func (v thing) RecordID() string { return v.ID.String() }

type newThing struct {
	Name        string  `json:"name" minLength:"1" maxLength:"100"`
	APIPassword *string `json:"apiPassword,omitempty"`
}

var things = httpapi.Group{Tag: "Things", Scope: "orders", Component: "core"}

func registerThings(d *db.DB) func(*httpapi.API) {
	return func(api *httpapi.API) {
		r := things.On(api, d)
		httpapi.Create(r, "/things", "createThing", "Create a thing", func(_ context.Context, _ *db.Tx, _ access.Caller, v newThing) (thing, error) {
			if v.Name == "taken" {
				return thing{}, apierr.StateConflict("THING_EXISTS", "there is a thing with this name")
			}
			return thing{uuid.New(), v.Name}, nil
		})
		httpapi.Get(r, "/things/{id}", "getThing", "Read a thing", func(_ context.Context, _ access.Caller, id uuid.UUID) (thing, error) {
			if id[0] == 0 {
				return thing{}, apierr.NotFound("THING", id.String())
			}
			return thing{id, "one"}, nil
		})
	}
}

func setup(t *testing.T) *kit {
	t.Helper()
	d := dbtest.Open(t)
	k := &kit{t: t, db: d, log: requests.NewLog(requests.LogConfig{DB: d, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})}
	k.server = apitest.NewWith(t, d, func(cfg *httpapi.Config) { cfg.Requests = k.log }, requests.New(requests.Config{DB: d}).Register, registerThings(d))
	k.Client = k.server.Company()
	return k
}

// written writes what was logged so far.
func (k *kit) written() {
	k.t.Helper()
	ended, end := context.WithCancel(k.t.Context())
	end()
	require.NoError(k.t, k.log.Run(ended))
}

// list reads one page of the log.
func (k *kit) list(query string) []map[string]any {
	k.t.Helper()
	return itemsOf(k.Do(k.t, "GET", "/requests?"+query, nil).OK(200))
}

func itemsOf(page map[string]any) (items []map[string]any) {
	for _, v := range page["items"].([]any) {
		items = append(items, v.(map[string]any))
	}
	return items
}

// What was asked and how it was refused can be read afterwards, without what is secret.
func TestRefusedRequest(t *testing.T) {
	t.Parallel()
	k := setup(t)
	answer := k.Do(t, "POST", "/things?api%54oken=s3cr3t&x=1", `{"name":"taken","apiPassword":"s3cr3t","more":[{"secretKey":"s3cr3t","n":1.50}],"headers":{"X-Key":"s3cr3t"}}`,
		apitest.Header{"Prefer", "handling=lenient"})
	require.Equal(t, 409, answer.Status)
	k.written()
	all := k.list("")
	require.Len(t, all, 1)
	got := k.Do(t, "GET", "/requests/"+all[0]["id"].(string), nil).OK(200)
	require.Equal(t, answer.Header.Get("X-Request-Id"), got["requestId"])
	require.Equal(t, got["id"], got["requestId"])
	require.Equal(t, "POST", got["method"])
	require.Equal(t, "/things", got["route"])
	require.Equal(t, "createThing", got["operation"])
	require.Equal(t, "/things?api%54oken=%5Bredacted%5D&x=1", got["path"])
	require.InDelta(t, 409, got["status"], 0)
	require.Equal(t, "THING_EXISTS", got["code"])
	require.Equal(t, k.Principal.TokenID.String(), got["tokenId"])
	require.Equal(t, "test", got["tokenName"])
	require.Equal(t, "0.0.0.0", got["address"])
	require.Nil(t, got["entityId"])
	require.InDelta(t, 1, got["represents"], 0)
	require.Equal(t, answer.OK(409), got["error"])
	require.Equal(t, map[string]any{"name": "taken", "apiPassword": "[redacted]", "more": []any{map[string]any{"secretKey": "[redacted]", "n": 1.5}}, "headers": "[redacted]"}, got["body"])
	require.Equal(t, []any{}, got["eventIds"])
	at, err := time.Parse(time.RFC3339, got["createdAt"].(string))
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), at, time.Minute)
	var raw string
	require.NoError(t, k.db.QueryRow(t.Context(), `SELECT CAST(api_requests AS TEXT) FROM api_requests WHERE company_id = $1 AND id = $2`, k.Principal.Company, got["id"]).Scan(&raw))
	require.NotContains(t, raw, "s3cr3t")
	require.NotContains(t, raw, fmt.Sprintf("%x", "s3cr3t"), "bytes are shown in hex")
}

// Bodies that cannot be shown as JSON, or are long, are left out; text that no column takes loses what is wrong with it.
func TestStrangeRequests(t *testing.T) {
	t.Parallel()
	k := setup(t)
	for body, shown := range map[string]bool{
		`{"name":`: false, "\xff\x00": false, `{"name":""}`: true, `{"name":"taken","note":"` + strings.Repeat("x", 33<<10) + `"}`: false, `[1,"\u0000"]`: true,
	} {
		answer := k.Do(t, "POST", "/things", []byte(body))
		require.GreaterOrEqual(t, answer.Status, 400)
		k.written()
		got := k.Do(t, "GET", "/requests/"+answer.Header.Get("X-Request-Id"), nil).OK(200)
		require.Equal(t, shown, got["body"] != nil, body[:min(len(body), 40)])
		require.InDelta(t, len(body), got["bodyBytes"], 0)
		require.NotNil(t, got["error"])
	}
	long := k.server.Caller(k.Principal.Company).Do(t, "GET", "/things/"+uuid.New().String()+"?a=%00%FF\xfe&long="+strings.Repeat("y", 5000), nil)
	k.written()
	path := k.Do(t, "GET", "/requests/"+long.Header.Get("X-Request-Id"), nil).OK(200)["path"].(string)
	require.InDelta(t, 2<<10, len(path), 1, "a byte that is no text is left out")
	require.True(t, strings.Contains(path, "a=%00%FF"))
}

// A client may name its requests, several by one name. A name that looks like one of ours collides with none.
func TestChosenIDs(t *testing.T) {
	t.Parallel()
	k := setup(t)
	ours := k.Do(t, "POST", "/things", `{"name":"one"}`)
	id := ours.Header.Get("X-Request-Id")
	for range 2 {
		k.Do(t, "POST", "/things", `{"name":"taken"}`, apitest.Header{"X-Request-Id", "checkout-7"})
		k.Do(t, "POST", "/things", `{"name":"taken"}`, apitest.Header{"X-Request-Id", id})
	}
	k.written()
	named := k.list("requestId=checkout-7")
	require.Len(t, named, 2)
	require.NotEqual(t, named[0]["id"], named[1]["id"])
	at, err := time.Parse(time.RFC3339, named[0]["createdAt"].(string))
	require.NoError(t, err)
	require.True(t, record.TimeOf(uuid.MustParse(named[0]["id"].(string))).Equal(at.Truncate(time.Millisecond)), "its place in the log is that of its arrival")
	require.Equal(t, "checkout-7", named[0]["requestId"])
	require.Len(t, k.list("requestId="+id), 3)
	require.InDelta(t, 201, k.Do(t, "GET", "/requests/"+id, nil).OK(200)["status"], 0)
	require.Equal(t, ours.OK(201)["id"], k.Do(t, "GET", "/requests/"+id, nil).OK(200)["entityId"])
	require.Empty(t, k.list("requestId=unknown"))
}

// What another token sent about a resource is shown to those only that may read the resource.
func TestWhoSeesWhat(t *testing.T) {
	t.Parallel()
	k := setup(t)
	answer := k.Do(t, "POST", "/things", `{"name":"taken"}`)
	k.written()
	at := "/requests/" + answer.Header.Get("X-Request-Id")
	of := func(scopes ...string) *apitest.Client {
		return k.server.Caller(k.Principal.Company, func(p *access.Principal) { p.Scopes = apitest.Scopes(scopes...) })
	}
	reader := of("company:read", "orders:read").Do(t, "GET", at, nil).OK(200)
	require.NotNil(t, reader["body"])
	narrow := of("company:read", "clients:write")
	hidden := narrow.Do(t, "GET", at, nil).OK(200)
	require.Equal(t, "THING_EXISTS", hidden["code"])
	for _, field := range []string{"body", "error", "path"} {
		require.Nil(t, hidden[field], field)
	}
	require.Nil(t, itemsOf(narrow.Do(t, "GET", "/requests", nil).OK(200))[0]["path"])
	of("orders:write").Do(t, "GET", at, nil).OK(403)
	k.server.Company().Do(t, "GET", at, nil).OK(404)
	own := of("company:read", "orders:write")
	own.Principal.Scopes = apitest.Scopes("company:read")
	refused := own.Do(t, "POST", "/things", `{"name":"x"}`)
	require.Equal(t, 403, refused.Status)
	k.written()
	mine := own.Do(t, "GET", "/requests/"+refused.Header.Get("X-Request-Id"), nil).OK(200)
	require.NotNil(t, mine["error"], "a token sees what it sent itself")
	require.Equal(t, "AUTH_API_SCOPE_INSUFFICIENT", mine["code"])
}

// Requests without a valid token belong to nobody.
func TestUnknownSenders(t *testing.T) {
	t.Parallel()
	k := setup(t)
	k.server.Anonymous().Do(t, "GET", "/things/"+uuid.NewString(), nil).OK(401)
	k.written()
	var n int
	require.NoError(t, k.db.QueryRow(t.Context(), `SELECT count(*) FROM api_requests WHERE company_id = $1`, k.Principal.Company).Scan(&n))
	require.Zero(t, n)
}

// stored is a request as the test knows it.
type stored struct {
	id, token                     uuid.UUID
	method, operation, code, from string
	status                        int
	at                            time.Time
}

// Every combination of filters is walked in pages, and compared with what the test stored.
func TestFilters(t *testing.T) {
	t.Parallel()
	k := setup(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	start := time.Now().UTC().Add(-time.Hour).Truncate(time.Millisecond)
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	tokens := []uuid.UUID{uuid.New(), uuid.New()}
	var all []stored
	for n := range 150 {
		at := start.Add(time.Duration(n/2) * time.Minute)
		r := stored{
			id: uuid.Must(uuid.NewV7()), token: tokens[random.IntN(2)], method: pick("GET", "POST"), operation: pick("createThing", "getThing"),
			from: pick("192.0.2.1", "2001:db8::1"), status: []int{200, 201, 304, 404, 409, 503}[random.IntN(6)], at: at,
		}
		for i := range 6 {
			r.id[i] = byte(at.UnixMilli() >> (40 - 8*i))
		}
		var code *string
		if r.status >= 400 {
			r.code = pick("THING_EXISTS", "THING_NOT_FOUND")
			code = &r.code
		}
		_, err := k.db.Exec(t.Context(), `INSERT INTO api_requests (company_id, id, created_at, method, route, operation, scope, path, status, code, duration_ms, token_id, token_name, address, represents, body_bytes)
VALUES ($1, $2, $3, $4, '/things', $5, 'orders', '/things', $6, $7, 1, $8, 'test', $9, 1, 0)`, k.Principal.Company, r.id, at, r.method, r.operation, r.status, code, r.token, r.from)
		require.NoError(t, err)
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b stored) int { return slices.Compare(b.id[:], a.id[:]) })
	for range 80 {
		query := url.Values{"limit": {fmt.Sprint(1 + random.IntN(40))}, "dateTo": {start.Add(100 * time.Hour).Format(time.RFC3339)}}
		var checks []func(stored) bool
		narrow := func(key, value string, check func(stored) bool) {
			if random.IntN(4) == 0 {
				query.Set(key, value)
				checks = append(checks, check)
			}
		}
		token, status, answer, code, method, operation, from := tokens[random.IntN(2)], []int{200, 404, 503}[random.IntN(3)],
			pick("2xx", "3xx", "4xx", "5xx", "error"), pick("THING_EXISTS", "THING_NOT_FOUND"), pick("GET", "POST"), pick("createThing", "getThing"), pick("192.0.2.1", "2001:db8::1")
		narrow("tokenId", token.String(), func(r stored) bool { return r.token == token })
		narrow("status", fmt.Sprint(status), func(r stored) bool { return r.status == status })
		narrow("answer", answer, func(r stored) bool {
			return answer == "error" && r.status >= 400 || answer == fmt.Sprintf("%dxx", r.status/100)
		})
		narrow("code", code, func(r stored) bool { return r.code == code })
		narrow("method", method, func(r stored) bool { return r.method == method })
		narrow("operation", operation, func(r stored) bool { return r.operation == operation })
		narrow("address", from, func(r stored) bool { return r.from == from })
		early, late := start.Add(time.Duration(random.IntN(40))*time.Minute), start.Add(time.Duration(40+random.IntN(40))*time.Minute)
		narrow("dateFrom", early.Format(time.RFC3339Nano), func(r stored) bool { return !r.at.Before(early) })
		narrow("dateTo", late.Format(time.RFC3339Nano), func(r stored) bool { return !r.at.After(late) })
		var want, got []string
		for _, r := range all {
			if !slices.ContainsFunc(checks, func(pass func(stored) bool) bool { return !pass(r) }) {
				want = append(want, r.id.String())
			}
		}
		for pages := 0; ; pages++ {
			require.Less(t, pages, 1000)
			page := k.Do(t, "GET", "/requests?"+query.Encode(), nil).OK(200)
			for _, item := range itemsOf(page) {
				got = append(got, item["id"].(string))
			}
			require.Equal(t, page["hasMore"], page["nextCursor"] != nil)
			if page["hasMore"] == false {
				break
			}
			query.Set("cursor", page["nextCursor"].(string))
		}
		require.Equal(t, want, got, query.Encode())
	}
}

func TestFiltersRefused(t *testing.T) {
	t.Parallel()
	k := setup(t)
	for query, field := range map[string]string{
		"cursor=x": "cursor", "answer=1xx": "answer", "status=99": "status", "tokenId=x": "tokenId", "limit=201": "limit", "dateFrom=x": "dateFrom",
		"dateFrom=2026-02-01T00:00:00Z&dateTo=2026-01-01T00:00:00Z": "dateFrom",
	} {
		require.Contains(t, k.Do(t, "GET", "/requests?"+query, nil).Fields(), field, query)
	}
}

// A page ends after so many requests, whether they match or not, and says where to go on.
func TestPagesAreBounded(t *testing.T) {
	t.Parallel()
	k := setup(t)
	_, err := k.db.Exec(t.Context(), `INSERT INTO api_requests (company_id, id, created_at, method, route, operation, scope, path, status, duration_ms, token_id, token_name, address, represents, body_bytes)
SELECT $1, CAST(lpad(to_hex($2::BIGINT + g), 12, '0') || '70008000000000000000' AS UUID), now(), CASE g WHEN 1 THEN 'PUT' ELSE 'GET' END, '/x', 'x', '', '/x', 200, 1, $1, 'x', '', 1, 0
FROM generate_series(1, 5100) AS g`, k.Principal.Company, time.Now().Add(-time.Hour).UnixMilli())
	require.NoError(t, err)
	page := k.Do(t, "GET", "/requests?method=PUT", nil).OK(200)
	require.Empty(t, itemsOf(page))
	require.Equal(t, true, page["hasMore"])
	page = k.Do(t, "GET", "/requests?method=PUT&cursor="+page["nextCursor"].(string), nil).OK(200)
	require.Len(t, itemsOf(page), 1)
	require.Equal(t, false, page["hasMore"])
}

// What expired is not shown, also before it is deleted.
func TestExpired(t *testing.T) {
	t.Parallel()
	k := setup(t)
	answer := k.Do(t, "POST", "/things", `{"name":"taken"}`)
	k.written()
	at := "/requests/" + answer.Header.Get("X-Request-Id")
	k.Do(t, "GET", at, nil).OK(200)
	later := k.db.WithClock(func() time.Time { return time.Now().Add(7*24*time.Hour + time.Minute) })
	server := apitest.New(t, later, requests.New(requests.Config{DB: later}).Register)
	c := server.Caller(k.Principal.Company)
	c.Do(t, "GET", at, nil).OK(404)
	require.Empty(t, itemsOf(c.Do(t, "GET", "/requests", nil).OK(200)))
}

// A refusal by the rate limit is logged, but as one of many.
func TestFloodOfRefusals(t *testing.T) {
	t.Parallel()
	k := setup(t)
	k.Principal.Rate = access.Rate{Limit: 1, RefillPerSecond: 0.001, InFlight: 1}
	id := "10000000-0000-7000-8000-000000000001"
	statuses := map[int]int{}
	for range 1001 {
		statuses[k.Do(t, "GET", "/things/"+id, nil).Status]++
	}
	require.Equal(t, map[int]int{200: 1, 429: 1000}, statuses)
	k.written()
	k.Principal.Rate = access.Rate{Unlimited: true}
	all := k.list("limit=200&code=RATE_LIMIT_EXCEEDED")
	require.NotEmpty(t, all)
	require.Less(t, len(all), 10+5*int(time.Minute/time.Second))
	sum := 0.0
	for _, r := range all {
		sum += r["represents"].(float64)
	}
	require.Greater(t, sum, 900.0)
	require.LessOrEqual(t, sum, 1000.0)
	require.Len(t, k.list("status=200&operation=getThing"), 1)
}
