package httpapi_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/api/ratelimit"
	"github.com/tradegrid/tradegrid/pkg/kit/failpoint"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// instance adds another API process on the kit's database, with a pool of its own.
func (f *kit) instance(edit func(*db.Config)) *kit {
	f.t.Helper()
	cfg := db.Config{URL: f.db.Pool().Config().ConnString(), MaxConns: 30}
	edit(&cfg)
	d, err := db.Open(f.t.Context(), cfg)
	require.NoError(f.t, err)
	f.t.Cleanup(d.Close)
	n := &kit{things: &things{db: d, locked: f.locked}, t: f.t, company: f.company, tokens: f.tokens}
	n.api = httpapi.New(httpapi.Config{DB: d, Auth: n, Limiter: ratelimit.New(ratelimit.Config{}), Release: "7.1"})
	n.register(n.api)
	return n
}

// As many changes of one record at a time as a company may send all succeed, each as a version of its own, whichever
// process takes them. The rules of both databases are injected: CockroachDB also refuses statements and commits that
// PostgreSQL would take, and loses the answers of commits.
func TestChangesOfOneRecordAllSucceed(t *testing.T) {
	t.Parallel()
	injected := db.Chaos(0.2, 9)
	for name, tc := range map[string]struct {
		parallel int
		inject   failpoint.Injector
		locked   func(context.Context, *db.Tx) error // what else each change does with the record locked
	}{
		"100":                      {parallel: 100},
		"400":                      {parallel: 400}, // the highest cap of a plan
		"100 reading other rows":   {parallel: 100, locked: readOthers},
		"100 under injected 40001": {parallel: 100, inject: injected},
		"100 reading other rows, under injected 40001": {parallel: 100, inject: injected, locked: readOthers},
	} {
		t.Run(name, func(t *testing.T) { // one after the other: each takes many connections
			f := setupAlone(t)
			f.locked = tc.locked
			var nodes []*kit
			for range 2 {
				nodes = append(nodes, f.instance(func(cfg *db.Config) { cfg.Inject = tc.inject }))
			}
			created := f.post(`{"name":"first"}`)
			created.is(t, 201, "")
			statuses, versions := patchAtOnce(nodes, created.body["id"].(string), tc.parallel)
			require.Equal(t, map[int]int{200: tc.parallel}, statuses)
			want := make([]int, tc.parallel)
			for i := range want {
				want[i] = i + 2
			}
			slices.Sort(versions)
			require.Equal(t, want, versions)
		})
	}
}

// readOthers reads what other changes write, as a check of references or of a limit does.
func readOthers(ctx context.Context, tx *db.Tx) error {
	var n int
	return tx.QueryRow(ctx, `SELECT count(*) FROM things`).Scan(&n)
}

// patchAtOnce changes one record from all nodes at once. Each change has an idempotency key, as those of careful clients.
func patchAtOnce(nodes []*kit, id string, parallel int) (statuses map[int]int, versions []int) {
	statuses = map[int]int{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := range parallel {
		wg.Go(func() {
			r := nodes[i%len(nodes)].do(request{
				method: "PATCH", path: "/things/" + id, body: fmt.Sprintf(`{"name":"name %d"}`, i), headers: pairs([]string{keyHeader, uuid.NewString()}),
			})
			mu.Lock()
			defer mu.Unlock()
			statuses[r.StatusCode]++
			if version, ok := r.body["version"].(float64); ok {
				versions = append(versions, int(version))
			}
		})
	}
	wg.Wait()
	return statuses, versions
}
