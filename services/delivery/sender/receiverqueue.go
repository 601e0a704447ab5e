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

// QueueConfig limits queues and concurrent requests. Zero values take the default.
type QueueConfig struct {
	PerReceiver int `name:"receiver-in-flight" help:"Maximum number of concurrent requests to one receiver." default:"4" reload:"true"`
	PerHost     int `name:"host-in-flight" help:"Maximum number of concurrent requests to one host. One company gets at most three quarters of them, receivers that take longer than 1 s less than half." default:"16" reload:"true"`
	PerCompany  int `name:"company-in-flight" help:"Maximum number of concurrent requests for one company." default:"64" reload:"true"`
	Total       int `name:"in-flight" help:"Maximum number of concurrent requests of this process." default:"4000" reload:"true"`

	queueBytes int64 // bytes of queued deliveries of a slow or failing receiver; 1 MiB
	burst      int   // queued deliveries of a receiver that can take them within maxQueued; 2 048
	burstBytes int64 // the same in bytes; 16 MiB
}

// Check validates the settings.
func (c QueueConfig) Check() error {
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
	idleEviction = 15 * time.Minute // queues without traffic are removed after this
)

func (c *QueueConfig) setDefaults() {
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
	queue    *receiverQueue
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

	waited webhook.Waiting // what it waited for in its queue, when that did not take it or kept it too long
}

func (j *job) key() webhook.SubscriptionKey {
	return webhook.SubscriptionKey{Company: j.msg.Company, ID: j.msg.SubscriptionID}
}

// stuckAfter is how long nothing may end before a queue counts as stuck.
const stuckAfter = time.Second

// receiverQueue is the queue of one receiver.
type receiverQueue struct {
	key       webhook.SubscriptionKey
	from      *assignment // in which it was made
	jobs      []*job
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

	average   time.Duration // of an attempt; 0 before the first
	interval  time.Duration // between the ends of two attempts while there is work; 0 before the first
	since     time.Time     // when the interval under way began
	ended     int           // jobs since the last measure, while there is a queue
	rate      float64       // finished jobs per second, while there is a queue
	reserved  time.Time     // of slow receivers and of those with a pace: the turn of the last delivery that was postponed
	late      int           // running jobs that are late
	failures  int           // attempts in a row
	progress  time.Time     // when something began or ended last, while jobs run
	lastUsed  time.Time
	postponed int // in delay topics, as far as this process knows
}

// due is when the first job may start: by the pace of the receiver, and by that of the jobs that give way.
func (q *receiverQueue) due() (at time.Time) {
	if q.pace > 0 {
		at = q.begun.Add(q.pace)
	}
	if first := q.jobs[0].msg; first.Yields {
		if next := q.yielded.Add(first.Gap); next.After(at) {
			at = next
		}
	}
	return at
}

// forgetStart takes back the start of a job that made no request: the next need not wait for it.
func (q *receiverQueue) forgetStart(j *job) {
	if q.begun.Equal(j.begun) {
		q.begun = time.Time{}
	}
	if j.msg.Yields && q.yielded.Equal(j.begun) {
		q.yielded = time.Time{}
	}
}

// waitsFor is what the queue waits for.
func (q *receiverQueue) waitsFor() webhook.Waiting {
	switch {
	case q.waitingOn == nil && q.pace > 0 && !q.timer.IsZero():
		return webhook.WaitsForRate
	case q.waitingOn == nil:
		return webhook.WaitsForQueue
	case q.waitingOn == q.share:
		return webhook.WaitsForHostShare
	case q.waitingOn == q.company:
		return webhook.WaitsForCompany
	case q.host != nil && q.waitingOn == &q.host.limiter:
		return webhook.WaitsForHost
	}
	return webhook.WaitsForCapacity
}

// speed judges by attempts that have ended and by those under way.
func (q *receiverQueue) speed() speed {
	switch {
	case q.late > 0 || q.average > webhook.SlowAfter:
		return slow
	case q.average > 0:
		return fast
	}
	return unknown
}

// unhealthy reports whether the receiver fails, is slow, or cannot get requests because its host or company is stuck.
func (q *receiverQueue) unhealthy(now time.Time) bool {
	v := q.speed()
	if q.failures > 0 || v == slow || (q.used > 0 && now.Sub(q.progress) > stuckAfter) || q.company.stuck(v, now) {
		return true
	}
	return q.host != nil && (q.host.stuck(v, now) || q.share.stuck(v, now))
}

// mustNotDelay reports whether what is queued must not delay other receivers, because this one is unhealthy or wants to be sent
// only so much.
func (q *receiverQueue) mustNotDelay(now time.Time) bool { return q.pace > 0 || q.unhealthy(now) }

// queueLimit is how much may be queued: about as much as the receiver can take within the longest wait.
func (q *receiverQueue) queueLimit(cfg *QueueConfig, now time.Time) (jobs int, bytes int64) {
	jobs, bytes = q.takes(cfg, now)
	if q.pace > 0 {
		jobs = min(jobs, max(int(maxQueued*4/5/q.pace), 1))
	}
	return jobs, bytes
}

// takes is how much the receiver can take within the longest wait, if it has no pace.
func (q *receiverQueue) takes(cfg *QueueConfig, now time.Time) (jobs int, bytes int64) {
	switch {
	case q.interval > 0 && q.speed() == slow:
		return min(max(int(maxQueued/q.interval), cfg.PerReceiver), slowQueue), cfg.queueBytes
	case q.unhealthy(now):
		return slowQueue, cfg.queueBytes
	case q.average == 0:
		return cfg.burst, cfg.burstBytes
	}
	perSecond := max(q.rate, float64(cfg.PerReceiver)/q.average.Seconds())
	jobs = min(max(int(perSecond*maxQueued.Seconds()*0.8), slowQueue), cfg.burst)
	return jobs, cfg.queueBytes + (cfg.burstBytes-cfg.queueBytes)*int64(jobs-slowQueue)/int64(max(cfg.burst-slowQueue, 1))
}

// room is how much may be queued, and less of what gives way: it leaves half to the others.
func (q *receiverQueue) room(j *job, cfg *QueueConfig, now time.Time) (jobs int, bytes int64) {
	jobs, bytes = q.queueLimit(cfg, now)
	if j.msg.Yields {
		return jobs / 2, bytes / 2
	}
	return jobs, bytes
}

// push adds a job to the queue: at its end, or before those that give way to it.
func (q *receiverQueue) push(j *job) {
	q.bytes += int64(len(j.msg.Body))
	if j.msg.Yields {
		q.jobs = append(q.jobs, j)
		q.yielding++
		return
	}
	q.jobs = slices.Insert(q.jobs, len(q.jobs)-q.yielding, j)
}

// drop removes the job at a place of the queue.
func (q *receiverQueue) drop(i int) *job {
	j := q.jobs[i]
	if i == 0 {
		q.shift()
	} else {
		q.jobs = slices.Delete(q.jobs, i, i+1)
	}
	if j.msg.Yields {
		q.yielding--
	}
	q.bytes -= int64(len(j.msg.Body))
	return j
}

// maxPartitionDelay is the age in Kafka up to which a record holds up its partition until the full queue of a healthy receiver has room.
const maxPartitionDelay = 4 * time.Second

// maxReserved is how far ahead postponed deliveries of such a receiver get a turn. Others are held in the database, because
// retrying them in the meantime would cost more than it gains.
const maxReserved = time.Minute

// reserve takes the next turn at a receiver that is slow or has a pace, for a delivery that is postponed. It reports false when
// that turn is too far ahead.
func (q *receiverQueue) reserve(now time.Time) (wait time.Duration, ok bool) {
	between := q.pace
	if q.speed() == slow {
		between = max(between, q.interval, q.average/4)
	}
	if between == 0 {
		return 0, true
	}
	next := now
	if q.reserved.After(now) {
		next = q.reserved
	}
	next = next.Add(between)
	if next.Sub(now) > maxReserved {
		return 0, false
	}
	q.reserved = next
	return next.Sub(now), true
}
