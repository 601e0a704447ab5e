// Package cputime measures the processor time that is used for a piece of work, such as a request: by the goroutines that work
// for it, without the time that they wait, and without what others use meanwhile on a busy machine.
//
// The clock is that of the thread, so a goroutine is bound to its thread while it is measured. That is cheap as long as it runs,
// but a bound goroutine that waits keeps its thread, and is slow to wake. What waits often or for long says so with [Wait],
// which is 1 to 2 µs. What does not say so is measured rightly all the same.
//
// Only Linux has such a clock: elsewhere nothing is measured.
package cputime

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Meter adds up the processor time of one piece of work. A nil meter measures nothing.
type Meter struct {
	used  atomic.Int64
	clock func() time.Duration
}

// New returns a meter that reads the clock: the processor time of the current thread. Nil is the one of the operating system.
func New(clock func() time.Duration) *Meter {
	if clock == nil {
		clock = threadTime
	}
	return &Meter{clock: clock}
}

// Used is the processor time until the last stop or wait.
func (m *Meter) Used() time.Duration { return time.Duration(m.used.Load()) }

// running is what a goroutine works for, from one wait to the next.
type running struct {
	meter *Meter
	since time.Duration
	outer *running // what it works for afterwards; nil = nothing
}

// threads holds, by the id of a thread, a *thread. One is made for each that has ever measured; the runtime keeps its threads.
var threads sync.Map //nolint:gochecknoglobals // threads belong to the process

// thread is a thread and what the goroutine that is bound to it works for; nil while none is.
type thread struct{ now atomic.Pointer[running] }

// current is the thread of the calling goroutine, which must be bound to it.
func current() *thread {
	id := threadID()
	if t, ok := threads.Load(id); ok {
		return t.(*thread) //nolint:errcheck,forcetypeassert // nothing else is stored
	}
	t, _ := threads.LoadOrStore(id, &thread{})
	return t.(*thread) //nolint:errcheck,forcetypeassert // nothing else is stored
}

// Measure has the calling goroutine work for m until stop, which it calls itself. A goroutine that works for another meter
// returns to that one afterwards.
func (m *Meter) Measure() (stop func()) {
	if m == nil || !measures {
		return func() {}
	}
	runtime.LockOSThread()
	t := current()
	outer := t.now.Load()
	if outer != nil {
		runtime.UnlockOSThread() // it is bound already
		if outer.meter == m {
			return func() {}
		}
		outer.pause()
	}
	t.now.Store(&running{meter: m, since: m.clock(), outer: outer})
	return end
}

// end ends what the calling goroutine works for.
func end() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	t := current() // another one after a wait
	r := t.now.Load()
	if r == nil {
		return // it has panicked while it waited
	}
	r.pause()
	t.now.Store(r.outer)
	if r.outer == nil {
		runtime.UnlockOSThread() // of Measure
		return
	}
	r.outer.since = r.outer.meter.clock()
}

// Add adds a share of work that was done for several.
func (m *Meter) Add(share time.Duration) {
	if m != nil {
		m.used.Add(int64(share))
	}
}

// Read is the processor time of the work until now, for the goroutine that is measured.
func (m *Meter) Read() time.Duration {
	if r := now(); r != nil && r.meter == m {
		r.pause()
	}
	return m.Used()
}

// pause adds up what was used, and begins anew.
func (r *running) pause() {
	at := r.meter.clock()
	r.meter.used.Add(int64(at - r.since))
	r.since = at
}

// now is what the calling goroutine works for.
func now() *running {
	if !measures {
		return nil
	}
	runtime.LockOSThread() // another goroutine's work is never seen: that one has its thread for itself
	defer runtime.UnlockOSThread()
	return current().now.Load()
}

// Current is the meter that the calling goroutine works for, to be handed to others that do a part of the work; nil if there is none.
func Current() *Meter {
	if r := now(); r != nil {
		return r.meter
	}
	return nil
}

// Wait lets the calling goroutine leave its thread until resume, which it calls itself when it goes on. It has no effect on a
// goroutine that is not measured.
func Wait() (resume func()) {
	if !measures {
		return func() {}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	t := current()
	r := t.now.Load()
	if r == nil {
		return func() {}
	}
	r.pause()
	t.now.Store(nil)
	runtime.UnlockOSThread() // of Measure
	return func() {
		runtime.LockOSThread()
		r.since = r.meter.clock()
		current().now.Store(r)
	}
}
