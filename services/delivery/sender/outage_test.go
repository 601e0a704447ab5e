package sender

import (
	"container/heap"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/delivery/dispatchtest"
	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// simulation runs the decisions of the sender and the rules of the sweeper for one receiver on the clock of a synctest bubble.
type simulation struct {
	t       *testing.T
	retry   RetryConfig
	breaker *breaker
	stored  store.Breaker // as the database has it
	back    time.Time     // the receiver answers 2xx from here on

	due     dueQueue        // in Kafka
	held    []*simDelivery  // in the database, until the breaker takes requests
	kept    []*simDelivery  // in the database, with their last attempt
	arrived []time.Duration // age of each delivery
	failed  int
	most    int // attempts of a delivery
}

type simDelivery struct {
	msg     webhook.Message
	created time.Time
	at      time.Time
}

type dueQueue []*simDelivery

func (q dueQueue) Len() int           { return len(q) }
func (q dueQueue) Less(i, j int) bool { return q[i].at.Before(q[j].at) }
func (q dueQueue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *dueQueue) Push(x any)        { *q = append(*q, x.(*simDelivery)) }
func (q *dueQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

func (s *simulation) restart() {
	var cfg BreakerConfig
	cfg.setDefaults()
	if s.breaker != nil {
		s.breaker.forget()
	}
	s.breaker = newBreaker(cfg, s.stored, time.Now(), func(b store.Breaker) {
		s.stored = b
		if !b.RecoveredFrom.IsZero() {
			for _, d := range s.kept { // the next pass of the sweeper
				s.push(d, 5*time.Second)
			}
			s.kept = nil
		}
	})
}

func (s *simulation) push(d *simDelivery, wait time.Duration) {
	d.at = time.Now().Add(wait)
	heap.Push(&s.due, d)
}

// process is what Sender.process does with a delivery that is due.
func (s *simulation) process(d *simDelivery) {
	now := time.Now()
	in := retryInput{attempt: d.msg.Attempt, postponements: d.msg.Postponements, now: now, expires: d.msg.ExpiresAt}
	if !now.Before(d.msg.ExpiresAt) {
		in.cause = expired
	} else if s.retry.keeps(&d.msg, now) && s.breaker.down(now) {
		in.cause = receiverDown
	} else if done, until, ok := s.breaker.allow(); !ok {
		in.cause, in.cooldownEnds = breakerOpen, until
	} else {
		s.most = max(s.most, d.msg.Attempt)
		in.cause, in.status = answered, http.StatusBadGateway
		if !now.Before(s.back) {
			in.status = http.StatusOK
			done(nil)
		} else {
			done(errFailed)
		}
		in.down = s.breaker.down(now)
	}
	switch decided := s.retry.decide(in); decided.outcome {
	case success:
		s.arrived = append(s.arrived, now.Sub(d.created))
	case deadLetter:
		s.failed++
	case retry:
		d.msg.Attempt, d.msg.Postponements = d.msg.Attempt+1, 0
		s.push(d, decided.wait)
	case postpone:
		d.msg.Postponements++
		s.push(d, decided.wait)
	case holdInDatabase:
		s.held = append(s.held, d)
	case holdLast:
		if in.cause != receiverDown {
			d.msg.Attempt++
		}
		d.at = now.Add(decided.wait)
		s.kept = append(s.kept, d)
	}
}

// sweep is a pass of the sweeper, as far as one receiver goes.
func (s *simulation) sweep() {
	now := time.Now()
	const grace = 10 * time.Minute
	s.kept = slices.DeleteFunc(s.kept, func(d *simDelivery) bool {
		overdue := now.Sub(d.at) > grace
		if overdue {
			s.push(d, 0)
		}
		return overdue
	})
	s.held = slices.DeleteFunc(s.held, func(d *simDelivery) bool {
		over := !now.Before(d.msg.ExpiresAt)
		if over {
			s.failed++
		}
		return over
	})
	if s.stored.Until.After(now) {
		return
	}
	n := min(500, len(s.held))
	if s.stored.Opens > 0 {
		n = min(3, n)
	}
	for _, d := range s.held[:n] {
		d.msg.Postponements = 1
		s.push(d, 0)
	}
	s.held = slices.Delete(s.held, 0, n)
}

func (s *simulation) run(until time.Time, restartEvery time.Duration) {
	restarted := time.Now()
	for time.Now().Before(until) && len(s.due)+len(s.held)+len(s.kept) > 0 {
		for len(s.due) > 0 && !s.due[0].at.After(time.Now()) {
			d := heap.Pop(&s.due).(*simDelivery)
			s.process(d)
		}
		if restartEvery > 0 && time.Since(restarted) >= restartEvery {
			s.restart()
			restarted = time.Now()
		}
		s.sweep()
		<-time.After(5 * time.Second)
	}
}

// At most seven attempts bring everything to a receiver that is away for up to 21 hours, however few events there are.
func TestNothingIsLostWhileAReceiverIsAway(t *testing.T) {
	t.Parallel()
	for _, events := range []int{1, 2, 12, 1000} {
		for _, away := range []time.Duration{5 * time.Minute, time.Hour, 8 * time.Hour, 12 * time.Hour, 21 * time.Hour} {
			for _, restart := range []time.Duration{0, 17 * time.Minute} {
				t.Run(fmt.Sprintf("%d events, %v, restarts %v", events, away, restart), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) { testAway(t, events, away, restart) })
				})
			}
		}
	}
}

func testAway(t *testing.T, events int, away, restart time.Duration) {
	began := time.Now()
	s := &simulation{t: t, back: began.Add(away), retry: RetryConfig{MaxAttempts: 7}}
	s.retry.setDefaults()
	s.restart()
	for range events {
		s.push(&simDelivery{msg: webhook.Message{Attempt: 1, ExpiresAt: began.Add(22 * time.Hour)}, created: began}, 0)
	}
	s.run(began.Add(23*time.Hour), restart)
	s.breaker.forget()
	require.Zero(t, s.failed)
	require.Len(t, s.arrived, events)
	require.LessOrEqual(t, s.most, 7)
	switch latest := slices.Max(s.arrived); {
	case away <= time.Hour:
		// The last pause of the schedule is 85 minutes, and jitter and the breaker may put the attempt before it behind 50.
		require.Less(t, latest, 3*time.Hour, "short outages end as they did")
	case events == 1000: // there are enough to ask every ten minutes
		require.Less(t, latest, away+30*time.Minute)
	}
}

// A new event finds out that the receiver is back, and lets what was kept for that go out.
func TestANewEventEndsAnOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		s := &simulation{t: t, back: began.Add(8 * time.Hour), retry: RetryConfig{MaxAttempts: 7}}
		s.retry.setDefaults()
		s.restart()
		event := func() {
			s.push(&simDelivery{msg: webhook.Message{Attempt: 1, ExpiresAt: time.Now().Add(22 * time.Hour)}, created: time.Now()}, 0)
		}
		event()
		s.run(began.Add(8*time.Hour+time.Minute), 0)
		require.Empty(t, s.arrived)
		require.Len(t, s.kept, 1)
		event()
		s.run(time.Now().Add(time.Minute), 0)
		s.breaker.forget()
		require.Len(t, s.arrived, 2)
	})
}

// With the real database and broker: the last attempt waits in its row, also when a record asks for it.
func TestTheLastAttemptWaitsForAReceiverThatIsDown(t *testing.T) {
	t.Parallel()
	k := newKit(t, dbtest.Open(t), func(c *Config) { c.Breaker.downAfter = time.Millisecond })
	k.ForwardDelayed()
	h := dispatchtest.NewReceiver(t, dispatchtest.Status(502))
	sub, _ := k.Subscribe(h.URL)
	m := k.Messages(sub, 2)
	k.Send(m[0])
	kept := func() bool {
		row := k.Row(m[0].DeliveryID)
		return row.State == webhook.StatePending && row.Attempt == 6 && row.Next != nil && m[0].ExpiresAt.Sub(*row.Next).Round(time.Second) == 30*time.Minute
	}
	k.Eventually(kept, "kept")
	require.Len(t, h.Requests(), 6)

	outages := func(condition string) int {
		return k.Query(`SELECT count(*) FROM webhook_subscriptions WHERE company_id = $1 AND id = $2 AND `+condition, k.Company, sub)
	}
	k.Eventually(func() bool { return outages(`failing_since IS NOT NULL AND recovered_from IS NULL`) == 1 }, "failing")
	k.stop()
	k.cache = k.receivers()
	cfg := quickConfig(k.Kafka) // the receiver has failed since before this process began
	k.run(cfg)
	last := *m[0]
	last.Attempt, last.Postponements = 7, 1
	k.Exec(`UPDATE webhook_subscriptions SET failing_since = failing_since - INTERVAL '1 hour' WHERE company_id = $1 AND id = $2`, k.Company, sub)
	k.Exec(`UPDATE deliveries SET next_attempt_at = NULL WHERE company_id = $1 AND id = $2`, k.Company, m[0].DeliveryID)
	k.Send(&last)
	k.Eventually(kept, "kept again")
	require.Len(t, h.Requests(), 6)

	h.Answer(dispatchtest.Status(200))
	k.Send(m[1])
	k.AwaitState(m[1].DeliveryID, webhook.StateSuccess)
	k.Eventually(func() bool { return outages(`failing_since IS NULL AND recovered_from IS NOT NULL`) == 1 }, "recovered")
	k.Send(&last)
	k.AwaitState(m[0].DeliveryID, webhook.StateSuccess)
	require.Equal(t, 7, h.Requests()[7].Attempt)
}

// A receiver that says that it is gone is believed only after a day: until then each delivery is retried as ever.
func TestWhatIsSentToAReceiverThatIsGoneIsRetried(t *testing.T) {
	t.Parallel()
	k := newKit(t, dbtest.Open(t), func(c *Config) { c.Breaker.downAfter = time.Millisecond })
	k.ForwardDelayed()
	h := dispatchtest.NewReceiver(t, dispatchtest.Status(http.StatusGone))
	sub, _ := k.Subscribe(h.URL)
	m := k.Messages(sub, 2)
	gone := func(condition string) bool {
		return k.Query(`SELECT count(*) FROM webhook_subscriptions WHERE company_id = $1 AND id = $2 AND gone_since `+condition, k.Company, sub) == 1
	}
	k.Send(m[0])
	k.Eventually(func() bool { return k.Row(m[0].DeliveryID).Attempt == 6 }, "all but the last attempt, which is kept")
	k.Eventually(func() bool { return gone(">= failing_since") }, "noted")
	h.Answer(dispatchtest.Status(http.StatusOK))
	k.Send(m[1])
	k.AwaitState(m[1].DeliveryID, webhook.StateSuccess)
	k.Eventually(func() bool { return gone("IS NULL") }, "it is back")
}
