package job

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/cleanup"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// Whoever holds the lease loses it with the epoch, and its step under way with it. A paused job is due when it is too old to go
// on: a worker fails it then.
var (
	sqlPauseJob = jobs.Update(`SET status = 'paused', lease_owner = '', lease_epoch = lease_epoch + 1, lease_until = now(),
 run_at = expires_at - $3::BIGINT * INTERVAL '1 millisecond', updated_at = $4
WHERE company_id = $1 AND id = $2 AND ended_at IS NULL`)
	sqlResumeJob = jobs.Update(`SET status = 'pending', run_at = now(), served_at = now(), updated_at = $3
WHERE company_id = $1 AND id = $2 AND status = 'paused' AND ended_at IS NULL`)
	sqlCancelJob = jobs.Update(`SET status = 'canceled', lease_owner = '', lease_epoch = lease_epoch + 1, lease_until = now(), ended_at = $3, updated_at = $3
WHERE company_id = $1 AND id = $2 AND ended_at IS NULL`)
)

// Pause keeps a job from going on until [Resume]; see docs/reference/jobs.md#pause-resume-and-cancel. The step under way is
// undone and will be made again.
func Pause(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (Record, error) {
	f, err := controlled(ctx, tx, by, id)
	if err != nil || f.Status == Paused {
		return f.Record, err
	}
	tx.Queue(sqlPauseJob, by.Company, id, recordKept.Milliseconds(), tx.Now()).Expect(1, errEnded(f))
	return f.now(tx, Paused), nil
}

// Resume lets a paused job go on.
func Resume(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (Record, error) {
	f, err := controlled(ctx, tx, by, id)
	if err != nil || f.Status != Paused {
		return f.Record, err
	}
	tx.Queue(sqlResumeJob, by.Company, id, tx.Now()).Expect(1, errEnded(f))
	return f.now(tx, Pending), nil
}

// Cancel ends a job. What its steps have stored stays.
func Cancel(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (Record, error) {
	f, err := controlled(ctx, tx, by, id)
	if err != nil {
		return f.Record, err
	}
	tx.Queue(sqlCancelJob, by.Company, id, tx.Now()).Expect(1, errEnded(f))
	tx.Queue(sqlDeleteParts, by.Company, id)
	ended.WithLabelValues(f.Type, Canceled).Inc()
	r := f.now(tx, Canceled)
	r.CompletedAt = &r.UpdatedAt
	return r, nil
}

// controlled reads an unfinished job that the caller may stop.
func controlled(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (Found, error) {
	f, err := Get(ctx, tx, by, id)
	switch {
	case err != nil:
		return f, err
	case f.control == nil:
		return f, apierr.StateConflict("JOB_NOT_CONTROLLABLE", "a job of the type %s cannot be paused or canceled: it would leave its work half done", f.Type).With("type", f.Type)
	case !by.Allows(*f.control, true):
		return f, access.ScopeMissing(*f.control + ":write")
	case f.CompletedAt != nil:
		return f, errEnded(f)
	}
	return f, nil
}

func errEnded(f Found) error {
	return apierr.StateConflict("JOB_HAS_ENDED", "the job has ended; only an unfinished one can be paused, resumed or canceled").With("status", f.Status)
}

func (f *Found) now(tx *db.Tx, status string) Record {
	f.Status, f.UpdatedAt = status, jsontype.At(tx.Now())
	return f.Record
}

// CleanupJobs returns the jobs that delete old jobs, inputs and results.
func CleanupJobs() []cleanup.Job {
	return []cleanup.Job{
		{Every: time.Hour, Delete: jobs.Delete(`WHERE (company_id, id) IN (SELECT company_id, id FROM jobs WHERE expires_at < $1 LIMIT 1000)`)},
		{Every: time.Minute, Delete: jobChunks.Delete(`WHERE (company_id, job_id, n) IN (SELECT company_id, job_id, n FROM job_chunks WHERE expires_at < $1 LIMIT 1000)`)},
		{Every: time.Hour, Delete: jobInputs.Delete(`WHERE (company_id, job_id, n) IN (SELECT company_id, job_id, n FROM job_inputs WHERE expires_at < $1 LIMIT 1000)`)},
	}
}
