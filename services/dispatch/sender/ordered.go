package sender

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/failpoint"
	"github.com/tradegrid/tradegrid/services/dispatch/store"
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
		j.rec.Done()
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

// notifyStored has a job notice when its result is stored.
func (j *job) notifyStored(res *result) {
	j.stored = make(chan struct{})
	done := res.stored
	res.stored = func() {
		done()
		close(j.stored)
	}
}

// passTurn waits until the end of a delivery to an ordered subscription is stored, so that the next of its record finds it, and
// sends the one that waits for it. If it cannot, the sweeper does.
func (s *Sender) passTurn(j *job) {
	if j.stored == nil {
		return
	}
	signal(s.results.full) // the next of the record does not wait for more results
	select {
	case <-j.stored:
	case <-j.from.stopping:
		return
	case <-s.work.Done():
		return
	}
	failpoint.Pass("sender.turn_over")
	if err := s.sendNext(s.work, j.deliveryKey()); err != nil {
		s.log.WarnContext(s.work, "next delivery of the record left to the sweeper", "delivery_id", j.msg.DeliveryID, "error", err)
	}
}

// sendNext gives up after a few seconds, because the job that calls it keeps its slot.
func (s *Sender) sendNext(ctx context.Context, ended store.DeliveryKey) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	next, err := store.SelectNextHeld(ctx, s.db, ended)
	if err != nil || next == nil {
		return err
	}
	held := []*store.OpenDelivery{next}
	bodies, err := store.SelectBodies(ctx, s.db, held)
	body, ok := bodies[next.ID]
	if err != nil || !ok || body.Err != nil {
		return err // the sweeper knows what to do without a body
	}
	if err := s.client.ProduceSync(ctx, next.Message(body.Text).Record(topics.Deliveries)).FirstErr(); err != nil {
		return err
	}
	return store.MarkInjected(ctx, s.db, held, s.now().UTC().Truncate(time.Microsecond))
}
