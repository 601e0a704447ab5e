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

// closedAttempt is above every attempt: nothing of the delivery is to be done any more.
const closedAttempt = 1 << 14

// seen remembers the highest attempt of recent deliveries that this process made.
type seen struct {
	mu   sync.Mutex
	last *lru.Cache[uuid.UUID, seenAttempt]
}

// seenAttempt is an attempt and the period in which it was made: after a partition was elsewhere, there may be more.
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

// claim reserves an attempt; ok is false when it was made already. before is what release needs.
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

// release undoes a claim whose attempt was not made.
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

// follows reports whether an attempt of the delivery was made in the same period, so that no other process
// can have made one since.
func (s *seen) follows(j *job) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.last.Get(j.msg.DeliveryID)
	return ok && v.from == j.from
}

// assignment is one period in which a partition belongs to this process.
type assignment struct {
	stopping <-chan struct{}
	since    time.Time
	checking atomic.Int64 // jobs that wait for the database before they may enter their lanes
}

func (a *assignment) stopped() bool {
	select {
	case <-a.stopping:
		return true
	default:
		return false
	}
}

// clockMargin is how far the clocks of producers may be ahead of ours.
const clockMargin = 5 * time.Second

// surelyNew reports whether nobody can have made the attempt: the record was written after the partition
// came here, or the attempt before it was made here.
func (s *Sender) surelyNew(j *job) bool {
	if s.seen.follows(j) {
		return true // the memory decides when its turn comes
	}
	return j.msg.Attempt == 1 && j.msg.Parks == 0 && j.rec.Timestamp.After(j.from.since.Add(clockMargin))
}

// check is a job on its way past the database.
type check struct {
	job    *job
	needed bool // else it only keeps its place behind others of its partition
}

// checkLoop drops what the database knows to be done and lets the rest into the lanes, in order. What
// arrives during one look-up forms the next.
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

// lookUp asks until the database answers; ok is false when ctx ends first.
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
