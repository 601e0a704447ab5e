package job_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/job"
)

type control func(context.Context, *db.Tx, access.Caller, uuid.UUID) (job.Record, error)

func (k *kit) control(by access.Caller, id uuid.UUID, do control) (r job.Record, err error) {
	err = k.db.RunTx(k.t.Context(), "test.control", func(ctx context.Context, tx *db.Tx) (err error) {
		r, err = do(ctx, tx, by, id)
		return err
	}, db.ReadCommitted())
	return r, err
}

// controllable starts a job that can be paused and canceled.
func (k *kit) controllable(by access.Caller, to int64) job.Record {
	k.t.Helper()
	typ := count
	typ.Control = "orders"
	r, err := k.try(by, typ, to)
	require.NoError(k.t, err)
	return r
}

// The step under way when a job is paused is undone, and made again when it is resumed.
func TestPausedJobGoesOnWhenResumed(t *testing.T) {
	t.Parallel()
	k := setup(t)
	by := caller(tenant.NewID(), "orders:write")
	reached, paused, resumed := make(chan struct{}), make(chan struct{}), make(chan struct{})
	first := true
	k.before = func(t job.Task) error {
		switch {
		case t.Steps == 3 && first:
			first = false
			close(reached)
			k.wait(paused)
		case t.Steps == 3 && t.Total == 10:
			k.wait(resumed)
		}
		return nil
	}
	k.run(k.worker())
	id := k.controllable(by, 10).ID
	k.wait(reached)
	for range 2 {
		r, err := k.control(by, id, job.Pause)
		require.NoError(t, err)
		require.Equal(t, job.Paused, r.Status)
	}
	close(paused)
	other := k.controllable(by, 5)
	k.ended(by, other.ID) // the worker has gone on
	f := k.get(by, id)
	require.Equal(t, job.Paused, f.Status)
	require.EqualValues(t, 3, f.Processed)
	for range 2 {
		r, err := k.control(by, id, job.Resume)
		require.NoError(t, err)
		require.NotEqual(t, job.Paused, r.Status)
	}
	close(resumed) // a job that has ended is not resumed again
	k.exact(k.ended(by, id), 10)
}

func TestCanceledJobStaysEnded(t *testing.T) {
	t.Parallel()
	k := setup(t)
	by := caller(tenant.NewID(), "orders:write")
	reached, canceled := make(chan struct{}), make(chan struct{})
	k.before = func(t job.Task) error {
		if t.Steps == 3 {
			close(reached)
			k.wait(canceled)
		}
		return nil
	}
	stop := k.run(k.worker())
	id := k.controllable(by, 10).ID
	k.wait(reached)
	r, err := k.control(by, id, job.Cancel)
	require.NoError(t, err)
	require.Equal(t, job.Canceled, r.Status)
	require.NotNil(t, r.CompletedAt)
	close(canceled)
	stop()
	f := k.get(by, id)
	require.Equal(t, r, f.Record)
	require.EqualValues(t, 3, f.Processed)
	require.Empty(t, f.Media)
	for _, do := range []control{job.Pause, job.Resume, job.Cancel} {
		_, err := k.control(by, id, do)
		require.True(t, apierr.Is(err, "JOB_HAS_ENDED"), "%v", err)
	}
}

func TestWhoMayStopJobs(t *testing.T) {
	t.Parallel()
	k := setup(t)
	company := tenant.NewID()
	by := caller(company, "orders:write")
	fixed, id := k.start(by, 1).ID, k.controllable(by, 1).ID
	for _, do := range []control{job.Pause, job.Resume, job.Cancel} {
		_, err := k.control(by, fixed, do)
		require.True(t, apierr.Is(err, "JOB_NOT_CONTROLLABLE"), "%v", err)
		_, err = k.control(caller(company, "orders:read"), id, do)
		require.True(t, apierr.Is(err, "AUTH_API_SCOPE_INSUFFICIENT"), "%v", err)
		_, err = k.control(caller(company, "deals:write"), id, do)
		require.True(t, apierr.Is(err, "JOB_NOT_FOUND"), "%v", err)
		_, err = k.control(caller(tenant.NewID(), "*:write"), id, do)
		require.True(t, apierr.Is(err, "JOB_NOT_FOUND"), "%v", err)
	}
}

// A job that nobody resumes fails when it is too old, as any other.
func TestPausedJobsDoNotStayForEver(t *testing.T) {
	t.Parallel()
	k := setup(t)
	by := caller(tenant.NewID(), "orders:write")
	id := k.controllable(by, 1).ID
	_, err := k.control(by, id, job.Pause)
	require.NoError(t, err)
	k.run(k.worker())
	k.ended(by, k.controllable(by, 1).ID) // the worker has looked
	require.Equal(t, job.Paused, k.get(by, id).Status)
	_, err = k.db.Exec(t.Context(), `UPDATE jobs SET created_at = created_at - INTERVAL '25 hours', expires_at = expires_at - INTERVAL '25 hours', run_at = run_at - INTERVAL '25 hours' WHERE id = $1`, id)
	require.NoError(t, err)
	f := k.ended(by, id)
	require.Equal(t, "JOB_TIMEOUT", f.Error.Code)
}

// A step may ask for a pause before the next one, which is not made earlier.
func TestStepsWaitAsTheyAsk(t *testing.T) {
	t.Parallel()
	k := setup(t)
	by := caller(tenant.NewID(), "orders:read")
	w := k.worker(func(c *job.Config) {
		c.Slice = time.Hour
		c.Handlers[0].Step = func(ctx context.Context, t job.Task) (job.Store, error) {
			store, err := k.step(ctx, t)
			return func(ctx context.Context, tx *db.Tx) (job.Progress, error) {
				p, err := store(ctx, tx)
				p.Wait, p.Summary = 300*time.Millisecond, map[string]int64{"counted": p.Done}
				return p, err
			}, err
		}
	})
	began := time.Now()
	k.run(w)
	f := k.ended(by, k.start(by, 4).ID)
	k.exact(f, 4)
	require.GreaterOrEqual(t, time.Since(began), 900*time.Millisecond)
	require.JSONEq(t, `{"counted":4}`, string(*f.Summary))
}

// A type that a later release has added waits for a worker that knows it.
func TestUnknownTypesAreLeftToThoseWhoKnowThem(t *testing.T) {
	t.Parallel()
	k := setup(t)
	by := caller(tenant.NewID(), "orders:read")
	typ := count
	typ.Name = "count.again"
	r, err := k.try(by, typ, 3)
	require.NoError(t, err)
	k.run(k.worker())
	k.ended(by, k.start(by, 3).ID) // the worker has looked
	f := k.get(by, r.ID)
	require.Equal(t, []string{"count.again", job.Pending}, []string{f.Type, f.Status})
	k.run(k.worker(func(c *job.Config) { c.Handlers[0].Type = typ }))
	k.exact(k.ended(by, r.ID), 3)
}
