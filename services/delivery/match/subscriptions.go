package match

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// Cache caches the subscriptions of companies. Each use compares the number of changes of each company's subscriptions, so that a
// new subscription gets the next event. Events say how many there were when they were published; where that is unknown or another
// number, the database is asked, with one query for a whole batch. Changes that are not counted, such as a subscription that the
// platform disables, are seen when they are announced, or after the time to live.
type Cache struct {
	q   db.Querier
	ttl time.Duration
	now func() time.Time
	log *slog.Logger

	mu    sync.Mutex
	lru   *simplelru.LRU[tenant.ID, snapshot]
	drops uint64 // calls of Drop: a snapshot that was read before the last one is not cached
	ahead ahead
}

type snapshot struct {
	subs    []Subscription
	readAt  time.Time
	changes int64 // of the company's set of subscriptions, when it was read
}

// NewCache makes a cache for the subscriptions of size companies.
func NewCache(q db.Querier, size int, ttl time.Duration, log *slog.Logger) (*Cache, error) {
	lru, err := simplelru.NewLRU[tenant.ID, snapshot](size, nil)
	if err != nil {
		return nil, fmt.Errorf("make subscription cache: %w", err)
	}
	return &Cache{q: q, ttl: ttl, now: time.Now, log: log, lru: lru}, nil
}

// Load returns the subscriptions of the companies. It asks for the changes of those whose subscriptions are not cached as of the changes
// that were seen, and reads, with one query, what is not cached as of these, and what expires soon.
func (c *Cache) Load(ctx context.Context, companies []tenant.ID, seen map[tenant.ID]int64) (map[tenant.ID][]Subscription, error) {
	found, unknown := c.unchanged(companies, seen)
	if len(unknown) == 0 {
		return found, nil
	}
	changes, err := store.SelectChanges(ctx, c.q, plain(unknown))
	if err != nil {
		return nil, err
	}
	missing, drops := c.missing(unknown, changes, found)
	if len(missing) == 0 {
		return found, nil
	}
	readAt := c.now()
	read, err := Read(ctx, c.q, plain(missing), c.log)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, company := range missing {
		found[company] = read[company]
		if c.drops == drops {
			c.lru.Add(company, snapshot{subs: read[company], readAt: readAt, changes: changes[company]})
		}
	}
	return found, nil
}

// unchanged gives what is cached as of the changes that were seen, and the other companies.
func (c *Cache) unchanged(companies []tenant.ID, seen map[tenant.ID]int64) (found map[tenant.ID][]Subscription, unknown []tenant.ID) {
	found = make(map[tenant.ID][]Subscription, len(companies))
	oldest := c.now().Add(-c.ttl)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, company := range companies {
		if n, ok := seen[company]; !ok || !c.held(company, n, oldest, found) {
			unknown = append(unknown, company)
		}
	}
	return found, unknown
}

// missing gives what has to be read, and adds to found what is cached.
func (c *Cache) missing(companies []tenant.ID, changes map[tenant.ID]int64, found map[tenant.ID][]Subscription) (missing []tenant.ID, drops uint64) {
	oldest := c.now().Add(-c.ttl)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, company := range companies {
		if !c.held(company, changes[company], oldest, found) {
			missing = append(missing, company)
		}
	}
	if len(missing) > 0 {
		missing = c.ahead.with(missing, func(company tenant.ID) bool {
			snap, ok := c.lru.Peek(company)
			if !ok || snap.readAt.After(oldest.Add(c.ttl/2)) {
				return false
			}
			changes[company] = snap.changes // one since then shows when the company is asked for
			return true
		})
	}
	return missing, c.drops
}

// held adds to found the subscriptions of a company that are cached as of its changes.
func (c *Cache) held(company tenant.ID, changes int64, oldest time.Time, found map[tenant.ID][]Subscription) bool {
	snap, ok := c.lru.Get(company)
	if !ok || !snap.readAt.After(oldest) || snap.changes != changes {
		return false
	}
	found[company] = snap.subs
	c.ahead.use(company)
	return true
}

// Read reads the subscriptions of companies. One with an invalid filter is logged and left out.
func Read(ctx context.Context, q db.Querier, companies []uuid.UUID, log *slog.Logger) (map[tenant.ID][]Subscription, error) {
	rows, err := store.SelectSubscriptions(ctx, q, companies)
	if err != nil {
		return nil, err
	}
	byCompany := make(map[tenant.ID][]Subscription, len(companies))
	for _, row := range rows {
		filter, faults := webhook.CompileFilter(row.Filter)
		if len(faults) > 0 {
			log.WarnContext(ctx, "subscription left out: its stored filter is not valid", "company_id", row.Company, "subscription_id", row.ID, "faults", faults)
			continue
		}
		terms := webhook.Terms{Events: row.Events, Filter: filter, Scopes: row.Scopes, ExcludeOwn: row.ExcludeOwn, CreatedBy: row.CreatedBy}
		byCompany[row.Company] = append(byCompany[row.Company], Subscription{Terms: terms, ID: row.ID, Paused: row.Paused, Ordered: row.Ordered})
	}
	return byCompany, nil
}

// Drop removes a company from the cache.
func (c *Cache) Drop(company tenant.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drops++
	c.lru.Remove(company)
}

func plain(companies []tenant.ID) []uuid.UUID {
	ids := make([]uuid.UUID, len(companies))
	for i, company := range companies {
		ids[i] = uuid.UUID(company)
	}
	return ids
}
