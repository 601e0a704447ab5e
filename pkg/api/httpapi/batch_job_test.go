package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/job"
)

// work runs the jobs of the kit until the end of the test.
func (f *kit) work(edit ...func(*job.Config)) (stop func()) {
	cfg := job.Config{
		DB: f.db, Owner: uuid.NewString(), Handlers: []job.Handler{httpapi.BatchHandler(func() *httpapi.API { return f.api })},
		Every: 5 * time.Millisecond, Retry: time.Millisecond,
	}
	for _, e := range edit {
		e(&cfg)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(f.t.Context()))
	done := make(chan error, 1)
	go func() { done <- job.NewWorker(cfg).Run(ctx) }()
	ended := false
	stop = func() {
		if !ended {
			ended = true
			cancel()
			require.NoError(f.t, <-done)
		}
	}
	f.t.Cleanup(stop)
	return stop
}

func (f *kit) caller() access.Caller {
	return access.Caller{Principal: f.tokens["all"].(*access.Principal)}
}

// ended waits for the end of a job, and returns the results that it has.
func (f *kit) ended(id string) (found job.Found, results []httpapi.BatchResult) {
	f.t.Helper()
	require.Eventually(f.t, func() bool {
		var err error
		found, err = job.Get(f.t.Context(), f.db, f.caller(), uuid.MustParse(id))
		require.NoError(f.t, err)
		return found.CompletedAt != nil
	}, time.Minute, 2*time.Millisecond)
	if found.Media == "" {
		return found, nil
	}
	require.Equal(f.t, "application/x-ndjson", found.Media)
	raw, err := io.ReadAll(job.Result(f.t.Context(), f.db, found))
	require.NoError(f.t, err)
	for line := range strings.Lines(string(raw)) {
		var r httpapi.BatchResult
		require.NoError(f.t, json.Unmarshal([]byte(line), &r))
		results = append(results, r)
	}
	return found, results
}

func numbered(n int) []string {
	skus := make([]string, n)
	for i := range skus {
		skus[i] = fmt.Sprint("n", i)
	}
	return skus
}

func TestLargeBatchIsAJob(t *testing.T) {
	t.Parallel()
	f, _ := setupBatch(t)
	skus := numbered(1000)
	skus[7], skus[500] = "taken", "bad"
	key := uuid.NewString()
	body := strings.Replace(creates(skus...), `{"sku":"n3","size":1}`, `{"sku":"n3","size":1,"more":1}`, 1)
	started := f.batch(body, keyHeader, key)
	started.is(t, 202, "")
	require.Equal(t, []any{"batch", "pending", 1000.0}, []any{started.body["type"], started.body["status"], started.body["total"]})
	again := f.batch(body, keyHeader, key)
	require.Equal(t, string(started.raw), string(again.raw))
	require.Equal(t, "true", again.Header.Get("X-Idempotent-Replayed"))
	f.batch(creates(skus...), keyHeader, key).is(t, 422, "IDEMPOTENCY_KEY_REUSED")
	require.Zero(t, f.stored())
	var jobs, parts int
	require.NoError(t, f.db.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM jobs), (SELECT count(*) FROM job_inputs)`).Scan(&jobs, &parts))
	require.Equal(t, []int{1, 20}, []int{jobs, parts})

	f.work()
	found, results := f.ended(started.body["id"].(string))
	require.Equal(t, []any{job.Done, 100, int64(1000)}, []any{found.Status, found.Progress, found.Processed})
	require.JSONEq(t, `{"resource":"articles","succeeded":998,"failed":2,"ignoredFields":["items[3].body.more"]}`, string(*found.Summary))
	require.Len(t, results, 1000)
	for i, r := range results {
		require.Equal(t, i, r.Index)
		switch i {
		case 7:
			require.Equal(t, []any{409, "SKU_TAKEN", "the sku is taken"}, []any{r.Status, r.Code, r.Message})
		case 500:
			require.Equal(t, []any{400, "body.sku"}, []any{r.Status, r.Errors[0].Field})
		default:
			require.Equal(t, 201, r.Status, r)
			require.NotNil(t, r.ID)
		}
	}
	require.Equal(t, 998, f.stored())
	require.NoError(t, f.db.QueryRow(t.Context(), `SELECT count(*) FROM job_inputs`).Scan(&parts))
	require.Zero(t, parts, "the input is deleted at the end")

	strict := f.batch(body, "Prefer", "handling=strict")
	_, results = f.ended(strict.body["id"].(string))
	require.Equal(t, []any{400, "UNKNOWN"}, []any{results[3].Status, results[3].Errors[0].Code})
}

func TestJobsOfBatchesAreLimited(t *testing.T) {
	t.Parallel()
	f, _ := setupBatch(t)
	body := creates(numbered(201)...)
	for range job.MaxOpen {
		f.batch(body).is(t, 202, "")
	}
	f.batch(body).is(t, 409, "JOB_LIMIT_REACHED")
	f.token("limited", func(p *access.Principal) { p.Rate = access.Rate{Limit: 20, RefillPerSecond: 0.001, InFlight: 5} })
	f.do(request{method: "POST", path: "/articles/batch", token: "limited", body: body}).is(t, 429, "RATE_LIMIT_EXCEEDED")
}

// A job that ends midway has the results of what it has done, which is what is stored.
func TestUnfinishedBatchSaysWhatIsDone(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(f *kit, id uuid.UUID){
		job.Canceled: func(f *kit, id uuid.UUID) {
			require.NoError(f.t, f.db.RunTx(f.t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
				_, err := job.Cancel(ctx, tx, f.caller(), id)
				return err
			}))
		},
		job.Failed: func(*kit, uuid.UUID) {},
	} {
		f, a := setupBatch(t)
		reached, leave := make(chan struct{}), make(chan struct{})
		first := true
		a.step = func(_ context.Context, sku string) error {
			if sku != "n120" {
				return nil
			}
			if first {
				first = false
				close(reached)
				<-leave
			}
			return apierr.Unavailable(apierr.QueueFull, 1, "busy")
		}
		id := f.batch(creates(numbered(300)...)).body["id"].(string)
		f.work()
		<-reached
		end(f, uuid.MustParse(id))
		close(leave)
		found, results := f.ended(id)
		require.Equal(t, name, found.Status)
		require.NotEmpty(t, results)
		require.EqualValues(t, len(results), found.Processed)
		require.Equal(t, len(results), f.stored())
		require.NotNil(t, found.ExpiresAt)
		if name == job.Failed {
			require.Len(t, results, 120, "all items before the one that cannot be made")
			require.Equal(t, "INTERNAL_ERROR", found.Error.Code)
		}
		var parts int
		require.NoError(t, f.db.QueryRow(t.Context(), `SELECT count(*) FROM job_inputs`).Scan(&parts))
		require.Zero(t, parts)
	}
}

// A batch as a model: the names that are stored, with the results of items that are made one after the other.
type shelf map[string]bool

func (s shelf) apply(i httpapi.BatchItem, body articleFields) string {
	op := i.Op
	if op == "upsert" {
		op = "create"
		if s[i.SKU] {
			op = "update"
		}
	}
	name := body.SKU
	switch {
	case body.Size > 100:
		return "400"
	case op == "update" && !s[i.SKU]:
		return "404"
	case op == "create" && name == "taken":
		return "409"
	case op == "create" && name == "bad":
		return "400"
	case op == "update" && name == "":
		return "200"
	case s[name] && (op == "create" || name != i.SKU):
		return "409"
	case op == "update":
		delete(s, i.SKU)
		s[name] = true
		return "200"
	}
	s[name] = true
	return "201"
}

// drawItems draws items on few names, so that many of them conflict.
func drawItems(t *rapid.T, model shelf) (items []httpapi.BatchItem, want []string) {
	names := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "taken", "bad"})
	fresh := rapid.IntRange(0, 3).Draw(t, "faults")
	for n := range rapid.IntRange(1, 120).Draw(t, "items") {
		body := articleFields{SKU: fmt.Sprint("n", n), Size: 1}
		i := httpapi.BatchItem{Op: "create"}
		if rapid.IntRange(0, 9).Draw(t, "kind") < 3*fresh {
			i.Op = rapid.SampledFrom([]string{"create", "update", "upsert"}).Draw(t, "op")
			body.SKU = names.Draw(t, "name")
			body.Size = rapid.SampledFrom([]int32{1, 1, 1, 101}).Draw(t, "size")
		}
		switch i.Op {
		case "update":
			i.SKU = names.Draw(t, "of")
		case "upsert":
			i.SKU = body.SKU
		}
		i.Body, _ = json.Marshal(body)
		items, want = append(items, i), append(want, model.apply(i, body))
	}
	return items, want
}

func statuses(results []httpapi.BatchResult) (all []string) {
	for _, r := range results {
		all = append(all, fmt.Sprint(r.Status))
	}
	return all
}

// Items in slices have the results, and leave the records, of items that are made one after the other.
func TestSlicesAreAsSingleItems(t *testing.T) {
	t.Parallel()
	f, _ := setupBatch(t)
	_, err := f.db.Exec(t.Context(), `CREATE UNIQUE INDEX things_name_key ON things (company_id, name)`)
	require.NoError(t, err)
	f.work()
	source := f.api.Batches()["articles"]
	rapid.Check(t, func(t *rapid.T) {
		model := shelf{}
		items, want := drawItems(t, model)
		f.company = tenant.NewID()
		f.token("all")
		var results []httpapi.BatchResult
		if rapid.Bool().Draw(t, "as a job") {
			var r job.Record
			require.NoError(t, f.db.RunTx(f.t.Context(), "test", func(ctx context.Context, tx *db.Tx) (err error) {
				r, err = source.Start(ctx, tx, f.caller(), items, false)
				return err
			}))
			_, results = f.ended(r.ID.String())
		} else {
			raw, err := json.Marshal(map[string]any{"items": items})
			require.NoError(t, err)
			got := f.batch(string(raw), keyHeader, uuid.NewString())
			require.Equal(t, 200, got.StatusCode, "%s", got.raw)
			var body httpapi.BatchResults
			require.NoError(t, json.Unmarshal(got.raw, &body))
			results = body.Results
		}
		require.Equal(t, want, statuses(results), "%s", items)
		rows, err := db.Map[string, bool](f.t.Context(), f.db, "select things", `SELECT name, true FROM things WHERE company_id = $1`, f.company)
		require.NoError(t, err)
		require.Equal(t, map[string]bool(model), rows)
	})
}

func TestCheckOfABatchStoresNothing(t *testing.T) {
	t.Parallel()
	f, _ := setupBatch(t)
	source := f.api.Batches()["articles"]
	require.Equal(t, []string{"create", "update", "upsert"}, source.Ops)
	var items []httpapi.BatchItem
	for i, sku := range []string{"a", "taken", "b", "bad", "c"} {
		items = append(items, httpapi.BatchItem{Op: "create", Body: fmt.Appendf(nil, `{"sku":%q,"size":%d}`, sku, i)})
	}
	items = append(items, httpapi.BatchItem{Op: "create", Body: []byte(`{}`)})
	results, err := source.Check(t.Context(), f.caller(), items, 10)
	require.NoError(t, err)
	require.Equal(t, []string{"201", "409", "201", "400", "201", "400"}, statuses(results))
	require.Equal(t, 15, results[5].Index)
	require.Zero(t, f.stored())
	require.NoError(t, source.Admits(f.caller()))
	f.token("reader", func(p *access.Principal) { p.Scopes = access.Scopes{"orders:read"} })
	err = source.Admits(access.Caller{Principal: f.tokens["reader"].(*access.Principal)})
	denied, ok := apierr.As(err)
	require.True(t, ok)
	require.Equal(t, http.StatusForbidden, denied.Status)
}

// Batches that change the same records in opposite orders, on two nodes, make all their changes: deadlocks are tried again.
func TestBatchesOverTheSameRecords(t *testing.T) {
	t.Parallel()
	f, _ := setupBatch(t)
	twin, b := f.twin(), &articles{}
	httpapi.Batch(httpapi.Group{Tag: "Articles", Scope: "orders"}.On(twin.api, twin.db), "/articles/batch", "batchArticles", "Change many",
		httpapi.Writes[articleFields, thing]{Create: b.create, Update: b.update, Find: b.find})
	skus := numbered(60)
	f.batch(creates(skus...)).is(t, 200, "")
	var wg sync.WaitGroup
	made := make([]response, 4)
	for i, node := range []*kit{f, twin, f, twin} {
		order := slices.Clone(skus)
		if i%2 == 1 {
			slices.Reverse(order)
		}
		changes := make([]string, len(order))
		for j, sku := range order {
			changes[j] = fmt.Sprintf(`{"op":"update","sku":%q,"body":{"size":%d}}`, sku, i)
		}
		wg.Go(func() { made[i] = node.batch(items(changes...)) })
	}
	wg.Wait()
	for _, r := range made {
		require.Equal(t, slices.Repeat([]string{"200"}, len(skus)), r.results(t))
	}
	var versions int
	require.NoError(t, f.db.QueryRow(t.Context(), `SELECT sum(version) FROM things WHERE company_id = $1`, f.company).Scan(&versions))
	require.Equal(t, 60*5, versions)
}
