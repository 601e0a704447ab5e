// Package sender makes the attempts of deliveries; see docs/architecture.md#sender.
package sender

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/egress"
	"github.com/tradegrid/tradegrid/pkg/failpoint"
	"github.com/tradegrid/tradegrid/pkg/kafka"
	"github.com/tradegrid/tradegrid/pkg/webhook"
	"github.com/tradegrid/tradegrid/services/dispatch/deadletter"
	"github.com/tradegrid/tradegrid/services/dispatch/store"
	"github.com/tradegrid/tradegrid/topics"
)

// Group is the consumer group of the senders.
const Group = "tradegrid-sender"

// Config says how deliveries are sent. Zero values take the defaults of the parts.
type Config struct {
	Client     kafka.Config
	Group      string // Group
	InstanceID string // static membership of the group
	Opts       []kgo.Opt

	Lanes   LaneConfig
	Breaker BreakerConfig
	Retry   RetryConfig
	Results ResultsConfig
	Egress  egress.Config

	PropagateTrace bool // send traceparent to receivers; off outside development: it tells third parties internal ids
	Seen           int  // deliveries whose last attempt is remembered; 100 000
	Tracer         trace.TracerProvider
	Log            *slog.Logger
}

func (c *Config) setDefaults() {
	c.Group = cmp.Or(c.Group, Group)
	c.Seen = cmp.Or(c.Seen, 100_000)
	c.Lanes.setDefaults()
	c.Breaker.setDefaults()
	c.Retry.setDefaults()
	c.Results.setDefaults()
	if c.Egress.MaxConnsPerHost == 0 {
		// A request never waits for a connection: the lanes have let it through, also when their limits grow.
		c.Egress.MaxConnsPerHost = max(2*c.Lanes.PerHost, c.Lanes.Total)
	}
	if c.Tracer == nil {
		c.Tracer = otel.GetTracerProvider()
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
}

// Sender makes the attempts of deliveries. The records of a subscription come to one process, so the queue,
// the breaker and the limits of a receiver are exact and need no coordination.
//
// The order of what follows an attempt is its safety: the next attempt is in Kafka before this one is
// recorded, and it is recorded before its record is finished. A crash in between repeats a step, and the
// repeat is recognised by the number of the attempt.
type Sender struct {
	cfg       Config
	db        *db.DB
	client    *kgo.Client
	receivers Receivers
	dead      *deadletter.Writer
	egress    *egress.Client
	sched     *scheduler
	results   *results
	seen      *seen
	checks    chan check
	tracer    trace.Tracer
	log       *slog.Logger
	now       func() time.Time
	work      context.Context // of attempts; ends after the drain

	mu          sync.Mutex
	assignments map[<-chan struct{}]*assignment
}

// New makes a sender. The client produces retries, parked deliveries and dead letters.
func New(cfg Config, d *db.DB, client *kgo.Client, receivers Receivers) *Sender {
	cfg.setDefaults()
	return &Sender{
		cfg: cfg, db: d, client: client, receivers: receivers, dead: deadletter.New(client), egress: egress.New(cfg.Egress),
		sched: newScheduler(cfg.Lanes, time.Now), results: newResults(cfg.Results, d, cfg.Log, time.Now),
		seen: newSeen(cfg.Seen), checks: make(chan check, 1000), tracer: cfg.Tracer.Tracer("tradegrid/dispatch"),
		log: cfg.Log, now: time.Now, assignments: map[<-chan struct{}]*assignment{},
	}
}

// SetLimits changes how many requests are made at a time; it may be called at any time. Of the lanes' settings it
// takes those limits only.
func (s *Sender) SetLimits(lanes LaneConfig) {
	lanes.setDefaults()
	s.start(s.sched.setLimits(lanes))
}

// Run sends until ctx is done. Then it takes no more work, ends the requests under way, stores their results
// and returns, within the drain time of the consumer.
func (s *Sender) Run(ctx context.Context) error {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	s.work = work
	var background sync.WaitGroup
	background.Go(func() { s.results.run(work) })
	background.Go(func() { s.checkLoop(work) })
	background.Go(func() { s.tickLoop(work) })
	err := kafka.Consume(ctx, kafka.ConsumerConfig{
		Client: s.cfg.Client, Group: s.cfg.Group, Topics: []string{topics.Deliveries}, InstanceID: s.cfg.InstanceID,
		Handle: s.handle, Opts: s.cfg.Opts,
	})
	cancel()
	background.Wait()
	s.egress.Close()
	if err != nil {
		return fmt.Errorf("send deliveries: %w", err)
	}
	return nil
}

// handle takes one record. It blocks its partition while results cannot be stored, and while more work waits
// for healthy receivers than this process gets done in time.
func (s *Sender) handle(ctx context.Context, rec *kafka.Record) {
	msg, err := webhook.DecodeMessage(rec.Record)
	if err != nil {
		s.poison(ctx, rec, err)
		return
	}
	for room := s.blocked(); room != nil; room = s.blocked() {
		select {
		case <-room:
		case <-rec.Stopping():
			rec.Drop()
			return
		}
	}
	j := &job{rec: rec, msg: msg, from: s.assignment(rec)}
	if needed := !s.surelyNew(j); needed || j.from.checking.Load() > 0 {
		j.from.checking.Add(1)
		select {
		case s.checks <- check{j, needed}:
		case <-rec.Stopping():
			j.from.checking.Add(-1)
			rec.Drop()
		}
		return
	}
	s.admit(j)
}

// blocked is nil while the sender can take work, else closed when that may have changed.
func (s *Sender) blocked() <-chan struct{} {
	if room := s.results.blocked(); room != nil {
		return room
	}
	return s.sched.overloaded()
}

// poison keeps a record that no attempt can be made of where people see it; the partition goes on.
func (s *Sender) poison(ctx context.Context, rec *kafka.Record, cause error) {
	s.log.ErrorContext(ctx, "delivery record not understood", "partition", rec.Partition, "offset", rec.Offset, "error", cause)
	for {
		err := s.dead.Record(ctx, topics.DeliveriesDead, rec.Record, deadletter.Decode, cause)
		if err == nil {
			rec.Done()
			return
		}
		s.log.WarnContext(ctx, "dead letter not written", "error", err)
		select {
		case <-rec.Stopping():
			rec.Drop()
			return
		case <-time.After(time.Second):
		}
	}
}

// assignment finds the period to which a record belongs, and looks after its end.
func (s *Sender) assignment(rec *kafka.Record) *assignment {
	stopping := rec.Stopping()
	s.mu.Lock()
	defer s.mu.Unlock()
	if a, ok := s.assignments[stopping]; ok {
		return a
	}
	a := &assignment{stopping: stopping, since: s.now()}
	s.assignments[stopping] = a
	s.results.forget()
	go s.release(a)
	return a
}

// release gives back what has not begun when a partition moves away.
func (s *Sender) release(a *assignment) {
	<-a.stopping
	s.mu.Lock()
	delete(s.assignments, a.stopping)
	s.mu.Unlock()
	for _, j := range s.sched.take(func(j *job) bool { return j.from == a }) {
		j.rec.Drop()
	}
	for _, l := range s.sched.disown(a) {
		l.breaker.forget()
	}
}

// admit puts a job into its lane, or parks it when the lane is full.
func (s *Sender) admit(j *job) {
	run, created, full := s.sched.enqueue(j)
	if created {
		go s.open(j.lane)
	}
	if full {
		s.finish(j, nil, nil, retryInput{cause: laneFull})
	}
	s.start(run)
}

// open makes a new lane ready: with the host and the breaker of its receiver.
func (s *Sender) open(l *lane) {
	r, err := s.receiver(l.key, l.from.stopping)
	if err != nil {
		return // the partition is stopping and the lane has been emptied
	}
	host, opens, until := "", 0, time.Time{}
	if r != nil {
		host, opens, until = r.URL.Host, r.BreakerOpens, r.BreakerOpenUntil
	}
	b := newBreaker(s.cfg.Breaker, opens, until, s.now(), func(c store.Breaker) { s.results.addBreaker(l.key, c) })
	run, ok := s.sched.ready(l, host, b)
	if !ok {
		b.forget()
	}
	s.start(run)
}

// receiver asks for a receiver until there is an answer; it fails only when the partition stops.
func (s *Sender) receiver(key webhook.SubscriptionKey, stopping <-chan struct{}) (*Receiver, error) {
	pause := 50 * time.Millisecond
	for {
		r, err := s.receivers.Receiver(s.work, key.Company, key.ID)
		if err == nil {
			return r, nil
		}
		s.log.WarnContext(s.work, "receiver not read", "company_id", key.Company, "subscription_id", key.ID, "error", err)
		select {
		case <-stopping:
			return nil, err
		case <-time.After(pause):
			pause = min(pause*2, 2*time.Second)
		}
	}
}

func (s *Sender) start(run []*job) {
	for _, j := range run {
		go s.runJobs(j)
	}
}

// runJobs does one job after the other: a warm goroutine costs less than a new one.
func (s *Sender) runJobs(j *job) {
	for j != nil {
		s.process(j)
		run := s.sched.finish(j)
		if j = nil; len(run) > 0 {
			j = run[0]
			s.start(run[1:])
		}
	}
}

// process does what is to be done with a job whose turn has come.
func (s *Sender) process(j *job) {
	if j.from.stopped() {
		j.rec.Drop()
		return
	}
	r, err := s.receiver(j.lane.key, j.from.stopping)
	if err != nil {
		j.rec.Drop()
		return
	}
	if blocked, why := inspect(j.msg, r, s.now()); blocked {
		s.finish(j, r, nil, retryInput{cause: why})
		return
	}
	s.sched.rehost(j.lane, r.URL.Host)
	before, ok := s.seen.claim(j)
	if !ok {
		store.CountDuplicate(store.HopSender)
		j.rec.Done()
		return
	}
	leave, until, ok := j.lane.breaker.allow()
	if !ok {
		s.seen.release(j.msg.DeliveryID, before)
		s.finish(j, r, nil, retryInput{cause: breakerOpen, cooldownEnds: until})
		return
	}
	a := s.attempt(s.work, j, r)
	leave(a.breakerResult())
	if a.aborted {
		s.seen.release(j.msg.DeliveryID, before)
		j.rec.Drop()
		return
	}
	failpoint.Hit("sender.after_2xx")
	j.took, j.failed = a.took, a.err != ""
	s.finish(j, r, a, retryInput{cause: a.cause(), status: a.status, retryAfter: a.retryAfter})
}

// breakerResult is what the breaker is told.
func (a *attempted) breakerResult() error {
	switch {
	case a.aborted:
		return errAborted
	case a.err != "":
		return errFailed
	}
	return nil
}

// inspect finds reasons not to make an attempt that have nothing to do with the receiver's health.
func inspect(m *webhook.Message, r *Receiver, now time.Time) (blocked bool, why cause) {
	switch {
	case !now.Before(m.ExpiresAt):
		return true, expired
	case r == nil:
		return true, deleted
	case r.Paused && !m.IsTest: // who sends a test wants to see it
		return true, paused
	case r.sealed != nil:
		return true, noKey
	}
	return false, 0
}

// tickLoop does what depends on time alone.
func (s *Sender) tickLoop(ctx context.Context) {
	tick := time.NewTicker(min(100*time.Millisecond, s.cfg.Lanes.Wait/4))
	defer tick.Stop()
	evicted, measured, heldUp := s.now(), s.now(), time.Time{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := s.now()
		s.sched.measure(now.Sub(measured))
		measured = now
		s.sched.noteSlow(now.Add(-slowAfter))
		s.showLongRunning()
		if s.results.blocked() != nil {
			heldUp = now // waiting is not the receiver's fault
		}
		for _, j := range s.sched.overdue(heldUp) {
			s.finish(j, nil, nil, retryInput{cause: laneWaited})
		}
		if now.Sub(evicted) > s.cfg.Lanes.IdleEviction/10 {
			evicted = now
			for _, l := range s.sched.evict() {
				l.breaker.forget()
			}
		}
	}
}

// showLongRunning stores attempts that take long as under way, so that an operator sees them.
func (s *Sender) showLongRunning() {
	for _, j := range s.sched.longRunning(s.now().Add(-s.cfg.Results.ShowAge)) {
		n := int16(j.msg.Attempt)
		s.results.add(&result{Result: store.Result{
			DeliveryKey: store.DeliveryKey{Subscription: j.key(), ID: j.msg.DeliveryID},
			State:       webhook.StateDelivering, Attempt: n - 1, Most: n - 1,
		}})
	}
}
