package dispatch

import (
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kafka"
	"github.com/tradegrid/tradegrid/pkg/tenant"
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
	c.Queue = orDefault(c.Queue, 64)
	c.QueueBytes = orDefault(c.QueueBytes, 1<<20)
	c.Burst = orDefault(c.Burst, 2048)
	c.BurstBytes = orDefault(c.BurstBytes, 16<<20)
	c.Wait = orDefault(c.Wait, 5*time.Second)
	c.PerReceiver = orDefault(c.PerReceiver, 4)
	c.PerHost = orDefault(c.PerHost, 16)
	c.PerCompany = orDefault(c.PerCompany, 64)
	c.Total = orDefault(c.Total, 4000)
	c.IdleEviction = orDefault(c.IdleEviction, 15*time.Minute)
}

func orDefault[T int | int64 | time.Duration](v, def T) T {
	if v <= 0 {
		return def
	}
	return v
}

// receiverKey names a subscription.
type receiverKey struct {
	company tenant.ID
	id      uuid.UUID
}

// job is one record on its way through a lane.
type job struct {
	rec      *kafka.Record
	msg      *webhook.Message
	from     *assignment
	lane     *lane
	host     *limiter // whose slot the running job holds
	queuedAt time.Time

	// Of the attempt, if one was made.
	started time.Time
	took    time.Duration
	failed  bool
	shown   bool // stored as delivering
}

// limiter is a number of slots that lanes share, and the lanes that wait for one, in turn.
type limiter struct {
	key     string
	limit   int
	used    int
	lanes   int // that refer to it
	waiting []*lane

	progress time.Time // when something began or ended last, while jobs run
}

func (l *limiter) full() bool { return l.used >= l.limit }

// take uses a slot.
func (l *limiter) take(now time.Time) {
	if l.used == 0 {
		l.progress = now
	}
	l.used++
}

// release gives a slot back.
func (l *limiter) release(now time.Time) {
	l.used--
	l.progress = now
}

// stuck reports whether all slots are taken and none has become free for a while.
func (l *limiter) stuck(now time.Time) bool {
	return l != nil && l.full() && now.Sub(l.progress) > stuckAfter
}

// stuckAfter is how long nothing may end before the rest of a queue is not expected to move soon.
const stuckAfter = time.Second

// lane is the queue of one receiver.
type lane struct {
	receiverKey
	from      *assignment // in which it was made
	queue     []*job
	bytes     int64
	used      int // jobs that run
	ready     bool
	gone      bool // forgotten by the scheduler
	host      *limiter
	company   *limiter
	waitingOn *limiter
	breaker   *breaker

	average  time.Duration // of an attempt; 0 before the first
	failures int           // attempts in a row
	progress time.Time     // when something began or ended last, while jobs run
	lastUsed time.Time
	parked   int // on delay lines, as far as this process knows
}

// sick reports whether the receiver, its host or its company do not take what is sent to them.
func (l *lane) sick(now time.Time) bool {
	return l.failures > 0 || (l.used > 0 && now.Sub(l.progress) > stuckAfter) || l.host.stuck(now) || l.company.stuck(now)
}

// room is how much may wait: as much as the receiver can be expected to take within the longest wait.
func (l *lane) room(cfg *LaneConfig, now time.Time) (jobs int, bytes int64) {
	switch {
	case l.sick(now):
		return cfg.Queue, cfg.QueueBytes
	case l.average == 0:
		return cfg.Burst, cfg.BurstBytes
	}
	perWait := int(cfg.Wait * 8 / 10 * time.Duration(cfg.PerReceiver) / l.average)
	jobs = min(max(perWait, cfg.Queue), cfg.Burst)
	return jobs, cfg.QueueBytes + (cfg.BurstBytes-cfg.QueueBytes)*int64(jobs-cfg.Queue)/int64(max(cfg.Burst-cfg.Queue, 1))
}
