package main

import (
	"slices"

	"github.com/tradegrid/tradegrid/pkg/cleanup"
	"github.com/tradegrid/tradegrid/pkg/httpapi/idempotency"
	"github.com/tradegrid/tradegrid/pkg/notice"
	"github.com/tradegrid/tradegrid/pkg/outbox"
	"github.com/tradegrid/tradegrid/pkg/presence"
	"github.com/tradegrid/tradegrid/pkg/quota"
	"github.com/tradegrid/tradegrid/pkg/ratelimit"
)

// cleanupJobs are the rows of all tables that expire.
func cleanupJobs() []cleanup.Job {
	jobs := slices.Concat([]cleanup.Job{cleanup.TxMarkers, idempotency.CleanupJob, ratelimit.CleanupJob, quota.CleanupJob, presence.CleanupJob, notice.CleanupJob}, outbox.CleanupJobs())
	for _, d := range declared() {
		jobs = append(jobs, d.Cleanup...)
	}
	return jobs
}
