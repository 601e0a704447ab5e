package sender

import (
	"sync"
	"time"

	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/webhook"
)

// scheduler decides which job runs next. A freed slot goes to the companies that wait for it in turn, and within a
// company to its lanes in turn, one job each: neither a long queue nor many subscriptions take more of a host.
type scheduler struct {
	cfg LaneConfig
	now func() time.Time

	mu        sync.Mutex
	lanes     map[webhook.SubscriptionKey]*lane
	backlog   map[*lane]struct{} // with a queue
	running   map[*job]struct{}
	hosts     map[string]*host
	companies map[tenant.ID]*limiter
	total     limiter

	ended   int     // jobs since the last measure
	rate    float64 // jobs per second that this process gets done
	allowed int     // jobs that may still be queued until the next measure
	more    chan struct{}
}

func newScheduler(cfg LaneConfig, now func() time.Time) *scheduler {
	return &scheduler{
		cfg: cfg, now: now, lanes: map[webhook.SubscriptionKey]*lane{}, backlog: map[*lane]struct{}{}, running: map[*job]struct{}{},
		hosts: map[string]*host{}, companies: map[tenant.ID]*limiter{}, total: newLimiter(cfg.Total),
		allowed: minBacklog, more: make(chan struct{}),
	}
}

// enqueue adds a job to its lane and returns what may run now. It reports created for a lane that has to
// be made ready first, and full when the lane takes no more.
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
	if jobs, bytes := l.room(&s.cfg, now); len(l.queue) >= jobs || (len(l.queue) > 0 && l.bytes+size > bytes) {
		return nil, created, true
	}
	if l.used == 0 && len(l.queue) == 0 {
		l.since = now
	}
	l.queue = append(l.queue, j)
	l.bytes += size
	s.backlog[l] = struct{}{}
	if !l.unhealthy(now) {
		s.allowed--
	}
	return s.pump(l, nil), created, false
}

// minBacklog is how many jobs may always wait for receivers that take them.
const minBacklog = 2000

// measure finds out how much work may be taken until the next call: what this process gets done within
// part of the longest wait. Without that, a long backlog in Kafka would fill the lanes and be parked although
// no receiver is slow. What waits for unhealthy receivers does not count: it must not hold up the others.
func (s *scheduler) measure(since time.Duration) {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rate += (float64(s.ended)/since.Seconds() - s.rate) / 4
	s.ended = 0
	queued := 0
	for l := range s.backlog {
		if !l.unhealthy(now) {
			queued += len(l.queue)
		}
	}
	s.allowed = max(minBacklog, int(s.rate*s.cfg.Wait.Seconds()*0.4)) - queued
	if s.allowed > 0 {
		close(s.more)
		s.more = make(chan struct{})
	}
}

// overloaded is nil while work may be taken, else closed when that may have changed.
func (s *scheduler) overloaded() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.allowed > 0 {
		return nil
	}
	return s.more
}

func (s *scheduler) lane(key webhook.SubscriptionKey, from *assignment) (l *lane, created bool) {
	if l, ok := s.lanes[key]; ok {
		return l, false
	}
	company, ok := s.companies[key.Company]
	if !ok {
		limit := newLimiter(s.cfg.PerCompany)
		company = &limit
		s.companies[key.Company] = company
	}
	company.lanes++
	l = &lane{key: key, from: from, company: company}
	s.lanes[key] = l
	return l, true
}

// ready opens a lane whose receiver is known; it reports false for a lane that was forgotten meanwhile.
func (s *scheduler) ready(l *lane, host string, b *breaker) (run []*job, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.gone {
		return nil, false
	}
	l.ready, l.breaker = true, b
	s.setHost(l, host)
	return s.pump(l, nil), true
}

// rehost follows a receiver that moved to another host.
func (s *scheduler) rehost(l *lane, host string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.host.name != host && !l.gone {
		s.dropHost(l)
		s.setHost(l, host)
	}
}

func (s *scheduler) setHost(l *lane, name string) {
	h, ok := s.hosts[name]
	if !ok {
		h = newHost(name, s.cfg.PerHost)
		s.hosts[name] = h
	}
	l.host, l.share = h, h.share(l.key.Company)
	l.host.lanes++
	l.share.lanes++
}

func (s *scheduler) dropHost(l *lane) {
	if l.host == nil {
		return
	}
	if l.share.lanes--; l.share.lanes == 0 {
		delete(l.host.shares, l.key.Company)
	}
	if l.host.lanes--; l.host.lanes == 0 {
		delete(s.hosts, l.host.name)
	}
}

// pump starts jobs of a lane until a limit is reached.
func (s *scheduler) pump(l *lane, run []*job) []*job {
	for {
		j := s.next(l)
		if j == nil {
			return run
		}
		run = append(run, j)
	}
}

// next starts one job of a lane, or makes the lane wait for what it lacks.
func (s *scheduler) next(l *lane) *job {
	if !l.ready || len(l.queue) == 0 || l.used >= s.perReceiver(l) || l.waitingOn != nil {
		return nil
	}
	v, slots := l.speed(), [...]*limiter{l.share, &l.host.limiter, l.company, &s.total}
	for _, lim := range slots {
		if lim.full(v) {
			lim.wait(l)
			return nil
		}
	}
	j, now := s.pop(l), s.now()
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

// perReceiver is smaller for a failing receiver while slots are scarce: many of them together must not
// take what the healthy ones need.
func (s *scheduler) perReceiver(l *lane) int {
	if l.failures > 0 && s.total.used*2 > s.total.limit {
		return 1
	}
	return s.cfg.PerReceiver
}

func (s *scheduler) pop(l *lane) *job {
	j := l.queue[0]
	l.queue[0] = nil
	l.queue = l.queue[1:]
	l.bytes -= int64(len(j.msg.Body))
	if len(l.queue) == 0 {
		l.queue = nil
		delete(s.backlog, l)
	}
	return j
}

// finish gives the slots of a job back and returns what may run instead.
func (s *scheduler) finish(j *job) (run []*job) {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, j)
	l := j.lane
	was := l.speed()
	l.used--
	for _, lim := range j.slots {
		lim.release(j.speed, now)
	}
	s.ended++
	l.progress, l.lastUsed = now, now
	l.learn(j, now)
	if l.waitingOn != nil && l.speed() != was {
		l.waitingOn.leave(l) // it may not have to wait any more
	}
	for _, lim := range j.slots {
		run = s.wake(lim, run)
	}
	return s.pump(l, run)
}

// wake starts jobs of the lanes that wait for a slot, one each in turn, while there are slots.
func (s *scheduler) wake(lim *limiter, run []*job) []*job {
	for l := lim.next(); l != nil; l = lim.next() {
		j := s.next(l)
		if j == nil {
			continue
		}
		run = append(run, j)
		if l.waitingOn == nil && len(l.queue) > 0 {
			lim.wait(l) // its next job has to queue up again
		}
	}
	return run
}

// noteSlow counts the jobs as slow whose attempt began before the moment and is still under way.
func (s *scheduler) noteSlow(before time.Time) {
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

// setLimits changes how many jobs may run at a time and returns what may run now. Jobs beyond a smaller limit end
// before others begin.
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
		run = s.pump(l, run)
	}
	return run
}

// learn keeps what the attempt tells about the receiver.
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

// smooth is a moving average; 0 is none yet.
func smooth(average, v time.Duration) time.Duration {
	if average == 0 {
		average = v
	}
	return max((average*4+v)/5, 1)
}

// overdue takes out the jobs that have waited too long. Time before the moment given does not count.
func (s *scheduler) overdue(since time.Time) (out []*job) {
	limit := s.now().Add(-s.cfg.Wait)
	if since.After(limit) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range s.backlog {
		for len(l.queue) > 0 && l.queue[0].queuedAt.Before(limit) {
			out = append(out, s.pop(l))
		}
	}
	return out
}

// take removes queued jobs for which the function is true, in any lane.
func (s *scheduler) take(match func(*job) bool) (out []*job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range s.backlog {
		kept := make([]*job, 0, len(l.queue))
		for _, j := range l.queue {
			if match(j) {
				out = append(out, j)
				l.bytes -= int64(len(j.msg.Body))
			} else {
				kept = append(kept, j)
			}
		}
		if l.queue = kept; len(kept) == 0 {
			l.queue = nil
			delete(s.backlog, l)
		}
	}
	return out
}

// park counts a delivery that goes to a delay line, and finds out how long it has to stay there at least. It reports
// false when the receiver has too many there or will not get to it soon.
func (s *scheduler) park(l *lane, limit int) (wait time.Duration, ok bool) {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.parked >= limit {
		return 0, false
	}
	if wait, ok = l.book(now); ok {
		l.parked++
	}
	return wait, ok
}

// longRunning lists the jobs whose attempt began before the moment and that were not listed yet.
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

// begin notes the start of an attempt, which longRunning reads.
func (s *scheduler) begin(j *job, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j.started = at
}

// evict forgets lanes without traffic.
func (s *scheduler) evict() (gone []*lane) {
	limit := s.now().Add(-s.cfg.IdleEviction)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.lanes {
		if !l.ready || l.used > 0 || len(l.queue) > 0 || l.waitingOn != nil || l.lastUsed.After(limit) {
			continue
		}
		s.forget(l)
		gone = append(gone, l)
	}
	return gone
}

// disown forgets the lanes of a partition that moved away: when it comes back, another process may have
// changed what is known of their receivers. Jobs that run still give their slots back.
func (s *scheduler) disown(a *assignment) (gone []*lane) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.lanes {
		if l.from != a {
			continue
		}
		s.forget(l)
		if l.ready {
			gone = append(gone, l)
		}
	}
	return gone
}

func (s *scheduler) forget(l *lane) {
	l.gone = true
	delete(s.lanes, l.key)
	s.dropHost(l)
	if l.company.lanes--; l.company.lanes == 0 {
		delete(s.companies, l.key.Company)
	}
}
