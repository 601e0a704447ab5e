// Package topics declares the Kafka topics: name, key, partitions, retention and the tiers of retries.
// `tradegrid topics apply` applies the declaration to a cluster; nothing else creates topics.
package topics

import "time"

// Names of the topics.
const (
	Events            = "events"                // every change event, key companyId
	Deliveries        = "webhook.deliveries"    // one message per event and subscription, key subscriptionId
	DeliveriesDead    = "webhook.dlq"           // deliveries that exhausted their attempts or their TTL
	EventsDead        = "events.dlq"            // records that could not be parsed
	Subscriptions     = "webhook.subscriptions" // latest state of each subscription, compacted
	AuthInvalidations = "auth.invalidations"    // tokens and companies that changed
	OutboxWakeups     = "outbox.nudges"         // buckets of the outbox that have new rows
)

// Topic declares a topic. Partition counts are for production; see [Local].
type Topic struct {
	Name       string
	Key        string // content of the record key
	Partitions int32
	Retention  time.Duration // 0 for a compacted topic
	Compact    bool
}

// LinePrefix begins the names of the delay topics, behind which stand their delays.
const LinePrefix = "webhook.delay."

// DelayTier is one delay tier: records stay in the topic until Delay has passed.
type DelayTier struct {
	Topic string
	Delay time.Duration
}

// DelayTiers returns the delay tiers, shortest first. Tier n follows failed attempt n; the last is the longest
// delay that a receiver's Retry-After can ask for. The durations are defaults; a dispatcher can be configured
// with others, but the names of the topics stay the same.
func DelayTiers() []DelayTier {
	return []DelayTier{
		{LinePrefix + "5s", 5 * time.Second},
		{LinePrefix + "20s", 20 * time.Second},
		{LinePrefix + "80s", 80 * time.Second},
		{LinePrefix + "320s", 320 * time.Second},
		{LinePrefix + "1280s", 1280 * time.Second},
		{LinePrefix + "5120s", 5120 * time.Second},
		{LinePrefix + "20480s", 20480 * time.Second},
	}
}

const day = 24 * time.Hour

// All returns all topics with partition counts for a production cluster.
func All() []Topic {
	tiers := DelayTiers()
	all := append(make([]Topic, 0, 7+len(tiers)), []Topic{
		{Name: Events, Key: "companyId", Partitions: 256, Retention: 3 * day},
		{Name: Deliveries, Key: "subscriptionId", Partitions: 512, Retention: 2 * day},
		{Name: DeliveriesDead, Key: "subscriptionId", Partitions: 32, Retention: 30 * day},
		{Name: EventsDead, Key: "companyId", Partitions: 32, Retention: 30 * day},
		{Name: Subscriptions, Key: "companyId/subscriptionId", Partitions: 32, Compact: true},
		{Name: AuthInvalidations, Key: "companyId", Partitions: 8, Retention: time.Hour},
		{Name: OutboxWakeups, Key: "none", Partitions: 1, Retention: time.Hour},
	}...)
	for i, tier := range tiers {
		partitions := int32(32)
		if i < 2 {
			partitions = 64 // nearly all retries use the first tiers
		}
		all = append(all, Topic{Name: tier.Topic, Key: "subscriptionId", Partitions: partitions, Retention: 3 * day})
	}
	return all
}

// Local returns [All] with partition counts for a single broker on a developer's machine.
func Local() []Topic {
	all := All()
	for i := range all {
		all[i].Partitions = min(all[i].Partitions/32+1, 8)
	}
	return all
}

// Groups is the name prefix of all consumer groups.
const Groups = "tradegrid-"

// The consumer groups of the dispatchers.
const (
	Routers = Groups + "router"
	Senders = Groups + "sender"
	Delays  = Groups + "delay"
)

// Consumer is a consumer group and what it consumes. A tier without a delay is a topic whose records are read at once.
type Consumer struct {
	Group string
	Tiers []DelayTier
}

// Consumers returns the consumer groups; tiers are the delay tiers as they are configured.
func Consumers(tiers []DelayTier) []Consumer {
	return []Consumer{{Routers, []DelayTier{{Topic: Events}}}, {Senders, []DelayTier{{Topic: Deliveries}}}, {Delays, tiers}}
}

// Jitter is the largest random part that is added to the delay of a tier.
const Jitter = 0.1

// Longest is how long a record stays in the line at most.
func (tier DelayTier) Longest() time.Duration {
	return tier.Delay + time.Duration(Jitter*float64(tier.Delay))
}

// DelayTierFor is the shortest of the tiers for a wait; the longest takes whatever is longer.
func DelayTierFor(tiers []DelayTier, wait time.Duration) DelayTier {
	for _, tier := range tiers {
		if wait <= tier.Longest() {
			return tier
		}
	}
	return tiers[len(tiers)-1]
}
