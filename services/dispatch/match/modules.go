package match

import (
	"context"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

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
	ttl      time.Duration
	cache    *lru.Cache[tenant.ID, moduleEntry] // entries expire when they are read, so an idle process has no timers for them
	read     func(ctx context.Context, company tenant.ID) (access.Components, error)
}

type moduleEntry struct {
	components access.Components
	until      time.Time
}

// NewModules caches what read returns, for ttl, but not errors. Components that are always on are not asked for.
func NewModules(alwaysOn access.Components, ttl time.Duration, read func(ctx context.Context, company tenant.ID) (access.Components, error)) Modules {
	cache, err := lru.New[tenant.ID, moduleEntry](maxCompanies)
	if err != nil {
		panic(err) // only for a size below 1
	}
	return &moduleTable{alwaysOn: alwaysOn, ttl: ttl, cache: cache, read: read}
}

// maxCompanies bounds the companies whose components are cached.
const maxCompanies = 100_000

// Active implements [Modules].
func (t *moduleTable) Active(ctx context.Context, company tenant.ID, module string) (bool, error) {
	if t.alwaysOn.Has(module) {
		return true, nil
	}
	now := time.Now()
	if e, ok := t.cache.Get(company); ok && now.Before(e.until) {
		return e.components.Has(module), nil
	}
	components, err := t.read(ctx, company)
	if err != nil {
		return false, err
	}
	t.cache.Add(company, moduleEntry{components, now.Add(t.ttl)})
	return components.Has(module), nil
}
