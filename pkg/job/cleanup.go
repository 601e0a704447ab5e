package job

import (
	"time"

	"github.com/tradegrid/tradegrid/pkg/cleanup"
)

// CleanupJobs returns the jobs that delete old jobs, inputs and results.
func CleanupJobs() []cleanup.Job {
	return []cleanup.Job{
		{Table: "jobs", Every: time.Hour, SQL: `DELETE FROM jobs WHERE (company_id, id) IN (SELECT company_id, id FROM jobs WHERE expires_at < $1 LIMIT 1000)`},
		{Table: "job_chunks", Every: time.Minute, SQL: `DELETE FROM job_chunks WHERE (company_id, job_id, n) IN (SELECT company_id, job_id, n FROM job_chunks WHERE expires_at < $1 LIMIT 1000)`},
		{Table: "job_inputs", Every: time.Hour, SQL: `DELETE FROM job_inputs WHERE (company_id, job_id, n) IN (SELECT company_id, job_id, n FROM job_inputs WHERE expires_at < $1 LIMIT 1000)`},
	}
}
