package sender

import (
	"sync"
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// scheduler decides which job runs next. Companies that wait for a slot take turns, and so do the queues of a company, with one
// job each: neither a long queue nor many subscriptions get more of a host. See docs/architecture.md#fairness.
type scheduler struct {
	cfg   QueueConfig
	now   func() time.Time
	later func(q *receiverQueue, wait time.Duration) // calls resume

	mu        sync.Mutex
	queues    map[webhook.SubscriptionKey]*receiverQueue
	backlog   map[*receiverQueue]struct{} // queues with queued jobs
	running   map[*job]struct{}
	hosts     map[string]*host
	companies map[tenant.ID]*limiter
	total     limiter

	ended   int     // jobs since the last measure
	rate    float64 // finished jobs per second
	allowed int     // jobs that may be queued until the next measure
	more    chan struct{}
	busy    bool          // measure is called regularly
	awake   chan struct{} // capacity 1: there are jobs again
}

func newScheduler(cfg QueueConfig, now func() time.Time) *scheduler {
	return &scheduler{
		cfg: cfg, now: now, queues: map[webhook.SubscriptionKey]*receiverQueue{}, backlog: map[*receiverQueue]struct{}{}, running: map[*job]struct{}{},
		hosts: map[string]*host{}, companies: map[tenant.ID]*limiter{}, total: newLimiter(cfg.Total),
		allowed: minBacklog, more: make(chan struct{}), awake: make(chan struct{}, 1),
	}
}

// enqueue adds a job to its queue and returns the jobs that start now. It reports created for a new queue, which has to be made
// ready, and full when the queue takes no more.
func (s *scheduler) enqueue(j *job) (run []*job, created, full bool) {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	q, created := s.queue(j.key(), j.from)
	j.queue, j.queuedAt, q.lastUsed = q, now, now
	if j.msg.Postponements > 0 && q.postponed > 0 {
		q.postponed--
	}
	size := int64(len(j.msg.Body))
	if jobs, bytes := q.room(j, &s.cfg, now); q.waiting() >= jobs || (q.waiting() > 0 && q.bytes+size > bytes) {
		j.waited = q.waitsFor()
		return nil, created, true
	}
	if q.waiting() == 0 {
		q.ended = 0
		if q.used == 0 {
			q.since = now
		}
	}
	q.push(j)
	s.backlog[q] = struct{}{}
	if !q.mustNotDelay(now) {
		s.allowed--
	}
	s.keepMeasuring()
	return s.startJobs(q, nil), created, false
}

// keepMeasuring has measure called regularly until it reports idle again.
func (s *scheduler) keepMeasuring() {
	if !s.busy {
		s.busy = true
		signal(s.awake)
	}
}

// minBacklog is how many jobs of healthy receivers may always be queued.
const minBacklog = 2000

// measure computes how many jobs may be queued until the next call: as many as this process finishes within a part of the
// longest wait. Otherwise a backlog in Kafka would fill the queues and be postponed although no receiver is slow. Jobs of
// receivers that are unhealthy or have a pace do not count, because they must not delay the others. It reports idle when it need not be called again
// until awake says that there are jobs: none is queued or running, and the rate of those before no longer counts.
func (s *scheduler) measure(since time.Duration) (idle bool) {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rate, s.ended = smoothRate(s.rate, s.ended, since), 0
	queued := 0
	for q := range s.backlog {
		q.rate, q.ended = smoothRate(q.rate, q.ended, since), 0
		if !q.mustNotDelay(now) {
			queued += q.waiting()
		}
	}
	s.allowed = max(minBacklog, int(s.rate*maxQueued.Seconds()*0.4)) - queued
	if s.allowed > 0 {
		close(s.more)
		s.more = make(chan struct{})
	}
	s.busy = len(s.running) > 0 || len(s.backlog) > 0 || s.rate >= 1
	return !s.busy
}

// smoothRate is the moving average of what ends per second.
func smoothRate(average float64, ended int, since time.Duration) float64 {
	return average + (float64(ended)/since.Seconds()-average)/4
}

// backpressure is nil when a job may be queued now, otherwise closed when that may have changed.
func (s *scheduler) backpressure(j *job) <-chan struct{} {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.allowed > 0 && !s.soonFree(j, now) {
		return nil
	}
	s.keepMeasuring() // measure closes the channel, also when all jobs that are being looked up turn out to be repeats
	return s.more
}

// soonFree reports whether the queue that a job needs is full, but its receiver works it off within half of the longest wait:
// to wait for that costs less than to postpone the job. The others of its partition wait with it, so it may not take long.
func (s *scheduler) soonFree(j *job, now time.Time) bool {
	q, ok := s.queues[j.key()]
	if !ok || j.msg.Yields || q.mustNotDelay(now) || now.Sub(j.rec.Timestamp) > maxPartitionDelay {
		return false
	}
	jobs, bytes := q.queueLimit(&s.cfg, now)
	ahead := q.waiting() + int(j.from.checking.Load())
	full := ahead >= jobs || (q.waiting() > 0 && q.bytes+int64(len(j.msg.Body)) > bytes)
	return full && float64(ahead) <= q.rate*maxQueued.Seconds()/2
}

// startJobs starts jobs of a receiver queue up to its limits.
func (s *scheduler) startJobs(q *receiverQueue, run []*job) []*job {
	for {
		j := s.next(q)
		if j == nil {
			return run
		}
		run = append(run, j)
	}
}

// next starts one job of a receiver queue, or makes the queue wait for a slot or for the time of its next job.
func (s *scheduler) next(q *receiverQueue) *job {
	q.hold()
	if !q.ready || len(q.jobs) == 0 || q.used >= s.perReceiver(q) || q.waitingOn != nil {
		return nil
	}
	now := s.now()
	if due := q.due(); due.After(now) {
		if q.timer.IsZero() || due.Before(q.timer) {
			q.timer = due
			s.later(q, due.Sub(now))
		}
		return nil
	}
	if q.jobs[0].msg.Yields && q.used >= max(1, s.perReceiver(q)-1) {
		return nil // the last slot is for what does not give way
	}
	v, slots := q.speed(), [...]*limiter{q.share, &q.host.limiter, q.company, &s.total}
	for _, lim := range slots {
		if lim.full(v) {
			lim.wait(q)
			return nil
		}
	}
	j := s.pop(q)
	j.begun, q.begun = now, now
	if j.msg.Yields {
		q.yielded = now
	}
	q.takeTurn(j)
	if q.used == 0 {
		q.progress = now
	}
	q.used++
	j.slots, j.speed = slots, v
	for _, lim := range slots {
		lim.take(v, now)
	}
	s.running[j] = struct{}{}
	return j
}

// resume returns the jobs of a receiver queue that start now, after one had to wait for its time.
func (s *scheduler) resume(q *receiverQueue) []*job {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.gone || now.Before(q.timer) {
		return nil // an earlier timer has started what this one was for, and the next is set
	}
	q.timer = time.Time{}
	return s.startJobs(q, nil)
}

// perReceiver is smaller for failing receivers while slots are scarce, so that they leave slots to healthy ones, and until the
// first attempt has ended, which tells whether the receiver hangs.
func (s *scheduler) perReceiver(q *receiverQueue) int {
	if q.average == 0 || (q.failures > 0 && s.total.used*2 > s.total.limit) {
		return 1
	}
	return s.cfg.PerReceiver
}

// pop removes the first job of the queue.
func (s *scheduler) pop(q *receiverQueue) *job {
	j := q.drop(0)
	s.forgetBacklog(q)
	return j
}

// forgetBacklog forgets a receiver queue in which nothing waits any more.
func (s *scheduler) forgetBacklog(q *receiverQueue) {
	if q.waiting() == 0 {
		delete(s.backlog, q)
	}
}

// finish releases the slots of a job and returns the jobs that start now.
func (s *scheduler) finish(j *job) (run []*job) {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, j)
	q := j.queue
	was := q.speed()
	q.used--
	if j.took == 0 {
		q.forgetStart(j)
	}
	q.endTurn(j)
	for _, lim := range j.slots {
		lim.release(j.speed, now)
	}
	s.ended++
	q.ended++
	q.progress, q.lastUsed = now, now
	q.learn(j, now)
	if q.waitingOn != nil && q.speed() != was {
		q.waitingOn.leave(q) // other limits apply to it now
	}
	for _, lim := range j.slots {
		run = s.wake(lim, run)
	}
	return s.startJobs(q, run)
}

// wake starts jobs of waiting queues, one each in turn, while there are slots.
func (s *scheduler) wake(lim *limiter, run []*job) []*job {
	for q := lim.next(); q != nil; q = lim.next() {
		j := s.next(q)
		if j == nil {
			continue
		}
		run = append(run, j)
		if q.hold(); q.waitingOn == nil && len(q.jobs) > 0 {
			lim.wait(q) // its next job has to wait for its turn
		}
	}
	return run
}

// markSlow counts jobs as slow that have been attempting since before the time given.
func (s *scheduler) markSlow(before time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for j := range s.running {
		if j.late || j.started.IsZero() || j.started.After(before) {
			continue
		}
		j.late = true
		j.queue.late++
		for _, lim := range j.slots {
			lim.slowed(j.speed)
		}
		j.speed = slow
	}
}

// setLimits changes the limits of concurrent jobs and returns the jobs that start now. Jobs beyond a smaller limit end before
// others start.
func (s *scheduler) setLimits(cfg QueueConfig) (run []*job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cfg.PerReceiver, s.cfg.PerHost, s.cfg.PerCompany, s.cfg.Total = cfg.PerReceiver, cfg.PerHost, cfg.PerCompany, cfg.Total
	s.total.setLimit(cfg.Total)
	for _, h := range s.hosts {
		h.setLimit(cfg.PerHost)
	}
	for _, c := range s.companies {
		c.setLimit(cfg.PerCompany)
	}
	for _, h := range s.hosts {
		for _, share := range h.shares {
			run = s.wake(share, run)
		}
		run = s.wake(&h.limiter, run)
	}
	for _, c := range s.companies {
		run = s.wake(c, run)
	}
	run = s.wake(&s.total, run)
	for q := range s.backlog {
		run = s.startJobs(q, run)
	}
	return run
}

// learn updates what is known about the receiver.
func (q *receiverQueue) learn(j *job, now time.Time) {
	if j.late {
		q.late--
	}
	if j.took == 0 {
		return
	}
	q.average = smooth(q.average, j.took)
	q.interval, q.since = smooth(q.interval, now.Sub(q.since)), now
	if q.failures++; !j.failed {
		q.failures = 0
	}
}

// smooth is an exponential moving average; 0 = none yet.
func smooth(average, v time.Duration) time.Duration {
	if average == 0 {
		average = v
	}
	return max((average*4+v)/5, 1)
}

// overdue removes jobs that have waited too long. Time before since does not count.
func (s *scheduler) overdue(since time.Time) (out []*job) {
	limit := s.now().Add(-maxQueued)
	if since.After(limit) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	waited := func(j *job) bool { return j.queuedAt.Before(limit) }
	for q := range s.backlog {
		for len(q.jobs) > 0 && waited(q.jobs[0]) {
			j := q.drop(0)
			j.waited = q.waitsFor()
			q.endTurn(j)
			out = append(out, j)
		}
		for i := len(q.jobs) - q.yielding; i < len(q.jobs) && waited(q.jobs[i]); {
			j := q.drop(i)
			j.waited = q.waitsFor()
			out = append(out, j)
		}
		for _, j := range q.takeHeld(waited) {
			j.waited = webhook.WaitsForTurn
			out = append(out, j)
		}
		s.forgetBacklog(q)
	}
	return out
}

// take removes the waiting jobs that match.
func (s *scheduler) take(match func(*job) bool) (out []*job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for q := range s.backlog {
		out = append(out, q.takeHeld(match)...)
		kept := make([]*job, 0, len(q.jobs))
		var gone []*job
		for _, j := range q.jobs {
			if match(j) {
				gone = append(gone, j)
				q.bytes -= int64(len(j.msg.Body))
				if j.msg.Yields {
					q.yielding--
				}
			} else {
				kept = append(kept, j)
			}
		}
		q.jobs = kept
		for _, j := range gone {
			q.endTurn(j)
		}
		out = append(out, gone...)
		s.forgetBacklog(q)
	}
	return out
}

// postpone counts a delivery that goes to a delay topic and returns how long it has to stay there at least. It reports false when
// the receiver has too many there or is too slow.
func (s *scheduler) postpone(q *receiverQueue, limit int) (wait time.Duration, ok bool) {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.postponed >= limit {
		return 0, false
	}
	if wait, ok = q.reserve(now); ok {
		q.postponed++
	}
	return wait, ok
}

// longRunning lists jobs that have been attempting since before the time given, once each.
func (s *scheduler) longRunning(before time.Time) (out []*job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for j := range s.running {
		if !j.shown && !j.started.IsZero() && j.started.Before(before) {
			j.shown = true
			out = append(out, j)
		}
	}
	return out
}

// begin notes the start of an attempt.
func (s *scheduler) begin(j *job, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j.started = at
}
