package dispatch

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tradegrid/tradegrid/topics"
)

// RetryConfig is the schedule of attempts. Zero values take the specification's (section 6).
type RetryConfig struct {
	MaxAttempts int             // 7
	Delays      []time.Duration // after failed attempt 1, 2, …; 5 s, 20 s, 80 s, 320 s, 1 280 s, 5 120 s
	MaxWait     time.Duration   // longest wait that a Retry-After may ask for; the longest line
	Jitter      float64         // part of the delay added at random; 0.1, negative = none
	Lines       []topics.Line   // delay lines, shortest first; topics.Lines()
	MaxParks    int             // times in a row that a delivery is put on a line without an attempt; 4
	MaxParked   int             // deliveries of one receiver on the lines; 10 000
}

func (c *RetryConfig) setDefaults() {
	if len(c.Lines) == 0 {
		c.Lines = topics.Lines()
	}
	c.MaxAttempts = orDefault(c.MaxAttempts, 7)
	if len(c.Delays) == 0 {
		for _, line := range c.Lines[:min(len(c.Lines), c.MaxAttempts-1)] {
			c.Delays = append(c.Delays, line.Delay)
		}
	}
	c.MaxWait = orDefault(c.MaxWait, c.Lines[len(c.Lines)-1].Delay)
	if c.Jitter == 0 {
		c.Jitter = 0.1
	}
	c.MaxParks = orDefault(c.MaxParks, 4)
	c.MaxParked = orDefault(c.MaxParked, 10_000)
}

// finding is what the sender met with a delivery.
type finding int

const (
	answered    finding = iota // the receiver replied with a status
	unanswered                 // the attempt failed without a reply
	breakerOpen                // the receiver rests, or a probe of it is under way
	laneFull                   // too many wait for this receiver
	laneWaited                 // it waited too long in its lane
	paused                     // the subscription takes nothing for now
	expired                    // its time to live is over
	deleted                    // there is no such subscription any more
	noKey                      // its secret cannot be opened without a key that is missing
)

// String names the finding in metrics and logs.
func (f finding) String() string {
	return [...]string{"answered", "unanswered", "breaker_open", "lane_full", "lane_waited", "paused", "expired", "deleted", "no_key"}[f]
}

// verdict is what becomes of a delivery.
type verdict int

const (
	success     verdict = iota // done
	retry                      // one attempt used, another follows on a delay line
	park                       // no attempt used, back by a delay line
	parkInStore                // no attempt used, waits in the database
	dead                       // over: dead letter
)

// decision is a verdict and how long to wait for what comes next.
type decision struct {
	verdict verdict
	wait    time.Duration // for retry and park
	reason  string        // for dead: the text stored and sent along; empty = that of the attempt
}

// situation is everything that a decision depends on.
type situation struct {
	finding    finding
	attempt    int // number of the attempt, made or not
	parks      int // times in a row that it was parked
	status     int
	retryAfter string
	restEnds   time.Time // of the breaker; zero when unknown
	now        time.Time
}

// decide turns what was met into what becomes of the delivery. Every way a delivery can go is here.
func (c *RetryConfig) decide(s situation) decision {
	switch s.finding {
	case expired:
		return decision{verdict: dead, reason: "ttl expired"}
	case deleted:
		return decision{verdict: dead, reason: "subscription deleted"}
	case paused:
		return decision{verdict: parkInStore}
	case breakerOpen, laneFull, laneWaited, noKey:
		wait := max(s.restEnds.Sub(s.now), c.Lines[0].Delay)
		if s.parks >= c.MaxParks {
			return decision{verdict: parkInStore, wait: c.jittered(wait)}
		}
		return decision{verdict: park, wait: c.jittered(wait)}
	case answered:
		if s.status >= 200 && s.status < 300 {
			return decision{verdict: success}
		}
	case unanswered:
	}
	if s.attempt >= c.MaxAttempts {
		return decision{verdict: dead}
	}
	return decision{verdict: retry, wait: c.delay(s)}
}

// delay is the wait after a failed attempt.
func (c *RetryConfig) delay(s situation) time.Duration {
	wait := c.jittered(c.Delays[min(s.attempt, len(c.Delays))-1])
	if s.status == http.StatusTooManyRequests || s.status == http.StatusServiceUnavailable {
		wait = max(wait, parseRetryAfter(s.retryAfter, s.now))
	}
	return min(wait, c.MaxWait)
}

func (c *RetryConfig) jittered(d time.Duration) time.Duration {
	if c.Jitter <= 0 {
		return d
	}
	return d + time.Duration(rand.Float64()*c.Jitter*float64(d))
}

// parseRetryAfter reads seconds or an HTTP date; anything else, and the past, is 0.
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

// line is the shortest delay line that holds a record for the wait; jitter may exceed its delay.
func (c *RetryConfig) line(wait time.Duration) string {
	for _, l := range c.Lines {
		if wait <= l.Delay+time.Duration(max(c.Jitter, 0)*float64(l.Delay)) {
			return l.Topic
		}
	}
	return c.Lines[len(c.Lines)-1].Topic
}
