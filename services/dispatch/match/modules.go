package match

import (
	"context"
	"time"

	"github.com/hashicorp/golang-lru/v2/expirable"

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
	cache    *expirable.LRU[tenant.ID, access.Components]
	read     func(ctx context.Context, company tenant.ID) (access.Components, error)
}

// NewModules caches what read returns, for ttl, but not errors. Components that are always on are not asked for.
func NewModules(alwaysOn access.Components, ttl time.Duration, read func(ctx context.Context, company tenant.ID) (access.Components, error)) Modules {
	return &moduleTable{alwaysOn: alwaysOn, cache: expirable.NewLRU[tenant.ID, access.Components](maxCompanies, nil, ttl), read: read}
}

// maxCompanies bounds the companies whose components are cached.
const maxCompanies = 100_000

// Active implements [Modules].
func (t *moduleTable) Active(ctx context.Context, company tenant.ID, module string) (bool, error) {
	if t.alwaysOn.Has(module) {
		return true, nil
	}
	if components, ok := t.cache.Get(company); ok {
		return components.Has(module), nil
	}
	components, err := t.read(ctx, company)
	if err != nil {
		return false, err
	}
	t.cache.Add(company, components)
	return components.Has(module), nil
}
