package sender

import (
	"cmp"
	"time"

	"github.com/tradegrid/tradegrid/pkg/kafka"
	"github.com/tradegrid/tradegrid/pkg/webhook"
)

// LaneConfig bounds what one receiver, host and company may take of a sender. Zero values take the defaults
// named beside the fields.
type LaneConfig struct {
	Queue        int           // deliveries that may wait for a slow or failing receiver; 64
	QueueBytes   int64         // the same in bytes; 1 MiB
	Burst        int           // deliveries that may wait for a receiver that is fast enough to take them in time; 2 048
	BurstBytes   int64         // the same in bytes; 16 MiB
	Wait         time.Duration // longest wait in a lane; 5 s
	PerReceiver  int           // requests at a time; 4
	PerHost      int           // 16
	PerCompany   int           // 64
	Total        int           // 4 000
	IdleEviction time.Duration // lanes and breakers without traffic are forgotten; 15 min
}

func (c *LaneConfig) setDefaults() {
	c.Queue = cmp.Or(c.Queue, 64)
	c.QueueBytes = cmp.Or(c.QueueBytes, 1<<20)
	c.Burst = cmp.Or(c.Burst, 2048)
	c.BurstBytes = cmp.Or(c.BurstBytes, 16<<20)
	c.Wait = cmp.Or(c.Wait, 5*time.Second)
	c.PerReceiver = cmp.Or(c.PerReceiver, 4)
	c.PerHost = cmp.Or(c.PerHost, 16)
	c.PerCompany = cmp.Or(c.PerCompany, 64)
	c.Total = cmp.Or(c.Total, 4000)
	c.IdleEviction = cmp.Or(c.IdleEviction, 15*time.Minute)
}

// job is one record on its way through a lane.
type job struct {
	rec      *kafka.Record
	msg      *webhook.Message
	from     *assignment
	lane     *lane
	queuedAt time.Time
	slots    [4]*limiter // that the running job holds one of each
	speed    speed       // as which it counts there

	// Of the attempt, if one was made.
	started time.Time
	took    time.Duration
	failed  bool
	late    bool // under way for longer than slowAfter
	shown   bool // stored as delivering
}

func (j *job) key() webhook.SubscriptionKey {
	return webhook.SubscriptionKey{Company: j.msg.Company, ID: j.msg.SubscriptionID}
}

// stuckAfter is how long nothing may end before the rest of a queue is not expected to move soon.
const stuckAfter = time.Second

// lane is the queue of one receiver.
type lane struct {
	key       webhook.SubscriptionKey
	from      *assignment // in which it was made
	queue     []*job
	bytes     int64
	used      int // jobs that run
	ready     bool
	gone      bool // forgotten by the scheduler
	host      *host
	share     *limiter // of its company, of the slots of the host
	company   *limiter
	waitingOn *limiter
	breaker   *breaker

	average  time.Duration // of an attempt; 0 before the first
	interval time.Duration // between the ends of two attempts while there is work; 0 before the first
	since    time.Time     // when the interval under way began
	booked   time.Time     // slow receivers: when the last delivery put off is expected to have its turn
	late     int           // jobs that run for longer than slowAfter
	failures int           // attempts in a row
	progress time.Time     // when something began or ended last, while jobs run
	lastUsed time.Time
	parked   int // on delay lines, as far as this process knows
}

// speed tells how fast the receiver is, by the attempts that have ended and by those under way.
func (l *lane) speed() speed {
	switch {
	case l.late > 0 || l.average > slowAfter:
		return slow
	case l.average > 0:
		return fast
	}
	return unknown
}

// unhealthy reports whether the receiver, its host or its company do not take what is sent to them, or not in time.
func (l *lane) unhealthy(now time.Time) bool {
	v := l.speed()
	if l.failures > 0 || v == slow || (l.used > 0 && now.Sub(l.progress) > stuckAfter) || l.company.stuck(v, now) {
		return true
	}
	return l.host != nil && (l.host.stuck(v, now) || l.share.stuck(v, now))
}

// room is how much may wait: as much as the receiver can be expected to take within the longest wait.
func (l *lane) room(cfg *LaneConfig, now time.Time) (jobs int, bytes int64) {
	switch {
	case l.interval > 0 && l.speed() == slow:
		return min(max(int(cfg.Wait/l.interval), cfg.PerReceiver), cfg.Queue), cfg.QueueBytes
	case l.unhealthy(now):
		return cfg.Queue, cfg.QueueBytes
	case l.average == 0:
		return cfg.Burst, cfg.BurstBytes
	}
	perWait := int(cfg.Wait * 8 / 10 * time.Duration(cfg.PerReceiver) / l.average)
	jobs = min(max(perWait, cfg.Queue), cfg.Burst)
	return jobs, cfg.QueueBytes + (cfg.BurstBytes-cfg.QueueBytes)*int64(jobs-cfg.Queue)/int64(max(cfg.Burst-cfg.Queue, 1))
}

// maxBooked is how far ahead deliveries are put off to their turn at a slow receiver. What has to wait for longer
// waits in the database: bringing it back again and again would cost more than it gains.
const maxBooked = time.Minute

// book finds the next turn of a slow receiver: in how long a delivery that is put off should come back. It reports
// false when that is too far ahead.
func (l *lane) book(now time.Time) (wait time.Duration, ok bool) {
	if l.speed() != slow {
		return 0, true
	}
	next := now
	if l.booked.After(now) {
		next = l.booked
	}
	next = next.Add(max(l.interval, l.average/4))
	if next.Sub(now) > maxBooked {
		return 0, false
	}
	l.booked = next
	return next.Sub(now), true
}
