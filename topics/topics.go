// Package topics is the one declaration of the Kafka topics: name, key, partitions, retention and the
// tiers of retries. `tradegrid topics apply` brings a cluster to this state; nothing else creates topics.
package topics

import "time"

// Names of the topics.
const (
	Events            = "events"                // every change event, key companyId
	Deliveries        = "webhook.deliveries"    // one message per event and subscription, key subscriptionId
	DeliveriesDead    = "webhook.dlq"           // deliveries that used up their attempts or their time
	EventsDead        = "events.dlq"            // records that could not be understood
	Subscriptions     = "webhook.subscriptions" // latest state of each subscription, compacted
	AuthInvalidations = "auth.invalidations"    // tokens and companies that changed
)

// Topic declares one topic. Partition counts are for production; see [Local].
type Topic struct {
	Name       string
	Key        string // what the record key holds
	Partitions int32
	Retention  time.Duration // 0 for a compacted topic
	Compact    bool
}

// Line is one tier of delay: a record waits in the topic until Delay has passed.
type Line struct {
	Topic string
	Delay time.Duration
}

// Lines are the tiers of delay, shortest first. Tier n follows failed attempt n; the last is the longest
// single wait that a receiver's Retry-After may ask for. Durations are defaults: a dispatcher may be configured
// with other ones, the topics keep their names.
func Lines() []Line {
	return []Line{
		{"webhook.delay.5s", 5 * time.Second},
		{"webhook.delay.20s", 20 * time.Second},
		{"webhook.delay.80s", 80 * time.Second},
		{"webhook.delay.320s", 320 * time.Second},
		{"webhook.delay.1280s", 1280 * time.Second},
		{"webhook.delay.5120s", 5120 * time.Second},
		{"webhook.delay.20480s", 20480 * time.Second},
	}
}

const day = 24 * time.Hour

// All lists every topic with the sizes of a production cluster.
func All() []Topic {
	lines := Lines()
	all := append(make([]Topic, 0, 6+len(lines)), []Topic{
		{Name: Events, Key: "companyId", Partitions: 256, Retention: 3 * day},
		{Name: Deliveries, Key: "subscriptionId", Partitions: 512, Retention: 2 * day},
		{Name: DeliveriesDead, Key: "subscriptionId", Partitions: 32, Retention: 30 * day},
		{Name: EventsDead, Key: "companyId", Partitions: 32, Retention: 30 * day},
		{Name: Subscriptions, Key: "companyId/subscriptionId", Partitions: 32, Compact: true},
		{Name: AuthInvalidations, Key: "companyId", Partitions: 8, Retention: time.Hour},
	}...)
	for i, line := range lines {
		partitions := int32(32)
		if i < 2 {
			partitions = 64 // the first tiers carry nearly all retries
		}
		all = append(all, Topic{Name: line.Topic, Key: "subscriptionId", Partitions: partitions, Retention: 3 * day})
	}
	return all
}

// Local is [All] with partition counts for one broker on a developer's machine.
func Local() []Topic {
	all := All()
	for i := range all {
		all[i].Partitions = min(all[i].Partitions/32+1, 8)
	}
	return all
}
