package sender

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

func TestDecisionsSayWhatADeliveryWaitsFor(t *testing.T) {
	t.Parallel()
	c := RetryConfig{MaxAttempts: 7, Jitter: -1}
	c.setDefaults()
	now := time.Now()
	for want, in := range map[webhook.Waiting]retryInput{
		webhook.WaitsForRetry:   {cause: answered, status: 500, attempt: 1},
		webhook.WaitsAsAsked:    {cause: answered, status: 503, attempt: 1, retryAfter: "3600"},
		webhook.WaitsForCircuit: {cause: breakerOpen, attempt: 1},
		webhook.WaitsForResume:  {cause: paused, attempt: 1},
		webhook.WaitsForKey:     {cause: noKey, attempt: 1, postponements: 9},
		webhook.WaitsForReturn:  {cause: unanswered, attempt: 6, down: true},
		webhook.WaitsForHost:    {cause: waitedInQueue, attempt: 1},
	} {
		in.now, in.expires = now, now.Add(22*time.Hour)
		require.Equal(t, want, *waiting(&job{waited: webhook.WaitsForHost}, c.decide(in), in.cause), "%+v", in)
	}
	require.Equal(t, webhook.WaitsForReturn, *waiting(&job{}, decision{outcome: holdLast}, receiverDown))
	require.Equal(t, webhook.WaitsForRetry, *waiting(&job{}, c.decide(retryInput{cause: answered, status: 503, attempt: 2, retryAfter: "1", now: now}), answered), "the delay is longer than what was asked for")
}

// A job that its queue does not take, or keeps for too long, says which limit it waited for.
func TestReceiverQueuesSayWhatTheyWaitFor(t *testing.T) {
	t.Parallel()
	roomy := QueueConfig{PerReceiver: 100, PerHost: 100, PerCompany: 100, Total: 100}
	for _, test := range []struct {
		want webhook.Waiting
		edit func(*QueueConfig)
		host string // of the other receiver, which takes the slots
		same bool   // it is of the same company
	}{
		{webhook.WaitsForQueue, func(c *QueueConfig) {}, "other", false},
		{webhook.WaitsForHost, func(c *QueueConfig) { c.PerHost = 1 }, "host", false},
		{webhook.WaitsForHostShare, func(c *QueueConfig) { c.PerHost = 2 }, "host", true},
		{webhook.WaitsForCompany, func(c *QueueConfig) { c.PerCompany = 1 }, "other", true},
		{webhook.WaitsForCapacity, func(c *QueueConfig) { c.Total = 1 }, "other", false},
	} {
		cfg := roomy
		test.edit(&cfg)
		r := newTestScheduler(cfg)
		mine, theirs := tenant.NewID(), tenant.NewID()
		if test.same {
			theirs = mine
		}
		running, full := r.add(theirs, uuid.New(), test.host)
		require.Len(t, running, 1)
		require.False(t, full)
		sub := uuid.New()
		first := r.job(mine, sub)
		run, created, full := r.enqueue(first)
		require.True(t, created)
		require.False(t, full)
		require.Empty(t, run)
		r.ready(first.queue, "host", 0, nil)
		waits := r.job(mine, sub)
		_, _, full = r.enqueue(waits)
		require.False(t, full)
		r.clock = r.clock.Add(maxQueued + time.Second)
		out := r.overdue(time.Time{})
		require.NotEmpty(t, out, "%s", test.want)
		for _, j := range out {
			require.Equal(t, test.want, j.waited)
		}
	}
}
