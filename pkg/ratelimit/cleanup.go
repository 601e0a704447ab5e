package ratelimit

import (
	"time"

	"github.com/tradegrid/tradegrid/pkg/cleanup"
)

// CleanupJob deletes the leases of nodes that no longer renew them.
var CleanupJob = cleanup.Job{
	Table: "rate_leases", Keep: time.Hour,
	SQL: `DELETE FROM rate_leases WHERE (company_id, token_id, node) IN (SELECT company_id, token_id, node FROM rate_leases WHERE expires_at < $1 LIMIT 1000)`,
}
