package sender

import (
	"math"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/kit/failpoint"
	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// finish decides what happens to a delivery and does it: the record in Kafka first, then the result in the database, then the
// consumed record is done.
func (s *Sender) finish(j *job, r *receiver, a *attempted, in retryInput) {
	m := j.msg
	in.attempt, in.postponements, in.now, in.expires = m.Attempt, m.Postponements, s.now(), m.ExpiresAt
	in.down = a != nil && j.queue.breaker.down(in.now)
	d := s.cfg.Retry.decide(in)
	if d.outcome == postpone {
		if wait, ok := s.sched.postpone(j.queue, maxPostponed); ok {
			d.wait = max(d.wait, wait)
		} else {
			d.outcome = holdInDatabase
		}
	}
	switch {
	case a != nil:
		s.observe(s.work, j, r, a, d)
	case d.outcome == postpone || d.outcome == holdInDatabase || d.outcome == holdLast:
		postponedTotal.WithLabelValues(in.cause.String()).Inc()
	}
	res := s.result(j, a, d, in)
	if r != nil && r.Ordered && (!res.State.Open() || causes[in.cause].holdsRecord) {
		s.passTurn(j, res)
	}
	switch d.outcome {
	case success:
		s.seen.close(j)
		s.results.add(res)
	case holdInDatabase, holdLast:
		s.results.add(res)
	case retry, postpone:
		next := *m
		next.NotBefore, next.Asked = *res.Next, false
		if d.outcome == postpone {
			next.Postponements++
		} else {
			next.Attempt, next.Postponements = m.Attempt+1, 0
		}
		s.produce(j, next.Record(s.cfg.Retry.delayTopic(d.wait)), func() {
			failpoint.Pass("sender.retry_produced")
			s.results.add(res)
		})
	case deadLetter:
		s.deadLetter(j, in.cause, res)
	}
}

// result is what a decision stores.
func (s *Sender) result(j *job, a *attempted, d decision, in retryInput) *result {
	n := int16(j.msg.Attempt)
	res := &result{stored: func() { s.stored(j) }, Result: store.Result{
		DeliveryKey: j.deliveryKey(), New: j.newRow(),
		State: webhook.StatePending, Attempt: n - 1, Most: n - 1,
	}}
	if a != nil {
		res.Attempt, res.Tried, res.Started, res.Took, res.Body = n, true, a.at.UTC().Truncate(time.Microsecond), a.took, a.body
		if a.status != 0 {
			code := int32(a.status)
			res.Code = &code
		}
		if a.err != "" {
			res.Err = &a.err
		}
	}
	moment := in.now.UTC().Truncate(time.Millisecond)
	switch d.outcome {
	case success:
		// Also when a former owner of the partition has stored a failure of this attempt meanwhile.
		res.State, res.Most, res.Completed = webhook.StateSuccess, math.MaxInt16, &moment
		if a != nil {
			// The history shows when the attempt began as the end less the duration, both in milliseconds.
			moment = res.Started.Truncate(time.Millisecond).Add(res.Took.Truncate(time.Millisecond))
		}
	case deadLetter:
		res.State, res.Most, res.Completed = webhook.StateFailed, math.MaxInt16, &moment
		if d.reason != "" {
			res.Err = &d.reason
		}
	case retry, postpone, holdLast:
		due := moment.Add(d.wait).Truncate(time.Millisecond)
		res.Next = &due
		res.Waiting = waiting(j, d, in.cause)
	case holdInDatabase: // without a due time
		res.Waiting = waiting(j, d, in.cause)
	}
	return res
}

// newRow is what the row holds besides the result, if it may not be written yet. A retry can be answered before the result of the
// attempt before is stored: whichever comes first brings the row.
func (j *job) newRow() *store.NewRow {
	if !j.msg.RowFollows {
		return nil
	}
	created := j.rec.Timestamp.UTC()
	if j.msg.Attempt > 1 || j.msg.Postponements > 0 { // the record was made later, but the id begins with the time of the event
		created = time.Unix(j.msg.DeliveryID.Time().UnixTime()).UTC()
	}
	return &store.NewRow{EventID: j.msg.EventID, Event: j.msg.Event, Expires: j.msg.ExpiresAt, Created: created}
}

// waiting is what a delivery that stays open waits for.
func waiting(j *job, d decision, why cause) *webhook.Waiting {
	row := causes[why]
	w := row.waits
	switch {
	case w != "":
	case row.outcome == postpone:
		w = j.waited
	case d.outcome == holdLast:
		w = webhook.WaitsForReturn
	case d.asked:
		w = webhook.WaitsAsAsked
	default:
		w = webhook.WaitsForRetry
	}
	return &w
}

// produce writes a record and calls then once the brokers have it. It retries until the partition stops.
func (s *Sender) produce(j *job, rec *kgo.Record, then func()) {
	s.client.Produce(s.work, rec, func(_ *kgo.Record, err error) {
		if err == nil {
			then()
			return
		}
		s.log.WarnContext(s.work, "delayed delivery not produced", "topic", rec.Topic, "delivery_id", j.msg.DeliveryID, "error", err)
		again := *rec
		time.AfterFunc(time.Second, func() {
			if j.from.stopped() {
				s.drop(j)
				return
			}
			s.produce(j, &kgo.Record{Topic: again.Topic, Key: again.Key, Value: again.Value, Headers: again.Headers}, then)
		})
	})
}

// deadLetter writes a failed delivery to the dead letter topic, then stores the result.
func (s *Sender) deadLetter(j *job, why cause, res *result) {
	text := ""
	if res.Err != nil {
		text = *res.Err
	}
	for {
		err := s.dead.Delivery(s.work, j.msg, causes[why].dead, text)
		if err == nil {
			s.seen.close(j)
			s.results.add(res)
			return
		}
		s.log.WarnContext(s.work, "dead letter not written", "delivery_id", j.msg.DeliveryID, "error", err)
		select {
		case <-j.from.stopping:
			s.drop(j)
			return
		case <-time.After(time.Second):
		}
	}
}
