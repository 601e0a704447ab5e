package job_test

import (
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/job"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

// count is a job that counts to a number: each step adds a row to a table and a line to the result.
var count = job.Type{Name: "count", Resources: []string{"orders"}}

type countState struct {
	Next int64 `json:"next"`
}

// kit has a database of its own, because workers run the jobs of all companies.
type kit struct {
	t  *testing.T
	db *db.DB

	mu     sync.Mutex
	before func(t job.Task) error // runs at the start of each step
	order  []tenant.ID            // of the steps
}

func setup(t *testing.T) *kit {
	t.Helper()
	d := dbtest.OpenNew(t)
	_, err := d.Exec(t.Context(), `CREATE TABLE counted (company_id UUID NOT NULL, job UUID NOT NULL, n BIGINT NOT NULL)`)
	require.NoError(t, err)
	return &kit{t: t, db: d}
}

func (k *kit) step(ctx context.Context, t job.Task) (job.Store, error) {
	if tenant.Of(ctx) != t.Company {
		return nil, errors.New("a step must take the connections of its company's share")
	}
	k.mu.Lock()
	k.order = append(k.order, t.Company)
	before := k.before
	k.mu.Unlock()
	if before != nil {
		if err := before(t); err != nil {
			return nil, err
		}
	}
	var last int64
	var s countState
	if err := errors.Join(t.Input(&last), t.State(&s)); err != nil {
		return nil, err
	}
	return func(_ context.Context, tx *db.Tx) (job.Progress, error) {
		s := countState{Next: s.Next + 1}
		tx.Queue(db.Table("counted").Insert(`(company_id, job, n) VALUES ($1, $2, $3)`), t.Company, t.ID, s.Next)
		return job.Progress{
			State: s, Done: s.Next, Total: last, End: s.Next == last, Media: "text/plain", Result: []byte(strconv.FormatInt(s.Next, 10) + "\n"),
		}, nil
	}, nil
}

func (k *kit) worker(edit ...func(*job.Config)) *job.Worker {
	cfg := job.Config{
		DB: k.db, Owner: uuid.NewString(), Handlers: []job.Handler{{Type: count, Step: k.step}}, Every: 5 * time.Millisecond, Slice: time.Nanosecond,
		Retry: time.Millisecond, Parallel: 1,
	}
	for _, e := range edit {
		e(&cfg)
	}
	return job.NewWorker(cfg)
}

// run runs a worker until the end of the test, or of stop.
func (k *kit) run(w *job.Worker) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(k.t.Context()))
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	stop = sync.OnceFunc(func() { cancel(); require.NoError(k.t, <-done) })
	k.t.Cleanup(stop)
	return stop
}

// wait waits for a channel, or the end of a failed test.
func (k *kit) wait(c <-chan struct{}) {
	select {
	case <-c:
	case <-k.t.Context().Done():
	}
}

func caller(company tenant.ID, scopes ...string) access.Caller {
	return access.Caller{Principal: &access.Principal{Company: company, Actor: uuid.New(), Scopes: scopes}}
}

func (k *kit) start(by access.Caller, to int64) job.Record {
	k.t.Helper()
	r, err := k.try(by, count, to)
	require.NoError(k.t, err)
	return r
}

func (k *kit) try(by access.Caller, t job.Type, to int64) (r job.Record, err error) {
	err = k.db.RunTx(k.t.Context(), "test", func(ctx context.Context, tx *db.Tx) (err error) {
		admission, err := job.Admit(ctx, tx, k.db, by.Company)
		if err != nil {
			return err
		}
		r, err = job.Start(ctx, tx, by, admission, t, job.Options{Input: to, Total: to})
		return err
	})
	return r, err
}

func (k *kit) get(by access.Caller, id uuid.UUID) job.Found {
	k.t.Helper()
	f, err := job.Get(k.t.Context(), k.db, by, id)
	require.NoError(k.t, err)
	return f
}

func (k *kit) ended(by access.Caller, id uuid.UUID) (f job.Found) {
	k.t.Helper()
	require.Eventually(k.t, func() bool { f = k.get(by, id); return f.Status == job.Done || f.Status == job.Failed }, time.Minute, 5*time.Millisecond)
	return f
}

// exact checks that each step of a job took effect once, and its result is complete.
func (k *kit) exact(f job.Found, to int64) {
	k.t.Helper()
	require.Equal(k.t, job.Done, f.Status, "%+v", f.Error)
	var rows, distinct int64
	require.NoError(k.t, k.db.QueryRow(k.t.Context(), `SELECT count(*), count(DISTINCT n) FROM counted WHERE job = $1`, f.ID).Scan(&rows, &distinct))
	require.Equal(k.t, []int64{to, to}, []int64{rows, distinct})
	raw, err := io.ReadAll(job.Result(k.t.Context(), k.db, f))
	require.NoError(k.t, err)
	var want strings.Builder
	for n := range to {
		want.WriteString(strconv.FormatInt(n+1, 10) + "\n")
	}
	require.Equal(k.t, want.String(), string(raw))
	require.Equal(k.t, int64(len(raw)), f.Bytes)
	require.Equal(k.t, 100, f.Progress)
	require.Equal(k.t, to, f.Processed)
}

func TestJobRunsInSteps(t *testing.T) {
	t.Parallel()
	k := setup(t)
	by := caller(tenant.NewID(), "orders:read")
	gate := make(chan struct{}, 100)
	k.before = func(job.Task) error { k.wait(gate); return nil }
	r := k.start(by, 20)
	require.Equal(t, job.Pending, r.Status)
	require.Equal(t, 0, r.Progress)
	k.run(k.worker())
	for range 5 {
		gate <- struct{}{}
	}
	require.Eventually(t, func() bool { return k.get(by, r.ID).Processed == 5 }, time.Minute, time.Millisecond)
	f := k.get(by, r.ID)
	require.Equal(t, job.Processing, f.Status)
	require.Equal(t, 25, f.Progress)
	require.Empty(t, f.Media)
	require.Nil(t, f.CompletedAt)
	close(gate)
	f = k.ended(by, r.ID)
	k.exact(f, 20)
	require.NotNil(t, f.ExpiresAt)
	require.Equal(t, f.CompletedAt.Std().Add(24*time.Hour), f.ExpiresAt.Std())
}

// Only those who may read what a job works on see it.
func TestJobsAreHidden(t *testing.T) {
	t.Parallel()
	k := setup(t)
	by := caller(tenant.NewID(), "orders:read")
	r := k.start(by, 1)
	for name, other := range map[string]access.Caller{
		"another company": caller(tenant.NewID(), "*:write"), "another scope": caller(by.Company, "catalog:write"), "no scope": caller(by.Company),
	} {
		_, err := job.Get(t.Context(), k.db, other, r.ID)
		require.True(t, apierr.Is(err, "JOB_NOT_FOUND"), name)
	}
	_, err := job.Get(t.Context(), k.db, by, uuid.New())
	require.True(t, apierr.Is(err, "JOB_NOT_FOUND"))
}

func TestRuleFailsTheJobAndOtherErrorsRepeatTheStep(t *testing.T) {
	t.Parallel()
	k := setup(t)
	by := caller(tenant.NewID(), "orders:read")
	var failing atomic.Int64
	k.before = func(t job.Task) error {
		switch {
		case t.Steps == 2 && failing.Add(1) <= 3:
			return errors.New("the database is away")
		case t.Steps == 2 && failing.Load() == 4:
			panic("a mistake")
		}
		return nil
	}
	k.run(k.worker())
	k.exact(k.ended(by, k.start(by, 5).ID), 5)
	require.EqualValues(t, 5, failing.Load())

	k.mu.Lock()
	k.before = func(job.Task) error { return apierr.StateConflict("TOO_LATE", "too late").With("n", 1) }
	k.mu.Unlock()
	f := k.ended(by, k.start(by, 5).ID)
	require.Equal(t, job.Failed, f.Status)
	require.Equal(t, &job.Failure{Code: "TOO_LATE", Message: "too late", Meta: job.FailureMeta{Values: map[string]any{"n": 1.0}}}, f.Error)
	require.Empty(t, f.Media)

	k.mu.Lock()
	k.before = func(job.Task) error { return errors.New("for ever") }
	k.mu.Unlock()
	f = k.ended(by, k.start(by, 5).ID)
	require.Equal(t, job.Failed, f.Status)
	require.Equal(t, "INTERNAL_ERROR", f.Error.Code)
	require.NotContains(t, f.Error.Message, "for ever")
}

// A worker that freezes loses its job to another one, and cannot store its step any more.
func TestJobOfAFrozenWorkerIsTakenOver(t *testing.T) {
	t.Parallel()
	k := setup(t)
	by := caller(tenant.NewID(), "orders:read")
	frozen, thaw := make(chan struct{}), make(chan struct{})
	var hit atomic.Bool
	k.before = func(t job.Task) error {
		if t.Steps == 3 && hit.CompareAndSwap(false, true) {
			close(frozen)
			k.wait(thaw)
		}
		return nil
	}
	short := func(c *job.Config) { c.Lease, c.Slice = 2*time.Second, time.Hour }
	r := k.start(by, 10)
	stop := k.run(k.worker(short))
	k.wait(frozen)
	k.run(k.worker(short))
	f := k.ended(by, r.ID)
	close(thaw)
	stop()
	k.exact(f, 10)
}

// The jobs of a company that has many do not hold up the one of another.
func TestCompaniesTakeTurns(t *testing.T) {
	t.Parallel()
	k := setup(t)
	loud, quiet := caller(tenant.NewID(), "orders:read"), caller(tenant.NewID(), "orders:read")
	for range job.MaxOpen {
		k.start(loud, 50)
	}
	r := k.start(quiet, 5)
	k.run(k.worker(func(c *job.Config) { c.Parallel = 2 }))
	k.ended(quiet, r.ID)
	k.mu.Lock()
	defer k.mu.Unlock()
	steps := map[tenant.ID]int{}
	for _, company := range k.order {
		if steps[company]++; steps[quiet.Company] == 5 {
			break
		}
	}
	require.Equal(t, 5, steps[quiet.Company])
	require.Less(t, steps[loud.Company], 4*job.MaxOpen, "of %d", 50*job.MaxOpen)
}

// A job starts at once although a step of another is stored meanwhile.
func TestStepsDoNotHoldUpStarts(t *testing.T) {
	t.Parallel()
	k := setup(t)
	by := caller(tenant.NewID(), "orders:read")
	claimed, started := make(chan struct{}), make(chan struct{})
	k.before = func(job.Task) error {
		close(claimed)
		k.wait(started)
		return nil
	}
	first := k.start(by, 1)
	k.run(k.worker())
	k.wait(claimed)
	tries := 0
	require.NoError(t, k.db.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		admission, err := job.Admit(ctx, tx, k.db, by.Company)
		if err != nil {
			return err
		}
		if _, err := job.Start(ctx, tx, by, admission, count, job.Options{Input: 1, Total: 1}); err != nil {
			return err
		}
		if tries++; tries == 1 {
			k.mu.Lock()
			k.before = nil
			k.mu.Unlock()
			close(started)
			k.ended(by, first.ID)
		}
		return nil
	}))
	if !dbtest.Chaotic() {
		require.Equal(t, 1, tries)
	}
}

func TestOpenJobsOfACompanyAreLimited(t *testing.T) {
	t.Parallel()
	k := setup(t)
	by := caller(tenant.NewID(), "orders:read")
	second, err := db.Open(t.Context(), db.Config{URL: k.db.Pool().Config().ConnString(), MaxConns: 8}) // of another process
	require.NoError(t, err)
	t.Cleanup(second.Close)
	processes := []*kit{k, {t: t, db: second}}
	var made, refused atomic.Int64
	var wg sync.WaitGroup
	for i := range job.MaxOpen + 10 {
		wg.Go(func() {
			switch _, err := processes[i%2].try(by, count, 1); {
			case err == nil:
				made.Add(1)
			case apierr.Is(err, "JOB_LIMIT_REACHED"):
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, job.MaxOpen, made.Load())
	require.EqualValues(t, 10, refused.Load())
	k.start(caller(tenant.NewID()), 1)
	k.run(k.worker())
	require.Eventually(t, func() bool { _, err := k.try(by, count, 1); return err == nil }, time.Minute, 10*time.Millisecond)
}

// A worker that stops lets its step end and hands the job over at once.
func TestStopReleasesTheJob(t *testing.T) {
	t.Parallel()
	k := setup(t)
	by := caller(tenant.NewID(), "orders:read")
	inStep, goOn := make(chan struct{}, 100), make(chan struct{})
	k.before = func(job.Task) error { inStep <- struct{}{}; k.wait(goOn); return nil }
	r := k.start(by, 3)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	w := k.worker(func(c *job.Config) { c.Slice, c.Lease = time.Hour, time.Hour })
	go func() { done <- w.Run(ctx) }()
	k.wait(inStep)
	cancel()
	close(goOn)
	require.NoError(t, <-done)
	f := k.get(by, r.ID)
	require.EqualValues(t, 1, f.Processed)
	k.run(k.worker())
	k.exact(k.ended(by, r.ID), 3)
}

// A job of a type that only a newer release knows waits for it.
func TestUnknownTypesAreLeftAlone(t *testing.T) {
	t.Parallel()
	k := setup(t)
	by := caller(tenant.NewID(), "orders:read")
	r := k.start(by, 1)
	_, err := k.db.Exec(t.Context(), `UPDATE jobs SET type = 'next' WHERE id = $1`, r.ID)
	require.NoError(t, err)
	k.run(k.worker())
	k.ended(by, k.start(by, 1).ID)
	require.Equal(t, job.Pending, k.get(by, r.ID).Status)
}

// Under injected faults, and with several workers, every step takes effect once.
func TestStepsAreExactUnderFaults(t *testing.T) {
	t.Parallel()
	k := setup(t)
	url := k.db.Pool().Config().ConnString()
	faulty, err := db.Open(t.Context(), db.Config{URL: url, MaxConns: 8, Inject: db.Chaos(0.1, 9)})
	require.NoError(t, err)
	t.Cleanup(faulty.Close)
	by := caller(tenant.NewID(), "orders:read")
	var ids []uuid.UUID
	for range 4 {
		ids = append(ids, k.start(by, 15).ID)
	}
	for range 3 {
		k.run(k.worker(func(c *job.Config) { c.DB, c.Parallel, c.Lease, c.Slice = faulty, 2, time.Second, 20*time.Millisecond }))
	}
	for _, id := range ids {
		k.exact(k.ended(by, id), 15)
	}
}
