package roles

import (
	"slices"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi/idempotency"
	"github.com/tradegrid/tradegrid/pkg/api/ratelimit"
	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/store/cleanup"
	"github.com/tradegrid/tradegrid/pkg/store/ownermail"
	"github.com/tradegrid/tradegrid/pkg/store/processes"
	"github.com/tradegrid/tradegrid/pkg/store/quota"
)

// CleanupJobs are the rows of all tables that expire.
func CleanupJobs() []cleanup.Job {
	jobs := slices.Concat([]cleanup.Job{cleanup.TxMarkers, idempotency.CleanupJob, ratelimit.CleanupJob, quota.CleanupJob, processes.CleanupJob, ownermail.CleanupJob}, outbox.CleanupJobs())
	for _, d := range Declared() {
		jobs = append(jobs, d.Cleanup...)
	}
	return jobs
}
