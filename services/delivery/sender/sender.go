// Package sender makes the attempts of deliveries; see docs/architecture.md#sender.
package sender

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/kit/failpoint"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/delivery/deadletter"
	"github.com/tradegrid/tradegrid/services/delivery/egress"
	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/topics"
)

// maxSeen is of how many deliveries the last attempt is in memory.
const maxSeen = 100_000

// Config configures a [Sender]. Zero values take the defaults of the parts.
type Config struct {
	Client     kafka.Config
	InstanceID string // static membership in the group; empty = none
	opts       []kgo.Opt

	Queues  QueueConfig
	Breaker BreakerConfig
	Retry   RetryConfig
	Results ResultsConfig
	Egress  egress.Config

	PropagateTrace bool // send traceparent to receivers; discloses internal ids
	LogSuccess     int  // one of this many successful attempts is logged; all
	tracer         trace.TracerProvider
	Log            *slog.Logger
}

func (c *Config) setDefaults() {
	c.Queues.setDefaults()
	c.Breaker.setDefaults()
	c.Retry.setDefaults()
	c.Results.setDefaults()
	if c.Egress.MaxConnsPerHost == 0 {
		// The queues limit requests; none waits for a connection, also when their limits are raised.
		c.Egress.MaxConnsPerHost = max(2*c.Queues.PerHost, c.Queues.Total)
	}
	if c.tracer == nil {
		c.tracer = otel.GetTracerProvider()
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
}

// Sender makes the attempts of deliveries. One process consumes all records of a subscription, so queue, circuit breaker and
// limits of a receiver need no coordination.
//
// After an attempt, the record of the next one is produced first, then the result is stored, and then the consumed record is
// committed. A crash in between repeats a step, which is recognised by the number of the attempt.
type Sender struct {
	cfg       Config
	db        *db.DB
	client    *kgo.Client
	receivers *ReceiverCache
	dead      *deadletter.Writer
	egress    *egress.Client
	sched     *scheduler
	results   *results
	seen      *seen
	passed    passes
	counts    *counts
	checks    chan check
	tracer    trace.Tracer
	log       *slog.Logger
	now       func() time.Time
	work      context.Context // context of attempts; ends after the drain

	mu          sync.Mutex
	assignments map[<-chan struct{}]*assignment
}

// New makes a sender. The client produces retries, postponed deliveries and dead letters.
func New(cfg Config, d *db.DB, client *kgo.Client, receivers *ReceiverCache) *Sender {
	cfg.setDefaults()
	s := &Sender{
		cfg: cfg, db: d, client: client, receivers: receivers, dead: deadletter.New(client), egress: egress.New(cfg.Egress),
		sched: newScheduler(cfg.Queues, time.Now), results: newResults(cfg.Results, d, cfg.Log, time.Now),
		seen: newSeen(maxSeen), checks: make(chan check, 1000), counts: newCounts(d, cfg.Log), passed: passes{wake: make(chan struct{}, 1)}, tracer: cfg.tracer.Tracer("tradegrid/dispatch"),
		log: cfg.Log, now: time.Now, assignments: map[<-chan struct{}]*assignment{},
	}
	s.sched.later = func(q *receiverQueue, wait time.Duration) {
		time.AfterFunc(wait, func() { s.start(s.sched.resume(q)) })
	}
	return s
}

// SetLimits changes the limits of concurrent requests at any time. It ignores the other settings of queues.
func (s *Sender) SetLimits(queues QueueConfig) {
	queues.setDefaults()
	s.start(s.sched.setLimits(queues))
}

// Run sends until ctx is done. Then it stops consuming, waits for the requests under way, stores their results and returns,
// within the drain time of the consumer.
func (s *Sender) Run(ctx context.Context) error {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	s.work = work
	var background sync.WaitGroup
	background.Go(func() { s.results.run(work) })
	background.Go(func() { s.checkLoop(work) })
	background.Go(func() { s.passLoop(work) })
	background.Go(func() { s.tickLoop(work) })
	background.Go(func() { s.counts.run(work) })
	err := kafka.Consume(ctx, kafka.ConsumerConfig{
		Client: s.cfg.Client, Group: topics.Senders, Topics: []string{topics.Deliveries}, InstanceID: s.cfg.InstanceID,
		Handle: s.handle, Opts: s.cfg.opts,
	})
	cancel()
	background.Wait()
	s.egress.Close()
	if err != nil {
		return fmt.Errorf("send deliveries: %w", err)
	}
	return nil
}

// handle handles one record. It blocks while results cannot be stored, while more jobs of healthy receivers are queued than
// this process can finish in time, and for a moment while the queue of a healthy receiver is full.
func (s *Sender) handle(ctx context.Context, rec *kafka.Record) {
	msg, err := webhook.DecodeMessage(rec.Record)
	if errors.Is(err, webhook.ErrNewer) {
		s.log.ErrorContext(ctx, "delivery record of a later release left to the sweeper", "partition", rec.Partition, "offset", rec.Offset, "error", err)
		postponedTotal.WithLabelValues(postponedNewer).Inc()
		rec.Done() // the delivery is open in the database
		return
	}
	if err != nil {
		s.refuse(ctx, rec, err)
		return
	}
	j := &job{rec: rec, msg: msg, from: s.assignment(rec)}
	for unblocked := s.blocked(j); unblocked != nil; unblocked = s.blocked(j) {
		select {
		case <-unblocked:
		case <-rec.Stopping():
			s.drop(j)
			return
		}
	}
	if needed := !s.surelyNew(j); needed || j.from.checking.Load() > 0 {
		j.from.checking.Add(1)
		select {
		case s.checks <- check{j, needed}:
		case <-rec.Stopping():
			j.from.checking.Add(-1)
			s.drop(j)
		}
		return
	}
	s.admit(j)
}

// blocked is nil while the sender can take a job, otherwise closed when that may have changed.
func (s *Sender) blocked(j *job) <-chan struct{} {
	if unblocked := s.results.blocked(); unblocked != nil {
		return unblocked
	}
	return s.sched.backpressure(j)
}

// refuse writes a record that cannot be decoded to the dead letter topic.
func (s *Sender) refuse(ctx context.Context, rec *kafka.Record, cause error) {
	s.log.ErrorContext(ctx, "delivery record decode failed", "partition", rec.Partition, "offset", rec.Offset, "error", cause)
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

// assignment returns the assignment of a record, and arranges for its end.
func (s *Sender) assignment(rec *kafka.Record) *assignment {
	stopping := rec.Stopping()
	s.mu.Lock()
	defer s.mu.Unlock()
	if a, ok := s.assignments[stopping]; ok {
		return a
	}
	a := &assignment{stopping: stopping}
	s.assignments[stopping] = a
	s.results.forget()
	go s.release(a)
	return a
}

// release drops the jobs that have not started when a partition is revoked.
func (s *Sender) release(a *assignment) {
	<-a.stopping
	s.mu.Lock()
	delete(s.assignments, a.stopping)
	s.mu.Unlock()
	for _, j := range s.sched.take(func(j *job) bool { return j.from == a }) {
		s.drop(j)
	}
	for _, q := range s.sched.disown(a) {
		q.breaker.forget()
		q.client.close()
	}
}

// admit puts a job into its queue, or postpones it when the queue is full.
func (s *Sender) admit(j *job) {
	run, created, full := s.sched.enqueue(j)
	if created {
		go s.open(j.queue)
	}
	if full {
		s.finish(j, nil, nil, retryInput{cause: queueFull})
	}
	s.start(run)
}

// open makes a new queue ready with the host and the circuit breaker of its receiver.
func (s *Sender) open(q *receiverQueue) {
	r, err := s.receiver(q.key, q.from.stopping)
	if err != nil {
		return // the partition stops and its queue is empty
	}
	host, pace, before := "", time.Duration(0), store.Breaker{}
	if r != nil {
		host, pace, before = r.URL.Host, r.Pace, r.Breaker
	}
	b := newBreaker(s.cfg.Breaker, before, s.now(), func(c store.Breaker) { s.results.addBreaker(q.key, c) })
	run, ok := s.sched.ready(q, host, pace, b)
	if !ok {
		b.forget()
	}
	s.start(run)
}

// receiver retries until the receiver is read; it fails only when the partition stops.
func (s *Sender) receiver(key webhook.SubscriptionKey, stopping <-chan struct{}) (*receiver, error) {
	pause := 50 * time.Millisecond
	for {
		r, err := s.receivers.get(s.work, key)
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

// runJobs runs one job after the other: to reuse the goroutine costs less than to start one.
func (s *Sender) runJobs(j *job) {
	for j != nil {
		s.process(j)
		s.awaitStored(j)
		run := s.sched.finish(j)
		if j = nil; len(run) > 0 {
			j = run[0]
			s.start(run[1:])
		}
	}
}

// process processes a job that has a slot.
func (s *Sender) process(j *job) {
	if j.from.stopped() {
		s.drop(j)
		return
	}
	r, err := s.receiver(j.queue.key, j.from.stopping)
	if err != nil {
		s.drop(j)
		return
	}
	if blocked, why := inspect(j.msg, r, s.now()); blocked {
		s.finish(j, r, nil, retryInput{cause: why})
		return
	}
	s.sched.follow(j.queue, r.URL.Host, r.Pace)
	if r.Ordered && !s.hasTurn(j, r) {
		return
	}
	if !j.msg.Asked && s.cfg.Retry.keeps(j.msg, s.now()) && j.queue.breaker.down(s.now()) {
		s.finish(j, r, nil, retryInput{cause: receiverDown})
		return
	}
	switch s.seen.claim(j) {
	case claimed:
	case repeated:
		s.repeat(j)
		return
	case undecided:
		return
	}
	allow := j.queue.breaker.allow
	if j.msg.Asked {
		allow = j.queue.breaker.ask
	}
	report, until, ok := allow()
	if !ok {
		s.unclaim(j)
		s.finish(j, r, nil, retryInput{cause: breakerOpen, cooldownEnds: until})
		return
	}
	a := s.attempt(s.work, j, r)
	report(a.breakerResult())
	if a.aborted {
		s.drop(j)
		return
	}
	failpoint.Pass("sender.after_2xx")
	j.took, j.failed = a.took, a.err != ""
	s.finish(j, r, a, retryInput{cause: a.cause(), status: a.status, retryAfter: a.retryAfter})
}

// breakerResult is the result for the circuit breaker.
func (a *attempted) breakerResult() error {
	switch {
	case a.aborted:
		return errAborted
	case a.status == http.StatusGone:
		return errGone
	case a.err != "":
		return errFailed
	}
	return nil
}

// inspect returns the reason not to make an attempt, other than the health of the receiver.
func inspect(m *webhook.Message, r *receiver, now time.Time) (blocked bool, why cause) {
	switch {
	case !now.Before(m.ExpiresAt):
		return true, expired
	case r == nil:
		return true, deleted
	case r.Paused && !m.IsTest: // a test message is sent also to a paused subscription
		return true, paused
	case r.sealed != nil:
		return true, noKey
	}
	return false, 0
}

// tickLoop does periodic work. While there are no jobs it only evicts queues.
func (s *Sender) tickLoop(ctx context.Context) {
	const every, evictEvery = 100 * time.Millisecond, idleEviction / 10
	tick := time.NewTimer(every)
	defer tick.Stop()
	evicted, measured, databaseBlocked := s.now(), s.now(), time.Time{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.sched.awake:
			measured = s.now()
			tick.Reset(every)
			continue
		case <-tick.C:
		}
		now := s.now()
		if idle := s.sched.measure(now.Sub(measured)); idle {
			tick.Reset(max(evictEvery, every))
		} else {
			tick.Reset(every)
		}
		measured = now
		s.sched.markSlow(now.Add(-webhook.SlowAfter))
		s.showLongRunning()
		if s.results.blocked() != nil {
			databaseBlocked = now // the database is the reason for the wait
		}
		for _, j := range s.sched.overdue(databaseBlocked) {
			s.finish(j, nil, nil, retryInput{cause: waitedInQueue})
		}
		if now.Sub(evicted) >= evictEvery {
			evicted = now
			for _, q := range s.sched.evict() {
				q.breaker.forget()
				q.client.close()
			}
		}
	}
}

// showLongRunning stores long attempts as delivering, so that the API shows them.
func (s *Sender) showLongRunning() {
	for _, j := range s.sched.longRunning(s.now().Add(-s.cfg.Results.showAge)) {
		n := int16(j.msg.Attempt)
		s.results.add(&result{Result: store.Result{
			DeliveryKey: j.deliveryKey(), New: j.newRow(),
			State: webhook.StateDelivering, Attempt: n - 1, Most: n - 1,
		}})
	}
}
