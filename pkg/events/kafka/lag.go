package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/tradegrid/tradegrid/topics"
)

// lagTimeout bounds the requests of one measurement of a group.
const lagTimeout = 10 * time.Second

// Lag is how far a consumer group has come in a partition.
type Lag struct {
	Topic     string
	Partition int32
	Next      int64 // offset that the group reads next
	End       int64 // offset that the partition writes next
	Due       int64 // end of the records that were due at the time asked about; at most End
}

// Unread is how many records the group has not finished.
func (l Lag) Unread() int64 { return l.End - l.Next }

// Overdue is how many of them were due at the time asked about.
func (l Lag) Overdue() int64 { return max(l.Due-l.Next, 0) }

// ReadLag asks the brokers how far a group has come in each partition of its topics, whoever owns it. due is the time that
// [Lag.Due] is about: a record is due when it has been in its tier for the longest delay. Topics that do not exist are left out.
func ReadLag(ctx context.Context, adm *kadm.Client, group topics.Consumer, due time.Time) ([]Lag, error) {
	ctx, cancel := context.WithTimeout(ctx, lagTimeout)
	defer cancel()
	names := make([]string, len(group.Tiers))
	for i, tier := range group.Tiers {
		names[i] = tier.Topic
	}
	// Commits come before the ends, so that a valid one is never beyond its end.
	committed, err := adm.FetchOffsets(ctx, group.Group)
	if err != nil && !errors.Is(err, kerr.GroupIDNotFound) {
		return nil, fmt.Errorf("read offsets of group %s: %w", group.Group, err)
	}
	starts, err := adm.ListStartOffsets(ctx, names...)
	if err != nil {
		return nil, fmt.Errorf("read starts of topics of group %s: %w", group.Group, err)
	}
	ends, err := adm.ListEndOffsets(ctx, names...)
	if err != nil {
		return nil, fmt.Errorf("read ends of topics of group %s: %w", group.Group, err)
	}
	var lags []Lag
	for _, tier := range group.Tiers {
		found, err := lagsOf(tier.Topic, committed, starts, ends)
		if err == nil {
			err = addDue(ctx, adm, tier, found, due)
		}
		if err != nil {
			return nil, fmt.Errorf("measure lag of group %s: %w", group.Group, err)
		}
		lags = append(lags, found...)
	}
	return lags, nil
}

// lagsOf are the partitions of a topic, none if it does not exist.
func lagsOf(topic string, committed kadm.OffsetResponses, starts, ends kadm.ListedOffsets) (lags []Lag, err error) {
	for id, end := range ends[topic] {
		start := starts[topic][id]
		if err := errors.Join(start.Err, end.Err); errors.Is(err, kerr.UnknownTopicOrPartition) {
			continue
		} else if err != nil {
			return nil, fmt.Errorf("read partition %d of topic %s: %w", id, topic, err)
		}
		next := start.Offset
		if c, ok := committed.Lookup(topic, id); ok && !ofDeletedTopic(c.At, start.Offset, end.Offset) {
			next = min(max(next, c.At), end.Offset)
		}
		lags = append(lags, Lag{Topic: topic, Partition: id, Next: next, End: end.Offset, Due: next})
	}
	return lags, nil
}

// addDue asks for the ends of the records that were due. Most topics have none, and are not asked.
func addDue(ctx context.Context, adm *kadm.Client, tier topics.DelayTier, lags []Lag, due time.Time) error {
	unread := false
	for _, l := range lags {
		unread = unread || l.Unread() > 0
	}
	if !unread {
		return nil
	}
	later, err := adm.ListOffsetsAfterMilli(ctx, due.Add(-tier.Longest()).UnixMilli(), tier.Topic)
	if err != nil {
		return fmt.Errorf("find what was due in topic %s: %w", tier.Topic, err)
	}
	for i := range lags {
		l := &lags[i]
		first, ok := later.Lookup(l.Topic, l.Partition)
		if !ok {
			first.Err = kerr.UnknownTopicOrPartition
		}
		if first.Err != nil {
			return fmt.Errorf("find what was due in partition %d of topic %s: %w", l.Partition, l.Topic, first.Err)
		}
		l.Due = min(first.Offset, l.End)
	}
	return nil
}

// ownersOf names the member of a group that each partition is assigned to, as client@host.
func ownersOf(ctx context.Context, adm *kadm.Client, group string) (map[topicPartition]string, error) {
	ctx, cancel := context.WithTimeout(ctx, lagTimeout)
	defer cancel()
	described, err := adm.DescribeGroups(ctx, group)
	if err == nil {
		err = described[group].Err
	}
	if err != nil && !errors.Is(err, kerr.GroupIDNotFound) {
		return nil, fmt.Errorf("describe group %s: %w", group, err)
	}
	owners := map[topicPartition]string{}
	for _, m := range described[group].Members {
		assigned, ok := m.Assigned.AsConsumer()
		if !ok {
			continue
		}
		for _, topic := range assigned.Topics {
			for _, id := range topic.Partitions {
				owners[topicPartition{topic.Topic, id}] = m.ClientID + "@" + m.ClientHost
			}
		}
	}
	return owners, nil
}
