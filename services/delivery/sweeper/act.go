package sweeper

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/kit/compress"
	"github.com/tradegrid/tradegrid/services/delivery/deadletter"
	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/topics"
)

// maxBodies limits the memory for bodies, of up to 256 KiB each.
const maxBodies = 100

func (s *Sweeper) do(ctx context.Context, t *actions, now time.Time) error {
	for len(t.close) > 0 {
		n := min(len(t.close), maxBodies)
		if err := s.closeAll(ctx, t.close[:n], t.why[:n], now); err != nil {
			return err
		}
		t.close, t.why = t.close[n:], t.why[n:]
	}
	for len(t.inject) > 0 {
		n := min(len(t.inject), maxBodies)
		if err := s.inject(ctx, t.inject[:n], now); err != nil {
			return err
		}
		t.inject = t.inject[n:]
	}
	return nil
}

// inject produces deliveries again and stores that once the brokers have them.
func (s *Sweeper) inject(ctx context.Context, rows []*store.OpenDelivery, now time.Time) error {
	bodies, err := store.SelectBodies(ctx, s.db, rows)
	if err != nil {
		return err
	}
	var records []*kgo.Record
	var sent, newer, gone []*store.OpenDelivery
	for _, v := range rows {
		body, ok := bodies[v.ID]
		switch {
		case ok && body.Err == nil:
			sent, records = append(sent, v), append(records, v.Message(body.Text).Record(topics.Deliveries))
		case errors.Is(body.Err, compress.ErrNewer):
			newer = append(newer, v)
		case now.Sub(v.CreatedAt) > time.Hour:
			gone = append(gone, v)
		default:
			// The event was on its way from the outbox to the event log; its body will be there in the next pass.
		}
	}
	if err := s.out.ProduceSync(ctx, records...).FirstErr(); err != nil {
		return fmt.Errorf("inject %d deliveries: %w", len(records), err)
	}
	// What only a later release reads is looked at again when it is overdue, and does not hold up the receiver's others.
	if err := store.MarkInjected(ctx, s.db, append(newer, sent...), now); err != nil {
		return err
	}
	if len(newer) > 0 {
		s.cfg.Log.ErrorContext(ctx, "deliveries with bodies of a later release left to it", "count", len(newer), "company_id", newer[0].Subscription.Company,
			"subscription_id", newer[0].Subscription.ID, "delivery_id", newer[0].ID)
	}
	s.reportUnmoved(ctx, sent, now)
	for _, v := range sent {
		sweeperReinjected.WithLabelValues(cause(v)).Inc()
	}
	if len(sent) > 0 {
		s.cfg.Log.InfoContext(ctx, "deliveries injected again", "count", len(sent), "company_id", sent[0].Subscription.Company, "subscription_id", sent[0].Subscription.ID)
	}
	if len(gone) == 0 {
		return nil
	}
	why := make([]failure, len(gone))
	for i := range why {
		why[i] = failure{deadletter.TTL, "the event is no longer in the event log"}
	}
	return s.closeAll(ctx, gone, why, now)
}

// cause is the label of the metric.
func cause(v *store.OpenDelivery) string {
	if v.Next == nil {
		return "parked"
	}
	return "overdue"
}

// closeAll writes the dead letters first: a crash in between repeats some and loses none.
func (s *Sweeper) closeAll(ctx context.Context, rows []*store.OpenDelivery, why []failure, now time.Time) error {
	bodies, err := store.SelectBodies(ctx, s.db, rows)
	if err != nil {
		return err
	}
	texts := make([]string, len(rows))
	for i, v := range rows {
		texts[i] = why[i].text
		if err := s.dead.Delivery(ctx, v.Message(bodies[v.ID].Text), why[i].reason, why[i].text); err != nil {
			return err
		}
	}
	if err := store.CloseFailed(ctx, s.db, rows, texts, now); err != nil {
		return err
	}
	sweeperExpired.Add(float64(len(rows)))
	return nil
}
