package catalog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/job"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/catalog"
	"github.com/tradegrid/tradegrid/services/platform/jobs"
)

const bulkPrice = "/catalog/products/bulk-price"

type repriceKit struct {
	*apitest.Client
	t      *testing.T
	db     *db.DB
	server *apitest.Server
}

// repricing opens a database of its own, because a worker runs the jobs of all companies.
func repricing(t *testing.T) *repriceKit {
	t.Helper()
	d := dbtest.OpenNew(t)
	s := catalog.New(config(d))
	server := apitest.New(t, d, s.Register, jobs.New(jobs.Config{DB: d}).Register).ServeAdmin(s.RegisterAdmin)
	return &repriceKit{Client: server.Company(), t: t, db: d, server: server}
}

// work runs a worker until the end of the test, or of stop. wrap may change the handler.
func (k *repriceKit) work(d *db.DB, lease time.Duration, wrap ...func(*job.Handler)) (stop func()) {
	k.t.Helper()
	handlers := catalog.New(config(d)).Jobs()
	for _, w := range wrap {
		w(&handlers[0])
	}
	w := job.NewWorker(job.Config{DB: d, Owner: uuid.NewString(), Handlers: handlers, Every: 5 * time.Millisecond, Slice: time.Hour, Lease: lease, Retry: time.Millisecond})
	ctx, cancel := context.WithCancel(context.WithoutCancel(k.t.Context()))
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	stop = sync.OnceFunc(func() { cancel(); require.NoError(k.t, <-done) })
	k.t.Cleanup(stop)
	return stop
}

func (k *repriceKit) product(body string) string {
	k.t.Helper()
	id, ok := k.Do(k.t, "POST", "/catalog/products", body).OK(201)["id"].(string)
	require.True(k.t, ok)
	return id
}

// fill stores n products with the prices 100, 101, …
func (k *repriceKit) fill(n int) {
	k.t.Helper()
	_, err := k.db.Exec(k.t.Context(), `INSERT INTO products (company_id, id, sku, name, name_i18n, description_i18n, price, cost, unit, cost_components, component_ids, is_bundle,
modifier_groups, status, has_stock, search_text, version, ev_pos, created_at, updated_at)
SELECT $1, gen_random_uuid(), 'S-' || g, 'Thing ' || g, '{}', '{}', 99 + g, 0, 'pcs', '[]', '{}', false,
'[]', 'active', false, 'thing', 1, 1, now() - INTERVAL '1 hour', now() - INTERVAL '1 hour' FROM generate_series(1, $2::INT4) AS g`, k.Principal.Company, n)
	require.NoError(k.t, err)
}

func (k *repriceKit) ended(started *apitest.Response) (got map[string]any) {
	k.t.Helper()
	id := started.OK(202)["id"].(string)
	require.Eventually(k.t, func() bool {
		got = k.Do(k.t, "GET", "/jobs/"+id, nil).OK(200)
		return got["status"] == "done" || got["status"] == "failed"
	}, time.Minute, 5*time.Millisecond)
	require.Equal(k.t, "done", got["status"], "%v", got["error"])
	return got
}

// repriced are the events of price changes of the company.
func (k *repriceKit) repriced() (all []catalog.Repricing) {
	k.t.Helper()
	for _, e := range apitest.Events(k.t, k.db, k.Principal.Company) {
		if e.Event == "product.bulk_repriced" {
			require.Equal(k.t, k.Principal.Actor.String(), e.ActorID)
			var r catalog.Repricing
			require.NoError(k.t, json.Unmarshal(e.Data, &r))
			all = append(all, r)
		}
	}
	return all
}

type priced struct{ price, version int64 }

// prices are the prices and versions of all products, by SKU.
func (k *repriceKit) prices() map[string]priced {
	k.t.Helper()
	rows, err := k.db.Query(k.t.Context(), `SELECT sku, price, version FROM products WHERE company_id = $1`, k.Principal.Company)
	require.NoError(k.t, err)
	defer rows.Close()
	all := map[string]priced{}
	for rows.Next() {
		var sku string
		var p priced
		require.NoError(k.t, rows.Scan(&sku, &p.price, &p.version))
		all[sku] = p
	}
	require.NoError(k.t, rows.Err())
	return all
}

// items are the prices of all parts, of which only the last says how many there are.
func (k *repriceKit) items(parts []catalog.Repricing) (all []catalog.RepricedPrice) {
	k.t.Helper()
	for i, p := range parts {
		require.EqualValues(k.t, i+1, p.Part)
		require.Equal(k.t, i == len(parts)-1, p.Parts != nil)
		require.EqualValues(k.t, len(p.Items), p.Count)
		require.LessOrEqual(k.t, len(p.Items), 500)
		require.False(k.t, p.Truncated)
		all = append(all, p.Items...)
	}
	if len(parts) > 0 {
		require.EqualValues(k.t, len(parts), *parts[len(parts)-1].Parts)
	}
	return all
}

// raised checks that each of n products of [repriceKit.fill] has 10 % more, stored once, and that events say so.
func (k *repriceKit) raised(n int) {
	k.t.Helper()
	stored := k.prices()
	require.Len(k.t, stored, n)
	for i := range n {
		sku, before := fmt.Sprintf("S-%d", i+1), int64(100+i)
		require.Equal(k.t, priced{(before*110 + 50) / 100, 2}, stored[sku], sku)
	}
	events := k.repriced()
	require.Len(k.t, events, (n+499)/500)
	items := k.items(events)
	require.Len(k.t, items, n)
	seen := map[string]bool{}
	for _, item := range items {
		require.False(k.t, seen[item.SKU])
		seen[item.SKU] = true
		require.EqualValues(k.t, stored[item.SKU].price, item.NewPrice)
		require.EqualValues(k.t, (item.OldPrice*110+50)/100, item.NewPrice)
	}
}

const tenPercent = `{"filter":{},"rule":{"type":"percent","value":10}}`

func TestBulkPrice(t *testing.T) {
	t.Parallel()
	k := repricing(t)
	k.work(k.db, 30*time.Second)
	id := k.product(`{"sku":"A","name":"A","price":1990,"source":"erp","externalId":"4711"}`)
	k.product(`{"sku":"FREE","name":"free","price":0}`)
	k.product(`{"sku":"H","name":"H","price":1000,"status":"hidden"}`)
	other := &repriceKit{Client: k.server.Company(), t: t, db: k.db}
	other.product(`{"sku":"A","name":"theirs","price":1990}`)
	before := k.Do(t, "GET", "/catalog/products/"+id, nil).OK(200)
	position := func() (pos int64) {
		require.NoError(t, k.db.QueryRow(t.Context(), `SELECT ev_pos FROM products WHERE company_id = $1 AND id = $2`, k.Principal.Company, id).Scan(&pos))
		return pos
	}
	first := position()
	started := k.Do(t, "POST", bulkPrice, `{"filter":{},"rule":{"type":"percent","value":12.5,"roundTo":50}}`)
	require.Empty(t, started.Header.Get("Location"))
	require.Equal(t, "product.bulk_price", started.OK(202)["type"])
	require.Equal(t, "pending", started.OK(202)["status"])
	got := k.ended(started)
	require.EqualValues(t, 2, got["processed"])
	require.EqualValues(t, 100, got["progress"])
	require.Nil(t, got["resultUrl"])
	require.Equal(t, map[string]priced{"A": {2250, 2}, "FREE": {0, 1}, "H": {1000, 1}}, k.prices(), "2238.75, rounded; what stays the same is not touched")
	require.Equal(t, map[string]priced{"A": {1990, 1}}, other.prices())

	after := k.Do(t, "GET", "/catalog/products/"+id, nil).OK(200)
	require.Greater(t, position(), first)
	require.Greater(t, after["updatedAt"], before["updatedAt"], "incremental reads find it")
	before["price"], before["version"], before["updatedAt"] = after["price"], after["version"], after["updatedAt"]
	require.Equal(t, before, after, "nothing else changes")

	require.Equal(t, []string{"product.created", "product.created", "product.created", "product.bulk_repriced"}, raisedBy(k))
	event := k.repriced()[0]
	require.Equal(t, catalog.Repricing{
		JobID: uuid.MustParse(got["id"].(string)), Part: 1, Parts: new(int64(1)), Count: 1, Rule: catalog.RepricedBy{Type: "percent", Value: 12_500},
		Items: []catalog.RepricedPrice{{ID: uuid.MustParse(id), Source: new("erp"), ExternalID: new("4711"), SKU: "A", OldPrice: 1990, NewPrice: 2250}},
	}, event)
	require.Empty(t, other.repriced())

	// The product goes on as usual: versions and positions of its events grow.
	k.Do(t, "PATCH", "/catalog/products/"+id, `{"price":2300}`, apitest.Header{"If-Match", `"1"`}).Fault(412, "PRECONDITION_FAILED")
	k.Do(t, "PATCH", "/catalog/products/"+id, `{"price":2300}`, apitest.Header{"If-Match", `"2"`}).OK(200)
	names := raisedBy(k)
	require.Equal(t, "product.updated", names[len(names)-1])
}

// raisedBy are the names of all events of the company.
func raisedBy(k *repriceKit) (names []string) {
	k.t.Helper()
	for _, e := range apitest.Events(k.t, k.db, k.Principal.Company) {
		names = append(names, e.Event)
	}
	return names
}

// A rule that changes no price raises nothing, nor does one that selects nothing.
func TestBulkPriceWithoutEffect(t *testing.T) {
	t.Parallel()
	k := repricing(t)
	k.work(k.db, 30*time.Second)
	k.product(`{"sku":"A","name":"A","price":1000}`)
	for _, body := range []string{
		`{"filter":{},"rule":{"type":"set","value":1000}}`, `{"filter":{},"rule":{"type":"percent","value":0,"roundTo":100}}`,
		`{"filter":{"brand":"none"},"rule":{"type":"amount","value":-100000}}`,
	} {
		k.ended(k.Do(t, "POST", bulkPrice, body))
	}
	require.Equal(t, map[string]priced{"A": {1000, 1}}, k.prices())
	require.Equal(t, []string{"product.created"}, raisedBy(k))
}

// A slice in which few prices change is not taken for the last one.
func TestBulkPriceGoesOnBehindProductsThatKeepTheirPrices(t *testing.T) {
	t.Parallel()
	k := repricing(t)
	k.work(k.db, 30*time.Second)
	k.fill(1050)
	got := k.ended(k.Do(t, "POST", bulkPrice, `{"filter":{},"rule":{"type":"percent","value":0,"roundTo":10}}`))
	require.EqualValues(t, 1050, got["processed"])
	for sku, p := range k.prices() {
		require.Zero(t, p.price%10, sku)
	}
	events := k.repriced()
	require.Len(t, events, 3)
	require.Len(t, k.items(events), 945)
}

// Who waits for the last part gets it even if the last products keep their prices.
func TestBulkPriceEndsItsPartsWithoutProducts(t *testing.T) {
	t.Parallel()
	k := repricing(t)
	k.fill(501)
	_, err := k.db.Exec(t.Context(), `UPDATE products SET price = 7 WHERE company_id = $1 AND id = (SELECT max(id::TEXT) FROM products WHERE company_id = $1)::UUID`, k.Principal.Company)
	require.NoError(t, err)
	k.work(k.db, 30*time.Second)
	k.ended(k.Do(t, "POST", bulkPrice, `{"filter":{},"rule":{"type":"set","value":7}}`))
	events := k.repriced()
	require.Len(t, events, 2)
	require.Len(t, k.items(events), 500)
	require.Empty(t, events[1].Items)
}

// Long texts make more parts rather than an event that is too large for its data.
func TestBulkPricePartsFitEvents(t *testing.T) {
	t.Parallel()
	k := repricing(t)
	k.fill(300)
	_, err := k.db.Exec(t.Context(), `UPDATE products SET source = repeat('€', 255), external_id = repeat('€', 245) || sku WHERE company_id = $1`, k.Principal.Company)
	require.NoError(t, err)
	k.work(k.db, 30*time.Second)
	k.ended(k.Do(t, "POST", bulkPrice, tenPercent))
	events := k.repriced()
	require.Equal(t, 2, len(events))
	require.Equal(t, 300, len(k.items(events)))
}

func TestBulkPriceFilters(t *testing.T) {
	t.Parallel()
	k := repricing(t)
	k.work(k.db, 30*time.Second)
	category := func(body string) string { return k.Do(t, "POST", "/catalog/categories", body).OK(201)["id"].(string) }
	top := category(`{"name":"top"}`)
	below := category(`{"name":"below","parentId":"` + top + `"}`)
	beside := category(`{"name":"beside"}`)
	ids := map[string]string{}
	add := func(sku, more string) {
		ids[sku] = k.product(`{"sku":"` + sku + `","name":"` + sku + `","price":1` + more + `}`)
	}
	add("T", `,"categoryId":"`+top+`","brand":"B"`)
	add("U", `,"categoryId":"`+below+`"`)
	add("S", `,"categoryId":"`+beside+`","brand":"B"`)
	add("N", `,"brand":"b"`)
	add("H", `,"categoryId":"`+top+`","brand":"B","status":"hidden"`)
	price := int64(1)
	for filter, want := range map[string][]string{
		`{}`:                             {"N", "S", "T", "U"},
		`{"categoryId":"` + top + `"}`:   {"T", "U"},
		`{"categoryId":"` + below + `"}`: {"U"},
		`{"categoryId":"null"}`:          {"N"},
		`{"brand":"B"}`:                  {"S", "T"},
		`{"brand":"b"}`:                  {"N"},
		`{"categoryId":"` + top + `","brand":"B"}`:                                                      {"T"},
		`{"ids":["` + ids["S"] + `","` + ids["U"] + `","` + ids["H"] + `","` + uuid.NewString() + `"]}`: {"S", "U"},
		`{"brand":"B","ids":["` + ids["S"] + `","` + ids["U"] + `"]}`:                                   {"S"},
		`{"categoryId":"` + beside + `","brand":"B","ids":["` + ids["S"] + `","` + ids["T"] + `"]}`:     {"S"},
		`{"categoryId":"null","ids":["` + ids["S"] + `"]}`:                                              nil,
	} {
		price++
		got := k.ended(k.Do(t, "POST", bulkPrice, fmt.Sprintf(`{"filter":%s,"rule":{"type":"set","value":%d}}`, filter, price)))
		var changed []string
		for sku, p := range k.prices() {
			if p.price == price {
				changed = append(changed, sku)
			}
		}
		slices.Sort(changed)
		require.Equal(t, want, changed, filter)
		require.EqualValues(t, len(want), got["processed"], filter)
	}
}

func TestBulkPriceFaults(t *testing.T) {
	t.Parallel()
	k := repricing(t)
	k.product(`{"name":"cheap","price":100,"brand":"C"}`)
	k.product(`{"name":"dear","price":9007199254740991,"brand":"D"}`)
	for body, want := range map[string]map[string]string{
		`{}`:                          {"filter": "REQUIRED", "rule": "REQUIRED"},
		`{"filter":null,"rule":null}`: {"filter": "TYPE", "rule": "TYPE"},
		`{"filter":{},"rule":{}}`:     {"rule.type": "REQUIRED", "rule.value": "REQUIRED"},
		`{"filter":{"categoryId":"","brand":" ","ids":[]},"rule":{"type":"percent","value":1}}`:      {"filter.categoryId": "FORMAT", "filter.brand": "LENGTH", "filter.ids": "MIN"},
		`{"filter":{"categoryId":null,"brand":null,"ids":null},"rule":{"type":"percent","value":1}}`: {"filter.categoryId": "TYPE", "filter.brand": "TYPE", "filter.ids": "TYPE"},
		`{"filter":{"categoryId":"x"},"rule":{"type":"set","value":1}}`:                              {"filter.categoryId": "FORMAT"},
		`{"filter":{"ids":["x"]},"rule":{"type":"set","value":1}}`:                                   {"filter.ids[0]": "FORMAT"},
		`{"filter":{},"rule":{"type":"double","value":"1"}}`:                                         {"rule.type": "ENUM", "rule.value": "TYPE"},
		`{"filter":{},"rule":{"type":"percent","value":1,"roundTo":0}}`:                              {"rule.roundTo": "MIN"},
		`{"filter":{},"rule":{"type":"percent","value":1,"roundTo":1000000001}}`:                     {"rule.roundTo": "MAX"},
		`{"filter":{},"rule":{"type":"percent","value":1.005}}`:                                      {"rule.value": "STEP"},
		`{"filter":{},"rule":{"type":"percent","value":-100.01}}`:                                    {"rule.value": "MIN"},
		`{"filter":{},"rule":{"type":"percent","value":1000.01}}`:                                    {"rule.value": "MAX"},
		`{"filter":{},"rule":{"type":"amount","value":1.5}}`:                                         {"rule.value": "STEP"},
		`{"filter":{},"rule":{"type":"set","value":0.5}}`:                                            {"rule.value": "STEP"},
		`{"filter":{},"rule":{"type":"set","value":-1}}`:                                             {"rule.value": "MIN"},
		`{"filter":{},"rule":{"type":"amount","value":-101}}`:                                        {"rule.value": "MIN"},
		`{"filter":{"brand":"C"},"rule":{"type":"amount","value":-101}}`:                             {"rule.value": "MIN"},
		`{"filter":{},"rule":{"type":"amount","value":1}}`:                                           {"rule.value": "MAX"},
		`{"filter":{"brand":"D"},"rule":{"type":"percent","value":0.01}}`:                            {"rule.value": "MAX"},
		`{"filter":{"brand":"D"},"rule":{"type":"percent","value":0,"roundTo":1000}}`:                {"rule.value": "MAX"},
	} {
		require.Equal(t, want, k.Do(t, "POST", bulkPrice, body).Fields(), body)
	}
	unknown := uuid.NewString()
	fault := k.Do(t, "POST", bulkPrice, `{"filter":{"categoryId":"`+unknown+`"},"rule":{"type":"set","value":1}}`).Fault(404, "CATEGORY_NOT_FOUND")
	require.Equal(t, map[string]any{"field": "filter.categoryId", "id": unknown}, fault["meta"])
	theirs := k.server.Company().Do(t, "POST", "/catalog/categories", `{"name":"theirs"}`).OK(201)["id"].(string)
	k.Do(t, "POST", bulkPrice, `{"filter":{"categoryId":"`+theirs+`"},"rule":{"type":"set","value":1}}`).Fault(404, "CATEGORY_NOT_FOUND")
	reader := k.server.Caller(k.Principal.Company, func(p *access.Principal) { p.Scopes = apitest.Scopes("catalog:read") })
	reader.Do(t, "POST", bulkPrice, tenPercent).Fault(403, "AUTH_API_SCOPE_INSUFFICIENT")

	// A product that only the reader of the catalog may hear of.
	id := k.Do(t, "POST", bulkPrice, `{"filter":{"brand":"C"},"rule":{"type":"set","value":1}}`).OK(202)["id"].(string)
	reader.Do(t, "GET", "/jobs/"+id, nil).OK(200)
	k.server.Caller(k.Principal.Company, func(p *access.Principal) { p.Scopes = apitest.Scopes("orders:read") }).Do(t, "GET", "/jobs/"+id, nil).Fault(404, "JOB_NOT_FOUND")
}

// A repeated request starts no second job.
func TestBulkPriceIsReplayed(t *testing.T) {
	t.Parallel()
	k := repricing(t)
	k.fill(3)
	key := apitest.Header{"X-Idempotency-Key", uuid.NewString()}
	first := k.Do(t, "POST", bulkPrice, tenPercent, key)
	again := k.Do(t, "POST", bulkPrice, tenPercent, key)
	require.Equal(t, "true", again.Header.Get("X-Idempotent-Replayed"))
	require.Equal(t, first.OK(202), again.OK(202))
	k.Do(t, "POST", bulkPrice, `{"filter":{},"rule":{"type":"percent","value":11}}`, key).Fault(422, "IDEMPOTENCY_KEY_REUSED")
	k.work(k.db, 30*time.Second)
	k.ended(first)
	require.Equal(t, first.OK(202), k.Do(t, "POST", bulkPrice, tenPercent, key).OK(202))
	k.raised(3)
}

// Prices of variants and of price lists are their own.
func TestBulkPriceLeavesVariantsAlone(t *testing.T) {
	t.Parallel()
	k := repricing(t)
	k.work(k.db, 30*time.Second)
	id := k.product(`{"sku":"A","name":"A","price":1000}`)
	k.Admin().Do(t, "POST", "/catalog/products/"+id+"/variants", `{"sku":"A-own","price":500}`).OK(201)
	k.Admin().Do(t, "POST", "/catalog/products/"+id+"/variants", `{"sku":"A-same"}`).OK(201)
	k.ended(k.Do(t, "POST", bulkPrice, tenPercent))
	var variants []struct {
		SKU            string
		EffectivePrice int
	}
	k.Do(t, "GET", "/catalog/products/"+id+"/variants", nil).Decode(&variants)
	effective := map[string]int{}
	for _, v := range variants {
		effective[v.SKU] = v.EffectivePrice
	}
	require.Equal(t, map[string]int{"A-own": 500, "A-same": 1100}, effective)
}

// A worker that dies between two slices, or in the middle of one, hands the job over; no product gets its price twice, none is
// left out, and each is told once.
func TestBulkPriceSurvivesItsWorker(t *testing.T) {
	t.Parallel()
	for name, inStore := range map[string]bool{"between slices": false, "before the commit of a slice": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := repricing(t)
			k.fill(1300)
			dead, buried := make(chan struct{}), make(chan struct{})
			var died atomic.Bool
			die := func() {
				if died.CompareAndSwap(false, true) {
					close(dead)
					select {
					case <-buried:
					case <-t.Context().Done():
					}
				}
			}
			stop := k.work(k.db, 2*time.Second, func(h *job.Handler) {
				step := h.Step
				h.Step = func(ctx context.Context, task job.Task) (job.Store, error) {
					if task.Steps == 2 && !inStore {
						die()
					}
					store, err := step(ctx, task)
					if task.Steps != 2 || err != nil {
						return store, err
					}
					// What a dead worker had prepared must not be stored later.
					return func(ctx context.Context, tx *db.Tx) (job.Progress, error) {
						if inStore {
							die()
						}
						return store(ctx, tx)
					}, nil
				}
			})
			started := k.Do(t, "POST", bulkPrice, tenPercent)
			<-dead
			k.work(k.db, 2*time.Second)
			got := k.ended(started)
			close(buried)
			stop()
			require.EqualValues(t, 1300, got["processed"])
			k.raised(1300)
		})
	}
}

// With several workers and transactions that fail at random, each product is repriced once.
func TestBulkPriceUnderFaults(t *testing.T) {
	t.Parallel()
	k := repricing(t)
	k.fill(1600)
	faulty, err := db.Open(t.Context(), db.Config{URL: k.db.Pool().Config().ConnString(), MaxConns: 8, Inject: db.Chaos(0.15, 9)})
	require.NoError(t, err)
	t.Cleanup(faulty.Close)
	for range 3 {
		k.work(faulty, time.Second)
	}
	k.ended(k.Do(t, "POST", bulkPrice, tenPercent))
	k.raised(1600)
}

// Changes made by requests while the job runs are not lost, and the rule starts from the price that it finds.
func TestBulkPriceBesideOtherChanges(t *testing.T) {
	t.Parallel()
	k := repricing(t)
	const n = 600
	k.fill(n)
	var page struct {
		Items []struct {
			ID, SKU string
			Price   int64
		}
	}
	k.Do(t, "GET", "/catalog/products?pageSize=100&sort=sku", nil).Decode(&page)
	k.work(k.db, 30*time.Second)
	started := k.Do(t, "POST", bulkPrice, tenPercent)
	var wg sync.WaitGroup
	for part := range slices.Chunk(page.Items, 25) {
		wg.Go(func() {
			for i, p := range part {
				body := `{"name":"renamed"}`
				if i%2 == 0 {
					body = `{"name":"renamed","price":5000}`
				}
				k.Do(t, "PATCH", "/catalog/products/"+p.ID, body).OK(200)
			}
		})
	}
	wg.Wait()
	k.ended(started)
	stored := k.prices()
	events := k.repriced()
	require.Len(t, k.items(events), n)
	changed := map[string]bool{}
	for part := range slices.Chunk(page.Items, 25) {
		for i, p := range part {
			changed[p.SKU] = true
			require.Equal(t, "renamed", k.Do(t, "GET", "/catalog/products/"+p.ID, nil).OK(200)["name"])
			require.EqualValues(t, 3, stored[p.SKU].version)
			if i%2 == 0 {
				require.Contains(t, []int64{5000, 5500}, stored[p.SKU].price)
			} else {
				require.Equal(t, (p.Price*110+50)/100, stored[p.SKU].price)
			}
		}
	}
	for sku := range maps.Keys(stored) {
		if !changed[sku] {
			require.EqualValues(t, 2, stored[sku].version)
		}
	}
}

// What is hidden, moved or created while the job waits is looked at when its turn comes; what is new is left out.
func TestBulkPriceLooksAtProductsInTheirTurn(t *testing.T) {
	t.Parallel()
	k := repricing(t)
	hidden, cheap := k.product(`{"sku":"H","name":"H","price":1000}`), k.product(`{"sku":"C","name":"C","price":1000}`)
	k.product(`{"sku":"K","name":"K","price":1000}`)
	started := k.Do(t, "POST", bulkPrice, `{"filter":{},"rule":{"type":"amount","value":-500}}`)
	k.Do(t, "DELETE", "/catalog/products/"+hidden, nil).OK(200)
	k.Do(t, "PATCH", "/catalog/products/"+cheap, `{"price":499}`).OK(200)
	k.product(`{"sku":"NEW","name":"new","price":1000}`)
	k.work(k.db, 30*time.Second)
	k.ended(started)
	require.Equal(t, map[string]priced{"H": {1000, 2}, "C": {499, 2}, "K": {500, 2}, "NEW": {1000, 1}}, k.prices())
	require.EqualValues(t, 1, k.repriced()[0].Count)
}

// A company that may not start another job has nothing counted.
func TestRepriceAboveTheLimitOfJobsCountsNothing(t *testing.T) {
	t.Parallel()
	k := repricing(t)
	k.fill(1)
	for range job.MaxOpen {
		k.Do(t, "POST", "/catalog/products/bulk-price", `{"filter":{},"rule":{"type":"percent","value":1}}`).OK(202)
	}
	const negative = `{"filter":{},"rule":{"type":"amount","value":-1000}}` // which only the count finds
	k.Do(t, "POST", "/catalog/products/bulk-price", negative).Fault(409, "JOB_LIMIT_REACHED")
	other := k.server.Company()
	other.Do(t, "POST", "/catalog/products/bulk-price", negative).OK(202)
}
