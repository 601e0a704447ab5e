package sender

import (
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// speed is how fast a receiver answers.
type speed int

const (
	unknown speed = iota // no attempt has ended yet
	fast
	slow
)

// limiter limits the concurrent requests of several queues. Slow queues together get less than half of the slots, so that the
// others do not wait for them.
type limiter struct {
	limit        int
	slowLimit    int
	unknownLimit int  // of queues that are slow or of unknown speed, together; 0 = no limit of its own
	cautious     bool // queues of unknown speed count as slow, too

	used, slow, unknown int
	queues              int           // that refer to it
	waiting             [3]roundRobin // by speed; one that counts as slow waits with the slow ones
	turn                speed         // of the queue that is next

	progress time.Time // when something began or ended last, while jobs run
}

func newLimiter(limit int) limiter { return limiter{limit: limit, slowLimit: minority(limit)} }

func (l *limiter) setLimit(limit int) { l.limit, l.slowLimit = limit, minority(limit) }

// minority is less than half of the slots, but at least one.
func minority(limit int) int { return max(1, (limit-1)/2) }

func (l *limiter) isSlow(v speed) bool { return v == slow || (v == unknown && l.cautious) }

func (l *limiter) full(v speed) bool {
	switch {
	case l.used >= l.limit:
		return true
	case l.isSlow(v):
		return l.slow >= l.slowLimit
	}
	return v == unknown && l.unknownLimit > 0 && l.slow+l.unknown >= l.unknownLimit
}

// count adds to the jobs that count as of that speed.
func (l *limiter) count(v speed, n int) {
	switch {
	case l.isSlow(v):
		l.slow += n
	case v == unknown:
		l.unknown += n
	}
}

// take uses a slot.
func (l *limiter) take(v speed, now time.Time) {
	if l.used == 0 {
		l.progress = now
	}
	l.used++
	l.count(v, 1)
}

// release gives a slot back.
func (l *limiter) release(v speed, now time.Time) {
	l.used--
	l.count(v, -1)
	l.progress = now
}

// slowed counts a job as slow that began otherwise.
func (l *limiter) slowed(was speed) {
	l.count(was, -1)
	l.count(slow, 1)
}

// stuck reports whether no slot is free and none has been released for a while.
func (l *limiter) stuck(v speed, now time.Time) bool {
	return l.full(v) && now.Sub(l.progress) > stuckAfter
}

// wait adds a queue to those that wait for a slot.
func (l *limiter) wait(queue *receiverQueue) {
	queue.waitingOn = l
	l.queue(queue.speed()).push(queue)
}

// leave removes a queue from those that wait for a slot.
func (l *limiter) leave(queue *receiverQueue) {
	queue.waitingOn = nil
	for v := range l.waiting {
		l.waiting[v].remove(queue)
	}
}

// next removes the queue that gets a free slot from those that wait; nil without one. Fast and slow ones take turns.
func (l *limiter) next() *receiverQueue {
	for range len(l.waiting) {
		v := l.turn
		l.turn = (v + 1) % speed(len(l.waiting))
		if l.full(v) {
			continue
		}
		if next := l.waiting[v].pop(); next != nil {
			next.waitingOn = nil
			return next
		}
	}
	return nil
}

func (l *limiter) queue(v speed) *roundRobin {
	if l.isSlow(v) {
		return &l.waiting[slow]
	}
	return &l.waiting[v]
}

// roundRobin has the receiver queues that wait, of which companies take turns, and the queues of a company take turns: a company with many
// queues gets no more than one with a single queue.
type roundRobin struct {
	ring      []*companyQueues
	companies map[tenant.ID]*companyQueues
}

type companyQueues struct {
	company tenant.ID
	queues  []*receiverQueue
}

func (t *roundRobin) push(q *receiverQueue) {
	c, ok := t.companies[q.key.Company]
	if !ok {
		c = &companyQueues{company: q.key.Company}
		if t.companies == nil {
			t.companies = map[tenant.ID]*companyQueues{}
		}
		t.companies[c.company] = c
		t.ring = append(t.ring, c)
	}
	c.queues = append(c.queues, q)
}

func (t *roundRobin) pop() *receiverQueue {
	for len(t.ring) > 0 {
		c := t.ring[0]
		t.ring[0] = nil
		t.ring = t.ring[1:]
		if len(c.queues) == 0 {
			delete(t.companies, c.company)
			continue
		}
		q := c.queues[0]
		c.queues[0] = nil
		c.queues = c.queues[1:]
		t.ring = append(t.ring, c)
		return q
	}
	return nil
}

// remove removes a receiver queue. Its company keeps its place.
func (t *roundRobin) remove(q *receiverQueue) {
	c, ok := t.companies[q.key.Company]
	if !ok {
		return
	}
	for i, v := range c.queues {
		if v == q {
			c.queues = append(c.queues[:i], c.queues[i+1:]...)
			return
		}
	}
}

// host limits the concurrent requests to one host. A company gets at most three quarters of them, so that it never has all, and
// so do the queues that are slow or may turn out to be: a fast receiver always finds a slot.
type host struct {
	limiter
	name   string
	shares map[tenant.ID]*limiter
}

func newHost(name string, limit int) *host {
	h := &host{name: name, shares: map[tenant.ID]*limiter{}}
	h.setLimit(limit)
	return h
}

func (h *host) share(company tenant.ID) *limiter {
	share, ok := h.shares[company]
	if !ok {
		share = &limiter{cautious: true}
		h.limitShare(share)
		h.shares[company] = share
	}
	return share
}

func (h *host) limitShare(share *limiter) {
	share.limit, share.slowLimit = h.unknownLimit, h.slowLimit
}

// setLimit changes the limits of the host and of the shares.
func (h *host) setLimit(limit int) {
	h.limiter.setLimit(limit)
	h.unknownLimit = limit - limit/4
	for _, share := range h.shares {
		h.limitShare(share)
	}
}
