package sweeper

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/tradegrid/tradegrid/services/delivery/store"
)

// stuck are deliveries that were injected again because nothing had become of the record that was injected before: a sender that
// takes it for a repeat, or a partition that nobody consumes.
type stuck struct {
	mu      sync.Mutex
	from    time.Time // when the first of them was injected again
	last    time.Time
	count   int
	example store.DeliveryKey
}

// unmoved reports whether a delivery is as [store.MarkInjected] left it.
func unmoved(v *store.OpenDelivery) bool {
	return v.Next != nil && v.Next.Equal(v.UpdatedAt) && v.Next.After(v.CreatedAt)
}

// reportUnmoved tells of those among injected deliveries that had been injected before, in vain.
func (s *Sweeper) reportUnmoved(ctx context.Context, injected []*store.OpenDelivery, now time.Time) {
	var n int
	var example *store.OpenDelivery
	for _, v := range injected {
		if unmoved(v) {
			n, example = n+1, v
		}
	}
	if n == 0 {
		return
	}
	sweeperIneffective.Add(float64(n))
	s.cfg.Log.ErrorContext(ctx, "deliveries injected again after an injection without effect", "count", n, "company_id", example.Subscription.Company,
		"subscription_id", example.Subscription.ID, "delivery_id", example.ID, "injected_before", *example.Next, "see", "docs/runbooks/TradegridDeliveriesStuck.md")
	s.stuck.mu.Lock()
	defer s.stuck.mu.Unlock()
	if now.Sub(s.stuck.last) > s.shown() {
		s.stuck.from, s.stuck.count = now, 0
	}
	s.stuck.last, s.stuck.example = now, example.DeliveryKey
	s.stuck.count += n
}

// shown is how long a process tells of what is stuck: the same deliveries are overdue again before.
func (s *Sweeper) shown() time.Duration { return 2 * s.cfg.Grace }

// StuckNotes tell in /readyz of deliveries that do not move.
func (s *Sweeper) StuckNotes() []string {
	s.stuck.mu.Lock()
	defer s.stuck.mu.Unlock()
	if s.stuck.count == 0 || s.now().Sub(s.stuck.last) > s.shown() {
		return nil
	}
	return []string{fmt.Sprintf("deliveries were injected again %d times since %s although nothing had become of the injection before, last at %s delivery %s of subscription %s: see docs/runbooks/TradegridDeliveriesStuck.md",
		s.stuck.count, s.stuck.from.Format(time.RFC3339), s.stuck.last.Format(time.RFC3339), s.stuck.example.ID, s.stuck.example.Subscription.ID)}
}
