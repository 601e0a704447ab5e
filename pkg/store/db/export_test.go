package db

import (
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/groupcommit"
)

// SetPatience sets how long a shared transaction may wait for a lock, and one of a company holds a place of all.
func SetPatience(d *DB, patience time.Duration) { d.creates = d.newCreates(patience) }

// WaitingCreates counts the transactions of a company that wait to share one; -1 when none is in flight.
func WaitingCreates(d *DB, company tenant.ID) int {
	return d.creates.Waiting(groupcommit.Key{Company: company})
}
