package job

import (
	"time"

	"github.com/tradegrid/tradegrid/pkg/store/cleanup"
)

// CleanupJobs returns the jobs that delete old jobs, inputs and results.
func CleanupJobs() []cleanup.Job {
	return []cleanup.Job{
		{Every: time.Hour, Delete: jobs.Delete(`WHERE (company_id, id) IN (SELECT company_id, id FROM jobs WHERE expires_at < $1 LIMIT 1000)`)},
		{Every: time.Minute, Delete: jobChunks.Delete(`WHERE (company_id, job_id, n) IN (SELECT company_id, job_id, n FROM job_chunks WHERE expires_at < $1 LIMIT 1000)`)},
		{Every: time.Hour, Delete: jobInputs.Delete(`WHERE (company_id, job_id, n) IN (SELECT company_id, job_id, n FROM job_inputs WHERE expires_at < $1 LIMIT 1000)`)},
	}
}
