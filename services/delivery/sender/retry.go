package sender

import (
	"cmp"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tradegrid/tradegrid/services/delivery/deadletter"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/topics"
)

// RetryConfig is the schedule of attempts. Zero values take the defaults named beside the
// fields; see docs/reference/limits.md#webhooks.
type RetryConfig struct {
	MaxAttempts      int                // required
	delays           []time.Duration    // after failed attempt 1, 2, …; 5 s, 20 s, 80 s, 320 s, 1 280 s, 5 120 s
	MaxWait          time.Duration      // longest wait that a Retry-After can ask for; that of the last delay topic
	Jitter           float64            // largest random part that is added to a delay; topics.Jitter, negative = none
	Tiers            []topics.DelayTier // delay topics, shortest first; topics.DelayTiers()
	maxPostponements int                // times in a row that a delivery is postponed in Kafka; 4

	// LastChance is how long before its end a delivery makes the last attempt that it kept for the return of its receiver;
	// 30 min. The sweeper injects it when it is overdue by its grace, so this must be longer.
	LastChance time.Duration
}

func (c *RetryConfig) setDefaults() {
	if len(c.Tiers) == 0 {
		c.Tiers = topics.DelayTiers()
	}
	if c.MaxAttempts <= 0 {
		panic("sender: MaxAttempts is required")
	}
	if len(c.delays) == 0 {
		for _, tier := range c.Tiers[:min(len(c.Tiers), c.MaxAttempts-1)] {
			c.delays = append(c.delays, tier.Delay)
		}
	}
	c.MaxWait = cmp.Or(c.MaxWait, c.Tiers[len(c.Tiers)-1].Delay)
	if c.Jitter == 0 {
		c.Jitter = topics.Jitter
	}
	c.maxPostponements = cmp.Or(c.maxPostponements, 4)
	c.LastChance = cmp.Or(c.LastChance, 30*time.Minute)
}

// maxPostponed is how many deliveries of one receiver are postponed in Kafka.
const maxPostponed = 10_000

// cause is why a decision about a delivery is due.
type cause int

const (
	answered      cause = iota // the receiver responded with a status
	unanswered                 // the attempt failed without a response
	breakerOpen                // the circuit breaker is open, or a probe is under way
	queueFull                  // the queue of the receiver is full
	waitedInQueue              // it waited too long in the queue
	paused                     // the subscription is paused or disabled
	expired                    // its lifetime is over
	deleted                    // the subscription was deleted
	noKey                      // the key that decrypts its secret is missing
	receiverDown               // the receiver is down, and this would be the last attempt
	blocked                    // an earlier delivery of its record is open, and the subscription is ordered
	causeCount
)

// causeRow is what follows from a cause.
type causeRow struct {
	name        string          // in metrics and logs
	meaning     string          // for operators, where no attempt is made
	outcome     outcome         // retry for an attempt that was made: then its result decides
	waits       webhook.Waiting // what the delivery waits for; empty = what its attempt or its queue says
	holdsRecord bool            // it waits for others of its record, which have to let it go
	dead        string          // reason of the dead letter
	err         string          // error of the delivery that is over
}

// causes has a row for each cause. What waits and fails is named by the table of package webhook.
var causes = [causeCount]causeRow{ //nolint:gochecknoglobals // a constant
	answered:      {name: "answered", outcome: retry, dead: deadletter.Attempts},
	unanswered:    {name: "unanswered", outcome: retry, dead: deadletter.Attempts},
	breakerOpen:   {name: "breaker_open", meaning: "the circuit of the receiver is open", outcome: postpone, waits: webhook.WaitsForCircuit},
	queueFull:     {name: "lane_full", meaning: "the receiver takes too little", outcome: postpone},
	waitedInQueue: {name: "lane_waited", meaning: "the receiver takes too little", outcome: postpone},
	paused:        {name: "paused", meaning: "by the owner of the subscription", outcome: holdInDatabase, waits: webhook.WaitsForResume},
	expired:       {name: "expired", outcome: deadLetter, dead: deadletter.TTL, err: webhook.Expired},
	deleted:       {name: "deleted", outcome: deadLetter, dead: deadletter.Deleted, err: webhook.SubscriptionDeleted},
	noKey:         {name: "no_key", meaning: "the secret cannot be decrypted", outcome: postpone, waits: webhook.WaitsForKey},
	receiverDown:  {name: "receiver_down", meaning: "the last attempt waits for the return of the receiver", outcome: holdLast, waits: webhook.WaitsForReturn},
	blocked:       {name: "record", meaning: "an earlier delivery of the same record is open", outcome: holdInDatabase, waits: webhook.WaitsForTurn, holdsRecord: true},
}

// String is the name in metrics and logs.
func (c cause) String() string { return causes[c].name }

// outcome is what happens to a delivery next.
type outcome int

const (
	success        outcome = iota // done
	retry                         // one attempt used, the next follows by a delay topic
	postpone                      // no attempt used, back by a delay topic
	holdInDatabase                // no attempt used, held in the database
	holdLast                      // the last attempt waits in the database until the receiver is back, or nearly until the end
	deadLetter                    // over
)

// decision is an outcome and its delay.
type decision struct {
	outcome outcome
	wait    time.Duration // for retry, postpone and holdLast
	asked   bool          // the receiver asked for the wait before a retry
	reason  string        // for deadLetter: stored as error; empty = that of the attempt
}

// retryInput is everything that a decision depends on.
type retryInput struct {
	cause         cause
	attempt       int // number of the attempt, made or not
	postponements int // times in a row that it was postponed
	status        int
	retryAfter    string
	cooldownEnds  time.Time // of the breaker; zero when unknown
	now           time.Time
	expires       time.Time // of the delivery
	down          bool      // all attempts of the receiver have failed for a while
}

// decide says what happens to a delivery next.
func (c *RetryConfig) decide(in retryInput) decision {
	switch row := causes[in.cause]; row.outcome {
	case deadLetter:
		return decision{outcome: deadLetter, reason: row.err}
	case holdInDatabase:
		return decision{outcome: holdInDatabase}
	case postpone:
		wait := max(in.cooldownEnds.Sub(in.now), c.Tiers[0].Delay)
		if in.postponements >= c.maxPostponements {
			return decision{outcome: holdInDatabase, wait: c.jittered(wait)}
		}
		return decision{outcome: postpone, wait: c.jittered(wait)}
	case holdLast:
		return decision{outcome: holdLast, wait: c.untilLastChance(in.expires, in.now)}
	case success, retry: // an attempt was made
	}
	if in.status >= 200 && in.status < 300 {
		return decision{outcome: success}
	}
	if in.attempt >= c.MaxAttempts {
		return decision{outcome: deadLetter}
	}
	wait, asked := c.delay(in)
	if last := c.untilLastChance(in.expires, in.now); in.down && in.attempt == c.MaxAttempts-1 && last > wait {
		return decision{outcome: holdLast, wait: last}
	}
	return decision{outcome: retry, wait: wait, asked: asked}
}

// keeps reports whether a delivery keeps its attempt while its receiver is down: the last one, until its lifetime is nearly
// over. First attempts are always made, because they find out when the receiver is back.
func (c *RetryConfig) keeps(m *webhook.Message, now time.Time) bool {
	return m.Attempt > 1 && m.Attempt >= c.MaxAttempts && c.untilLastChance(m.ExpiresAt, now) > 0
}

func (c *RetryConfig) untilLastChance(expires, now time.Time) time.Duration {
	return expires.Sub(now) - c.LastChance
}

// delay is the wait after a failed attempt, and whether the receiver asked for it.
func (c *RetryConfig) delay(in retryInput) (wait time.Duration, asked bool) {
	step := min(in.attempt, len(c.delays))
	if in.down && in.attempt == c.MaxAttempts-2 {
		step = len(c.delays) // the attempt after this one is the last before a long wait
	}
	wait = c.jittered(c.delays[step-1])
	if in.status == http.StatusTooManyRequests || in.status == http.StatusServiceUnavailable {
		after := parseRetryAfter(in.retryAfter, in.now)
		wait, asked = max(wait, after), after > wait
	}
	return min(wait, c.MaxWait), asked
}

func (c *RetryConfig) jittered(d time.Duration) time.Duration {
	if c.Jitter <= 0 {
		return d
	}
	return d + time.Duration(rand.Float64()*c.Jitter*float64(d))
}

// parseRetryAfter reads seconds or an HTTP date; anything else and the past are 0.
func parseRetryAfter(s string, now time.Time) time.Duration {
	s = strings.TrimSpace(s)
	if s == "" {
		return 0
	}
	if n, err := strconv.ParseUint(s, 10, 63); err == nil {
		return time.Duration(min(n, 1<<31)) * time.Second
	}
	if at, err := http.ParseTime(s); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}

// delayTopic is the shortest delay topic for the wait, which may exceed its delay by the jitter.
func (c *RetryConfig) delayTopic(wait time.Duration) string {
	return topics.DelayTierFor(c.Tiers, wait).Topic
}
