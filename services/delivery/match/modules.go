package match

import (
	"context"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// Components tells which components companies have. A deleted company has all of them, because events from before its deletion
// are still delivered.
type Components interface {
	Of(ctx context.Context, companies []tenant.ID) (map[tenant.ID]access.Components, error)
}

// componentTable is a [Components] that caches the components of companies.
type componentTable struct {
	ttl   time.Duration
	cache *lru.Cache[tenant.ID, moduleEntry] // entries expire when they are read, so an idle process has no timers for them
	ahead ahead
	read  func(ctx context.Context, companies []tenant.ID) (map[tenant.ID]access.Components, error)
}

type moduleEntry struct {
	components access.Components
	until      time.Time
}

// NewComponents caches what read returns, for ttl, but not errors. All companies that are not cached are read in one call, with those
// whose time is nearly over.
func NewComponents(ttl time.Duration, read func(ctx context.Context, companies []tenant.ID) (map[tenant.ID]access.Components, error)) Components {
	cache, err := lru.New[tenant.ID, moduleEntry](maxCompanies)
	if err != nil {
		panic(err) // only for a size below 1
	}
	return &componentTable{ttl: ttl, cache: cache, read: read}
}

// maxCompanies bounds the companies whose components are cached.
const maxCompanies = 100_000

// Of implements [Components].
func (t *componentTable) Of(ctx context.Context, companies []tenant.ID) (map[tenant.ID]access.Components, error) {
	now := time.Now()
	found := make(map[tenant.ID]access.Components, len(companies))
	var missing []tenant.ID
	for _, company := range companies {
		if e, ok := t.cache.Get(company); ok && now.Before(e.until) {
			found[company] = e.components
			t.ahead.use(company)
		} else {
			missing = append(missing, company)
		}
	}
	if len(missing) == 0 {
		return found, nil
	}
	missing = t.ahead.with(missing, func(company tenant.ID) bool {
		e, ok := t.cache.Peek(company)
		return ok && e.until.Before(now.Add(t.ttl/2))
	})
	read, err := t.read(ctx, missing)
	if err != nil {
		return nil, err
	}
	for _, company := range missing {
		found[company] = read[company]
		t.cache.Add(company, moduleEntry{read[company], now.Add(t.ttl)})
	}
	return found, nil
}
