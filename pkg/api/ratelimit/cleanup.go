package ratelimit

import (
	"time"

	"github.com/tradegrid/tradegrid/pkg/store/cleanup"
)

// CleanupJob deletes the leases of nodes that no longer renew them.
var CleanupJob = cleanup.Job{
	Keep:   time.Hour,
	Delete: rateLeases.Delete(`WHERE (company_id, token_id, node) IN (SELECT company_id, token_id, node FROM rate_leases WHERE expires_at < $1 LIMIT 1000)`),
}
