package sender

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/sony/gobreaker/v2"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// breakerKit drives a breaker on the clock of a synctest bubble.
type breakerKit struct {
	t       *testing.T
	b       *breaker
	changes []store.Breaker
}

func newBreakerKit(t *testing.T, from store.Breaker) *breakerKit {
	t.Helper()
	var cfg BreakerConfig
	cfg.setDefaults()
	k := &breakerKit{t: t}
	k.b = newBreaker(cfg, from, time.Now(), func(c store.Breaker) { k.changes = append(k.changes, c) })
	t.Cleanup(k.b.forget)
	return k
}

func (r *breakerKit) attempt(outcome error) {
	r.t.Helper()
	done, _, ok := r.b.allow()
	require.True(r.t, ok)
	done(outcome)
}

func (r *breakerKit) refused() time.Time {
	r.t.Helper()
	_, until, ok := r.b.allow()
	require.False(r.t, ok)
	return until
}

func TestCooldownsOfTheBreakerDouble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newBreakerKit(t, store.Breaker{})
		for range 9 {
			r.attempt(errFailed)
		}
		r.attempt(nil) // consecutive ones count
		for range 9 {
			r.attempt(errFailed)
		}
		r.attempt(errAborted) // neither here nor there
		r.attempt(errFailed)
		began, failing := time.Now(), time.Time{}
		for i, cooldown := range []time.Duration{30, 60, 120, 240, 480, 600, 600} {
			cooldown *= time.Second
			require.Equal(t, time.Now().Add(cooldown), r.refused(), "cooldown %d", i)
			if time.Since(began) > time.Minute {
				failing = began
			}
			require.Equal(t, store.Breaker{Until: time.Now().Add(cooldown), Opens: i + 1, FailingSince: failing}, r.changes[i])
			<-time.After(cooldown - time.Millisecond)
			r.refused()
			<-time.After(2 * time.Millisecond)
			done, _, ok := r.b.allow()
			require.True(t, ok, "a probe after cooldown %d", i)
			require.Zero(t, r.refused(), "one probe at a time")
			done(errFailed)
		}
		<-time.After(10*time.Minute + time.Millisecond)
		r.attempt(errAborted) // a probe that was given up makes room for another
		r.attempt(nil)
		require.True(t, r.b.closed())
		require.Equal(t, store.Breaker{RecoveredFrom: began}, r.changes[len(r.changes)-1])
		for range 10 {
			r.attempt(errFailed)
		}
		require.Equal(t, time.Now().Add(30*time.Second), r.refused(), "starts over")
	})
}

func TestBreakerIgnoresWhatBeganBeforeItOpened(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newBreakerKit(t, store.Breaker{})
		early, _, ok := r.b.allow()
		require.True(t, ok)
		for range 10 {
			r.attempt(errFailed)
		}
		early(nil)
		r.refused()
		require.Len(t, r.changes, 1)
	})
}

func TestBreakerIsTakenOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		until := time.Now().Add(time.Minute)
		open := newBreakerKit(t, store.Breaker{Opens: 2, Until: until})
		require.Equal(t, until, open.refused())
		<-time.After(time.Minute + time.Millisecond)
		open.attempt(errFailed)
		require.Equal(t, 3, open.changes[0].Opens)
		require.Equal(t, time.Now().Add(2*time.Minute), open.refused())

		over := newBreakerKit(t, store.Breaker{Opens: 2, Until: time.Now().Add(-time.Hour)})
		<-time.After(time.Millisecond)
		probe, _, ok := over.b.allow()
		require.True(t, ok)
		over.refused() // no burst
		probe(nil)
		require.True(t, over.b.closed())
	})
}

// A receiver is gone for as long as nothing but 410 comes, over restarts of the platform.
func TestBreakerNotesSinceWhenAReceiverIsGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newBreakerKit(t, store.Breaker{})
		r.attempt(errFailed)
		<-time.After(time.Minute)
		began := time.Now()
		r.attempt(errGone)
		r.attempt(errAborted) // says nothing
		<-time.After(time.Minute)
		r.attempt(errGone)
		last := func() store.Breaker { return r.changes[len(r.changes)-1] }
		require.Equal(t, store.Breaker{FailingSince: began.Add(-time.Minute), GoneSince: began}, last())

		r = newBreakerKit(t, last()) // another process goes on
		r.attempt(errGone)
		require.Empty(t, r.changes, "known")
		r.attempt(errFailed)
		require.Equal(t, store.Breaker{FailingSince: began.Add(-time.Minute)}, last(), "it failed otherwise")
		r.attempt(errGone)
		<-time.After(time.Minute)
		r.attempt(errGone)
		require.Equal(t, began.Add(time.Minute), last().GoneSince)
		r.attempt(nil)
		require.Zero(t, last().GoneSince)
	})
}

func TestTierOfADelivery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newBreakerKit(t, store.Breaker{})
		tier := func(committed time.Time, postponements int) string {
			return (&job{msg: &webhook.Message{CommittedAt: committed, Postponements: postponements}, queue: &receiverQueue{breaker: r.b}}).tier()
		}
		early := time.Now()
		require.Equal(t, store.TierHealthy, tier(early, 0), "never seen open")
		require.Equal(t, store.TierBlocked, tier(early, 1), "put off")
		for range 10 {
			r.attempt(errFailed)
		}
		require.Equal(t, store.TierBlocked, tier(time.Now(), 0), "in cooldown")
		<-time.After(30*time.Second + time.Millisecond)
		r.attempt(nil)
		require.Equal(t, store.TierBlocked, tier(early, 0), "open since the commit")
		require.Equal(t, store.TierHealthy, tier(time.Now(), 0), "closed again before the commit")

		// Too few failures to open it, but for long.
		early = time.Now()
		r.attempt(errFailed)
		<-time.After(5 * time.Minute)
		r.attempt(errFailed)
		require.Equal(t, store.TierBlocked, tier(early, 0), "down")
		r.attempt(nil)
		require.Equal(t, store.TierBlocked, tier(early, 0), "was down since the commit")
		require.Equal(t, store.TierHealthy, tier(time.Now(), 0), "back before the commit")
	})
}

// closed reports whether the breaker is closed.
func (b *breaker) closed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state == gobreaker.StateClosed
}

// An attempt that somebody asks for does not wait for the cooldown, is alone, and does not make it longer when it fails.
func TestBreakerLetsThroughWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newBreakerKit(t, store.Breaker{})
		ask := func() func(error) {
			t.Helper()
			done, _, ok := r.b.ask()
			require.True(t, ok)
			return done
		}
		for range 9 {
			r.attempt(errFailed)
		}
		ask()(errFailed) // closed: an attempt like any other
		until := time.Now().Add(30 * time.Second)
		require.Equal(t, until, r.refused())

		first := ask()
		_, _, ok := r.b.ask()
		require.False(t, ok, "one at a time")
		<-time.After(31 * time.Second)
		require.Zero(t, r.refused(), "it is the probe of the cooldown, too")
		first(errFailed)
		probe := ask()
		require.Zero(t, r.refused(), "half-open: one probe at a time")
		probe(errFailed)
		require.Equal(t, time.Now().Add(time.Minute), r.refused(), "the cooldown was over: the next is longer")

		until = r.refused()
		for range 5 {
			ask()(errFailed)
		}
		ask()(errAborted)
		require.Equal(t, until, r.refused(), "asking makes no cooldown longer")
		require.Equal(t, 2, r.changes[len(r.changes)-1].Opens)
		ask()(nil)
		require.True(t, r.b.closed())
		require.Zero(t, r.changes[len(r.changes)-1].Opens)
		for range 9 {
			r.attempt(errFailed)
		}
		r.attempt(nil)
	})
}
