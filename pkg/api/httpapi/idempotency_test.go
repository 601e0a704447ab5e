package httpapi_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi/idempotency"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/quota"
)

func TestReplay(t *testing.T) {
	t.Parallel()
	f := setup(t)
	key := uuid.NewString()
	first := f.post(`{"name":" one ","extra":1}`, keyHeader, key)
	first.is(t, 201, "")
	require.Empty(t, first.Header.Get("X-Idempotent-Replayed"))
	id := first.body["id"].(string)
	f.do(request{method: "PATCH", path: "/things/" + id, body: `{"name":"changed"}`}).is(t, 200, "")

	for name, again := range map[string]response{
		"same":         f.post(`{"name":" one ","extra":1}`, keyHeader, key),
		"key order":    f.post(`{ "extra":1, "name":" one " }`, keyHeader, key),
		"upper case":   f.post(`{"name":" one ","extra":1}`, keyHeader, strings.ToUpper(key)),
		"alias":        f.post(`{"name":" one ","extra":1}`, "Idempotency-Key", key),
		"quoted alias": f.post(`{"name":" one ","extra":1}`, "Idempotency-Key", `"`+key+`"`),
		"both":         f.post(`{"name":" one ","extra":1}`, "Idempotency-Key", `"`+key+`"`, keyHeader, key),
	} {
		again.is(t, 201, "")
		require.Equal(t, string(first.raw), string(again.raw), name)
		require.Equal(t, "true", again.Header.Get("X-Idempotent-Replayed"), name)
		for _, h := range []string{"Location", "ETag", "Content-Type"} {
			require.NotEmpty(t, first.Header.Get(h))
			require.Equal(t, first.Header.Get(h), again.Header.Get(h), "%s: %s", name, h)
		}
	}
	require.Equal(t, 1, f.stored())
	gone := request{method: "DELETE", path: "/things/" + id, headers: map[string]string{keyHeader: uuid.NewString()}}
	f.do(gone).is(t, 204, "")
	again := f.do(gone)
	again.is(t, 204, "")
	require.Equal(t, "true", again.Header.Get("X-Idempotent-Replayed"))
	require.Empty(t, again.raw)
}

func TestKeyOfAnOperationWithoutTransaction(t *testing.T) {
	t.Parallel()
	f := setup(t)
	key := uuid.NewString()
	first := f.echoOf(`{"count":5}`, keyHeader, key)
	first.is(t, 200, "")
	again := f.echoOf(`{"count":5.0}`, keyHeader, key)
	again.is(t, 422, "IDEMPOTENCY_KEY_REUSED")
	again = f.echoOf(`{"count":5}`, keyHeader, key)
	require.Equal(t, string(first.raw), string(again.raw))
	require.Equal(t, "true", again.Header.Get("X-Idempotent-Replayed"))
}

func TestKeyReuse(t *testing.T) {
	t.Parallel()
	f := setup(t)
	key := uuid.NewString()
	id := f.post(`{"name":"one"}`, keyHeader, key).body["id"].(string)
	keyed := map[string]string{keyHeader: key}
	for name, r := range map[string]request{
		"body":   {method: "POST", path: "/things", body: `{"name":"two"}`, headers: keyed},
		"path":   {method: "POST", path: "/things/echo", body: `{"name":"one"}`, headers: keyed},
		"query":  {method: "POST", path: "/things?a=1", body: `{"name":"one"}`, headers: keyed},
		"method": {method: "DELETE", path: "/things/" + id, headers: keyed},
	} {
		got := f.do(r)
		require.Equal(t, "IDEMPOTENCY_KEY_REUSED", got.body["code"], name)
		require.Equal(t, 422, got.StatusCode, name)
	}
	f.do(request{method: "GET", path: "/things/" + id, headers: map[string]string{keyHeader: "ignored on GET"}}).is(t, 200, "")
	f.token("stranger", func(p *access.Principal) { p.Company = tenant.NewID() })
	other := f.do(request{method: "POST", path: "/things", body: `{"name":"two"}`, token: "stranger", headers: keyed})
	other.is(t, 201, "")
}

func TestBadKeys(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for _, bad := range []string{"", `""`, "1", "not-a-uuid", strings.ReplaceAll(uuid.NewString(), "-", ""), "{" + uuid.NewString() + "}", "urn:uuid:" + uuid.NewString()} {
		require.Equal(t, map[string]string{keyHeader: "FORMAT"}, f.post(`{"name":"x"}`, keyHeader, bad).faults(t), bad)
		require.Equal(t, map[string]string{"Idempotency-Key": "FORMAT"}, f.post(`{"name":"x"}`, "Idempotency-Key", bad).faults(t), bad)
	}
	got := f.post(`{"name":"x"}`, keyHeader, uuid.NewString(), "Idempotency-Key", uuid.NewString())
	require.Len(t, got.faults(t), 1)
	require.Zero(t, f.stored())
}

func TestFailureFreesTheKey(t *testing.T) {
	t.Parallel()
	f := setup(t)
	key := uuid.NewString()
	f.post(`{"name":""}`, keyHeader, key).is(t, 400, "VALIDATION_ERROR")
	f.post(`{"name":"taken"}`, keyHeader, key).is(t, 409, "NAME_TAKEN")
	f.do(request{method: "POST", path: "/things/panic", headers: map[string]string{keyHeader: key}}).is(t, 500, "INTERNAL_ERROR")
	f.do(request{method: "DELETE", path: "/things/" + uuid.NewString(), headers: map[string]string{keyHeader: key}}).is(t, 404, "THING_NOT_FOUND")
	f.post(`{"name":"fine"}`, keyHeader, key).is(t, 201, "")
	require.Equal(t, 1, f.stored())
}

// gate lets a test hold the first create inside its handler.
type gate struct {
	entered chan struct{}
	leave   chan struct{}
}

func hold(f *kit) gate {
	g := gate{make(chan struct{}), make(chan struct{})}
	f.enter = func(ctx context.Context, call int) {
		if call == 1 {
			close(g.entered)
			select {
			case <-g.leave:
			case <-ctx.Done():
			}
		}
	}
	return g
}

func TestInFlight(t *testing.T) {
	t.Parallel()
	f := setup(t)
	g, key := hold(f), uuid.NewString()
	done := make(chan response, 1)
	go func() { done <- f.post(`{"name":"slow"}`, keyHeader, key) }()
	<-g.entered
	got := f.post(`{"name":"slow"}`, keyHeader, key)
	got.is(t, 409, "IDEMPOTENCY_IN_FLIGHT")
	require.Equal(t, "1", got.Header.Get("Retry-After"))
	f.post(`{"name":"other"}`, keyHeader, key).is(t, 422, "IDEMPOTENCY_KEY_REUSED")
	close(g.leave)
	first := <-done
	first.is(t, 201, "")
	again := f.post(`{"name":"slow"}`, keyHeader, key)
	require.Equal(t, string(first.raw), string(again.raw))
	require.Equal(t, 1, f.stored())
}

// The node that runs a request freezes: nothing of it is stored yet, so another node makes the change at once, and the first
// one undoes its own when it wakes and returns the stored answer.
func TestSlowerNodeUndoesItsChange(t *testing.T) {
	t.Parallel()
	f := setup(t)
	other := f.twin()
	g, key := hold(f), uuid.NewString()
	done := make(chan response, 1)
	go func() { done <- f.post(`{"name":"frozen"}`, keyHeader, key) }()
	<-g.entered
	second := other.post(`{"name":"frozen"}`, keyHeader, key)
	second.is(t, 201, "")
	require.Empty(t, second.Header.Get("X-Idempotent-Replayed"))
	close(g.leave)
	first := <-done
	first.is(t, 201, "")
	require.Equal(t, "true", first.Header.Get("X-Idempotent-Replayed"))
	require.Equal(t, string(second.raw), string(first.raw))
	require.Equal(t, 1, f.stored())
	again := f.post(`{"name":"frozen"}`, keyHeader, key)
	require.Equal(t, string(second.raw), string(again.raw), "the loser leaves the winner's answer alone")
}

// A request may fail because of what another node has changed under the same key: it returns the stored answer all the same.
func TestSlowerNodeFindsItsOwnChange(t *testing.T) {
	t.Parallel()
	f := setup(t)
	id := f.post(`{"name":"one"}`).body["id"].(string)
	gone := request{method: "DELETE", path: "/things/" + id, headers: map[string]string{keyHeader: uuid.NewString()}}
	f.blind = func() { f.twin().do(gone).is(t, 204, "") }
	got := f.do(gone)
	got.is(t, 204, "")
	require.Equal(t, "true", got.Header.Get("X-Idempotent-Replayed"))
	require.Zero(t, f.stored())
	f.blind = nil
	gone.headers[keyHeader] = uuid.NewString()
	f.do(gone).is(t, 404, "THING_NOT_FOUND")
}

// Two nodes get requests with one key at the same time, a hundred times: each key has one change, and both requests get its
// answer, unless one of them is told to wait.
func TestNodesRaceWithOneKey(t *testing.T) {
	t.Parallel()
	f := setup(t)
	other := f.twin()
	var ids, kept []string
	for range 100 {
		a, b := raceOf(f, other, request{method: "POST", path: "/things", body: `{"name":"once"}`})
		ids = append(ids, sameAnswer(t, 201, a, b).body["id"].(string))
	}
	require.Equal(t, len(ids), f.stored())
	for i, id := range ids {
		r := request{method: "PATCH", path: "/things/" + id, body: `{"name":"changed"}`, headers: map[string]string{"If-Match": `"1"`}}
		if i%2 == 0 {
			r, kept = request{method: "DELETE", path: "/things/" + id}, append(kept, id)
			a, b := raceOf(f, other, r)
			sameAnswer(t, 204, a, b)
			continue
		}
		a, b := raceOf(f, other, r)
		require.EqualValues(t, 2, sameAnswer(t, 200, a, b).body["version"])
	}
	require.Equal(t, len(ids)-len(kept), f.stored())
}

// raceOf sends a request with a new key to both nodes at the same time.
func raceOf(a, b *kit, r request) (first, second response) {
	if r.headers == nil {
		r.headers = map[string]string{}
	}
	r.headers[keyHeader] = uuid.NewString()
	start := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { <-start; first = a.do(r) })
	wg.Go(func() { <-start; second = b.do(r) })
	close(start)
	wg.Wait()
	return first, second
}

// sameAnswer checks that the answers are equal and that one of them is a replay, or that one of them asks to wait, and
// returns the answer.
func sameAnswer(t *testing.T, status int, a, b response) response {
	t.Helper()
	if a.StatusCode != status {
		a, b = b, a
	}
	a.is(t, status, "")
	if b.StatusCode != status {
		b.is(t, 409, "IDEMPOTENCY_IN_FLIGHT")
		require.Empty(t, a.Header.Get("X-Idempotent-Replayed"))
		return a
	}
	require.Equal(t, string(a.raw), string(b.raw))
	require.NotEqual(t, a.Header.Get("X-Idempotent-Replayed"), b.Header.Get("X-Idempotent-Replayed"), "one of them is the first")
	return a
}

const sqlLeaseOf = `INSERT INTO idempotency_keys (company_id, key, fingerprint, state, lease_id, lease_until, expires_at)
SELECT $1, $2, fingerprint, 0, $3, $4, $5 FROM idempotency_keys WHERE company_id = $1 AND key = $6`

// An operation without a transaction of its own holds its key by a lease. That of a process that was killed is taken over when
// it has ended.
func TestLeaseOfAKilledProcess(t *testing.T) {
	t.Parallel()
	f := setup(t)
	model := uuid.New()
	f.echoOf(`{"count":1}`, keyHeader, model.String()).is(t, 200, "")
	lease := func(until time.Duration) (key string) {
		k := uuid.New()
		_, err := f.db.Exec(t.Context(), sqlLeaseOf, f.company, k, uuid.New(), time.Now().Add(until), time.Now().Add(time.Hour), model)
		require.NoError(t, err)
		return k.String()
	}
	held := lease(time.Hour)
	f.echoOf(`{"count":1}`, keyHeader, held).is(t, 409, "IDEMPOTENCY_IN_FLIGHT")
	f.echoOf(`{"count":2}`, keyHeader, held).is(t, 422, "IDEMPOTENCY_KEY_REUSED")

	ended := lease(-time.Second)
	f.echoOf(`{"count":2}`, keyHeader, ended).is(t, 422, "IDEMPOTENCY_KEY_REUSED")
	made := f.echoOf(`{"count":1}`, keyHeader, ended)
	made.is(t, 200, "")
	require.Empty(t, made.Header.Get("X-Idempotent-Replayed"))
	again := f.echoOf(`{"count":1}`, keyHeader, ended)
	require.Equal(t, string(made.raw), string(again.raw))
	require.Equal(t, "true", again.Header.Get("X-Idempotent-Replayed"))
}

func TestKeysAreForgottenAfterTheirTime(t *testing.T) {
	t.Parallel()
	f := setup(t, func(c *httpapi.Config) { c.KeyTTL, c.KeyLease = 50*time.Millisecond, time.Second })
	key := uuid.NewString()
	first := f.post(`{"name":"one"}`, keyHeader, key)
	first.is(t, 201, "")
	require.Eventually(t, func() bool {
		got := f.post(`{"name":"two"}`, keyHeader, key)
		return got.StatusCode == http.StatusCreated && got.body["id"] != first.body["id"]
	}, time.Minute, 20*time.Millisecond)
}

func TestConcurrentRepeatsHaveOneEffect(t *testing.T) {
	t.Parallel()
	f := setup(t)
	const n = 16
	key := uuid.NewString()
	got := make([]response, n)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			got[i] = f.post(`{"name":"once"}`, keyHeader, key)
		})
	}
	close(start)
	wg.Wait()
	fresh, body := 0, ""
	for _, r := range got {
		switch r.StatusCode {
		case http.StatusCreated:
			if r.Header.Get("X-Idempotent-Replayed") == "" {
				fresh++
			}
			if body == "" {
				body = string(r.raw)
			}
			require.Equal(t, body, string(r.raw))
		default:
			r.is(t, 409, "IDEMPOTENCY_IN_FLIGHT")
		}
	}
	require.Equal(t, 1, fresh)
	require.Equal(t, 1, f.stored())
}

// A large answer takes little room and is replayed byte for byte.
func TestLargeAnswersAreStoredCompressed(t *testing.T) {
	t.Parallel()
	f := setupAlone(t)
	body := `{"free":{"text":"` + strings.Repeat("all work and no play ", 500) + `"}}`
	key := uuid.NewString()
	first := f.echoOf(body, keyHeader, key)
	var size int
	require.NoError(t, f.db.QueryRow(t.Context(), `SELECT octet_length(body) FROM idempotency_keys WHERE company_id = $1 AND key = $2`, f.company, key).Scan(&size))
	require.Less(t, size, 300)
	again := f.echoOf(body, keyHeader, key)
	require.Equal(t, "true", again.Header.Get("X-Idempotent-Replayed"))
	require.Equal(t, string(first.raw), string(again.raw))
}

// A company whose stored answers have reached their quota gets no new key, but the answers of those that it has; other
// companies, and changes without a key, go on.
func TestQuotaOfStoredAnswers(t *testing.T) {
	t.Parallel()
	var meter *quota.Meter
	f := setup(t, func(c *httpapi.Config) {
		meter = quota.New(quota.Config{DB: c.DB, Kind: idempotency.QuotaKind, Limit: 500})
		c.KeyQuota = meter
	})
	f.token("neighbour", func(p *access.Principal) { p.Company = tenant.NewID() })
	body, key := `{"note":"12345678"}`, uuid.NewString()
	first := f.echoOf(body, keyHeader, key)
	first.is(t, 200, "")
	stored := 1
	for ; stored < 100; stored++ {
		got := f.echoOf(body, keyHeader, uuid.NewString())
		if got.StatusCode != http.StatusOK {
			got.is(t, 429, "IDEMPOTENCY_QUOTA_EXCEEDED")
			require.Equal(t, "3600", got.Header.Get("Retry-After"))
			require.Equal(t, map[string]any{"limit": 500.0, "used": float64(stored * len(first.raw))}, got.body["meta"])
			break
		}
	}
	require.Equal(t, (500+len(first.raw)-1)/len(first.raw), stored)
	require.NoError(t, meter.Flush(t.Context()))
	f.echoOf(body, keyHeader, uuid.NewString()).is(t, 429, "IDEMPOTENCY_QUOTA_EXCEEDED")
	again := f.echoOf(body, keyHeader, key)
	again.is(t, 200, "")
	require.Equal(t, string(first.raw), string(again.raw))
	f.echoOf(body).is(t, 200, "")
	other := request{method: "POST", path: "/things/echo", body: body, token: "neighbour", headers: map[string]string{keyHeader: uuid.NewString()}}
	f.do(other).is(t, 200, "")
	f.post(`{"name":"x"}`, keyHeader, uuid.NewString()).is(t, 429, "IDEMPOTENCY_QUOTA_EXCEEDED")

	_, err := f.db.Exec(t.Context(), `UPDATE storage_usage SET expires_at = now() WHERE company_id = $1`, f.company)
	require.NoError(t, err)
	require.NoError(t, meter.Flush(t.Context()))
	f.post(`{"name":"x"}`, keyHeader, uuid.NewString()).is(t, 201, "")
	require.NoError(t, meter.Flush(t.Context()))
	used, _ := meter.Above(f.company)
	require.Positive(t, used, "answers that are stored with their change count, too")
}
