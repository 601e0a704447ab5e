package numbering

import "github.com/tradegrid/tradegrid/pkg/kit/tenant"

// Waiting counts who waits for a number; -1 when no transaction is in flight.
func Waiting(c *Committer, company tenant.ID, kind string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	q := c.queues[key{company, kind}]
	if q == nil {
		return -1
	}
	return len(q.waiting)
}
