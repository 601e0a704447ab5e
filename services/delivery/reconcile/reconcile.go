// Package reconcile checks that every logged event has its deliveries; see docs/architecture.md#reconciliation.
package reconcile

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/delivery/match"
	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/topics"
)

// Limits of one comparison. Within them it is complete; beyond them it is a sample that changes each time.
const (
	pageSize     = 500              // companies per statement
	batchSize    = 20               // companies whose events are held in memory at a time
	maxEvents    = 25               // events of one company
	maxCompanies = 500              // companies with events
	lookback     = 2000             // positions per bucket that the first owner looks back
	settled      = 10 * time.Second // the router may have seen the old state of what was changed less than this before an event
	keepMissing  = 24 * time.Hour   // how long a missing delivery is reported; longer than deliveries live
	maxMissing   = 10_000           // missing deliveries that are remembered
)

// Config configures a [Reconciler]. Group, Events and Components are those of the routers.
type Config struct {
	Group      string // consumer group of the routers
	Events     *event.Registry
	Components match.Components

	// CompaniesChanged reads when each company, or one of its components, was changed last.
	CompaniesChanged func(ctx context.Context, q db.Querier, companies []uuid.UUID) (map[uuid.UUID]time.Time, error)

	every time.Duration // pause between comparisons; the topic is looked at in each step; 30 s
	Log   *slog.Logger  // discards by default
}

// Reconciler checks that each event of the log has a delivery, in whatever state, for each subscription that matches it. It
// finds events that were lost between the outbox and the rows of deliveries, in Kafka or in the router. Those that Kafka lost
// before the routers had them, it publishes again. One process at a time runs it.
type Reconciler struct {
	cfg   Config
	db    *db.DB
	admin *kadm.Client
	now   func() time.Time

	progress      *progress       // of the routers, as this step read it
	republication *republication  // nil = none
	in            outbox.LogRange // part of the log that is compared next
	until         []int64         // offsets that the routers must have committed before, by partition; nil = in is not known
	compared      time.Time       // when the last comparison ended
	next          uuid.UUID       // the next comparison begins after this company
	missing       map[pair]time.Time

	companies func(ctx context.Context, after uuid.UUID) ([]uuid.UUID, error) // that have subscriptions, in order
}

// New makes a reconciler.
func New(d *db.DB, admin *kadm.Client, cfg Config) *Reconciler {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	cfg.every = cmp.Or(cfg.every, 30*time.Second)
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
	r.progress, r.republication, r.until, r.missing, r.compared = nil, nil, nil, nil, time.Time{}
	reconcilerDifference.Set(0)
}

// Step looks whether the topic lost events before the routers had them, and publishes those again. Otherwise it notes where
// the log ends, or compares up to there once the routers have processed it.
func (r *Reconciler) Step(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	if err := r.recheck(ctx); err != nil {
		return err
	}
	topic, err := r.readTopic(ctx)
	if err != nil {
		return err
	}
	if err := r.loadProgress(ctx, topic); err != nil {
		return err
	}
	if lost := r.progress.loss(topic); lost != "" {
		if err := r.startRepublication(ctx, topic, lost); err != nil {
			return err
		}
	}
	if r.progress.lostAt != nil {
		if finished, err := r.republish(ctx); !finished || err != nil {
			return err
		}
	}
	if r.until == nil {
		if r.now().Sub(r.compared) < r.cfg.every {
			return nil
		}
		if topic, err = r.begin(ctx); err != nil {
			return err
		}
	}
	if !r.routed(topic) {
		return nil
	}
	if r.in.Low != r.in.High {
		if err := r.compare(ctx); err != nil {
			return err
		}
	}
	if err := r.store(ctx, progress{topicID: topic.id, offsets: topic.next, heads: r.in.High}); err != nil {
		return err
	}
	r.until, r.republication, r.compared = nil, nil, r.now()
	return nil
}

// loadProgress reads the progress, each time, so that the one of a restored database holds. The first owner of all begins
// shortly before the end of the log, because nobody knows what was processed before.
func (r *Reconciler) loadProgress(ctx context.Context, topic topicState) (err error) {
	if r.progress, err = selectProgress(ctx, r.db, r.cfg.Group); err != nil || r.progress != nil {
		return err
	}
	begin, err := outbox.ReadLogHeads(ctx, r.db)
	if err != nil {
		return err
	}
	for b := range begin {
		begin[b] = max(begin[b]-lookback, 0)
	}
	return r.store(ctx, progress{topicID: topic.id, offsets: topic.next, heads: begin})
}

// startRepublication stores that events were lost, with the topic as it is now: if this one loses records, too, everything
// after the progress in the log is published again once more.
func (r *Reconciler) startRepublication(ctx context.Context, topic topicState, lost string) error {
	topicLosses.Inc()
	r.cfg.Log.ErrorContext(ctx, "topic lost records that the routers may not have processed, events without deliveries are published again",
		"topic", topics.Events, "cause", lost, "processed_at", r.progress.updated)
	at := r.now().UTC().Truncate(time.Microsecond)
	r.until, r.republication = nil, nil
	return r.store(ctx, progress{topicID: topic.id, offsets: topic.next, heads: r.progress.heads, lostAt: &at})
}

// begin reads the ends of the log before the ends of the topic: what is in the log was published before.
func (r *Reconciler) begin(ctx context.Context) (topic topicState, err error) {
	high, err := outbox.ReadLogHeads(ctx, r.db)
	if err != nil {
		return topic, err
	}
	if topic, err = r.readTopic(ctx); err != nil {
		return topic, err
	}
	if topic.id != r.progress.topicID {
		return topic, errors.New("topic " + topics.Events + " was created again while it was read")
	}
	r.in, r.until = outbox.LogRange{Low: r.progress.heads, High: high}, topic.ends
	return topic, nil
}

// routed reports whether the routers have committed everything up to the noted ends, except for what the topic has lost.
func (r *Reconciler) routed(topic topicState) bool {
	for id, end := range r.until {
		if topic.next[id] < end {
			return false
		}
	}
	return true
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
		active, err := r.in.Active(ctx, r.db, page)
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

var (
	reconcilerDifference = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "tradegrid_reconciler_difference", Help: "Deliveries that must exist by the event log and the subscriptions, and do not: 0 unless something was lost. Counted by the owner of the sweeper's lease; 0 in other processes.",
	})
	reconcilerChecked = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "tradegrid_reconciler_checked_total", Help: "Deliveries that the reconciler has looked for.",
	})
	republished = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "tradegrid_reconciler_republished_total", Help: "Events published again because Kafka lost them before the routers had processed them.",
	})
	topicLosses = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "tradegrid_reconciler_topic_losses_total", Help: "Times that the topic of events was found recreated or truncated before the routers had processed it. What it lost is published again.",
	})
)

// Metrics are the collectors of this package.
func Metrics() []prometheus.Collector {
	return []prometheus.Collector{reconcilerDifference, reconcilerChecked, republished, topicLosses}
}
