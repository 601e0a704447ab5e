package sender

import (
	"cmp"
	"errors"
	"sync"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/tradegrid/tradegrid/pkg/kit/config"
	"github.com/tradegrid/tradegrid/services/delivery/store"
)

// BreakerConfig configures the circuit breakers of receivers. Zero values take the default. It takes more failures to open one than a
// delivery has attempts.
type BreakerConfig struct {
	Failures int           `name:"breaker-failures" help:"Consecutive failed attempts that open the circuit breaker of a receiver." default:"10"`
	Open     time.Duration `name:"breaker-open" help:"How long the circuit breaker stays open at first; doubles each time it opens again." default:"30s"`
	MaxOpen  time.Duration `name:"breaker-max-open" help:"Longest time that the circuit breaker stays open." default:"10m"`

	// DownAfter is how long all attempts must fail, from the first to the last of them, before the receiver counts as down;
	// 5 min. Deliveries keep their last attempt for the return of a receiver that is down.
	downAfter time.Duration
}

// Check validates the settings.
func (c BreakerConfig) Check() error {
	return errors.Join(
		config.Positive("--breaker-failures", c.Failures),
		config.Positive("--breaker-open", c.Open),
		config.Positive("--breaker-max-open", c.MaxOpen),
	)
}

func (c *BreakerConfig) setDefaults() {
	config.Complete(c)
	c.downAfter = cmp.Or(c.downAfter, 5*time.Minute)
}

// errAborted is the result of an attempt that this process aborted: it says nothing about the receiver.
var errAborted = errors.New("attempt aborted by the sender")

var errFailed = errors.New("attempt failed")

// errGone is the result of an attempt that was answered 410.
var errGone = errors.New("attempt answered 410")

// breaker is the circuit breaker of one receiver: it opens after consecutive failures and lets single attempts through
// after a cooldown. The timeout of the library is fixed per instance, so each longer cooldown is a new instance that starts open.
type breaker struct {
	cfg     BreakerConfig
	changed func(store.Breaker)

	mu    sync.Mutex
	cb    *gobreaker.TwoStepCircuitBreaker[struct{}]
	state gobreaker.State
	opens int
	until time.Time
	since time.Time // when it closed, or the receiver was back from an outage; zero when neither was seen

	failingSince  time.Time // first failed attempt since the last success; zero after a success
	failingStored bool      // failingSince is, or is about to be, in the database

	goneSince  time.Time // first attempt answered 410 since one that ended otherwise; zero after that
	goneStored bool      // the same of goneSince

	asked bool // an attempt that somebody asked for is under way through the open breaker
}

// newBreaker continues the breaker of an earlier owner: with Opens > 0 it starts open until the time given, or half-open when
// that has passed.
func newBreaker(cfg BreakerConfig, from store.Breaker, now time.Time, changed func(store.Breaker)) *breaker {
	b := &breaker{
		cfg: cfg, changed: changed, opens: from.Opens, until: from.Until,
		failingSince: from.FailingSince, failingStored: !from.FailingSince.IsZero(),
		goneSince: from.GoneSince, goneStored: !from.GoneSince.IsZero(),
	}
	if b.opens > 0 {
		b.state = gobreaker.StateOpen
		b.cb = b.instance(b.until.Sub(now), true)
	} else {
		b.cb = b.instance(cfg.Open, false)
	}
	breakerState.WithLabelValues(b.state.String()).Inc()
	return b
}

func (b *breaker) instance(cooldown time.Duration, open bool) *gobreaker.TwoStepCircuitBreaker[struct{}] {
	forced := open
	cb := gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		MaxRequests: 1,
		Timeout:     max(cooldown, time.Microsecond), // 0 would mean the library's default
		ReadyToTrip: func(c gobreaker.Counts) bool { return forced || int(c.ConsecutiveFailures) >= b.cfg.Failures },
		IsExcluded:  func(err error) bool { return errors.Is(err, errAborted) },
	})
	if open {
		if done, err := cb.Allow(); err == nil {
			done(errFailed)
		}
		forced = false
	}
	return cb
}

// allow asks to make one attempt. If it may not be made, until is the end of the cooldown, or zero while a probe is under
// way. Otherwise done must be called once with nil, errFailed, errGone or errAborted.
func (b *breaker) allow() (done func(error), until time.Time, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.asked {
		return nil, time.Time{}, false // it is the probe
	}
	return b.enter()
}

// enter is allow for the owner of the lock.
func (b *breaker) enter() (done func(error), until time.Time, ok bool) {
	cb := b.cb
	report, err := cb.Allow()
	b.note(cb.State())
	switch {
	case errors.Is(err, gobreaker.ErrOpenState):
		return nil, b.until, false
	case err != nil:
		return nil, time.Time{}, false
	}
	return func(result error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		report(result)
		recovered, changed := b.track(result)
		if cb == b.cb { // else the attempt began before the last change
			changed = b.note(cb.State()) || changed
		}
		if changed {
			b.report(recovered)
		}
	}, time.Time{}, true
}

// ask is allow for an attempt that somebody asked for: it need not wait for the end of the cooldown. It is a probe like any other, one
// at a time; but one that fails leaves the cooldown as it was, so that nobody makes it longer by asking.
func (b *breaker) ask() (done func(error), until time.Time, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.note(b.cb.State())
	switch {
	case b.asked:
		return nil, time.Time{}, false
	case b.state != gobreaker.StateOpen:
		return b.enter()
	}
	b.asked = true
	return func(result error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.asked = false
		recovered, changed := b.track(result)
		if result == nil {
			b.cb = b.instance(b.cfg.Open, false)
			changed = b.note(gobreaker.StateClosed) || changed
		}
		if changed {
			b.report(recovered)
		}
	}, time.Time{}, true
}

// storeFailingAfter is how long all attempts must have failed before that is stored, so that a receiver that fails now and
// then causes no writes.
const storeFailingAfter = time.Minute

// track notes since when all attempts fail, and reports whether what is stored of that has changed. After the first success of
// a receiver that was down, recovered is when that began.
func (b *breaker) track(result error) (recovered time.Time, changed bool) {
	now := time.Now()
	switch {
	case errors.Is(result, errAborted):
	case result == nil:
		if b.downAt(now) {
			recovered, b.since = b.failingSince, now
		}
		changed = b.failingStored || !recovered.IsZero()
		b.failingSince, b.failingStored = time.Time{}, false
	case b.failingSince.IsZero():
		b.failingSince = now
	case !b.failingStored && now.Sub(b.failingSince) >= min(storeFailingAfter, b.cfg.downAfter):
		b.failingStored, changed = true, true
	}
	return recovered, b.trackGone(result, now) || changed
}

// trackGone notes since when all attempts are answered 410, and reports whether what is stored of that has changed.
func (b *breaker) trackGone(result error, now time.Time) (changed bool) {
	switch {
	case errors.Is(result, errAborted):
	case !errors.Is(result, errGone):
		changed = b.goneStored
		b.goneSince, b.goneStored = time.Time{}, false
	case b.goneSince.IsZero():
		b.goneSince = now
	case !b.goneStored && now.Sub(b.goneSince) >= min(storeFailingAfter, b.cfg.downAfter):
		b.goneStored, changed = true, true
	}
	return changed
}

// down reports whether all attempts have failed for [BreakerConfig.DownAfter].
func (b *breaker) down(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.downAt(now)
}

func (b *breaker) downAt(now time.Time) bool {
	return !b.failingSince.IsZero() && now.Sub(b.failingSince) >= b.cfg.downAfter
}

// report passes on what is stored of the breaker.
func (b *breaker) report(recovered time.Time) {
	s := store.Breaker{Opens: b.opens, RecoveredFrom: recovered}
	if b.opens > 0 {
		s.Until = b.until
	}
	if b.failingStored {
		s.FailingSince = b.failingSince
	}
	if b.goneStored {
		s.GoneSince = b.goneSince
	}
	b.changed(s)
}

// note takes over the state of the library. It reports whether what is stored of it has changed.
func (b *breaker) note(to gobreaker.State) (changed bool) {
	if to == b.state {
		return false
	}
	breakerState.WithLabelValues(b.state.String()).Dec()
	breakerState.WithLabelValues(to.String()).Inc()
	breakerTransitions.WithLabelValues(to.String()).Inc()
	b.state = to
	switch to {
	case gobreaker.StateOpen:
		cooldown := min(b.cfg.Open<<min(b.opens, 20), b.cfg.MaxOpen)
		b.opens++
		b.until = time.Now().Add(cooldown)
		b.cb = b.instance(cooldown, true)
		return true
	case gobreaker.StateClosed:
		b.opens, b.until, b.since = 0, time.Time{}, time.Now()
		return true
	case gobreaker.StateHalfOpen:
		// In memory only: a new owner finds the cooldown over and is half-open by itself.
	}
	return false
}

// closedSince reports whether the breaker has been closed, and the receiver not down, since the time given, as far as this
// process knows.
func (b *breaker) closedSince(at time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state == gobreaker.StateClosed && !b.since.After(at) && !b.downAt(time.Now())
}

// forget removes the breaker from the metrics.
func (b *breaker) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	breakerState.WithLabelValues(b.state.String()).Dec()
}
