package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// article is a thing whose name is its SKU.
type articleFields struct {
	SKU  string `json:"sku" minLength:"1" maxLength:"10"`
	Size int32  `json:"size" required:"true" minimum:"0" maximum:"100"`
}

// articles are the writes of a batch. step, if set, runs within each creation, before the insert.
type articles struct {
	step func(ctx context.Context, sku string) error
}

func (a *articles) create(ctx context.Context, tx *db.Tx, by access.Caller, in articleFields) (thing, error) {
	if a.step != nil {
		if err := a.step(ctx, in.SKU); err != nil {
			return thing{}, err
		}
	}
	switch in.SKU {
	case "taken":
		return thing{}, apierr.StateConflict("SKU_TAKEN", "the sku is taken").With("sku", in.SKU)
	case "bad":
		var faults apierr.Fields
		faults.Add("sku", apierr.Conflict, "is bad")
		return thing{}, faults.Err()
	}
	t := thing{ID: record.NewID(), Name: in.SKU, Meta: record.New(tx.Now())}
	tx.Queue(thingsTable.Insert(`(company_id, id, name, frozen, version, ev_pos, created_at, updated_at) VALUES ($1, $2, $3, false, $4, $5, $6, $7)`),
		by.Company, t.ID, t.Name, t.Version, t.EvPos, t.CreatedAt, t.UpdatedAt).OnConstraint("things_name_key", errNameTaken)
	return t, nil
}

var errNameTaken = apierr.StateConflict("NAME_TAKEN", "the name is taken")

func (a *articles) update(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[articleFields]) (t thing, err error) {
	if err = tx.QueryRow(ctx, selectThing, by.Company, id).Scan(t.targets()...); db.IsNoRows(err) {
		return t, apierr.NotFound("THING", id.String())
	}
	if err != nil {
		return t, err
	}
	if by.Conditional() {
		return t, apierr.New(http.StatusPreconditionFailed, "PRECONDITION_FAILED", "a version is not for all items")
	}
	fields := articleFields{SKU: t.Name}
	in.Apply(&fields)
	tx.Queue(thingsTable.Update(`SET name = $3, version = version + 1 WHERE company_id = $1 AND id = $2`), by.Company, id, fields.SKU).OnConstraint("things_name_key", errNameTaken)
	return t, nil
}

func (a *articles) remove(_ context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (thing, error) {
	tx.Queue(thingsTable.Delete(`WHERE company_id = $1 AND id = $2`), by.Company, id).Expect(1, apierr.NotFound("THING", id.String()))
	return thing{ID: id}, nil
}

func (a *articles) find(ctx context.Context, q db.Querier, company tenant.ID, sku string) (id uuid.UUID, err error) {
	err = q.QueryRow(ctx, `SELECT id FROM things WHERE company_id = $1 AND name = $2`, company, sku).Scan(&id)
	if db.IsNoRows(err) {
		err = apierr.NotFound("THING", sku)
	}
	return id, err
}

func setupBatch(t *testing.T, edit ...func(*httpapi.Config)) (*kit, *articles) {
	t.Helper()
	f, a := setupAlone(t, edit...), &articles{}
	r := httpapi.Group{Tag: "Articles", Scope: "orders"}.On(f.api, f.db)
	httpapi.Batch(r, "/articles/batch", "batchArticles", "Change many", httpapi.Writes[articleFields, thing]{Create: a.create, Update: a.update, Find: a.find})
	httpapi.Batch(r, "/articles/add/batch", "addArticles", "Add many", httpapi.Writes[articleFields, thing]{Create: a.create, Created: 200})
	httpapi.Batch(r, "/articles/remove/batch", "removeArticles", "Remove many", httpapi.Writes[articleFields, thing]{Create: a.create, Update: a.update, Delete: a.remove})
	return f, a
}

func (f *kit) batch(body string, headers ...string) response {
	f.t.Helper()
	return f.do(request{method: "POST", path: "/articles/batch", body: body, headers: pairs(headers)})
}

// results are the results of a batch as status, code and the fields of the faults.
func (r response) results(t *testing.T) []string {
	t.Helper()
	r.is(t, 200, "")
	var out []string
	for i, v := range r.body["results"].([]any) {
		v := v.(map[string]any)
		require.EqualValues(t, i, v["index"])
		line := fmt.Sprint(v["status"])
		if code, ok := v["code"]; ok {
			line += fmt.Sprint(" ", code)
			require.NotEmpty(t, v["message"])
		} else {
			require.NotNil(t, v["id"])
		}
		if faults, ok := v["errors"].([]any); ok {
			for _, e := range faults {
				e := e.(map[string]any)
				line += fmt.Sprint(" ", e["field"], " ", e["code"])
				require.True(t, strings.HasPrefix(e["message"].(string), e["field"].(string)+": "), e)
			}
		}
		out = append(out, line)
	}
	return out
}

func items(of ...string) string { return `{"items":[` + strings.Join(of, ",") + `]}` }

func creates(skus ...string) string {
	all := make([]string, len(skus))
	for i, sku := range skus {
		all[i] = fmt.Sprintf(`{"op":"create","body":{"sku":%q,"size":1}}`, sku)
	}
	return items(all...)
}

func TestBatch(t *testing.T) {
	t.Parallel()
	f, _ := setupBatch(t)
	first := f.batch(creates("a", "b"))
	require.Equal(t, []string{"201", "201"}, first.results(t))
	id := first.body["results"].([]any)[0].(map[string]any)["id"].(string)

	got := f.batch(items(
		`{"op":"update","id":"`+id+`","body":{"sku":"a2"}}`,
		`{"op":"update","sku":"b","body":{}}`,
		`{"op":"upsert","sku":"b","body":{"sku":"b2"}}`,
		`{"op":"upsert","sku":"c","body":{"size":3}}`,
		`{"op":"upsert","sku":"c","body":{"size":4,"more":1}}`,
		`{"op":"upsert","sku":"d","body":{}}`,
		`{"op":"create","sku":"e","body":{"size":1}}`,
		`{"op":"create","sku":"e","body":{"sku":"f","size":1}}`,
		`{"op":"create","sku":"taken","body":{"size":1}}`,
		`{"op":"create","sku":"bad","body":{"size":1}}`,
		`{"op":"create","body":{"sku":"","size":-1.5}}`,
		`{"op":"create","id":"`+id+`","body":{"size":1}}`,
		`{"op":"update","body":{"size":1}}`,
		`{"op":"update","id":"`+id+`","sku":"a","body":{"size":1}}`,
		`{"op":"upsert","body":{"sku":"g","size":1}}`,
		`{"op":"update","id":"`+uuid.NewString()+`","body":{"size":1}}`,
		`{"op":"update","sku":"none","body":{"size":1}}`,
		`{"op":"create","body":[]}`,
	), "If-Match", `"7"`)
	require.Equal(t, []string{
		"200", "200", "200", "201", "200", "400 VALIDATION_ERROR body.size REQUIRED", "201", "400 VALIDATION_ERROR body.sku CONFLICT",
		"409 SKU_TAKEN", "400 VALIDATION_ERROR body.sku CONFLICT", "400 VALIDATION_ERROR body.size STEP body.sku LENGTH",
		"400 VALIDATION_ERROR id CONFLICT", "400 VALIDATION_ERROR id REQUIRED", "400 VALIDATION_ERROR sku CONFLICT",
		"400 VALIDATION_ERROR sku REQUIRED", "404 THING_NOT_FOUND", "404 THING_NOT_FOUND", "400 VALIDATION_ERROR body TYPE",
	}, got.results(t))
	require.Equal(t, "items[4].body.more", got.Header.Get("X-Ignored-Fields"))
	require.Equal(t, map[string]any{"sku": "taken"}, got.body["results"].([]any)[8].(map[string]any)["meta"])
	require.Equal(t, id, got.body["results"].([]any)[11].(map[string]any)["id"], "a result names the record that its item names")
	require.Equal(t, 4, f.stored())

	strict := f.batch(items(`{"op":"create","body":{"sku":"s","size":1,"more":1}}`, `{"op":"create","body":{"sku":"s","size":1}}`), "Prefer", "handling=strict")
	require.Equal(t, []string{"400 VALIDATION_ERROR body.more UNKNOWN", "201"}, strict.results(t))
	deletion := items(`{"op":"delete","id":"` + id + `","body":{"reason":"sold"}}`)
	remove := request{method: "POST", path: "/articles/remove/batch", body: deletion, headers: pairs([]string{"Prefer", "handling=strict"})}
	require.Equal(t, []string{"400 VALIDATION_ERROR body.reason UNKNOWN"}, f.do(remove).results(t))
	require.Equal(t, 5, f.stored())
	remove.headers = nil
	deleted := f.do(remove)
	require.Equal(t, []string{"200"}, deleted.results(t))
	require.Equal(t, "items[0].body.reason", deleted.Header.Get("X-Ignored-Fields"))
	added := f.do(request{method: "POST", path: "/articles/add/batch", body: items(`{"body":{"sku":"x","size":1}}`)})
	require.Equal(t, []string{"200"}, added.results(t))
}

func TestBatchRefusedAsAWhole(t *testing.T) {
	t.Parallel()
	f, _ := setupBatch(t)
	many := make([]string, 1001)
	for i := range many {
		many[i] = fmt.Sprint("n", i)
	}
	for body, want := range map[string]map[string]string{
		`{}`:             {"items": "REQUIRED"},
		`{"items":[]}`:   {"items": "MIN"},
		creates(many...): {"items": "MAX"},
		`[]`:             {"body": "TYPE"},
		items(`{"op":"create","body":{"size":1}}`, `{"op":"drop","id":"x"}`): {"items[1].op": "ENUM", "items[1].id": "FORMAT", "items[1].body": "REQUIRED"},
		items(`{"op":"create","body":{"size":1,"size":2}}`):                  {"items[0].body.size": "CONFLICT"},
		items(`{"op":"create","body":null}`):                                 nil,
	} {
		if want == nil {
			require.Equal(t, []string{"400 VALIDATION_ERROR body TYPE"}, f.batch(body).results(t))
			continue
		}
		require.Equal(t, want, f.batch(body).faults(t), "%.80s", body)
	}
	require.Equal(t, map[string]string{"items[0].op": "ENUM"},
		f.do(request{method: "POST", path: "/articles/add/batch", body: items(`{"op":"upsert","body":{"size":1}}`)}).faults(t))
	require.Zero(t, f.stored())
	require.Len(t, f.batch(creates(many[:200]...)).results(t), 200)
	require.Equal(t, 200, f.stored())
	large := f.batch(`{"items":[{"op":"create","body":{"sku":"` + strings.Repeat("x", 2<<20) + `","size":1}}]}`)
	require.Equal(t, []string{"400 VALIDATION_ERROR body.sku LENGTH"}, large.results(t), "a batch may be larger than other bodies")
}

func TestCostOfABatch(t *testing.T) {
	t.Parallel()
	f, _ := setupBatch(t)
	f.token("limited", func(p *access.Principal) { p.Rate = access.Rate{Limit: 5, RefillPerSecond: 0.001, InFlight: 5} })
	send := func(n int) response {
		skus := make([]string, n)
		for i := range skus {
			skus[i] = fmt.Sprintf("%d-%d", n, i)
		}
		return f.do(request{method: "POST", path: "/articles/batch", token: "limited", body: creates(skus...)})
	}
	got := send(10)
	require.Len(t, got.results(t), 10)
	require.Equal(t, "4", got.Header.Get("X-RateLimit-Remaining"))
	got = send(21)
	require.Len(t, got.results(t), 21)
	require.Equal(t, "1", got.Header.Get("X-RateLimit-Remaining"))
	send(11).is(t, 429, "RATE_LIMIT_EXCEEDED")
	require.Equal(t, 31, f.stored())
	require.Len(t, send(9).results(t), 9, "the refused batch cost nothing")
}

func TestReplayOfABatch(t *testing.T) {
	t.Parallel()
	f, _ := setupBatch(t)
	key := uuid.NewString()
	first := f.batch(creates("a", "taken", "b"), keyHeader, key)
	require.Equal(t, []string{"201", "409 SKU_TAKEN", "201"}, first.results(t))
	again := f.batch(creates("a", "taken", "b"), keyHeader, key)
	require.Equal(t, string(first.raw), string(again.raw))
	require.Equal(t, "true", again.Header.Get("X-Idempotent-Replayed"))
	f.batch(creates("a"), keyHeader, key).is(t, 422, "IDEMPOTENCY_KEY_REUSED")
	require.Equal(t, 2, f.stored())
}

// A batch that stops in the middle is continued by a repeat with its key, and no item is made twice.
func TestRepeatContinuesABatch(t *testing.T) {
	t.Parallel()
	f, a := setupBatch(t)
	key := uuid.NewString()
	broken := true
	a.step = func(_ context.Context, sku string) error {
		if sku == "c" && broken {
			return apierr.Unavailable(apierr.QueueFull, 1, "busy")
		}
		return nil
	}
	first := f.batch(creates("a", "b", "c", "d"), keyHeader, key)
	require.Equal(t, []string{"201", "201", "503 SERVICE_UNAVAILABLE", "503 SERVICE_UNAVAILABLE"}, first.results(t))
	require.Equal(t, 2, f.stored())
	f.batch(creates("a", "x"), keyHeader, key).is(t, 422, "IDEMPOTENCY_KEY_REUSED")
	broken = false
	second := f.batch(creates("a", "b", "c", "d"), keyHeader, key)
	require.Equal(t, []string{"201", "201", "201", "201"}, second.results(t))
	require.Empty(t, second.Header.Get("X-Idempotent-Replayed"))
	require.Equal(t, first.body["results"].([]any)[:2], second.body["results"].([]any)[:2], "the items that were made keep their results")
	require.Equal(t, 4, f.stored())
	third := f.batch(creates("a", "b", "c", "d"), keyHeader, key)
	require.Equal(t, string(second.raw), string(third.raw))
	require.Equal(t, "true", third.Header.Get("X-Idempotent-Replayed"))

	broken = true
	f.batch(creates("e", "c", "f")).results(t)
	require.Equal(t, 5, f.stored(), "without a key, too, the rest waits for better times")
}

// The node that runs a batch freezes longer than its lease, and a repeat takes over: each item is made once, whoever makes it.
func TestTakeOverOfABatch(t *testing.T) {
	t.Parallel()
	f, a := setupBatch(t, func(c *httpapi.Config) { c.KeyLease = 100 * time.Millisecond })
	entered, leave := make(chan struct{}), make(chan struct{})
	var calls atomic.Int32
	a.step = func(context.Context, string) error {
		if calls.Add(1) == 2 {
			close(entered)
			<-leave
		}
		return nil
	}
	key := uuid.NewString()
	done := make(chan response, 1)
	go func() { done <- f.batch(creates("a", "b", "c"), keyHeader, key) }()
	<-entered
	var second response
	require.Eventually(t, func() bool {
		second = f.batch(creates("a", "b", "c"), keyHeader, key)
		return second.StatusCode == http.StatusOK
	}, time.Minute, 20*time.Millisecond)
	require.Equal(t, []string{"201", "201", "201"}, second.results(t))
	close(leave)
	(<-done).is(t, 409, "IDEMPOTENCY_IN_FLIGHT")
	require.Equal(t, 3, f.stored())
}
