package sender

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/tradegrid/tradegrid/services/dispatch/store"
)

// closedAttempt is above every attempt: the delivery is over.
const closedAttempt = 1 << 14

// seen remembers the last attempt of recent deliveries.
type seen struct {
	mu   sync.Mutex
	last *lru.Cache[uuid.UUID, seenAttempt]
}

// seenAttempt is an attempt and the assignment in which it was made. Another process may have made more since that ended.
type seenAttempt struct {
	attempt int
	from    *assignment
}

func newSeen(size int) *seen {
	last, err := lru.New[uuid.UUID, seenAttempt](size)
	if err != nil {
		panic(err) // the size is above zero
	}
	return &seen{last: last}
}

// claim reserves an attempt; ok is false when it was made before. The first result is for release.
func (s *seen) claim(j *job) (before seenAttempt, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, _ = s.last.Get(j.msg.DeliveryID)
	if before.attempt >= j.msg.Attempt {
		return before, false
	}
	s.last.Add(j.msg.DeliveryID, seenAttempt{j.msg.Attempt, j.from})
	return before, true
}

// release undoes a claim.
func (s *seen) release(id uuid.UUID, before seenAttempt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if before.attempt == 0 {
		s.last.Remove(id)
		return
	}
	s.last.Add(id, before)
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
	v, ok := s.last.Get(j.msg.DeliveryID)
	return ok && v.from == j.from
}

// assignment is a period in which a partition is assigned to this process.
type assignment struct {
	stopping <-chan struct{}
	since    time.Time
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

// clockMargin is how far the clocks of producers may be ahead.
const clockMargin = 5 * time.Second

// surelyNew reports whether no other process can have made the attempt: the record was written during this assignment, or
// the attempt before it was made in it.
func (s *Sender) surelyNew(j *job) bool {
	if s.seen.follows(j) {
		return true // claim decides
	}
	return j.msg.Attempt == 1 && j.msg.Parks == 0 && j.rec.Timestamp.After(j.from.since.Add(clockMargin))
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
				j.rec.Drop()
			case stored && (!p.State.Open() || int(p.Attempt) >= j.msg.Attempt):
				store.CountDuplicate(store.HopSender)
				j.rec.Done()
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
