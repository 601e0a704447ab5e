package topics

import "time"

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
