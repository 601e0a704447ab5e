package httpapi

import (
	"sync"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// runningKeys are the idempotency keys that requests of this process hold, with the fingerprints of these requests.
type runningKeys struct{ m sync.Map }

type runningKey struct {
	company tenant.ID
	key     uuid.UUID
}

// enter holds the key; otherwise it returns the fingerprint of the request that does.
func (k *runningKeys) enter(c *claim) (holder []byte, ok bool) {
	v, loaded := k.m.LoadOrStore(runningKey{c.company, c.key}, c.fingerprint)
	holder, _ = v.([]byte)
	return holder, !loaded
}

func (k *runningKeys) leave(c *claim) { k.m.Delete(runningKey{c.company, c.key}) }
