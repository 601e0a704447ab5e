package company

import (
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/sync/singleflight"

	"github.com/tradegrid/tradegrid/pkg/tenant"
)

const (
	knownFor    = 30 * time.Second // longest that a change may stay unseen when its message is lost
	unknownFor  = 30 * time.Second // a token that is issued meanwhile works at once: it drops what was unknown
	unknownSize = 10_000
	recentDrops = 1024
)

// cache remembers secrets by their hash, both those that exist and, briefly, those that do not.
type cache struct {
	flight singleflight.Group

	mu        sync.Mutex
	known     *simplelru.LRU[tokenHash, *known]
	unknown   *simplelru.LRU[tokenHash, time.Time] // until when
	byCompany map[tenant.ID]map[tokenHash]*known

	// A look-up that began before a change and ends after it must not be remembered:
	// drops numbers the changes, and recent keeps the last companies that changed.
	drops  uint64
	recent [recentDrops]tenant.ID
}

func newCache(size int) *cache {
	c := &cache{byCompany: map[tenant.ID]map[tokenHash]*known{}}
	c.known, _ = simplelru.NewLRU(size, c.forget) // fails only on a size below 1
	c.unknown, _ = simplelru.NewLRU[tokenHash, time.Time](unknownSize, nil)
	return c
}

// forget runs under mu when an entry leaves known.
func (c *cache) forget(hash tokenHash, k *known) {
	of := c.byCompany[k.Company]
	delete(of, hash)
	if len(of) == 0 {
		delete(c.byCompany, k.Company)
	}
}

// get answers fresh with nil for a secret that was just seen not to exist. One that is not fresh has to be read again;
// with nil it was never seen to exist.
func (c *cache) get(hash tokenHash, now time.Time) (k *known, fresh bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k, ok := c.known.Get(hash); ok {
		return k, now.Sub(k.loadedAt) < knownFor
	}
	if until, ok := c.unknown.Get(hash); ok && now.Before(until) {
		return nil, true
	}
	return nil, false
}

// stamp is taken before a look-up and handed to put.
func (c *cache) stamp() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.drops
}

// put remembers what a look-up found, unless the company changed since the stamp; and that it found nothing, unless
// anything did, for it may have been the issue of this secret.
func (c *cache) put(hash tokenHash, k *known, stamp uint64, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k == nil {
		c.known.Remove(hash)
		if c.drops == stamp {
			c.unknown.Add(hash, now.Add(unknownFor))
		}
		return
	}
	if c.droppedSince(k.Company, stamp) {
		return
	}
	// Removed first, so that forget sees the entry that leaves and not the one that replaces it.
	c.known.Remove(hash)
	c.known.Add(hash, k)
	of := c.byCompany[k.Company]
	if of == nil {
		of = map[tokenHash]*known{}
		c.byCompany[k.Company] = of
	}
	of[hash] = k
}

func (c *cache) droppedSince(company tenant.ID, stamp uint64) bool {
	if c.drops-stamp > recentDrops {
		return true
	}
	for n := stamp; n < c.drops; n++ {
		if id := c.recent[n%recentDrops]; id == company || id.IsZero() {
			return true
		}
	}
	return false
}

func (c *cache) dropCompany(company tenant.ID) {
	c.drop(company, func(*known) bool { return true })
}

// dropToken forgets a token that changed. If it was issued, or got a new secret, one of those that were unknown exists
// now; which one is not told.
func (c *cache) dropToken(company tenant.ID, token uuid.UUID) {
	c.drop(company, func(k *known) bool { return k.TokenID == token })
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unknown.Purge()
}

func (c *cache) drop(company tenant.ID, match func(*known) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recent[c.drops%recentDrops] = company
	c.drops++
	for hash, k := range c.byCompany[company] {
		if match(k) {
			c.known.Remove(hash)
		}
	}
}

// dropAll forgets everything: for a change of which it is not known whom it concerns.
func (c *cache) dropAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recent[c.drops%recentDrops] = tenant.ID{}
	c.drops++
	c.known.Purge()
	c.unknown.Purge()
	clear(c.byCompany)
}
