package sender

import (
	"sync"
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// scheduler decides which job runs next. Companies that wait for a slot take turns, and so do the lanes of a company, with one
// job each: neither a long queue nor many subscriptions get more of a host. See docs/architecture.md#fairness.
type scheduler struct {
	cfg   LaneConfig
	now   func() time.Time
	later func(l *lane, wait time.Duration) // calls resume

	mu        sync.Mutex
	lanes     map[webhook.SubscriptionKey]*lane
	backlog   map[*lane]struct{} // lanes with queued jobs
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

func newScheduler(cfg LaneConfig, now func() time.Time) *scheduler {
	return &scheduler{
		cfg: cfg, now: now, lanes: map[webhook.SubscriptionKey]*lane{}, backlog: map[*lane]struct{}{}, running: map[*job]struct{}{},
		hosts: map[string]*host{}, companies: map[tenant.ID]*limiter{}, total: newLimiter(cfg.Total),
		allowed: minBacklog, more: make(chan struct{}), awake: make(chan struct{}, 1),
	}
}

// enqueue adds a job to its lane and returns the jobs that start now. It reports created for a new lane, which has to be made
// ready, and full when the lane takes no more.
func (s *scheduler) enqueue(j *job) (run []*job, created, full bool) {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	l, created := s.lane(j.key(), j.from)
	j.lane, j.queuedAt, l.lastUsed = l, now, now
	if j.msg.Parks > 0 && l.parked > 0 {
		l.parked--
	}
	size := int64(len(j.msg.Body))
	if jobs, bytes := l.room(j, &s.cfg, now); l.waiting() >= jobs || (l.waiting() > 0 && l.bytes+size > bytes) {
		j.waited = l.waitsFor()
		return nil, created, true
	}
	if l.waiting() == 0 {
		l.ended = 0
		if l.used == 0 {
			l.since = now
		}
	}
	l.push(j)
	s.backlog[l] = struct{}{}
	if !l.mustNotDelay(now) {
		s.allowed--
	}
	s.keepMeasuring()
	return s.startJobs(l, nil), created, false
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
// longest wait. Otherwise a backlog in Kafka would fill the lanes and be parked although no receiver is slow. Jobs of
// receivers that are unhealthy or have a pace do not count, because they must not delay the others. It reports idle when it need not be called again
// until awake says that there are jobs: none is queued or running, and the rate of those before no longer counts.
func (s *scheduler) measure(since time.Duration) (idle bool) {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rate, s.ended = smoothRate(s.rate, s.ended, since), 0
	queued := 0
	for l := range s.backlog {
		l.rate, l.ended = smoothRate(l.rate, l.ended, since), 0
		if !l.mustNotDelay(now) {
			queued += l.waiting()
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
// to wait for that costs less than to park the job. The others of its partition wait with it, so it may not take long.
func (s *scheduler) soonFree(j *job, now time.Time) bool {
	l, ok := s.lanes[j.key()]
	if !ok || j.msg.Yields || l.mustNotDelay(now) || now.Sub(j.rec.Timestamp) > maxPartitionDelay {
		return false
	}
	jobs, bytes := l.queueLimit(&s.cfg, now)
	ahead := l.waiting() + int(j.from.checking.Load())
	full := ahead >= jobs || (l.waiting() > 0 && l.bytes+int64(len(j.msg.Body)) > bytes)
	return full && float64(ahead) <= l.rate*maxQueued.Seconds()/2
}

// startJobs starts jobs of a lane up to its limits.
func (s *scheduler) startJobs(l *lane, run []*job) []*job {
	for {
		j := s.next(l)
		if j == nil {
			return run
		}
		run = append(run, j)
	}
}

// next starts one job of a lane, or makes the lane wait for a slot or for the time of its next job.
func (s *scheduler) next(l *lane) *job {
	l.hold()
	if !l.ready || len(l.queue) == 0 || l.used >= s.perReceiver(l) || l.waitingOn != nil {
		return nil
	}
	now := s.now()
	if due := l.due(); due.After(now) {
		if l.timer.IsZero() || due.Before(l.timer) {
			l.timer = due
			s.later(l, due.Sub(now))
		}
		return nil
	}
	if l.queue[0].msg.Yields && l.used >= max(1, s.perReceiver(l)-1) {
		return nil // the last slot is for what does not give way
	}
	v, slots := l.speed(), [...]*limiter{l.share, &l.host.limiter, l.company, &s.total}
	for _, lim := range slots {
		if lim.full(v) {
			lim.wait(l)
			return nil
		}
	}
	j := s.pop(l)
	j.begun, l.begun = now, now
	if j.msg.Yields {
		l.yielded = now
	}
	l.takeTurn(j)
	if l.used == 0 {
		l.progress = now
	}
	l.used++
	j.slots, j.speed = slots, v
	for _, lim := range slots {
		lim.take(v, now)
	}
	s.running[j] = struct{}{}
	return j
}

// resume returns the jobs of a lane that start now, after one had to wait for its time.
func (s *scheduler) resume(l *lane) []*job {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.gone || now.Before(l.timer) {
		return nil // an earlier timer has started what this one was for, and the next is set
	}
	l.timer = time.Time{}
	return s.startJobs(l, nil)
}

// perReceiver is smaller for failing receivers while slots are scarce, so that they leave slots to healthy ones, and until the
// first attempt has ended, which tells whether the receiver hangs.
func (s *scheduler) perReceiver(l *lane) int {
	if l.average == 0 || (l.failures > 0 && s.total.used*2 > s.total.limit) {
		return 1
	}
	return s.cfg.PerReceiver
}

// pop removes the first job of the queue.
func (s *scheduler) pop(l *lane) *job {
	j := l.drop(0)
	s.forgetBacklog(l)
	return j
}

// forgetBacklog forgets a lane in which nothing waits any more.
func (s *scheduler) forgetBacklog(l *lane) {
	if l.waiting() == 0 {
		delete(s.backlog, l)
	}
}

// finish releases the slots of a job and returns the jobs that start now.
func (s *scheduler) finish(j *job) (run []*job) {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, j)
	l := j.lane
	was := l.speed()
	l.used--
	if j.took == 0 {
		l.forgetStart(j)
	}
	l.endTurn(j)
	for _, lim := range j.slots {
		lim.release(j.speed, now)
	}
	s.ended++
	l.ended++
	l.progress, l.lastUsed = now, now
	l.learn(j, now)
	if l.waitingOn != nil && l.speed() != was {
		l.waitingOn.leave(l) // other limits apply to it now
	}
	for _, lim := range j.slots {
		run = s.wake(lim, run)
	}
	return s.startJobs(l, run)
}

// wake starts jobs of waiting lanes, one each in turn, while there are slots.
func (s *scheduler) wake(lim *limiter, run []*job) []*job {
	for l := lim.next(); l != nil; l = lim.next() {
		j := s.next(l)
		if j == nil {
			continue
		}
		run = append(run, j)
		if l.hold(); l.waitingOn == nil && len(l.queue) > 0 {
			lim.wait(l) // its next job has to wait for its turn
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
		j.lane.late++
		for _, lim := range j.slots {
			lim.slowed(j.speed)
		}
		j.speed = slow
	}
}

// setLimits changes the limits of concurrent jobs and returns the jobs that start now. Jobs beyond a smaller limit end before
// others start.
func (s *scheduler) setLimits(cfg LaneConfig) (run []*job) {
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
	for l := range s.backlog {
		run = s.startJobs(l, run)
	}
	return run
}

// learn updates what is known about the receiver.
func (l *lane) learn(j *job, now time.Time) {
	if j.late {
		l.late--
	}
	if j.took == 0 {
		return
	}
	l.average = smooth(l.average, j.took)
	l.interval, l.since = smooth(l.interval, now.Sub(l.since)), now
	if l.failures++; !j.failed {
		l.failures = 0
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
	for l := range s.backlog {
		for len(l.queue) > 0 && waited(l.queue[0]) {
			j := l.drop(0)
			j.waited = l.waitsFor()
			l.endTurn(j)
			out = append(out, j)
		}
		for i := len(l.queue) - l.yielding; i < len(l.queue) && waited(l.queue[i]); {
			j := l.drop(i)
			j.waited = l.waitsFor()
			out = append(out, j)
		}
		for _, j := range l.takeHeld(waited) {
			j.waited = webhook.WaitsForTurn
			out = append(out, j)
		}
		s.forgetBacklog(l)
	}
	return out
}

// take removes the waiting jobs that match.
func (s *scheduler) take(match func(*job) bool) (out []*job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range s.backlog {
		out = append(out, l.takeHeld(match)...)
		kept := make([]*job, 0, len(l.queue))
		var gone []*job
		for _, j := range l.queue {
			if match(j) {
				gone = append(gone, j)
				l.bytes -= int64(len(j.msg.Body))
				if j.msg.Yields {
					l.yielding--
				}
			} else {
				kept = append(kept, j)
			}
		}
		l.queue = kept
		for _, j := range gone {
			l.endTurn(j)
		}
		out = append(out, gone...)
		s.forgetBacklog(l)
	}
	return out
}

// park counts a delivery that goes to a delay topic and returns how long it has to stay there at least. It reports false when
// the receiver has too many there or is too slow.
func (s *scheduler) park(l *lane, limit int) (wait time.Duration, ok bool) {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.parked >= limit {
		return 0, false
	}
	if wait, ok = l.reserve(now); ok {
		l.parked++
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
