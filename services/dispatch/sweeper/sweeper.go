// Package sweeper injects deliveries again that nothing in Kafka moves any more; see docs/architecture.md#sweeper.
package sweeper

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/kafka"
	"github.com/tradegrid/tradegrid/pkg/webhook"
	"github.com/tradegrid/tradegrid/services/dispatch/deadletter"
	"github.com/tradegrid/tradegrid/services/dispatch/reconcile"
	"github.com/tradegrid/tradegrid/services/dispatch/store"
	"github.com/tradegrid/tradegrid/topics"
)

// Config says which deliveries the sweeper injects again, and when. Zero values take the defaults named beside the fields.
type Config struct {
	Kafka       kafka.Config
	Owner       string        // unique name of this process; required
	Lease       time.Duration // after a crash another process takes over this much later; 15 s
	Every       time.Duration // pause between two passes; 5 s
	Grace       time.Duration // a delivery in Kafka that is overdue by this is put in again; 10 min
	ParkGrace   time.Duration // the same for one that waits in the database; 2 s
	Abandoned   time.Duration // an attempt that shows no result for this long has lost its worker; 60 s
	ExpireGrace time.Duration // the sender gets this long to notice the end of a time to live itself; 1 min
	Page        int           // rows per statement; 500
	Burst       int           // most deliveries per receiver and pass; 500
	Probe       int           // the same while its breaker is not closed, or after it has not taken those of the last pass; 3
	MaxAttempts int           // 7

	DisableEvery  time.Duration // pause between two looks for receivers that failed for days; 10 min
	DisableAfter  time.Duration // how long a receiver may fail; 5 days
	DisableFailed int           // failed deliveries in that time; 20
	DisableNever  bool
	Subscriptions Subscriptions // required unless DisableNever

	Reconcile *reconcile.Config // nil = event log and deliveries are not compared

	Log *slog.Logger
}

func (c *Config) setDefaults() {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	c.Lease = cmp.Or(c.Lease, 15*time.Second)
	c.Every = cmp.Or(c.Every, 5*time.Second)
	c.Grace = cmp.Or(c.Grace, 10*time.Minute)
	c.ParkGrace = cmp.Or(c.ParkGrace, 2*time.Second)
	c.Abandoned = cmp.Or(c.Abandoned, time.Minute)
	c.ExpireGrace = cmp.Or(c.ExpireGrace, time.Minute)
	c.Page = cmp.Or(c.Page, 500)
	c.Burst = cmp.Or(c.Burst, 500)
	c.Probe = cmp.Or(c.Probe, 3)
	c.MaxAttempts = cmp.Or(c.MaxAttempts, 7)
	c.DisableEvery = cmp.Or(c.DisableEvery, 10*time.Minute)
	c.DisableAfter = cmp.Or(c.DisableAfter, 5*24*time.Hour)
	c.DisableFailed = cmp.Or(c.DisableFailed, 20)
}

// producer writes records and waits until all brokers in sync have them.
type producer interface {
	ProduceSync(ctx context.Context, records ...*kgo.Record) kgo.ProduceResults
}

// Sweeper looks after open deliveries that nothing in Kafka moves any more: those that wait in the database
// until their receiver takes them again, those that Kafka lost, those whose worker died, and those whose
// time is over. One process at a time does it; two would do no harm, because repeats are recognised.
type Sweeper struct {
	cfg    Config
	db     *db.DB
	client *kgo.Client
	out    producer // client, unless a test makes it fail
	dead   *deadletter.Writer
	lease  *lease
	now    func() time.Time
	nudges chan webhook.SubscriptionKey // subscriptions that changed

	feeds     map[webhook.SubscriptionKey]feed // what the receivers with a backlog got in the last pass
	expiredAt time.Time                        // when all open deliveries were last looked at for the end of their time

	watch watch
}

// New connects to the brokers; Run does the rest.
func New(d *db.DB, cfg Config) (*Sweeper, error) {
	cfg.setDefaults()
	if cfg.Owner == "" {
		return nil, errors.New("sweeper: the owner is required, a name that no other process has")
	}
	if cfg.Subscriptions == nil && !cfg.DisableNever {
		return nil, errors.New("sweeper: the owner of the subscriptions is required to disable them")
	}
	client, err := kafka.NewClient(cfg.Kafka)
	if err != nil {
		return nil, fmt.Errorf("sweeper: %w", err)
	}
	return &Sweeper{
		cfg: cfg, db: d, client: client, out: client, dead: deadletter.New(client), now: time.Now,
		lease:  &lease{db: d, name: "sweeper", owner: cfg.Owner, ttl: cfg.Lease, now: time.Now},
		nudges: make(chan webhook.SubscriptionKey, 1000), watch: newWatch(d, client, &cfg),
	}, nil
}

// Run sweeps until ctx is done, while this process holds the lease.
func (s *Sweeper) Run(ctx context.Context) error {
	defer s.client.Close()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		return kafka.Tail(ctx, s.cfg.Kafka, nil, s.subscriptionChanged, topics.Subscriptions)
	})
	group.Go(func() error {
		s.loop(ctx)
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		if err := s.lease.release(last); err != nil {
			s.cfg.Log.WarnContext(ctx, "sweeper lease not released, it runs out by itself", "error", err)
		}
		return nil
	})
	return group.Wait()
}

// subscriptionChanged asks for a look at a subscription, which may take deliveries again. A nudge
// that finds no room is no loss: the next pass sees the same.
func (s *Sweeper) subscriptionChanged(rec *kgo.Record) {
	key, err := webhook.ParseSubscriptionKey(rec.Key)
	if err != nil {
		return // the router has said so
	}
	select {
	case s.nudges <- key:
	default:
	}
}

func (s *Sweeper) loop(ctx context.Context) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	var disabledAt time.Time
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case key := <-s.nudges:
			err = s.ifHeld(ctx, func() error { return s.sweepOne(ctx, key) })
		case <-pause.C:
			began := s.now()
			more := false
			err = s.ifHeld(ctx, func() (err error) {
				more, err = s.pass(ctx)
				if err == nil && !s.cfg.DisableNever && began.Sub(disabledAt) >= s.cfg.DisableEvery {
					disabledAt = began
					err = s.disableFailing(ctx)
				}
				return err
			})
			// A pass over very many open deliveries must not load the database all the time.
			next := max(s.cfg.Every, 5*s.now().Sub(began))
			if more {
				next = min(next, max(s.cfg.Every/5, 2*s.now().Sub(began)))
			}
			pause.Reset(next)
		}
		if err != nil && ctx.Err() == nil {
			s.cfg.Log.WarnContext(ctx, "sweep failed", "error", err)
		}
	}
}

func (s *Sweeper) ifHeld(ctx context.Context, do func() error) error {
	held, err := s.lease.hold(ctx)
	if !held && err == nil {
		s.showOldest(nil) // its owner measures now: old figures of this process would outlive the backlog
		s.watch.reset()
	}
	if !held || err != nil {
		return err
	}
	return do()
}

func (s *Sweeper) cutoffs() store.Cutoffs {
	now := s.now().UTC().Truncate(time.Microsecond)
	return store.Cutoffs{Now: now, Overdue: now.Add(-s.cfg.Grace), Parked: now.Add(-s.cfg.ParkGrace)}
}

// pass goes once over the open deliveries of all receivers. It reports more when a receiver has more than
// it was given.
func (s *Sweeper) pass(ctx context.Context) (more bool, err error) {
	began := s.now()
	at := s.cutoffs()
	released, err := store.ReleaseAbandoned(ctx, s.db, at.Now.Add(-s.cfg.Abandoned))
	if err != nil {
		return false, err
	}
	sweeperReleased.Add(float64(released))
	w := &walk{Cutoffs: at, feeds: map[webhook.SubscriptionKey]feed{}}
	err = s.walk(ctx, w)
	s.feeds = w.feeds
	if err != nil {
		return w.more, err
	}
	if began.Sub(s.expiredAt) >= s.cfg.ExpireGrace {
		// Behind a receiver that takes nothing, the walk above sees the oldest only.
		if err := s.walk(ctx, &walk{Cutoffs: store.Cutoffs{Now: at.Now}}); err != nil {
			return w.more, err
		}
		s.expiredAt = began
	}
	sweeperSeconds.Observe(s.now().Sub(began).Seconds())
	return w.more, s.measure(ctx)
}

// walk takes page after page, as long as this process holds the lease.
func (s *Sweeper) walk(ctx context.Context, w *walk) error {
	for {
		if end, err := s.page(ctx, w); end || err != nil {
			return err
		}
		if held, err := s.lease.hold(ctx); !held || err != nil {
			return err
		}
	}
}

// sweepOne looks at one receiver, at once: it has just changed.
func (s *Sweeper) sweepOne(ctx context.Context, key webhook.SubscriptionKey) error {
	w := &walk{at: store.First(key), Cutoffs: s.cutoffs(), only: &key}
	w.Parked = w.Now
	_, err := s.page(ctx, w)
	return err
}

func (s *Sweeper) measure(ctx context.Context) error {
	oldest, err := store.SelectOldest(ctx, s.db)
	if err != nil {
		return err
	}
	s.showOldest(oldest)
	return s.watch.turn(ctx, s.now())
}

// showOldest sets the metric from the creation of the oldest open delivery by tier; none is age 0.
func (s *Sweeper) showOldest(oldest map[string]time.Time) {
	for _, tier := range []string{store.TierHealthy, store.TierBlocked} {
		age := 0.0
		if at, ok := oldest[tier]; ok {
			age = max(s.now().Sub(at).Seconds(), 0)
		}
		oldestUndelivered.WithLabelValues(tier).Set(age)
	}
}

// walk is the state of a pass.
type walk struct {
	store.Cutoffs
	at    store.DeliveryKey
	only  *webhook.SubscriptionKey
	given int                              // deliveries of the receiver at the cursor that were put in
	feed  feed                             // of that receiver
	feeds map[webhook.SubscriptionKey]feed // of this pass; nil = not kept
	more  bool
}

// feed is how much a receiver with a backlog gets.
type feed struct {
	limit   int       // deliveries in one pass
	through uuid.UUID // the last that was put in
	back    bool      // some of the pass before have come back
}

// feedFor begins with few when deliveries of the last pass have come back, and doubles while none do.
func (s *Sweeper) feedFor(v *store.OpenDelivery, receiver store.ReceiverState) feed {
	last, ok := s.feeds[v.Subscription]
	switch {
	case receiver.BreakerOpen:
		return feed{limit: s.cfg.Probe}
	case !ok:
		return feed{limit: s.cfg.Burst}
	case bytes.Compare(v.ID[:], last.through[:]) <= 0:
		return feed{limit: s.cfg.Probe, back: true}
	}
	return feed{limit: min(2*last.limit, s.cfg.Burst)}
}

// page handles the rows after the cursor. It reports the end of the walk.
func (s *Sweeper) page(ctx context.Context, w *walk) (end bool, err error) {
	rows, err := store.SelectOpen(ctx, s.db, w.at, w.Cutoffs, s.cfg.Page)
	if err != nil || len(rows) == 0 {
		return true, err
	}
	receivers, err := store.SelectReceiverStates(ctx, s.db, rows)
	if err != nil {
		return true, err
	}
	var todo todo
	skip := webhook.SubscriptionKey{}
	for _, v := range rows {
		if w.only != nil && v.Subscription != *w.only {
			end = true
			break
		}
		if v.Subscription == skip {
			continue
		}
		if v.Subscription != w.at.Subscription {
			w.given = 0
		}
		w.at = v.DeliveryKey
		receiver, exists := receivers[v.Subscription]
		if s.decide(v, receiver, exists, w, &todo) {
			skip, w.at = v.Subscription, store.Last(v.Subscription)
		}
	}
	return end || len(rows) < s.cfg.Page, s.do(ctx, &todo, w.Now)
}

// todo is what a page asks for.
type todo struct {
	inject []*store.OpenDelivery
	close  []*store.OpenDelivery
	why    []ending // of close
}

type ending struct{ reason, text string }

// decide says what to do about one row. It reports done when nothing more is to be done for its receiver in this pass.
func (s *Sweeper) decide(v *store.OpenDelivery, receiver store.ReceiverState, exists bool, w *walk, to *todo) (done bool) {
	end := ending{}
	switch grace := s.expireGrace(v); {
	case !exists:
		end = ending{deadletter.Deleted, "subscription deleted"}
	case !v.Expires.After(w.Now.Add(-grace)):
		end = ending{deadletter.TTL, "ttl expired"}
	case int(v.Attempt) >= s.cfg.MaxAttempts && v.State == webhook.StatePending:
		end = ending{deadletter.Attempts, "the last attempt ended without a result"}
	}
	switch {
	case end.reason != "":
		to.close, to.why = append(to.close, v), append(to.why, end)
		return false
	case v.State == webhook.StateDelivering:
		return false // its worker is at it
	case !v.Expires.After(w.Now):
		return false // the sender is about to notice
	}
	if !receiver.Active || receiver.OpenUntil.After(w.Now) {
		return true
	}
	if w.given == 0 {
		w.feed = s.feedFor(v, receiver)
	}
	if w.given >= w.feed.limit {
		w.more = w.more || (!receiver.BreakerOpen && !w.feed.back)
		return true
	}
	w.given++
	if bytes.Compare(v.ID[:], w.feed.through[:]) > 0 {
		w.feed.through = v.ID
	}
	if w.feeds != nil {
		w.feeds[v.Subscription] = w.feed
	}
	to.inject = append(to.inject, v)
	return false
}

// expireGrace is how long after its time a row is left to the sender. What waits in the database is known to
// no sender.
func (s *Sweeper) expireGrace(v *store.OpenDelivery) time.Duration {
	if v.State == webhook.StatePending && v.Next == nil {
		return 0
	}
	return s.cfg.ExpireGrace
}
