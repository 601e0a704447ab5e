package kafka

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	commitTimeout = 5 * time.Second
	measureEvery  = 5 * time.Second
	lagEvery      = 2 // times measureEvery; each time lists the end offsets of all partitions
	lagEveryIdle  = 6 // the same while nothing is behind and no records come
)

// commitLoop commits at most once per CommitEvery, and sleeps while there is nothing to commit.
func (c *consumer) commitLoop(ctx context.Context) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.advanced:
		}
		pause.Reset(c.cfg.CommitEvery)
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
		if !c.commitAll(ctx) {
			c.prefixAdvanced()
		}
	}
}

// prefixAdvanced wakes the commits.
func (c *consumer) prefixAdvanced() {
	select {
	case c.advanced <- struct{}{}:
	default:
	}
}

// commitAll commits all partitions; false means that some were not committed.
func (c *consumer) commitAll(ctx context.Context) bool {
	c.commitMu.Lock()
	defer c.commitMu.Unlock()
	return c.commit(ctx, c.all())
}

// commit commits the ends of the finished prefixes. A failed commit is retried with the next one;
// a partition that was revoked meanwhile is consumed again from its last commit, which repeats records but loses none.
// A topic that the broker does not know ends the membership: Kafka 4.1 and older take commits by name, so the next try could
// skip records of a topic of that name that was made anew.
func (c *consumer) commit(ctx context.Context, parts []*partition) (ok bool) {
	offsets := map[string]map[int32]kgo.EpochOffset{}
	byKey := map[topicPartition]*partition{}
	for _, p := range parts {
		at, ok := p.position()
		if !ok || c.unknown[p.key.topic] {
			continue
		}
		if offsets[p.key.topic] == nil {
			offsets[p.key.topic] = map[int32]kgo.EpochOffset{}
		}
		offsets[p.key.topic][p.key.id] = at
		byKey[p.key] = p
	}
	if len(offsets) == 0 {
		return true
	}
	ok = true
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
	defer cancel()
	c.client.CommitOffsetsSync(ctx, offsets, func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, resp *kmsg.OffsetCommitResponse, err error) {
		if err != nil {
			ok = false
			c.log.WarnContext(ctx, "offset commit failed", "group", c.cfg.Group, "error", err)
			return
		}
		for _, t := range resp.Topics {
			for _, rp := range t.Partitions {
				if err := kerr.ErrorForCode(rp.ErrorCode); err != nil {
					ok = false
					c.log.WarnContext(ctx, "offset commit refused", "group", c.cfg.Group, "topic", t.Topic, "partition", rp.Partition, "error", err)
					if errors.Is(err, kerr.UnknownTopicOrPartition) || errors.Is(err, kerr.UnknownTopicID) {
						c.unknown[t.Topic] = true
						c.leave()
					}
					continue
				}
				byKey[topicPartition{t.Topic, rp.Partition}].wasCommitted(offsets[t.Topic][rp.Partition].Offset)
			}
		}
	})
	return ok
}

// startOver has partitions whose commit is that of a deleted topic consumed from their start. The brokers would have the client go on
// at the end: a member of the group may commit for the new topic before it hears that the old one is gone.
func (c *consumer) startOver(ctx context.Context, assigned map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
	var names []string
	for topic, parts := range assigned {
		for _, at := range parts {
			if at.EpochOffset().Offset > 0 {
				names = append(names, topic)
				break
			}
		}
	}
	if len(names) == 0 {
		return assigned, nil
	}
	ctx, cancel := context.WithTimeout(ctx, commitTimeout)
	defer cancel()
	// Not a field of the consumer: records lead to it, and what is reachable from values of interfaces keeps all methods in the binary.
	admin := kadm.NewClient(c.member)
	starts, err := admin.ListStartOffsets(ctx, names...)
	if err != nil {
		return nil, fmt.Errorf("read starts of topics: %w", err) // the member tries again
	}
	ends, err := admin.ListEndOffsets(ctx, names...)
	if err != nil {
		return nil, fmt.Errorf("read ends of topics: %w", err)
	}
	for topic, parts := range assigned {
		for id, at := range parts {
			start, end := starts[topic][id], ends[topic][id]
			if committed := at.EpochOffset().Offset; start.Err == nil && end.Err == nil && ofDeletedTopic(committed, start.Offset, end.Offset) {
				parts[id] = kgo.NewOffset().AtStart()
				c.log.WarnContext(ctx, "commit is that of a deleted topic, the new one is consumed from its start",
					"group", c.cfg.Group, "topic", topic, "partition", id, "committed", committed, "end", end.Offset)
			}
		}
	}
	return assigned, nil
}

// ofDeletedTopic reports whether a commit was made for another topic of the same name: it is beyond the end of this one, from which
// nothing was ever deleted. An older partition may end before a commit because its leader lost records; it goes on from there.
func ofDeletedTopic(committed, start, end int64) bool { return committed > end && start == 0 }

// unknownTopics lists the topics whose commits were refused because the broker does not know them.
func (c *consumer) unknownTopics() []string {
	c.commitMu.Lock()
	defer c.commitMu.Unlock()
	return slices.Collect(maps.Keys(c.unknown))
}

// measureLoop updates the gauges of the member.
func (c *consumer) measureLoop(ctx context.Context) {
	admin := kadm.NewClient(c.client)
	tick := time.NewTicker(measureEvery)
	defer tick.Stop()
	last, polls, none := -lagEvery, int64(0), false
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		c.measureWindows()
		every := lagEvery
		if none && c.polls.Load() == polls {
			every = lagEveryIdle
		}
		if n-last >= every {
			last, polls = n, c.polls.Load()
			none = c.measureLag(ctx, admin)
		}
	}
}

func (c *consumer) measureWindows() {
	oldest := map[string]time.Duration{}
	for _, topic := range c.cfg.Topics {
		oldest[topic] = 0
	}
	for _, p := range c.all() {
		window, age := p.measure()
		windowRecords.WithLabelValues(p.key.topic, partitionLabel(p.key.id)).Set(float64(window))
		oldest[p.key.topic] = max(oldest[p.key.topic], age)
	}
	for topic, age := range oldest {
		oldestUnacked.WithLabelValues(c.cfg.Group, topic).Set(age.Seconds())
	}
}

// measure returns the number of records after the finished prefix and the age of the first of them.
func (p *partition) measure() (window int, age time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if window = p.tracker.len(); window > 0 {
		age = time.Since(p.tracker.entries[p.tracker.head].since)
	}
	return window, age
}

// measureLag sums the lag of this member's partitions. It asks the brokers, because
// a paused partition does not learn of new records. It reports whether there is none.
func (c *consumer) measureLag(ctx context.Context, admin *kadm.Client) (none bool) {
	ctx, cancel := context.WithTimeout(ctx, commitTimeout)
	defer cancel()
	ends, err := admin.ListEndOffsets(ctx, c.cfg.Topics...)
	if err != nil {
		return false // the gauge keeps its last value; other metrics show that the brokers are unreachable
	}
	lag := map[string]int64{}
	for _, topic := range c.cfg.Topics {
		lag[topic] = 0
	}
	for topic, parts := range c.client.CommittedOffsets() {
		for id, at := range parts {
			if end, ok := ends.Lookup(topic, id); ok && end.Err == nil && at.Offset >= 0 {
				lag[topic] += max(0, end.Offset-at.Offset)
			}
		}
	}
	none = true
	for topic, n := range lag {
		consumerLag.WithLabelValues(c.cfg.Group, topic).Set(float64(n))
		none = none && n == 0
	}
	return none
}
