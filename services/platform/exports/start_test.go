package exports_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/job"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/suppliers"
	"github.com/tradegrid/tradegrid/services/platform/exports"
	"github.com/tradegrid/tradegrid/services/platform/jobs"
)

var all = list.Of[suppliers.Supplier, suppliers.Filter]("suppliers")

type readList = func(context.Context, access.Caller, suppliers.Filter) (*list.Page[suppliers.Supplier], error)

// setupList serves a list /mills that is read as the test says, and exports.
func setupList(t *testing.T, limits list.NodeConfig, read readList) *kit {
	t.Helper()
	d := dbtest.OpenNew(t)
	e := exports.New(exports.Config{DB: d})
	server := apitest.NewWith(t, d, func(cfg *httpapi.Config) { cfg.Lists = list.NewNode(limits) }, func(api *httpapi.API) {
		httpapi.List(httpapi.Group{Tag: "Test"}.On(api, d), "/mills", "listMills", "List mills", read)
	}, e.Register, jobs.New(jobs.Config{DB: d, Root: root}).Register)
	k := &kit{t: t, db: d, server: server, Client: server.Company()}
	k.run = func() func() { return apitest.Work(t, d, e.Jobs()) }
	return k
}

// A company that may not start another job reads nothing of the list.
func TestExportAboveTheLimitOfJobsReadsNothing(t *testing.T) {
	t.Parallel()
	var reads atomic.Int64
	k := setupList(t, list.NodeConfig{}, func(context.Context, access.Caller, suppliers.Filter) (*list.Page[suppliers.Supplier], error) {
		reads.Add(1)
		return &list.Page[suppliers.Supplier]{}, nil
	})
	for range job.MaxOpen {
		k.start(k.Client, `{"resource":"mills"}`)
	}
	before := reads.Load()
	require.GreaterOrEqual(t, before, int64(job.MaxOpen)) // a transaction that is repeated reads again
	for range 5 {
		k.Do(t, "POST", "/exports", `{"resource":"mills"}`).Fault(409, "JOB_LIMIT_REACHED")
	}
	require.Equal(t, before, reads.Load())
	k.start(k.server.Company(), `{"resource":"mills"}`)
}

// Exports that a company starts at the same time read the list one after the other, and keep no other company waiting.
func TestExportsOfACompanyStartOneByOne(t *testing.T) {
	t.Parallel()
	const requests = 8
	var loud atomic.Value
	var running atomic.Int64
	var overlapped atomic.Bool
	entered, released := make(chan struct{}), make(chan struct{})
	enter, release := sync.OnceFunc(func() { close(entered) }), sync.OnceFunc(func() { close(released) })
	k := setupList(t, list.NodeConfig{}, func(_ context.Context, by access.Caller, _ suppliers.Filter) (*list.Page[suppliers.Supplier], error) {
		if by.Company == loud.Load() {
			if running.Add(1) > 1 {
				overlapped.Store(true)
				release() // the requests of the other company would wait for ever
			}
			defer running.Add(-1)
			enter()
			<-released
		}
		return &list.Page[suppliers.Supplier]{}, nil
	})
	loud.Store(k.Principal.Company)
	var started sync.WaitGroup
	for range requests {
		started.Go(func() { k.Do(t, "POST", "/exports", `{"resource":"mills"}`).OK(202) })
	}
	<-entered
	other := k.server.Company()
	for range requests {
		k.start(other, `{"resource":"mills"}`)
	}
	release()
	started.Wait()
	require.False(t, overlapped.Load())
}

// Where counting takes longer than lists may, the export starts without a total.
func TestExportOfAListThatIsExpensiveToCount(t *testing.T) {
	t.Parallel()
	var k *kit
	k = setupList(t, list.NodeConfig{Limit: 50 * time.Millisecond}, func(ctx context.Context, by access.Caller, f suppliers.Filter) (*list.Page[suppliers.Supplier], error) {
		q, err := all.Query(by.Company, f)
		if err != nil {
			return nil, err
		}
		q.Where("pg_sleep(0.3) IS NOT NULL")
		return all.Fetch(ctx, k.db, q)
	})
	k.suppliers(k.Client, 2)
	k.Do(t, "GET", "/mills", nil).Fault(503, list.TooExpensive)
	id := k.start(k.Client, `{"resource":"mills"}`)
	var total int64
	require.NoError(t, k.db.QueryRow(t.Context(), `SELECT total FROM jobs WHERE company_id = $1 AND id = $2`, k.Principal.Company, id).Scan(&total))
	require.Zero(t, total)
	k.run()
	got := k.ended(k.Client, id)
	require.Equal(t, "done", got["status"])
	require.Equal(t, 2.0, got["processed"])
	require.Equal(t, 100.0, got["progress"])
}
