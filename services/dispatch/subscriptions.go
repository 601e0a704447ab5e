package dispatch

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/webhook"
)

const sqlSelectSubscriptions = `SELECT company_id, id, events, filter, status, exclude_own_events, read_scopes, created_by_id
FROM webhook_subscriptions WHERE company_id = ANY($1::UUID[]) AND is_active AND status <> 'disabled' ORDER BY company_id, id`

const sqlSelectChanges = `SELECT company_id, changes FROM webhook_companies WHERE company_id = ANY($1::UUID[])`

// subscriptionCache holds the subscriptions of the companies that raised events lately. Each use asks the database,
// with one cheap query for a whole batch, how many changes a company's set has seen: whoever subscribes and then causes an event
// gets it, however fast. What else may change, such as a subscription that is disabled for its failures, is
// dropped when it is announced, and at the latest when it is older than the time to live.
type subscriptionCache struct {
	q   db.Querier
	ttl time.Duration
	now func() time.Time
	log *slog.Logger

	mu    sync.Mutex
	lru   *simplelru.LRU[tenant.ID, snapshot]
	drops uint64 // announced changes so far: a snapshot read before one is not kept
}

type snapshot struct {
	subs    []subscription
	readAt  time.Time
	changes int64 // of the company's set of subscriptions, when it was read
}

func newSubscriptionCache(q db.Querier, size int, ttl time.Duration, log *slog.Logger) (*subscriptionCache, error) {
	lru, err := simplelru.NewLRU[tenant.ID, snapshot](size, nil)
	if err != nil {
		return nil, fmt.Errorf("make subscription cache: %w", err)
	}
	return &subscriptionCache{q: q, ttl: ttl, now: time.Now, log: log, lru: lru}, nil
}

// load gives the subscriptions of the companies, with one query for all that are not held.
func (c *subscriptionCache) load(ctx context.Context, companies []tenant.ID) (map[tenant.ID][]subscription, error) {
	changes, err := c.changes(ctx, companies)
	if err != nil {
		return nil, err
	}
	found, missing, drops := c.held(companies, changes)
	if len(missing) == 0 {
		return found, nil
	}
	readAt := c.now()
	read, err := c.read(ctx, missing)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range missing {
		company := tenant.ID(id)
		found[company] = read[company]
		if c.drops == drops {
			c.lru.Add(company, snapshot{subs: read[company], readAt: readAt, changes: changes[company]})
		}
	}
	return found, nil
}

// changes counts the changes of each company's set; a company that never had a subscription is left out.
func (c *subscriptionCache) changes(ctx context.Context, companies []tenant.ID) (map[tenant.ID]int64, error) {
	ids := make([]uuid.UUID, len(companies))
	for i, company := range companies {
		ids[i] = uuid.UUID(company)
	}
	out, err := db.Map[tenant.ID, int64](ctx, c.q, sqlSelectChanges, ids)
	if err != nil {
		return nil, fmt.Errorf("count changes of subscriptions: %w", err)
	}
	return out, nil
}

func (c *subscriptionCache) held(companies []tenant.ID, changes map[tenant.ID]int64) (found map[tenant.ID][]subscription, missing []uuid.UUID, drops uint64) {
	found = make(map[tenant.ID][]subscription, len(companies))
	oldest := c.now().Add(-c.ttl)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, company := range companies {
		if snap, ok := c.lru.Get(company); ok && snap.readAt.After(oldest) && snap.changes == changes[company] {
			found[company] = snap.subs
		} else {
			missing = append(missing, uuid.UUID(company))
		}
	}
	return found, missing, c.drops
}

func (c *subscriptionCache) read(ctx context.Context, companies []uuid.UUID) (map[tenant.ID][]subscription, error) {
	rows, err := c.q.Query(ctx, sqlSelectSubscriptions, companies)
	if err != nil {
		return nil, fmt.Errorf("read subscriptions: %w", err)
	}
	type row struct {
		company tenant.ID
		sub     subscription
		broken  bool
	}
	read, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (v row, err error) {
		var patterns []string
		var filter []byte
		var status string
		err = r.Scan(&v.company, &v.sub.id, &patterns, &filter, &status, &v.sub.excludeOwn, &v.sub.scopes, &v.sub.ownActor)
		for _, p := range patterns {
			v.sub.patterns = append(v.sub.patterns, webhook.EventPattern(p))
		}
		v.sub.paused = status == "paused"
		var faults []webhook.FilterFault
		if v.sub.filter, faults = webhook.CompileFilter(filter); len(faults) > 0 {
			c.log.WarnContext(ctx, "stored filter is not valid, its subscription gets nothing", "company_id", v.company, "subscription_id", v.sub.id, "faults", faults)
			v.broken = true
		}
		return v, err
	})
	if err != nil {
		return nil, fmt.Errorf("read subscriptions: %w", err)
	}
	byCompany := make(map[tenant.ID][]subscription, len(companies))
	for _, v := range read {
		if !v.broken {
			byCompany[v.company] = append(byCompany[v.company], v.sub)
		}
	}
	return byCompany, nil
}

// drop forgets a company, so that the next event reads its subscriptions anew.
func (c *subscriptionCache) drop(company tenant.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drops++
	c.lru.Remove(company)
}

// companiesOf lists each company once.
func companiesOf(events []*incoming) []tenant.ID {
	companies := make([]tenant.ID, 0, len(events))
	for _, e := range events {
		companies = append(companies, e.company)
	}
	slices.SortFunc(companies, func(a, b tenant.ID) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(companies)
}
