package dispatch

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/webhook"
	"github.com/tradegrid/tradegrid/topics"
)

// bodiesAtATime bounds the memory for bodies of up to 256 KiB.
const bodiesAtATime = 100

func (s *Sweeper) do(ctx context.Context, t *todo, now time.Time) error {
	for len(t.close) > 0 {
		n := min(len(t.close), bodiesAtATime)
		if err := s.closeAll(ctx, t.close[:n], t.why[:n], now); err != nil {
			return err
		}
		t.close, t.why = t.close[n:], t.why[n:]
	}
	for len(t.inject) > 0 {
		n := min(len(t.inject), bodiesAtATime)
		if err := s.inject(ctx, t.inject[:n], now); err != nil {
			return err
		}
		t.inject = t.inject[n:]
	}
	return nil
}

// inject puts deliveries in again, and notes it once the brokers have them.
func (s *Sweeper) inject(ctx context.Context, rows []*openDelivery, now time.Time) error {
	bodies, err := selectBodies(ctx, s.db, rows)
	if err != nil {
		return err
	}
	var records []*kgo.Record
	var sent, gone []*openDelivery
	for _, v := range rows {
		body, ok := bodies[v.id]
		switch {
		case ok:
			sent, records = append(sent, v), append(records, v.message(body).Record(topics.Deliveries))
		case now.Sub(v.createdAt) > time.Hour:
			gone = append(gone, v)
		default:
			// The relay writes the event log after it has published: the body is about to come.
		}
	}
	if err := s.out.ProduceSync(ctx, records...).FirstErr(); err != nil {
		return fmt.Errorf("put %d deliveries in again: %w", len(records), err)
	}
	if err := reopen(ctx, s.db, sent, now); err != nil {
		return err
	}
	for _, v := range sent {
		sweeperReinjected.WithLabelValues(v.cause()).Inc()
	}
	if len(sent) > 0 {
		s.cfg.Log.InfoContext(ctx, "deliveries put in again", "count", len(sent), "company_id", sent[0].key.Company, "subscription_id", sent[0].key.ID)
	}
	if len(gone) == 0 {
		return nil
	}
	why := make([]ending, len(gone))
	for i := range why {
		why[i] = ending{DeadTTL, "the event is no longer in the event log"}
	}
	return s.closeAll(ctx, gone, why, now)
}

func (v *openDelivery) cause() string {
	if v.next == nil {
		return "parked"
	}
	return "overdue"
}

// message asks for the next attempt, now, in a trace of its own: the request is long over.
func (v *openDelivery) message(body []byte) *webhook.Message {
	return &webhook.Message{
		Company: v.key.Company, DeliveryID: v.id, SubscriptionID: v.key.ID, Event: v.event, EventID: v.eventID,
		Attempt: int(v.attempt) + 1, Parks: 1, ExpiresAt: v.expires, CommittedAt: v.createdAt, IsTest: v.isTest, Body: body,
	}
}

// closeAll writes the dead letters first: a crash repeats them, and loses none.
func (s *Sweeper) closeAll(ctx context.Context, rows []*openDelivery, why []ending, now time.Time) error {
	bodies, err := selectBodies(ctx, s.db, rows)
	if err != nil {
		return err
	}
	texts := make([]string, len(rows))
	for i, v := range rows {
		texts[i] = why[i].text
		if err := s.dead.Delivery(ctx, v.message(bodies[v.id]), why[i].reason, why[i].text); err != nil {
			return err
		}
	}
	if err := closeFailed(ctx, s.db, rows, texts, now); err != nil {
		return err
	}
	sweeperExpired.Add(float64(len(rows)))
	return nil
}
