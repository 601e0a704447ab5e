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

// Consumer is a consumer group and what it consumes. A line without a delay is a topic whose records are read at once.
type Consumer struct {
	Group string
	Lines []Line
}

// Consumers returns the consumer groups; lines are the delay tiers as they are configured.
func Consumers(lines []Line) []Consumer {
	return []Consumer{{Routers, []Line{{Topic: Events}}}, {Senders, []Line{{Topic: Deliveries}}}, {Delays, lines}}
}

// Jitter is the largest random part that is added to the delay of a line.
const Jitter = 0.1

// Longest is how long a record stays in the line at most.
func (l Line) Longest() time.Duration { return l.Delay + time.Duration(Jitter*float64(l.Delay)) }

// LineOf is the shortest of the lines for a wait; the longest takes whatever is longer.
func LineOf(lines []Line, wait time.Duration) Line {
	for _, l := range lines {
		if wait <= l.Longest() {
			return l
		}
	}
	return lines[len(lines)-1]
}
