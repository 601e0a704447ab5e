package sweeper

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/topics"
)

// unread are the partitions with records of deliveries that were due some time ago and that their group has not finished. An
// overdue delivery may be one of these records; injecting it again would add one that is read after it. Where a partition
// has no such record, because it was read, emptied or made anew, a delivery that is overdue by longer has no record there.
type unread struct {
	unknown    bool             // the brokers did not say
	partitions map[string]int32 // number of partitions, by topic
	overdue    map[place]bool
}

type place struct {
	topic     string
	partition int32
}

// readUnread asks the brokers which partitions hold unread records that were due at a time.
func readUnread(ctx context.Context, adm *kadm.Client, tiers []topics.DelayTier, due time.Time) (*unread, error) {
	u := &unread{partitions: map[string]int32{}, overdue: map[place]bool{}}
	for _, group := range topics.Consumers(tiers) {
		if group.Group == topics.Routers {
			continue // events are no deliveries yet
		}
		lags, err := kafka.ReadLag(ctx, adm, group, due)
		if err != nil {
			return &unread{unknown: true}, err
		}
		for _, l := range lags {
			u.partitions[l.Topic]++
			if l.Overdue() > 0 {
				u.overdue[place{l.Topic, l.Partition}] = true
			}
		}
	}
	return u, nil
}

// holds reports whether an overdue delivery may have an unread record, and whether that goes for all of its receiver.
func (u *unread) holds(v *store.OpenDelivery, tiers []topics.DelayTier) (held, all bool) {
	if u.unknown {
		return true, true
	}
	if u.overdueIn(topics.Deliveries, v) {
		return true, true
	}
	// One that is kept for the return of its receiver has no record. Others that had to wait went through a line.
	wait := v.Next.Sub(v.UpdatedAt)
	if wait <= 0 || v.Waiting == webhook.WaitsForReturn {
		return false, false
	}
	return u.overdueIn(topics.DelayTierFor(tiers, wait).Topic, v), false
}

func (u *unread) overdueIn(topic string, v *store.OpenDelivery) bool {
	n := u.partitions[topic]
	return n > 0 && u.overdue[place{topic, kafka.PartitionOf([]byte(v.Subscription.ID.String()), n)}]
}

// findUnread fills in what the scan knows of unread records, once some delivery is overdue. Half the grace is far longer than
// a healthy group takes, and leaves room for the time between the row and its record.
func (s *Sweeper) findUnread(ctx context.Context, w *scan, rows []*store.OpenDelivery) {
	if w.unread != nil {
		return
	}
	for _, v := range rows {
		if v.OverdueAt(w.Overdue) {
			var err error
			if w.unread, err = readUnread(ctx, s.monitor.admin, s.cfg.Tiers, w.Now.Add(-s.cfg.Grace/2)); err != nil {
				s.cfg.Log.WarnContext(ctx, "overdue deliveries are left alone: it is not known whether their records wait unread", "error", err)
			}
			return
		}
	}
}

// reportHeld logs when a pass begins to leave overdue deliveries alone, and when none does any more.
func (s *Sweeper) reportHeld(ctx context.Context, held int) {
	before := s.held
	s.held = held
	switch {
	case held > 0 && before == 0:
		s.cfg.Log.WarnContext(ctx, "overdue deliveries are not injected: their records wait unread in Kafka", "at_least", held)
	case held == 0 && before > 0:
		s.cfg.Log.InfoContext(ctx, "no overdue delivery waits unread in Kafka any more")
	}
}
