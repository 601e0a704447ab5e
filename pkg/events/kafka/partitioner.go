package kafka

import (
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	// metadataAge is how often clients look for added partitions.
	metadataAge = 10 * time.Second
	// growthWait is how long added partitions stay unused: consumers find them and share them out meanwhile.
	growthWait = 30 * time.Second
)

// partitioner places records by the hash of their keys, like other Kafka clients. Partitions that are added to a topic are
// used after a while: a record in a partition that no consumer has found yet would be late.
type partitioner struct{ keys kgo.Partitioner }

func newPartitioner() *partitioner { return &partitioner{kgo.StickyKeyPartitioner(nil)} }

// ForTopic returns the partitioner of a topic.
func (p *partitioner) ForTopic(topic string) kgo.TopicPartitioner {
	return &topicPartitioner{TopicPartitioner: p.keys.ForTopic(topic)}
}

type topicPartitioner struct {
	kgo.TopicPartitioner
	used  int       // partitions in use; 0 = no record yet
	grown time.Time // when there were more than these
}

// Partition chooses a partition of n.
func (p *topicPartitioner) Partition(r *kgo.Record, n int) int {
	if r.Key == nil {
		return p.TopicPartitioner.Partition(r, n) // n counts the partitions that have a leader
	}
	switch {
	case p.used == 0 || n <= p.used:
		p.used, p.grown = n, time.Time{}
	case p.grown.IsZero():
		p.grown = time.Now()
	case time.Since(p.grown) >= growthWait:
		p.used, p.grown = n, time.Time{}
	}
	return p.TopicPartitioner.Partition(r, p.used)
}

// ChosenPartitions makes a client put the records of a topic into the partitions that they name. Those of other topics are
// placed by their keys.
func ChosenPartitions(topic string) kgo.Opt {
	return kgo.RecordPartitioner(&chosen{partitioner: newPartitioner(), topic: topic})
}

type chosen struct {
	*partitioner
	topic string
}

// ForTopic returns the partitioner of a topic.
func (c *chosen) ForTopic(topic string) kgo.TopicPartitioner {
	if topic == c.topic {
		return kgo.ManualPartitioner().ForTopic(topic)
	}
	return c.partitioner.ForTopic(topic)
}

// PartitionOf is the partition of a key in a topic with n partitions.
func PartitionOf(key []byte, n int32) int32 {
	return int32(byKey.Partition(&kgo.Record{Key: key}, int(n)))
}

// byKey keeps no state for records with keys.
var byKey = kgo.StickyKeyPartitioner(nil).ForTopic("")
