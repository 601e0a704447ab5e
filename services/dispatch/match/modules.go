package match

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// Modules tells which components a company has. A deleted company has all of them, because events from before its deletion
// are still delivered.
type Modules interface {
	Active(ctx context.Context, company tenant.ID, module string) (bool, error)
}

// moduleTable is a [Modules] that caches the components of companies.
type moduleTable struct {
	alwaysOn access.Components
	cache    *ttlCache[tenant.ID, access.Components]
}

// NewModules caches what read returns, for ttl. Components that are always on are not read.
func NewModules(alwaysOn access.Components, ttl time.Duration, read func(ctx context.Context, company tenant.ID) (access.Components, error)) Modules {
	return &moduleTable{alwaysOn: alwaysOn, cache: newTTLCache(100_000, ttl, read)}
}

// Active implements [Modules].
func (t *moduleTable) Active(ctx context.Context, company tenant.ID, module string) (bool, error) {
	if t.alwaysOn.Has(module) {
		return true, nil
	}
	components, err := t.cache.get(ctx, company)
	return err == nil && components.Has(module), err
}

// ttlCache caches the results of a function for a limited time and number of keys.
type ttlCache[K comparable, V any] struct {
	ttl  time.Duration
	read func(ctx context.Context, key K) (V, error)

	mu  sync.Mutex
	lru *simplelru.LRU[K, kept[V]]
}

type kept[V any] struct {
	value V
	until time.Time
}

func newTTLCache[K comparable, V any](size int, ttl time.Duration, read func(context.Context, K) (V, error)) *ttlCache[K, V] {
	lru, err := simplelru.NewLRU[K, kept[V]](size, nil)
	if err != nil {
		panic(err) // the size is a constant above zero
	}
	return &ttlCache[K, V]{ttl: ttl, read: read, lru: lru}
}

// get returns the cached value or reads it. Errors are not cached.
func (c *ttlCache[K, V]) get(ctx context.Context, key K) (V, error) {
	now := time.Now()
	c.mu.Lock()
	found, ok := c.lru.Get(key)
	c.mu.Unlock()
	if ok && now.Before(found.until) {
		return found.value, nil
	}
	v, err := c.read(ctx, key)
	if err != nil {
		return v, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lru.Add(key, kept[V]{value: v, until: now.Add(c.ttl)})
	return v, nil
}
