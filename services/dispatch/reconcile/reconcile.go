// Package reconcile checks that every logged event has its deliveries; see docs/architecture.md#reconciliation.
package reconcile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/event"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/webhook"
	"github.com/tradegrid/tradegrid/services/dispatch/match"
	"github.com/tradegrid/tradegrid/services/dispatch/store"
	"github.com/tradegrid/tradegrid/topics"
)

// Limits of one comparison. Within them it is complete; beyond them it is a sample that changes each time.
const (
	pageSize     = 500              // companies per statement
	batchSize    = 20               // companies whose events are held in memory at a time
	maxEvents    = 25               // events of one company
	maxCompanies = 500              // companies with events
	lookback     = 2000             // positions per bucket that a new owner looks back
	settled      = 10 * time.Second // the router may have seen the old state of what was changed less than this before an event
	keepMissing  = 24 * time.Hour   // how long a missing delivery is reported; longer than deliveries live
	maxMissing   = 10_000           // missing deliveries that are remembered
)

// Config configures a [Reconciler]. Group, Events and Modules are those of the routers.
type Config struct {
	Group   string // consumer group of the routers
	Events  *event.Registry
	Modules match.Modules
	Log     *slog.Logger // discards by default
}

// Reconciler checks that each event of the log has a delivery, in whatever state, for each subscription that matches it. It
// finds events that were lost between the outbox and the rows of deliveries, in Kafka or in the router. One process at a
// time runs it.
type Reconciler struct {
	cfg   Config
	db    *db.DB
	admin *kadm.Client
	now   func() time.Time

	in      logRange        // part of the log that is compared next
	began   bool            // in.low is known
	until   map[int32]int64 // offsets that the routers must have committed before, by partition; nil = in.high is not known
	next    uuid.UUID       // the next comparison begins after this company
	missing map[pair]time.Time

	companies func(ctx context.Context, after uuid.UUID) ([]uuid.UUID, error) // that have subscriptions, in order
}

// New makes a reconciler.
func New(d *db.DB, admin *kadm.Client, cfg Config) *Reconciler {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	r := &Reconciler{cfg: cfg, db: d, admin: admin, now: time.Now}
	r.companies = func(ctx context.Context, after uuid.UUID) ([]uuid.UUID, error) {
		return store.SelectSubscribers(ctx, d, after, pageSize)
	}
	return r
}

// pair is a delivery that must exist.
type pair struct {
	company               tenant.ID
	subscription, eventID uuid.UUID
}

func (p pair) delivery() store.DeliveryKey {
	key := webhook.SubscriptionKey{Company: p.company, ID: p.subscription}
	return store.DeliveryKey{Subscription: key, ID: webhook.DeliveryID(p.eventID, p.subscription, 0)}
}

// Reset forgets everything, because another process has taken over.
func (r *Reconciler) Reset() {
	r.began, r.until, r.missing = false, nil, nil
	reconcilerDifference.Set(0)
}

// Step notes where the log ends, or compares up to there once the routers have processed it.
func (r *Reconciler) Step(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	if err := r.recheck(ctx); err != nil {
		return err
	}
	if r.until == nil {
		if err := r.begin(ctx); err != nil {
			return err
		}
	}
	seen, err := r.routed(ctx)
	if err != nil || !seen {
		return err
	}
	if err := r.compare(ctx); err != nil {
		return err
	}
	r.in.low, r.until = r.in.high, nil
	return nil
}

// begin reads the ends of the log before the ends of the topic: what is in the log was published before.
func (r *Reconciler) begin(ctx context.Context) error {
	high, err := selectHeads(ctx, r.db)
	if err != nil {
		return err
	}
	ends, err := r.admin.ListEndOffsets(ctx, topics.Events)
	if err = errors.Join(err, ends.Error()); err != nil {
		return fmt.Errorf("read ends of topic %s: %w", topics.Events, err)
	}
	r.in.high, r.until = high, map[int32]int64{}
	if !r.began {
		r.began, r.in.low = true, high
		for b := range r.in.low {
			r.in.low[b] = max(high[b]-lookback, 0)
		}
	}
	ends.Each(func(o kadm.ListedOffset) { r.until[o.Partition] = o.Offset })
	return nil
}

// routed reports whether the routers have committed everything up to the noted ends, except for what the topic has lost.
func (r *Reconciler) routed(ctx context.Context) (bool, error) {
	committed, err := r.admin.FetchOffsets(ctx, r.cfg.Group)
	if errors.Is(err, kerr.GroupIDNotFound) {
		err = nil // no router has run yet
	}
	if err = errors.Join(err, committed.Error()); err != nil {
		return false, fmt.Errorf("read offsets of group %s: %w", r.cfg.Group, err)
	}
	starts, err := r.admin.ListStartOffsets(ctx, topics.Events)
	if err = errors.Join(err, starts.Error()); err != nil {
		return false, fmt.Errorf("read starts of topic %s: %w", topics.Events, err)
	}
	for partition, end := range r.until {
		at := int64(0)
		if c, ok := committed.Lookup(topics.Events, partition); ok {
			at = c.At
		}
		if start, ok := starts.Lookup(topics.Events, partition); ok {
			at = max(at, start.Offset)
		}
		if at < end {
			return false, nil
		}
	}
	return true, nil
}

// recheck drops deliveries that are no longer missing.
func (r *Reconciler) recheck(ctx context.Context) error {
	pairs := make([]pair, 0, len(r.missing))
	for p, found := range r.missing {
		if r.now().Sub(found) > keepMissing {
			continue
		}
		pairs = append(pairs, p)
	}
	still, err := r.absent(ctx, pairs)
	if err != nil {
		return err
	}
	stillMissing := make(map[pair]time.Time, len(still))
	for _, p := range still {
		stillMissing[p] = r.missing[p]
	}
	r.missing = stillMissing
	reconcilerDifference.Set(float64(len(r.missing)))
	return nil
}

// compare goes over the companies with events in the range, from where the last comparison ended.
func (r *Reconciler) compare(ctx context.Context) error {
	for done := 0; done < maxCompanies; {
		page, err := r.companies(ctx, r.next)
		if err != nil {
			return err
		}
		low, high := r.in.columns(page)
		active, err := selectActive(ctx, r.db, page, low, high)
		if err != nil {
			return err
		}
		for some := range slices.Chunk(active, batchSize) {
			if err := r.compareCompanies(ctx, some); err != nil {
				return err
			}
		}
		done += len(active)
		if len(page) < pageSize {
			r.next = uuid.Nil
			return nil
		}
		r.next = page[len(page)-1]
	}
	return nil
}
