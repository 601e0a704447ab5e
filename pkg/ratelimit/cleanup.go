package ratelimit

import (
	"time"

	"github.com/tradegrid/tradegrid/pkg/cleanup"
)

// CleanupJob expires the shares of nodes that no longer ask for any.
var CleanupJob = cleanup.Job{
	Table: "rate_leases", Keep: time.Hour,
	SQL: `DELETE FROM rate_leases WHERE (company_id, token_id, node) IN (SELECT company_id, token_id, node FROM rate_leases WHERE expires_at < $1 LIMIT 1000)`,
}
