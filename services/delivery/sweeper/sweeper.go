// Package sweeper injects stuck and held deliveries again; see docs/architecture.md#sweeper.
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

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/kit/config"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/lease"
	"github.com/tradegrid/tradegrid/services/delivery/deadletter"
	"github.com/tradegrid/tradegrid/services/delivery/reconcile"
	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/topics"
)

// Settings are those of a sweeper.
type Settings struct {
	Every         time.Duration `name:"sweep-every" help:"Interval between sweeps for stuck deliveries." default:"5s"`
	Grace         time.Duration `name:"sweep-grace" help:"Inject a delivery again when its Kafka message is overdue by this much and does not wait unread." default:"10m" same:"platform"`
	DisableAfter  time.Duration `help:"Disable a subscription after this time without a success, if --disable-failed is reached too; 0 = never." default:"120h"`
	DisableFailed int           `help:"Minimum number of failed deliveries before a subscription is disabled." default:"20"`
}

// Check validates the settings.
func (s Settings) Check() error {
	err := errors.Join(
		config.Positive("--sweep-every", s.Every),
		config.Positive("--sweep-grace", s.Grace),
		config.Positive("--disable-failed", s.DisableFailed),
	)
	if s.DisableAfter < 0 {
		err = errors.Join(err, fmt.Errorf("--disable-after %s: must not be below 0; 0 = never", s.DisableAfter))
	}
	return err
}

// Config configures a [Sweeper]. Zero values take the defaults named beside the fields.
type Config struct {
	Settings // required

	Kafka       kafka.Config
	Owner       string             // name of this process; required
	Lease       time.Duration      // after a crash another process takes over this much later; 15 s
	HoldGrace   time.Duration      // inject a held delivery after this; 2 s
	abandoned   time.Duration      // release an attempt without a result after this; 60 s
	expireGrace time.Duration      // fail an expired delivery that the sender has not failed after this; 1 min
	page        int                // rows per statement; 500
	burst       int                // maximum number of deliveries per receiver and pass; 500
	probe       int                // the same while its breaker is open, or when deliveries of the last pass have returned; 3
	Policy      webhook.Policy     // that of all processes; required
	Tiers       []topics.DelayTier // topics.DelayTiers()

	Subscriptions Subscriptions // required unless DisableAfter is 0; without it nothing is redelivered automatically

	Reconcile *reconcile.Config // nil = no reconciliation

	Log *slog.Logger
}

func (c *Config) setDefaults() {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	c.Lease = cmp.Or(c.Lease, 15*time.Second)
	c.HoldGrace = cmp.Or(c.HoldGrace, 2*time.Second)
	c.abandoned = cmp.Or(c.abandoned, time.Minute)
	c.expireGrace = cmp.Or(c.expireGrace, time.Minute)
	c.page = cmp.Or(c.page, 500)
	c.burst = cmp.Or(c.burst, 500)
	c.probe = cmp.Or(c.probe, 3)
	if len(c.Tiers) == 0 {
		c.Tiers = topics.DelayTiers()
	}
}

// producer produces records and waits for the acknowledgements.
type producer interface {
	ProduceSync(ctx context.Context, records ...*kgo.Record) kgo.ProduceResults
}

// Sweeper handles open deliveries that have no record in Kafka: those that are held until their receiver takes deliveries
// again, those whose record was lost, those whose sender died, and those that have expired. One process at a time does it;
// two would do no harm, because the sender recognises repeats.
type Sweeper struct {
	cfg     Config
	db      *db.DB
	client  *kgo.Client
	out     producer // client, unless a test makes it fail
	dead    *deadletter.Writer
	lease   *lease.Lease
	now     func() time.Time
	changed chan webhook.SubscriptionKey // subscriptions that may take deliveries again

	quotas    map[webhook.SubscriptionKey]quota // of receivers with held deliveries, in the last pass
	expiredAt time.Time                         // when all open deliveries were last checked for expiry
	held      int                               // overdue deliveries that the last pass left alone

	recoveredUpTo webhook.SubscriptionKey               // where the next pass goes on with receivers that are back
	redelivered   map[webhook.SubscriptionKey]uuid.UUID // of these receivers: the last failed delivery that was looked at

	monitor monitor
	stuck   stuck
}

// New connects to the brokers; Run does the rest.
func New(d *db.DB, cfg Config) (*Sweeper, error) {
	cfg.setDefaults()
	if cfg.Owner == "" {
		return nil, errors.New("start sweeper: Owner is required, the name of this process")
	}
	if err := errors.Join(cfg.Check(), cfg.Policy.Check()); err != nil {
		return nil, fmt.Errorf("start sweeper: Settings and Policy are required: %w", err)
	}
	if cfg.Subscriptions == nil && cfg.DisableAfter > 0 {
		return nil, errors.New("start sweeper: Subscriptions is required unless DisableAfter is 0")
	}
	client, err := kafka.NewClient(cfg.Kafka)
	if err != nil {
		return nil, fmt.Errorf("start sweeper: %w", err)
	}
	return &Sweeper{
		cfg: cfg, db: d, client: client, out: client, dead: deadletter.New(client), now: time.Now,
		lease:   lease.New(lease.Config{DB: d, Name: "sweeper", Node: cfg.Owner, TTL: cfg.Lease}),
		changed: make(chan webhook.SubscriptionKey, 1000), monitor: newMonitor(d, client, &cfg),
		redelivered: map[webhook.SubscriptionKey]uuid.UUID{},
	}, nil
}

// PartitionNotes say, for /readyz, which partitions no consumer group reads.
func (s *Sweeper) PartitionNotes() []string { return s.monitor.groups.Notes() }

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
		if err := s.lease.Release(last); err != nil {
			s.cfg.Log.WarnContext(ctx, "sweeper lease not released, it will expire", "error", err)
		}
		return nil
	})
	return group.Wait()
}

// subscriptionChanged queues a subscription, which may take deliveries again. When the queue is full, the next pass handles
// the subscription.
func (s *Sweeper) subscriptionChanged(rec *kgo.Record) {
	key, err := webhook.ParseSubscriptionKey(rec.Key)
	if err != nil {
		return // the router logs it
	}
	select {
	case s.changed <- key:
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
		case key := <-s.changed:
			err = s.ifHeld(ctx, func() error { return s.sweepOne(ctx, key) })
		case <-pause.C:
			began := s.now()
			more := false
			err = s.ifHeld(ctx, func() (err error) {
				more, err = s.pass(ctx)
				if err == nil && began.Sub(disabledAt) >= disableEvery {
					disabledAt = began
					err = s.disableFailing(ctx)
				}
				return err
			})
			// A long pass must not keep the database busy all the time.
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
	held, err := s.lease.Hold(ctx)
	if !held && err == nil {
		s.showOldest(nil) // the owner of the lease measures now
		s.monitor.reset()
		clear(s.redelivered) // the owner of the lease goes on
	}
	if !held || err != nil {
		return err
	}
	return do()
}

func (s *Sweeper) cutoffs() store.Cutoffs {
	now := s.now().UTC().Truncate(time.Microsecond)
	return store.Cutoffs{Now: now, Overdue: now.Add(-s.cfg.Grace), Held: now.Add(-s.cfg.HoldGrace)}
}

// pass goes once over the open deliveries of all receivers. It reports whether a receiver has more than it got.
func (s *Sweeper) pass(ctx context.Context) (more bool, err error) {
	began := s.now()
	at := s.cutoffs()
	released, err := store.ReleaseAbandoned(ctx, s.db, at.Now.Add(-s.cfg.abandoned))
	if err != nil {
		return false, err
	}
	sweeperReleased.Add(float64(released))
	w := &scan{Cutoffs: at, quotas: map[webhook.SubscriptionKey]quota{}}
	err = s.scan(ctx, w)
	s.quotas = w.quotas
	if err != nil {
		return w.more, err
	}
	s.reportHeld(ctx, w.held)
	if err := s.recoverReceivers(ctx); err != nil {
		return w.more, err
	}
	if began.Sub(s.expiredAt) >= s.cfg.expireGrace {
		// Of receivers that take nothing, the scan above reads only the oldest deliveries.
		if err := s.scan(ctx, &scan{Cutoffs: store.Cutoffs{Now: at.Now}}); err != nil {
			return w.more, err
		}
		s.expiredAt = began
	}
	sweeperSeconds.Observe(s.now().Sub(began).Seconds())
	return w.more, s.measure(ctx)
}

// scan reads page after page, as long as this process holds the lease.
func (s *Sweeper) scan(ctx context.Context, w *scan) error {
	for {
		if end, err := s.page(ctx, w); end || err != nil {
			return err
		}
		if held, err := s.lease.Hold(ctx); !held || err != nil {
			return err
		}
	}
}

// sweepOne handles one subscription that has just changed.
func (s *Sweeper) sweepOne(ctx context.Context, key webhook.SubscriptionKey) error {
	w := &scan{at: store.First(key), Cutoffs: s.cutoffs(), only: &key}
	w.Held = w.Now
	_, err := s.page(ctx, w)
	return err
}

func (s *Sweeper) measure(ctx context.Context) error {
	oldest, err := store.SelectOldest(ctx, s.db)
	if err != nil {
		return err
	}
	s.showOldest(oldest)
	return s.monitor.check(ctx, s.now())
}

// showOldest sets the metric from the creation of the oldest open delivery by tier; without one the age is 0.
func (s *Sweeper) showOldest(oldest map[string]time.Time) {
	for _, tier := range []string{store.TierHealthy, store.TierBlocked} {
		age := 0.0
		if at, ok := oldest[tier]; ok {
			age = max(s.now().Sub(at).Seconds(), 0)
		}
		oldestUndelivered.WithLabelValues(tier).Set(age)
	}
}

// scan is the state of a pass.
type scan struct {
	store.Cutoffs
	at     store.DeliveryKey
	only   *webhook.SubscriptionKey
	given  int                               // deliveries of the current receiver that are injected
	quota  quota                             // of the current receiver
	quotas map[webhook.SubscriptionKey]quota // of this pass; nil = not recorded
	unread *unread                           // nil while no delivery is overdue
	held   int                               // overdue deliveries that were left alone
	more   bool
}

// quota is how many held deliveries a receiver gets in a pass.
type quota struct {
	limit    int
	through  uuid.UUID // the last that was injected
	returned bool      // deliveries of the pass before were held again
}

// quotaFor gives few when deliveries of the last pass were held again, and doubles while none are.
func (s *Sweeper) quotaFor(v *store.OpenDelivery, receiver store.ReceiverState) quota {
	last, ok := s.quotas[v.Subscription]
	switch {
	case receiver.BreakerOpen:
		return quota{limit: s.cfg.probe}
	case !ok:
		return quota{limit: s.cfg.burst}
	case bytes.Compare(v.ID[:], last.through[:]) <= 0 && !v.Held(): // what was held has not been sent before
		return quota{limit: s.cfg.probe, returned: true}
	}
	return quota{limit: min(2*last.limit, s.cfg.burst)}
}

// page handles the next page of rows. It reports whether it was the last.
func (s *Sweeper) page(ctx context.Context, w *scan) (end bool, err error) {
	rows, err := store.SelectOpen(ctx, s.db, w.at, w.Cutoffs, s.cfg.page)
	if err != nil || len(rows) == 0 {
		return true, err
	}
	receivers, err := store.SelectReceiverStates(ctx, s.db, rows)
	if err != nil {
		return true, err
	}
	s.findUnread(ctx, w, rows)
	var todo actions
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
	return end || len(rows) < s.cfg.page, s.do(ctx, &todo, w.Now)
}

// actions are what has to be done with the rows of a page.
type actions struct {
	inject []*store.OpenDelivery
	close  []*store.OpenDelivery
	why    []failure // reasons of close
}

type failure struct{ reason, text string }

// decide adds what has to be done with one row. It reports done when the receiver gets no more in this pass.
func (s *Sweeper) decide(v *store.OpenDelivery, receiver store.ReceiverState, exists bool, w *scan, to *actions) (done bool) {
	end := failure{}
	switch grace := s.expireGrace(v); {
	case !exists:
		end = failure{deadletter.Deleted, webhook.SubscriptionDeleted}
	case !v.Expires.After(w.Now.Add(-grace)):
		end = failure{deadletter.TTL, webhook.Expired}
	case int(v.Attempt) >= s.cfg.Policy.MaxAttempts && v.State == webhook.StatePending:
		end = failure{deadletter.Attempts, "the last attempt ended without a result"}
	}
	switch {
	case end.reason != "":
		to.close, to.why = append(to.close, v), append(to.why, end)
		return false
	case v.State == webhook.StateDelivering:
		return false // a sender is attempting it
	case !v.Expires.After(w.Now):
		return false // the sender will fail it
	}
	if !receiver.Active || receiver.OpenUntil.After(w.Now) {
		return true
	}
	if v.OverdueAt(w.Overdue) {
		if held, all := w.unread.holds(v, s.cfg.Tiers); held {
			w.held++
			return all
		}
	}
	if w.given == 0 {
		w.quota = s.quotaFor(v, receiver)
	}
	if w.given >= w.quota.limit {
		w.more = w.more || (!receiver.BreakerOpen && !w.quota.returned)
		return true
	}
	w.given++
	if bytes.Compare(v.ID[:], w.quota.through[:]) > 0 {
		w.quota.through = v.ID
	}
	if w.quotas != nil {
		w.quotas[v.Subscription] = w.quota
	}
	to.inject = append(to.inject, v)
	return false
}

// expireGrace is how long an expired row is left to the sender. One that is held is unknown to senders.
func (s *Sweeper) expireGrace(v *store.OpenDelivery) time.Duration {
	if v.State == webhook.StatePending && v.Next == nil {
		return 0
	}
	return s.cfg.expireGrace
}
