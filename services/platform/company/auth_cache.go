package company

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/singleflight"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/topics"
)

const (
	knownFor    = 30 * time.Second // how long a change can go unnoticed if its invalidation is lost
	unknownFor  = 30 * time.Second // issuing a token clears the unknown secrets, so a new token works at once
	unknownSize = 10_000
	recentDrops = 1024
)

// cache holds secrets by their hash: those that exist and, briefly, those that do not.
type cache struct {
	flight singleflight.Group

	mu        sync.Mutex
	known     *simplelru.LRU[tokenHash, *known]
	unknown   *simplelru.LRU[tokenHash, time.Time] // until when
	byCompany map[tenant.ID]map[tokenHash]*known

	// The result of a look-up that an invalidation overtook must not be cached: drops counts the invalidations, and recent
	// is a ring of the companies that the last ones concerned; the zero company stands for all.
	drops  uint64
	recent [recentDrops]tenant.ID
}

func newCache(size int) *cache {
	c := &cache{byCompany: map[tenant.ID]map[tokenHash]*known{}}
	c.known, _ = simplelru.NewLRU(size, c.evicted) // fails only on a size below 1
	c.unknown, _ = simplelru.NewLRU[tokenHash, time.Time](unknownSize, nil)
	return c
}

// evicted keeps byCompany in step when an entry leaves known. The caller holds mu.
func (c *cache) evicted(hash tokenHash, k *known) {
	of := c.byCompany[k.Company]
	delete(of, hash)
	if len(of) == 0 {
		delete(c.byCompany, k.Company)
	}
}

// get returns the entry of a secret and whether it is fresh. nil and fresh: the secret is known not to exist. Not fresh: the
// secret has to be read again, and nil means that it was never seen to exist.
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

// version is taken before a look-up and passed to put.
func (c *cache) version() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.drops
}

// put caches the result of a look-up. An entry is not cached if its company was invalidated since version; a missing one not
// if any company was, since this secret may have been issued.
func (c *cache) put(hash tokenHash, k *known, version uint64, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k == nil {
		c.known.Remove(hash)
		if c.drops == version {
			c.unknown.Add(hash, now.Add(unknownFor))
		}
		return
	}
	if c.droppedSince(k.Company, version) {
		return
	}
	// Removed first, so that evicted sees the old entry instead of the one that replaces it.
	c.known.Remove(hash)
	c.known.Add(hash, k)
	of := c.byCompany[k.Company]
	if of == nil {
		of = map[tokenHash]*known{}
		c.byCompany[k.Company] = of
	}
	of[hash] = k
}

func (c *cache) droppedSince(company tenant.ID, version uint64) bool {
	if c.drops-version > recentDrops {
		return true
	}
	for n := version; n < c.drops; n++ {
		if id := c.recent[n%recentDrops]; id == company || id.IsZero() {
			return true
		}
	}
	return false
}

func (c *cache) dropCompany(company tenant.ID) {
	c.drop(company, func(*known) bool { return true })
}

// dropToken invalidates a token that changed. If it was issued or rotated, one of the unknown secrets exists now; the
// invalidation does not say which, so all of them are dropped.
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

// dropAll invalidates everything, for a message that cannot be decoded.
func (c *cache) dropAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recent[c.drops%recentDrops] = tenant.ID{}
	c.drops++
	c.known.Purge()
	c.unknown.Purge()
	clear(c.byCompany)
}

// ForgetTokens has the next request of each token of the company read it anew, in a process that hears nothing of changes.
func (s *Service) ForgetTokens(id tenant.ID) { s.cache.dropCompany(id) }

// ConsumeInvalidations drops companies and tokens from the cache as their changes arrive, until ctx ends. Every node reads
// all of them, outside any consumer group. It starts a little in the past, so that no change between the first look-ups and
// the start is missed.
func (s *Service) ConsumeInvalidations(ctx context.Context, cfg kafka.Config) error {
	start := s.cfg.DB.Now().Add(-2 * knownFor)
	from := kgo.NewOffset().AfterMilli(start.UnixMilli())
	cfg.Log = s.cfg.Log
	if err := kafka.TailFrom(ctx, cfg, from, nil, func(r *kgo.Record) { s.invalidate(ctx, r.Value) }, topics.AuthInvalidations); err != nil {
		return fmt.Errorf("consume invalidations: %w", err)
	}
	return nil
}

func (s *Service) invalidate(ctx context.Context, value []byte) {
	var m invalidation
	if err := json.Unmarshal(value, &m); err != nil || m.CompanyID.IsZero() {
		s.cfg.Log.ErrorContext(ctx, "invalidation decode failed, all cached tokens dropped", "error", err)
		s.cache.dropAll()
		return
	}
	if m.TokenID != nil {
		s.cache.dropToken(m.CompanyID, *m.TokenID)
		return
	}
	s.cache.dropCompany(m.CompanyID)
}
