package sender

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/tradegrid/tradegrid/services/delivery/store"
)

// closedAttempt is above every attempt: the delivery is over.
const closedAttempt = 1 << 14

// seen remembers the last attempt of recent deliveries, and the attempts under way.
type seen struct {
	mu   sync.Mutex
	last *lru.Cache[uuid.UUID, seenAttempt]
	open map[uuid.UUID]*claim
}

// seenAttempt is an attempt and the assignment in which it was made. Another process may have made more since that ended.
type seenAttempt struct {
	attempt int
	from    *assignment
}

// claim is an attempt under way: it is settled once its result is stored, or released if nothing of it is.
type claim struct {
	job     *job
	repeats []*job // the same attempt, read again in a later assignment: they wait for the end of the claim
}

func newSeen(size int) *seen {
	last, err := lru.New[uuid.UUID, seenAttempt](size)
	if err != nil {
		panic(err) // the size is above zero
	}
	return &seen{last: last, open: map[uuid.UUID]*claim{}}
}

// verdict is whether a job may make its attempt.
type verdict int

const (
	claimed   verdict = iota // it makes the attempt, and settles or releases the claim
	repeated                 // the attempt was made before, or the record that makes it is in front of this one in its partition
	undecided                // a job of an earlier assignment makes it: its end hands out a copy of the job
)

// claim reserves an attempt.
func (s *seen) claim(j *job) verdict {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := j.msg.DeliveryID
	before, running := s.open[id]
	if running && before.job.msg.Attempt >= j.msg.Attempt {
		if before.job.from == j.from {
			return repeated
		}
		before.repeats = append(before.repeats, &job{rec: j.rec, msg: j.msg, from: j.from})
		return undecided
	}
	if last, _ := s.last.Get(id); last.attempt >= j.msg.Attempt {
		return repeated
	}
	next := &claim{job: j}
	if running { // its retry is here before its result is stored
		next.repeats = before.repeats
		s.note(before.job)
	}
	s.open[id] = next
	return claimed
}

// settle ends the claim of a job whose result is stored. The repeats are over, too.
func (s *seen) settle(j *job) (repeats []*job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.end(j)
	if c == nil {
		return nil
	}
	s.note(j)
	return c.repeats
}

// release ends the claim of a job of which nothing is stored. The repeats have to be tried again.
func (s *seen) release(j *job) (repeats []*job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.end(j)
	if c == nil {
		return nil
	}
	return c.repeats
}

// end removes the claim of a job; nil if it has none.
func (s *seen) end(j *job) *claim {
	c, ok := s.open[j.msg.DeliveryID]
	if !ok || c.job != j {
		return nil
	}
	delete(s.open, j.msg.DeliveryID)
	return c
}

func (s *seen) note(j *job) {
	if last, _ := s.last.Get(j.msg.DeliveryID); last.attempt < j.msg.Attempt {
		s.last.Add(j.msg.DeliveryID, seenAttempt{j.msg.Attempt, j.from})
	}
}

// close marks a delivery as over.
func (s *seen) close(j *job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last.Add(j.msg.DeliveryID, seenAttempt{closedAttempt, j.from})
}

// follows reports whether this process made an attempt of the delivery in the same assignment, so that no other process can
// have made one since.
func (s *seen) follows(j *job) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.open[j.msg.DeliveryID]; ok && c.job.from == j.from {
		return true
	}
	v, ok := s.last.Get(j.msg.DeliveryID)
	return ok && v.from == j.from
}

// stored ends a job whose result is in the database.
func (s *Sender) stored(j *job) {
	for _, again := range s.seen.settle(j) {
		s.repeat(again)
	}
	j.rec.Done()
}

// repeat ends a job whose attempt was made before.
func (s *Sender) repeat(j *job) {
	store.CountDuplicate(store.HopSender)
	j.rec.Done()
}

// drop ends a job of which nothing is stored, because its partition stops: the next owner, which may be this process again,
// makes the attempt.
func (s *Sender) drop(j *job) {
	s.unclaim(j)
	j.rec.Drop()
}

// unclaim gives back the attempt that a job has not made, or of which nothing is stored.
func (s *Sender) unclaim(j *job) {
	for _, again := range s.seen.release(j) {
		if again.from.stopped() {
			s.drop(again)
			continue
		}
		s.admit(again)
	}
}

// assignment is a period in which a partition is assigned to this process.
type assignment struct {
	stopping <-chan struct{}
	checking atomic.Int64 // jobs in checkLoop
}

func (a *assignment) stopped() bool {
	select {
	case <-a.stopping:
		return true
	default:
		return false
	}
}

// surelyNew reports whether no other process can have made the attempt: the record was written during this assignment, or
// the attempt before it was made in it.
func (s *Sender) surelyNew(j *job) bool {
	if s.seen.follows(j) {
		return true // claim decides
	}
	return j.msg.Attempt == 1 && j.msg.Postponements == 0 && j.rec.Unread()
}

// check is a job in checkLoop.
type check struct {
	job    *job
	needed bool // otherwise it only keeps its place in its partition
}

// checkLoop drops attempts that the database shows as made, and admits the others in order. Jobs that arrive during a query
// form the next batch.
func (s *Sender) checkLoop(ctx context.Context) {
	for {
		batch := s.takeChecks(ctx)
		if batch == nil {
			return
		}
		found, ok := s.lookUp(ctx, batch)
		for _, c := range batch {
			j := c.job
			p, stored := found[j.msg.DeliveryID]
			switch {
			case !ok || j.from.stopped():
				s.drop(j)
			case stored && !p.State.Open() && p.Ordered:
				// The process that ended it may have died before it passed the turn on.
				s.passed.add(pass{j.deliveryKey(), 1, func() { s.repeat(j) }})
			case stored && (!p.State.Open() || int(p.Attempt) >= j.msg.Attempt):
				s.repeat(j)
			default:
				s.admit(j)
			}
			j.from.checking.Add(-1)
		}
	}
}

func (s *Sender) takeChecks(ctx context.Context) []check {
	var batch []check
	select {
	case c := <-s.checks:
		batch = append(batch, c)
	case <-ctx.Done():
		return nil
	}
	for len(batch) < 500 {
		select {
		case c := <-s.checks:
			batch = append(batch, c)
		default:
			return batch
		}
	}
	return batch
}

// lookUp retries until the database answers; ok is false when ctx ends first.
func (s *Sender) lookUp(ctx context.Context, batch []check) (found map[uuid.UUID]store.Progress, ok bool) {
	var keys []store.DeliveryKey
	for _, c := range batch {
		if c.needed {
			keys = append(keys, store.DeliveryKey{Subscription: c.job.key(), ID: c.job.msg.DeliveryID})
		}
	}
	if len(keys) == 0 {
		return nil, true
	}
	pause := 50 * time.Millisecond
	for {
		found, err := store.SelectProgress(ctx, s.db, keys)
		if err == nil {
			return found, true
		}
		if ctx.Err() == nil {
			s.log.WarnContext(ctx, "progress of deliveries not read", "rows", len(keys), "error", err)
		}
		select {
		case <-ctx.Done():
			return nil, false
		case <-time.After(pause):
			pause = min(pause*2, 2*time.Second)
		}
	}
}
