package sender

import (
	"time"

	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// slowAfter is how long an attempt may take before its receiver counts as slow, whatever it answers in the end.
const slowAfter = time.Second

// speed is what is known of how fast a receiver answers.
type speed int

const (
	unknown speed = iota // no attempt has ended yet
	fast
	slow
)

// limiter is a number of slots that lanes share, and the lanes that wait for one. Slow lanes together hold less than
// half of the slots: the others find one at once, however long the slow ones take.
type limiter struct {
	limit     int
	slowLimit int
	cautious  bool // lanes of unknown speed count as slow

	used, slow int
	lanes      int      // that refer to it
	waiting    [2]turns // for any slot; for one of the slow
	slowNext   bool     // whose turn is next

	progress time.Time // when something began or ended last, while jobs run
}

func newLimiter(limit int) limiter { return limiter{limit: limit, slowLimit: minority(limit)} }

func (l *limiter) setLimit(limit int) { l.limit, l.slowLimit = limit, minority(limit) }

// minority is less than half, but at least one.
func minority(limit int) int { return max(1, (limit-1)/2) }

func (l *limiter) isSlow(v speed) bool { return v == slow || (v == unknown && l.cautious) }

func (l *limiter) full(v speed) bool {
	return l.used >= l.limit || (l.isSlow(v) && l.slow >= l.slowLimit)
}

// take uses a slot.
func (l *limiter) take(v speed, now time.Time) {
	if l.used == 0 {
		l.progress = now
	}
	l.used++
	if l.isSlow(v) {
		l.slow++
	}
}

// release gives a slot back.
func (l *limiter) release(v speed, now time.Time) {
	l.used--
	if l.isSlow(v) {
		l.slow--
	}
	l.progress = now
}

// slowed counts a job as slow that began as something else.
func (l *limiter) slowed(was speed) {
	if !l.isSlow(was) {
		l.slow++
	}
}

// stuck reports whether there is no slot and none has become free for a while.
func (l *limiter) stuck(v speed, now time.Time) bool {
	return l.full(v) && now.Sub(l.progress) > stuckAfter
}

// wait queues a lane up for its next slot.
func (l *limiter) wait(lane *lane) {
	lane.waitingOn = l
	l.queue(l.isSlow(lane.speed())).push(lane)
}

// leave takes a lane out of the queue.
func (l *limiter) leave(lane *lane) {
	lane.waitingOn = nil
	l.waiting[0].remove(lane)
	l.waiting[1].remove(lane)
}

// next is the lane whose turn it is for a free slot, nil when there is none. Slow lanes and others take turns.
func (l *limiter) next() *lane {
	for range len(l.waiting) {
		isSlow := l.slowNext
		l.slowNext = !isSlow
		if l.used >= l.limit || (isSlow && l.slow >= l.slowLimit) {
			continue
		}
		if next := l.queue(isSlow).pop(); next != nil {
			next.waitingOn = nil
			return next
		}
	}
	return nil
}

func (l *limiter) queue(isSlow bool) *turns {
	if isSlow {
		return &l.waiting[1]
	}
	return &l.waiting[0]
}

// turns are waiting lanes: each company in turn, and the lanes of a company in turn. A company with many lanes
// gets no more than one with a single lane.
type turns struct {
	ring      []*companyTurn
	companies map[tenant.ID]*companyTurn
}

type companyTurn struct {
	company tenant.ID
	lanes   []*lane
}

func (t *turns) push(l *lane) {
	c, ok := t.companies[l.key.Company]
	if !ok {
		c = &companyTurn{company: l.key.Company}
		if t.companies == nil {
			t.companies = map[tenant.ID]*companyTurn{}
		}
		t.companies[c.company] = c
		t.ring = append(t.ring, c)
	}
	c.lanes = append(c.lanes, l)
}

func (t *turns) pop() *lane {
	for len(t.ring) > 0 {
		c := t.ring[0]
		t.ring[0] = nil
		t.ring = t.ring[1:]
		if len(c.lanes) == 0 {
			delete(t.companies, c.company)
			continue
		}
		l := c.lanes[0]
		c.lanes[0] = nil
		c.lanes = c.lanes[1:]
		t.ring = append(t.ring, c)
		return l
	}
	return nil
}

// remove takes a lane out. Its company keeps its place until that comes up.
func (t *turns) remove(l *lane) {
	c, ok := t.companies[l.key.Company]
	if !ok {
		return
	}
	for i, v := range c.lanes {
		if v == l {
			c.lanes = append(c.lanes[:i], c.lanes[i+1:]...)
			return
		}
	}
}

// host is the slots of one host, and what each company may take of them: three quarters, so that no company ever
// takes them all.
type host struct {
	limiter
	name   string
	shares map[tenant.ID]*limiter
}

func newHost(name string, limit int) *host {
	return &host{limiter: newLimiter(limit), name: name, shares: map[tenant.ID]*limiter{}}
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
	share.limit, share.slowLimit = h.limit-h.limit/4, h.slowLimit
}

// setLimit changes the limit, also of the shares.
func (h *host) setLimit(limit int) {
	h.limiter.setLimit(limit)
	for _, share := range h.shares {
		h.limitShare(share)
	}
}
