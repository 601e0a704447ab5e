package sender

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/kit/failpoint"
	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/topics"
)

func (j *job) deliveryKey() store.DeliveryKey {
	return store.DeliveryKey{Subscription: j.key(), ID: j.msg.DeliveryID}
}

// hasTurn reports whether a delivery to an ordered subscription may be sent. One that may not is finished: it waits in the
// database until the earlier ones of its record are over, or somebody has skipped it.
func (s *Sender) hasTurn(j *job, r *receiver) bool {
	if j.msg.Entity == uuid.Nil {
		return true // a redelivery, or made before the subscription was ordered
	}
	turn, ok := s.turn(j)
	if !ok {
		s.drop(j)
		return false
	}
	switch {
	case turn.Over:
		s.seen.close(j)
		s.passed.add(pass{j.deliveryKey(), 1, j.rec.Done})
		return false
	case turn.Blocked:
		s.finish(j, r, nil, retryInput{cause: blocked})
		return false
	}
	return true
}

// turn retries until the turn is read; it fails only when the partition stops.
func (s *Sender) turn(j *job) (store.Turn, bool) {
	pause := 50 * time.Millisecond
	for {
		turn, err := store.SelectTurn(s.work, s.db, j.deliveryKey())
		if err == nil {
			return turn, true
		}
		s.log.WarnContext(s.work, "turn of a delivery not read", "delivery_id", j.msg.DeliveryID, "error", err)
		select {
		case <-j.from.stopping:
			return turn, false
		case <-time.After(pause):
			pause = min(pause*2, 2*time.Second)
		}
	}
}

// passTurn has the turn of a record passed on once a result is stored: the end of a delivery to an ordered subscription, or
// that it waits for others. Whichever is stored last finds the other, in whatever processes that happens. The consumed record
// is done after that, so that a process that dies before is followed by one that does it.
func (s *Sender) passTurn(j *job, res *result) {
	most := 1
	if res.Succeeded() {
		most = min(max(int(maxQueued/2/max(res.Took, 1)), 1), maxPassed)
	}
	done := res.stored
	stored := make(chan struct{})
	if j.msg.Entity != uuid.Nil && !res.State.Open() {
		j.stored = stored
	}
	res.stored = func() {
		close(stored)
		s.passed.add(pass{j.deliveryKey(), most, done})
	}
}

// awaitStored waits until the end of a delivery to an ordered subscription is stored, so that the next of its record, which
// may be in the same queue, finds it.
func (s *Sender) awaitStored(j *job) {
	if j.stored == nil {
		return
	}
	signal(s.results.full) // the next of the record does not wait for more results
	select {
	case <-j.stored:
	case <-j.from.stopping:
	case <-s.work.Done():
	}
}

// maxPassed is how many deliveries of a record are sent together after one that has arrived, if the receiver takes them within half
// of the longest wait: in a partition with a backlog, each on its own would wait for all of it. They still go one after the
// other, and when one fails, the rest is held again.
const maxPassed = 16

// pass is a turn to be passed on.
type pass struct {
	key  store.DeliveryKey // of a delivery of the record
	most int
	done func()
}

// passes are the turns to be passed on.
type passes struct {
	mu    sync.Mutex
	queue []pass
	wake  chan struct{}
}

// add does not block, because those who write results call it.
func (p *passes) add(next pass) {
	p.mu.Lock()
	p.queue = append(p.queue, next)
	p.mu.Unlock()
	signal(p.wake)
}

// take waits for turns; it returns none when ctx is done.
func (p *passes) take(ctx context.Context, limit int) []pass {
	for {
		p.mu.Lock()
		n := min(len(p.queue), limit)
		batch := p.queue[:n:n]
		if p.queue = p.queue[n:]; len(p.queue) > 0 {
			signal(p.wake)
		}
		p.mu.Unlock()
		if n > 0 {
			return batch
		}
		select {
		case <-p.wake:
		case <-ctx.Done():
			return nil
		}
	}
}

// maxBodies limits the memory for bodies, of up to 256 KiB each.
const maxBodies = 100

// passLoop passes turns on. Those that come meanwhile form the next batch.
func (s *Sender) passLoop(ctx context.Context) {
	for {
		batch := s.passed.take(ctx, maxBodies)
		if batch == nil {
			return
		}
		failpoint.Pass("sender.turn_over")
		if !s.retryPass(ctx, batch) {
			return // the records are not committed: the next owner passes the turns on
		}
		for _, p := range batch {
			p.done()
		}
	}
}

// retryPass retries until the turns are passed on; it reports false when ctx ends first.
func (s *Sender) retryPass(ctx context.Context, batch []pass) bool {
	pause := 50 * time.Millisecond
	for {
		err := s.sendNext(ctx, batch)
		if err == nil {
			return true
		}
		if ctx.Err() == nil {
			s.log.WarnContext(ctx, "next deliveries of records not sent", "records", len(batch), "error", err)
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(pause):
			pause = min(pause*2, 2*time.Second)
		}
	}
}

// sendNext sends the deliveries whose turn it is.
func (s *Sender) sendNext(ctx context.Context, batch []pass) error {
	by := map[int][]store.DeliveryKey{}
	for _, p := range batch {
		by[p.most] = append(by[p.most], p.key)
	}
	for most, keys := range by {
		next, err := store.SelectNextHeld(ctx, s.db, keys, most)
		if err != nil {
			return err
		}
		for held := range slices.Chunk(next, maxBodies) {
			if err := s.sendHeld(ctx, held); err != nil {
				return err
			}
		}
	}
	return nil
}

// sendHeld leaves those without a body, or that brokers refuse, to the sweeper.
func (s *Sender) sendHeld(ctx context.Context, held []*store.OpenDelivery) error {
	bodies, err := store.SelectBodies(ctx, s.db, held)
	if err != nil {
		return err
	}
	var records []*kgo.Record
	of := map[*kgo.Record]*store.OpenDelivery{}
	for _, v := range held {
		if body, ok := bodies[v.ID]; ok && body.Err == nil {
			rec := v.Message(body.Text).Record(topics.Deliveries)
			of[rec], records = v, append(records, rec)
		}
	}
	var sent []*store.OpenDelivery
	for _, res := range s.client.ProduceSync(ctx, records...) {
		switch {
		case res.Err == nil:
			sent = append(sent, of[res.Record])
		case errors.Is(res.Err, kerr.MessageTooLarge): // retrying does not help, and must not keep the others
			s.log.ErrorContext(ctx, "delivery whose turn it is refused by the brokers", "delivery_id", of[res.Record].ID, "error", res.Err)
		default:
			return fmt.Errorf("send %d deliveries whose turn it is: %w", len(records), res.Err)
		}
	}
	return store.MarkInjected(ctx, s.db, sent, s.now().UTC().Truncate(time.Microsecond))
}
