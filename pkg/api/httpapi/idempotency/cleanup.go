package idempotency

import "github.com/tradegrid/tradegrid/pkg/store/cleanup"

// CleanupJob deletes expired keys with their responses.
var CleanupJob = cleanup.Job{
	Delete: idempotencyKeys.Delete(`WHERE (company_id, key) IN (SELECT company_id, key FROM idempotency_keys WHERE expires_at < $1 LIMIT 1000)`),
}
