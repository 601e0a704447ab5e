package idempotency

import (
	"sync"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// runningKeys are the keys that requests of this process hold, with the fingerprints of these requests.
type runningKeys struct{ m sync.Map }

type runningKey struct {
	company tenant.ID
	key     uuid.UUID
}

// hold holds the key of a claim; otherwise it returns the fingerprint of the request that does.
func (k *runningKeys) hold(c *Claim) (holder []byte, ok bool) {
	v, loaded := k.m.LoadOrStore(runningKey{c.Company, c.Key}, c.Fingerprint)
	holder, _ = v.([]byte)
	return holder, !loaded
}

func (k *runningKeys) free(c *Claim) { k.m.Delete(runningKey{c.Company, c.Key}) }
