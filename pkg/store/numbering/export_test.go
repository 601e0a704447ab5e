package numbering

import (
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/groupcommit"
)

// Waiting counts who waits for a number; -1 when no transaction is in flight.
func Waiting(c *Committer, company tenant.ID, kind string) int {
	return c.group.Waiting(groupcommit.Key{Company: company, Kind: kind})
}
