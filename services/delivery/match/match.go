// Package match matches events with subscriptions. The router makes deliveries of the matches, and the reconciler checks
// that the deliveries exist.
package match

import (
	"context"
	"time"

	"github.com/google/uuid"
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
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

// Subscription is a subscription with the terms that decide which events it gets.
type Subscription struct {
	webhook.Terms
	ID      uuid.UUID
	Paused  bool
	Ordered bool
}

// Delivery is one event for one subscription.
type Delivery struct {
	*Event
	Subscription uuid.UUID
	DeliveryID   uuid.UUID
	Paused       bool // the delivery is held until the subscription is resumed
	Ordered      bool // it waits for earlier deliveries of its record
}

// Match appends the deliveries of an event to the list. The components are those of the company, see [Components].
func Match(e *Event, subs []Subscription, components access.Components, to []Delivery) []Delivery {
	for i := range subs {
		if sub := &subs[i]; sub.Decide(&e.candidate, components) == webhook.Wanted {
			to = append(to, Delivery{Event: e, Subscription: sub.ID, DeliveryID: webhook.DeliveryID(e.ID, sub.ID, 0), Paused: sub.Paused, Ordered: sub.Ordered})
		}
	}
	return to
}
