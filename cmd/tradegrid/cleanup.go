package main

import (
	"slices"
	"time"

	"github.com/tradegrid/tradegrid/pkg/cleanup"
	"github.com/tradegrid/tradegrid/pkg/httpapi"
	"github.com/tradegrid/tradegrid/pkg/outbox"
	"github.com/tradegrid/tradegrid/pkg/ratelimit"
)

// cleanupJobs are the rows of all tables that expire.
func cleanupJobs() []cleanup.Job {
	jobs := slices.Concat([]cleanup.Job{cleanup.TxMarkers, httpapi.CleanupJob, ratelimit.CleanupJob, deliveriesExpire}, outbox.CleanupJobs())
	for _, d := range declared() {
		jobs = append(jobs, d.Cleanup...)
	}
	return jobs
}

// Deliveries have no time to live of their own: an index on their age would cost more at each delivery than this scan
// once an hour.
var deliveriesExpire = cleanup.Job{
	Table: "deliveries", Keep: 30 * 24 * time.Hour, Every: time.Hour,
	SQL: `DELETE FROM deliveries WHERE (company_id, subscription_id, id) IN (SELECT company_id, subscription_id, id FROM deliveries WHERE created_at < $1 AND state >= 2 LIMIT 1000)`,
}
