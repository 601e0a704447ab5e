package sender

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/kit/config"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// LaneConfig limits queues and concurrent requests. Zero values take the default.
type LaneConfig struct {
	PerReceiver int `name:"receiver-in-flight" help:"Maximum number of concurrent requests to one receiver." default:"4" reload:"true"`
	PerHost     int `name:"host-in-flight" help:"Maximum number of concurrent requests to one host. One company gets at most three quarters of them, receivers that take longer than 1 s less than half." default:"16" reload:"true"`
	PerCompany  int `name:"company-in-flight" help:"Maximum number of concurrent requests for one company." default:"64" reload:"true"`
	Total       int `name:"in-flight" help:"Maximum number of concurrent requests of this process." default:"4000" reload:"true"`

	queueBytes int64 // bytes of queued deliveries of a slow or failing receiver; 1 MiB
	burst      int   // queued deliveries of a receiver that can take them within maxQueued; 2 048
	burstBytes int64 // the same in bytes; 16 MiB
}

// Check validates the settings.
func (c LaneConfig) Check() error {
	return errors.Join(
		config.Positive("--receiver-in-flight", c.PerReceiver),
		config.Positive("--host-in-flight", c.PerHost),
		config.Positive("--company-in-flight", c.PerCompany),
		config.Positive("--in-flight", c.Total),
	)
}

const (
	slowQueue    = 64               // queued deliveries of a slow or failing receiver
	maxQueued    = 5 * time.Second  // longest time in a queue
	idleEviction = 15 * time.Minute // lanes without traffic are removed after this
)

func (c *LaneConfig) setDefaults() {
	c.queueBytes = cmp.Or(c.queueBytes, 1<<20)
	c.burst = cmp.Or(c.burst, 2048)
	c.burstBytes = cmp.Or(c.burstBytes, 16<<20)
	config.Complete(c)
}

// job is a consumed record with its delivery.
type job struct {
	rec      *kafka.Record
	msg      *webhook.Message
	from     *assignment
	lane     *lane
	queuedAt time.Time
	slots    [4]*limiter // limiters of which a running job holds a slot
	speed    speed       // as which the job counts there

	// Of the attempt, if one was made.
	started time.Time
	took    time.Duration
	failed  bool
	late    bool // running for longer than webhook.SlowAfter
	shown   bool // listed by longRunning

	begun time.Time // when it left the queue

	turn   bool          // it has the turn of its record
	stored chan struct{} // closed when the end of a delivery to an ordered subscription is stored; nil for all others

	waited webhook.Waiting // what it waited for in its lane, when that did not take it or kept it too long
}

func (j *job) key() webhook.SubscriptionKey {
	return webhook.SubscriptionKey{Company: j.msg.Company, ID: j.msg.SubscriptionID}
}

// stuckAfter is how long nothing may end before a queue counts as stuck.
const stuckAfter = time.Second

// lane is the queue of one receiver.
type lane struct {
	key       webhook.SubscriptionKey
	from      *assignment // in which it was made
	queue     []*job
	yielding  int // jobs at the end of the queue that give way to others
	turns     turns
	held      int   // jobs that wait for a turn
	bytes     int64 // of jobs that wait
	used      int   // running jobs
	ready     bool
	gone      bool // removed from the scheduler
	host      *host
	share     *limiter // of the company, at the host
	company   *limiter
	waitingOn *limiter
	breaker   *breaker

	client client

	pace    time.Duration // least time between the starts of two jobs; 0 = none
	begun   time.Time     // when a job started last
	yielded time.Time     // when one started last that gives way
	timer   time.Time     // when the first job is looked at again, because its time has not come; zero = no need

	average  time.Duration // of an attempt; 0 before the first
	interval time.Duration // between the ends of two attempts while there is work; 0 before the first
	since    time.Time     // when the interval under way began
	ended    int           // jobs since the last measure, while there is a queue
	rate     float64       // finished jobs per second, while there is a queue
	reserved time.Time     // of slow receivers and of those with a pace: the turn of the last delivery that was parked
	late     int           // running jobs that are late
	failures int           // attempts in a row
	progress time.Time     // when something began or ended last, while jobs run
	lastUsed time.Time
	parked   int // in delay topics, as far as this process knows
}

// due is when the first job may start: by the pace of the receiver, and by that of the jobs that give way.
func (l *lane) due() (at time.Time) {
	if l.pace > 0 {
		at = l.begun.Add(l.pace)
	}
	if first := l.queue[0].msg; first.Yields {
		if next := l.yielded.Add(first.Gap); next.After(at) {
			at = next
		}
	}
	return at
}

// forgetStart takes back the start of a job that made no request: the next need not wait for it.
func (l *lane) forgetStart(j *job) {
	if l.begun.Equal(j.begun) {
		l.begun = time.Time{}
	}
	if j.msg.Yields && l.yielded.Equal(j.begun) {
		l.yielded = time.Time{}
	}
}

// waitsFor is what the queue waits for.
func (l *lane) waitsFor() webhook.Waiting {
	switch {
	case l.waitingOn == nil && l.pace > 0 && !l.timer.IsZero():
		return webhook.WaitsForRate
	case l.waitingOn == nil:
		return webhook.WaitsForQueue
	case l.waitingOn == l.share:
		return webhook.WaitsForHostShare
	case l.waitingOn == l.company:
		return webhook.WaitsForCompany
	case l.host != nil && l.waitingOn == &l.host.limiter:
		return webhook.WaitsForHost
	}
	return webhook.WaitsForCapacity
}

// speed judges by attempts that have ended and by those under way.
func (l *lane) speed() speed {
	switch {
	case l.late > 0 || l.average > webhook.SlowAfter:
		return slow
	case l.average > 0:
		return fast
	}
	return unknown
}

// unhealthy reports whether the receiver fails, is slow, or cannot get requests because its host or company is stuck.
func (l *lane) unhealthy(now time.Time) bool {
	v := l.speed()
	if l.failures > 0 || v == slow || (l.used > 0 && now.Sub(l.progress) > stuckAfter) || l.company.stuck(v, now) {
		return true
	}
	return l.host != nil && (l.host.stuck(v, now) || l.share.stuck(v, now))
}

// mustNotDelay reports whether what is queued must not delay other receivers, because this one is unhealthy or wants to be sent
// only so much.
func (l *lane) mustNotDelay(now time.Time) bool { return l.pace > 0 || l.unhealthy(now) }

// queueLimit is how much may be queued: about as much as the receiver can take within the longest wait.
func (l *lane) queueLimit(cfg *LaneConfig, now time.Time) (jobs int, bytes int64) {
	jobs, bytes = l.takes(cfg, now)
	if l.pace > 0 {
		jobs = min(jobs, max(int(maxQueued*4/5/l.pace), 1))
	}
	return jobs, bytes
}

// takes is how much the receiver can take within the longest wait, if it has no pace.
func (l *lane) takes(cfg *LaneConfig, now time.Time) (jobs int, bytes int64) {
	switch {
	case l.interval > 0 && l.speed() == slow:
		return min(max(int(maxQueued/l.interval), cfg.PerReceiver), slowQueue), cfg.queueBytes
	case l.unhealthy(now):
		return slowQueue, cfg.queueBytes
	case l.average == 0:
		return cfg.burst, cfg.burstBytes
	}
	perSecond := max(l.rate, float64(cfg.PerReceiver)/l.average.Seconds())
	jobs = min(max(int(perSecond*maxQueued.Seconds()*0.8), slowQueue), cfg.burst)
	return jobs, cfg.queueBytes + (cfg.burstBytes-cfg.queueBytes)*int64(jobs-slowQueue)/int64(max(cfg.burst-slowQueue, 1))
}

// room is how much may be queued, and less of what gives way: it leaves half to the others.
func (l *lane) room(j *job, cfg *LaneConfig, now time.Time) (jobs int, bytes int64) {
	jobs, bytes = l.queueLimit(cfg, now)
	if j.msg.Yields {
		return jobs / 2, bytes / 2
	}
	return jobs, bytes
}

// push adds a job to the queue: at its end, or before those that give way to it.
func (l *lane) push(j *job) {
	l.bytes += int64(len(j.msg.Body))
	if j.msg.Yields {
		l.queue = append(l.queue, j)
		l.yielding++
		return
	}
	l.queue = slices.Insert(l.queue, len(l.queue)-l.yielding, j)
}

// drop removes the job at a place of the queue.
func (l *lane) drop(i int) *job {
	j := l.queue[i]
	if i == 0 {
		l.shift()
	} else {
		l.queue = slices.Delete(l.queue, i, i+1)
	}
	if j.msg.Yields {
		l.yielding--
	}
	l.bytes -= int64(len(j.msg.Body))
	return j
}

// maxPartitionDelay is the age in Kafka up to which a record holds up its partition until the full queue of a healthy receiver has room.
const maxPartitionDelay = 4 * time.Second

// maxReserved is how far ahead parked deliveries of such a receiver get a turn. Others are parked in the database, because
// retrying them in the meantime would cost more than it gains.
const maxReserved = time.Minute

// reserve takes the next turn at a receiver that is slow or has a pace, for a delivery that is parked. It reports false when
// that turn is too far ahead.
func (l *lane) reserve(now time.Time) (wait time.Duration, ok bool) {
	between := l.pace
	if l.speed() == slow {
		between = max(between, l.interval, l.average/4)
	}
	if between == 0 {
		return 0, true
	}
	next := now
	if l.reserved.After(now) {
		next = l.reserved
	}
	next = next.Add(between)
	if next.Sub(now) > maxReserved {
		return 0, false
	}
	l.reserved = next
	return next.Sub(now), true
}
